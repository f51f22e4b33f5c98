#include "stages.h"

#include <map>
#include <vector>

#include "bodies.h"
#include "calibration.h"
#include "checksum.h"
#include "detector.h"
#include "diffusion.h"
#include "ensemble.h"
#include "error.h"
#include "grid.h"
#include "image.h"
#include "logfile.h"
#include "matrix.h"
#include "network.h"
#include "reader.h"
#include "series.h"
#include "sparse.h"

typedef std::vector<double> Doubles;

static std::string input(const Run& run, const char* name)
{
    return join_path(run.data, name);
}

static void product(Run& run, const Doubles& a, const Doubles& b, int n)
{
    Doubles c(a.size());
    {
        Timed timed(run.watch, "matrix product");
        mat_multiply(&a[0], &b[0], &c[0], n);
    }
    run.results.check("matrix product", checksum(c));
    run.results.figure("matrix norm", mat_norm(&c[0], n * n));
}

static void scatter(Run& run, const Doubles& a, int n)
{
    Doubles s(a.size());
    {
        Timed timed(run.watch, "scatter matrix");
        mat_scatter(&a[0], &s[0], n, n);
    }
    run.results.check("scatter matrix", checksum(s));
}

// First row of b through a transposed, then back through the lower triangle of a, made dominant by its diagonal.
static void back_projection(Run& run, Doubles& a, const Doubles& b, int n)
{
    Doubles transposed(a.size()), image(n), x(n);
    {
        Timed timed(run.watch, "matrix vectors");
        mat_transpose(&a[0], &transposed[0], n, n);
        mat_apply(&transposed[0], &b[0], &image[0], n, n);
        for (int i = 0; i < n; ++i)
            a[i * n + i] += n;
        mat_solve_lower(&a[0], &image[0], &x[0], n);
    }
    run.results.check("matrix vectors", checksum(x));
}

static void matrices(Run& run)
{
    Table a = read_table(input(run, "transfer.dat"));
    Table b = read_table(input(run, "response.dat"));
    const int n = a.rows;
    if (a.columns != n || b.rows != n || b.columns != n)
        throw Error("matrix: transfer.dat and response.dat must be square and of one size");
    product(run, a.values, b.values, n);
    scatter(run, b.values, n);
    back_projection(run, a.values, b.values, n);
}

static void images(Run& run)
{
    Image image = read_pgm(input(run, "scene.pgm"));
    const int width = image.width, height = image.height;
    const int radius = run.config.integer("image.radius", 1, 15);
    const int passes = run.config.integer("image.passes", 1, 100);

    std::vector<unsigned char> clean;
    {
        Timed timed(run.watch, "image median");
        median3(image.pixels, width, height, clean);
    }
    run.results.check("image median", checksum(clean));

    std::vector<float> plane, smooth(clean.size()), slope(clean.size(), 0.0f), columns(clean.size(), 0.0f);
    const std::vector<float> mask = binomial_mask(radius);
    to_plane(clean, plane);
    {
        Timed timed(run.watch, "image convolution");
        for (int pass = 0; pass < passes; ++pass) {
            convolve(plane, width, height, mask, radius, smooth);
            plane.swap(smooth);
        }
    }
    run.results.check("image convolution", checksum(plane));
    {
        Timed timed(run.watch, "image columns");
        smooth_columns(&plane[0], &columns[0], width, height);
        gradient(columns, width, height, slope);
    }
    run.results.check("image columns", checksum(slope));

    std::vector<unsigned short> table(256), remapped(clean.size());
    for (int level = 0; level < 256; ++level)
        table[level] = static_cast<unsigned short>(level * level);
    std::vector<int> bins, levels(clean.begin(), clean.end()), thresholds, counts;
    for (int limit = 0; limit < 256; limit += run.config.integer("image.threshold_step", 1, 256))
        thresholds.push_back(limit);
    counts.resize(thresholds.size());
    Extremes range;
    {
        Timed timed(run.watch, "image levels");
        remap_levels(&table[0], &clean[0], &remapped[0], static_cast<int>(clean.size()));
        histogram(clean, bins);
        count_above(levels, thresholds, counts);
        range = extremes(levels);
    }
    run.results.check("image levels", checksum(remapped) ^ checksum(bins) ^ checksum(counts));
    run.results.figure("image lowest", range.lowest);
    run.results.figure("image highest", range.highest);
    run.results.figure("image sum", static_cast<double>(range.sum));
    run.results.figure("image saturated", first_saturated(std::vector<int>(image.pixels.begin(), image.pixels.end()), 215, 2));
    std::vector<unsigned int> words(levels.begin(), levels.end());
    run.results.figure("image parity", parity(words));
}

