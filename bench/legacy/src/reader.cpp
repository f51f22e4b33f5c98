#include "reader.h"

#include <stdio.h>

#include "error.h"

namespace {

const long MAX_VALUES = 100 * 1000 * 1000;

// An input file that closes itself.
class Input {
public:
    explicit Input(const std::string& name) : name_(name), file_(fopen(name.c_str(), "rb"))
    {
        if (!file_)
            throw Error(name_, "cannot open");
    }
    ~Input() { fclose(file_); }

    FILE* file() { return file_; }

    void read(void* to, size_t size, size_t count)
    {
        if (count > 0 && fread(to, size, count, file_) != count)
            throw Error(name_, "file is too short");
    }

private:
    Input(const Input&);
    Input& operator=(const Input&);

    std::string name_;
    FILE* file_;
};

void read_header(Input& in, const std::string& file, char expected, int& rows, int& columns)
{
    char type = 0;
    if (fscanf(in.file(), "FL %c %d %d", &type, &rows, &columns) != 3 || fgetc(in.file()) != '\n')
        throw Error(file, "not a record file");
    if (type != expected)
        throw Error(file, std::string("values of type ") + expected + " expected");
    if (rows < 1 || columns < 1 || rows > MAX_VALUES / columns)
        throw Error(file, "bad size");
}

} // namespace

Table read_table(const std::string& file)
{
    Input in(file);
    Table table;
    read_header(in, file, 'd', table.rows, table.columns);
    table.values.resize(static_cast<size_t>(table.rows) * table.columns);
    in.read(&table.values[0], sizeof(double), table.values.size());
    return table;
}

std::vector<int> read_integers(const std::string& file, int columns)
{
    Input in(file);
    int rows = 0, found = 0;
    read_header(in, file, 'i', rows, found);
    if (found != columns)
        throw Error(file, to_text(columns) + " columns expected");
    std::vector<int> values(static_cast<size_t>(rows) * columns);
    in.read(&values[0], sizeof(int), values.size());
    return values;
}

Image read_pgm(const std::string& file)
{
    Input in(file);
    Image image;
    int levels = 0;
    if (fscanf(in.file(), "P5 %d %d %d", &image.width, &image.height, &levels) != 3 || fgetc(in.file()) == EOF)
        throw Error(file, "not a PGM image");
    if (image.width < 1 || image.height < 1 || levels < 1 || levels > 255 || image.width > MAX_VALUES / image.height)
        throw Error(file, "bad size");
    image.pixels.resize(static_cast<size_t>(image.width) * image.height);
    in.read(&image.pixels[0], 1, image.pixels.size());
    return image;
}

std::string join_path(const std::string& directory, const std::string& name)
{
    if (directory.empty() || directory[directory.size() - 1] == '/')
        return directory + name;
    return directory + "/" + name;
}
