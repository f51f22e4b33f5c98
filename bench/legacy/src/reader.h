// Input files.
//
// A record file (.dat) starts with one text line "FL <type> <rows> <columns>\n" and goes on with rows * columns values in the
// machine's own format: type d is double, i is int. Images are PGM, type P5, up to 255 levels.
#ifndef FIELDLAB_READER_H
#define FIELDLAB_READER_H

#include <string>
#include <vector>

struct Table {
    int rows;
    int columns;
    std::vector<double> values;
};

struct Image {
    int width;
    int height;
    std::vector<unsigned char> pixels;
};

Table read_table(const std::string& file);
std::vector<int> read_integers(const std::string& file, int columns);
Image read_pgm(const std::string& file);

std::string join_path(const std::string& directory, const std::string& name);

#endif