static void diffusion(Run& run)
{
    Table plate = read_table(input(run, "plate.dat"));
    Doubles rod(plate.values.begin(), plate.values.begin() + plate.columns);
    {
        Timed timed(run.watch, "heat in a plate");
        heat_run(plate.values, plate.rows, plate.columns, run.config.real("heat.rate"), run.config.integer("heat.steps", 0, 100000));
    }
    run.results.check("heat in a plate", checksum(plate.values));
    {
        Timed timed(run.watch, "heat in a rod");
        for (int step = run.config.integer("heat.rod_steps", 0, 1000000); step > 0; --step)
            rod_step(rod, 2.0 * run.config.real("heat.rate"));
    }
    run.results.check("heat in a rod", checksum(rod));
}

static void bodies(Run& run)
{
    Table table = read_table(input(run, "bodies.dat"));
    if (table.columns != 7)
        throw Error("bodies.dat: 7 columns expected");
    Bodies b;
    for (int i = 0; i < table.rows; ++i) {
        const double* row = &table.values[static_cast<size_t>(i) * 7];
        b.mass.push_back(row[0]);
        b.x.push_back(row[1]);
        b.y.push_back(row[2]);
        b.z.push_back(row[3]);
        b.vx.push_back(row[4]);
        b.vy.push_back(row[5]);
        b.vz.push_back(row[6]);
    }
    {
        Timed timed(run.watch, "drifting bodies");
        drift(b, run.config.integer("bodies.steps", 0, 100000), run.config.real("bodies.dt"), run.config.real("bodies.softening"));
    }
    run.results.check("drifting bodies", checksum(b.x) ^ checksum(b.y) ^ checksum(b.z));
    run.results.figure("kinetic energy", kinetic_energy(b));
}

static void network(Run& run)
{
    std::vector<int> edges = read_integers(input(run, "network.dat"), 3);
    const int n = run.config.integer("network.stations", 1, 20000);
    std::vector<int> cost = cost_matrix(edges, n), linked(cost.size()), farthest(n);
    const int near = run.config.integer("network.near", 0, UNREACHABLE);
    const int most = n < 300 ? n : 300; // the closure is only wanted for the inner stations
    for (int i = 0; i < most; ++i)
        for (int j = 0; j < most; ++j)
            linked[i * most + j] = cost[i * n + j] <= near;
    {
        Timed timed(run.watch, "network routes");
        all_routes(cost, n);
        eccentricities(cost, n, farthest);
    }
    run.results.check("network routes", checksum(cost) ^ checksum(farthest));
    {
        Timed timed(run.watch, "network closure");
        closure(linked, most);
    }
    run.results.check("network closure", checksum(linked));
    run.results.check("network hops", checksum(hops_from(edges, n, 0)));
}

static void sparse(Run& run)
{
    std::vector<int> lengths = read_integers(input(run, "sparse_rows.dat"), 1);
    std::vector<int> columns = read_integers(input(run, "sparse_columns.dat"), 1);
    Table values = read_table(input(run, "sparse_values.dat"));
    SparseMatrix a = sparse_from_rows(lengths, columns, values.values);
    Doubles b(a.rows, 1.0), x(a.rows, 0.0);
    {
        Timed timed(run.watch, "sparse relaxation");
        sparse_relax(a, b, x, run.config.integer("sparse.sweeps", 0, 100000), run.config.real("sparse.damping"));
    }
    run.results.check("sparse relaxation", checksum(x));
    {
        Timed timed(run.watch, "sparse Gauss-Seidel");
        sparse_gauss_seidel(a, b, x);
        sparse_gauss_seidel(a, b, x);
    }
    run.results.check("sparse Gauss-Seidel", checksum(x));
}

static void series(Run& run)
{
    Table table = read_table(input(run, "series.dat"));
    Doubles& x = table.values;
    const int n = static_cast<int>(x.size());
    for (int i = 0; i < n; ++i)
        x[i] = calibrated(x[i], i % SENSORS);

    Doubles total(x.size()), mean(x.size()), smooth(x.size()), lags(run.config.integer("series.lags", 1, n));
    {
        Timed timed(run.watch, "series totals");
        running_totals(x, total);
    }
    run.results.check("series totals", checksum(total));
    {
        Timed timed(run.watch, "series correlation");
        autocorrelation(x, lags, static_cast<int>(lags.size()));
    }
    run.results.check("series correlation", checksum(lags));
    {
        Timed timed(run.watch, "series filters");
        moving_mean(x, mean, run.config.integer("series.half_width", 0, n / 2 - 1));
        low_pass(x, smooth, run.config.real("series.alpha"));
        correct(smooth, run.config.text("series.correction") == "clip" ? clip_negative : remove_dead_band);
        add_neighbours(&total[0], &total[0], n - 1); // trapezoids, in place
        add_neighbours(&x[0], &mean[0], n - 1);
    }
    run.results.check("series filters", checksum(mean) ^ checksum(smooth) ^ checksum(total));

    std::vector<int> peaks;
    find_peaks(smooth, run.config.real("series.peak"), peaks);
    run.results.check("series peaks", checksum(peaks));
    run.results.figure("mean power", mean_power(x));

    std::vector<Detector*> detectors = make_detectors(run.config.text("series.detectors"));
    for (size_t i = 0; i < detectors.size(); ++i) {
        run.results.figure("alarms " + detectors[i]->name(), count_alarms(*detectors[i], x));
        delete detectors[i];
    }
    if (!run.output.empty())
        write_column(join_path(run.output, "series.csv"), "smooth", smooth);
}

