// Makes the input files of a test run. They depend on nothing but the seed, on every machine:
//   makedata DIRECTORY

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

static std::string directory;

// Linear congruential generator (Knuth, MMIX); only the high bits are used.
class Random {
public:
    explicit Random(unsigned int seed) : state_(seed) { next(); }

    unsigned int next()
    {
        const uint64_t factor = (static_cast<uint64_t>(0x5851f42du) << 32) | 0x4c957f2du;
        const uint64_t step = (static_cast<uint64_t>(0x14057b7eu) << 32) | 0xf767814fu;
        state_ = state_ * factor + step;
        return static_cast<unsigned int>(state_ >> 32);
    }

    // 0 <= result < limit
    int below(int limit) { return static_cast<int>((static_cast<uint64_t>(next()) * limit) >> 32); }

    // A multiple of 2^-32 in [0, 1)
    double unit() { return next() / 4294967296.0; }

    double between(double low, double high) { return low + (high - low) * unit(); }

private:
    uint64_t state_;
};

static FILE* create(const char* name)
{
    std::string path = directory + "/" + name;
    FILE* out = fopen(path.c_str(), "wb");
    if (!out) {
        perror(path.c_str());
        exit(1);
    }
    return out;
}

static void finish(FILE* out)
{
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        fprintf(stderr, "makedata: write error\n");
        exit(1);
    }
}

static void write_doubles(const char* name, int rows, int columns, const std::vector<double>& values)
{
    FILE* out = create(name);
    fprintf(out, "FL d %d %d\n", rows, columns);
    fwrite(&values[0], sizeof(double), values.size(), out);
    finish(out);
}

static void write_integers(const char* name, int columns, const std::vector<int>& values)
{
    FILE* out = create(name);
    fprintf(out, "FL i %d %d\n", static_cast<int>(values.size()) / columns, columns);
    fwrite(&values[0], sizeof(int), values.size(), out);
    finish(out);
}

static void make_uniform(const char* name, unsigned int seed, int rows, int columns, double low, double high)
{
    Random random(seed);
    std::vector<double> values(static_cast<size_t>(rows) * columns);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = random.between(low, high);
    write_doubles(name, rows, columns, values);
}

// Soft hills with noise and a few saturated spots.
static void make_scene(int width, int height)
{
    Random random(11);
    std::vector<int> coarse(65 * 65);
    for (size_t i = 0; i < coarse.size(); ++i)
        coarse[i] = random.below(200);
    FILE* out = create("scene.pgm");
    fprintf(out, "P5\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            int cx = x * 64 / width, cy = y * 64 / height;
            int fx = x * 64 % width, fy = y * 64 % height;
            const int* corner = &coarse[cy * 65 + cx];
            int top = (corner[0] * (width - fx) + corner[1] * fx) / width;
            int bottom = (corner[65] * (width - fx) + corner[66] * fx) / width;
            int level = (top * (height - fy) + bottom * fy) / height + random.below(32);
            putc(random.below(5000) == 0 ? 255 : level, out);
        }
    }
    finish(out);
}

static void make_bodies(int count)
{
    Random random(23);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(random.between(0.5, 2.0) / count);
        for (int axis = 0; axis < 3; ++axis)
            values.push_back(random.between(-1.0, 1.0));
        for (int axis = 0; axis < 3; ++axis)
            values.push_back(random.between(-0.1, 0.1));
    }
    write_doubles("bodies.dat", count, 7, values);
}

static void make_network(int stations, int edges)
{
    Random random(31);
    std::vector<int> values;
    for (int e = 0; e < edges; ++e) {
        int from = random.below(stations);
        int to = e % 3 ? (from + 1 + random.below(20)) % stations : random.below(stations);
        values.push_back(from);
        values.push_back(to);
        values.push_back(1 + random.below(1000));
    }
    write_integers("network.dat", 3, values);
}

// Diagonally dominant, with near neighbours and a few distant ones.
static void make_sparse(int rows, int average)
{
    Random random(43);
    std::vector<int> lengths, columns;
    std::vector<double> values;
    for (int i = 0; i < rows; ++i) {
        int length = 1 + random.below(2 * average - 1);
        lengths.push_back(length);
        columns.push_back(i);
        values.push_back(1.0);
        for (int e = 1; e < length; ++e) {
            columns.push_back(e % 4 ? (i + rows - 50 + random.below(101)) % rows : random.below(rows));
            values.push_back(random.between(-0.5, 0.5) / (2 * average));
        }
    }
    write_integers("sparse_rows.dat", 1, lengths);
    write_integers("sparse_columns.dat", 1, columns);
    write_doubles("sparse_values.dat", 1, static_cast<int>(values.size()), values);
}

// A slow wave with noise, and now and then a jump.
static void make_series(int count)
{
    Random random(59);
    std::vector<double> values(count);
    double wave = 1.0, slope = 0.0, base = 0.0;
    for (int i = 0; i < count; ++i) {
        slope -= 0.0004 * wave;
        wave += slope;
        if (random.below(2000) == 0)
            base = random.between(-1.0, 1.0);
        values[i] = wave + base + random.between(-0.3, 0.3);
    }
    write_doubles("series.dat", 1, count, values);
}

static void make_stations(int count)
{
    Random random(61);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(random.unit());
        values.push_back(random.unit());
        values.push_back(random.between(-2.0, 30.0));
    }
    write_doubles("stations.dat", count, 3, values);
}

static void make_log(int lines)
{
    static const char* const messages[] = {
        "battery voltage below limit", "sensor does not answer, retry %d", "clock was set by satellite %d",
        "housing temperature above limit", "regular transmission complete", "regular transmission complete, %d bytes",
        "unit %d restarted by watchdog",
    };
    static const char* const levels[] = { "INFO", "INFO", "INFO", "WARN", "ERROR" };
    Random random(71);
    FILE* out = create("stations.log");
    long second = 0;
    for (int i = 0; i < lines; ++i) {
        second += random.below(600);
        int day = static_cast<int>(second / 86400), rest = static_cast<int>(second % 86400);
        if (random.below(1000) == 0) {
            fprintf(out, "*** line noise %08x ***\n", random.next());
            continue;
        }
        int station = random.below(40), level = random.below(5), reading = random.below(200000);
        fprintf(out, "%04d-%02d-%02d %02d:%02d:%02d K%02d %s %.2f ", 2003 + day / 372, day / 31 % 12 + 1, day % 31 + 1, rest / 3600,
                rest / 60 % 60, rest % 60, station, levels[level], reading / 100.0);
        int message = random.below(7), number = random.below(900) + 1;
        fprintf(out, messages[message], number);
        putc('\n', out);
    }
    finish(out);
}

int main(int argc, char** argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: makedata DIRECTORY\n");
        return 2;
    }
    directory = argv[1];
    make_uniform("transfer.dat", 3, 1000, 1000, -1.0, 1.0);
    make_uniform("response.dat", 5, 1000, 1000, -1.0, 1.0);
    make_scene(1600, 1200);
    make_uniform("plate.dat", 17, 1000, 1000, 0.0, 100.0);
    make_bodies(4000);
    make_network(720, 8000);
    make_sparse(40000, 20);
    make_series(40000);
    make_stations(600);
    make_uniform("survey.dat", 67, 3000, 1500, -10.0, 40.0);
    make_log(80000);
    return 0;
}