static void grids(Run& run)
{
    Table stations = read_table(input(run, "stations.dat"));
    if (stations.columns != 3)
        throw Error("stations.dat: 3 columns expected");
    Readings readings;
    for (int i = 0; i < stations.rows; ++i) {
        readings.x.push_back(stations.values[3 * i]);
        readings.y.push_back(stations.values[3 * i + 1]);
        readings.value.push_back(stations.values[3 * i + 2]);
    }
    const int rows = run.config.integer("grid.rows", 1, 20000), columns = run.config.integer("grid.columns", 1, 20000);
    Doubles grid(static_cast<size_t>(rows) * columns);
    {
        Timed timed(run.watch, "grid interpolation");
        interpolate(readings, &grid[0], rows, columns, 1.0 / columns);
    }
    check_limits(grid, -1e6, 1e6);
    run.results.check("grid interpolation", checksum(grid));

    std::vector<int> cells; // the diagonal track of the research vessel
    for (int i = 0; i < rows; ++i)
        cells.push_back(i * columns + i * columns / rows);
    Doubles track(cells.size());
    pick_cells(&grid[0], &cells[0], &track[0], static_cast<int>(cells.size()));
    run.results.check("grid track", checksum(track));

    Table survey = read_table(input(run, "survey.dat"));
    Doubles mean(survey.columns), spread(survey.columns);
    std::vector<int> missing(survey.rows);
    {
        Timed timed(run.watch, "grid columns");
        count_missing(&survey.values[0], &missing[0], survey.rows, survey.columns, -999.0);
        column_means(&survey.values[0], &mean[0], survey.rows, survey.columns);
        column_spreads(&survey.values[0], &mean[0], &spread[0], survey.rows, survey.columns);
        standardise(&survey.values[0], &mean[0], &spread[0], survey.rows, survey.columns);
    }
    run.results.check("grid columns", checksum(survey.values) ^ checksum(missing));

    Doubles average(survey.columns);
    ensemble_mean(survey.values, average, survey.rows);
    run.results.check("ensemble mean", checksum(average));
}

static void logs(Run& run)
{
    LogFile log;
    {
        Timed timed(run.watch, "log reading");
        log.load(input(run, "stations.log"));
    }
    run.results.figure("log entries", static_cast<double>(log.entries().size()));
    run.results.figure("log bad lines", log.bad_lines());
    run.results.figure("log longest gap", static_cast<double>(log.longest_gap()));
    {
        Timed timed(run.watch, "log statistics");
        run.results.check("log stations", checksum(to_text(log.by_station())));
        std::map<std::string, int> words = log.words();
        std::string text;
        for (std::map<std::string, int>::const_iterator w = words.begin(); w != words.end(); ++w)
            text += w->first + ' ' + to_text(static_cast<long>(w->second)) + '\n';
        run.results.check("log words", checksum(text));
    }

    std::vector<std::string> known;
    known.push_back("battery voltage below limit");
    known.push_back("sensor does not answer, retry");
    known.push_back("clock was set by the satellite");
    known.push_back("housing temperature above limit");
    known.push_back("regular transmission complete");
    std::vector<int> classes(known.size(), 0);
    {
        Timed timed(run.watch, "log messages");
        for (size_t i = 0; i < log.entries().size(); i += run.config.integer("log.sample", 1, 1000000))
            ++classes[nearest(known, log.entries()[i].message)];
    }
    run.results.check("log messages", checksum(classes));
}

const StageEntry stages[] = {
    { "matrix", matrices, "products of the transfer and response matrices" },
    { "image", images, "filters and level statistics of the scene" },
    { "heat", diffusion, "spread of heat in a plate and a rod" },
    { "bodies", bodies, "drifting bodies" },
    { "network", network, "routes between the stations" },
    { "sparse", sparse, "relaxation of the sparse model" },
    { "series", series, "totals, correlations and alarms of a series" },
    { "grid", grids, "interpolation and column statistics" },
    { "log", logs, "the stations' logs" },
    { 0, 0, 0 },
};
