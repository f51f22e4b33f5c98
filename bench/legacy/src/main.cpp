// fieldlab: batch analysis of sensor fields, networks and logs.

#include <exception>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#include "error.h"
#include "monitor.h"
#include "stages.h"

static const char* const VERSION = "1.4.2";

static void usage(FILE* out)
{
    fprintf(out, "usage: fieldlab [options] [stage ...]\n"
                 "\n"
                 "  -c, --config FILE   configuration (fieldlab.conf)\n"
                 "  -d, --data DIR      directory of the input files (data)\n"
                 "  -o, --output DIR    write CSV files there\n"
                 "  -s, --set K=V       override a setting, e.g. heat.steps=10\n"
                 "      --times         print the seconds that each step took\n"
                 "  -h, --help          this text\n"
                 "      --version       the version\n"
                 "\n"
                 "Without a stage all of them are run:\n");
    for (const StageEntry* s = stages; s->name; ++s)
        fprintf(out, "  %-8s %s\n", s->name, s->what);
}

struct Options {
    Options() : config("fieldlab.conf"), data("data"), times(false) {}

    std::string config;
    std::string data;
    std::string output;
    std::vector<std::string> settings;
    std::vector<std::string> stages;
    bool times;
};

// True if argv[i] is that option; `value` is then its value, from "--long=value" or the next argument.
static bool takes(int argc, char** argv, int& i, const char* brief, const char* full, std::string& value)
{
    const char* argument = argv[i];
    size_t length = strlen(full);
    if (strncmp(argument, full, length) == 0 && argument[length] == '=') {
        value = argument + length + 1;
        return true;
    }
    if (strcmp(argument, brief) != 0 && strcmp(argument, full) != 0)
        return false;
    if (i + 1 >= argc)
        throw Error(std::string("option ") + argument + " needs a value");
    value = argv[++i];
    return true;
}

static Options parse(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        std::string value;
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(argv[i], "--version") == 0) {
            printf("fieldlab %s\n", VERSION);
            exit(0);
        } else if (strcmp(argv[i], "--times") == 0) {
            options.times = true;
        } else if (takes(argc, argv, i, "-c", "--config", value)) {
            options.config = value;
        } else if (takes(argc, argv, i, "-d", "--data", value)) {
            options.data = value;
        } else if (takes(argc, argv, i, "-o", "--output", value)) {
            options.output = value;
        } else if (takes(argc, argv, i, "-s", "--set", value)) {
            options.settings.push_back(value);
        } else if (argv[i][0] == '-') {
            throw Error(std::string("unknown option ") + argv[i]);
        } else {
            options.stages.push_back(argv[i]);
        }
    }
    return options;
}

static const StageEntry* find_stage(const std::string& name)
{
    for (const StageEntry* s = stages; s->name; ++s)
        if (name == s->name)
            return s;
    throw Error("unknown stage '" + name + "'");
}

static int run_stages(const Options& options)
{
    std::vector<const StageEntry*> wanted;
    for (size_t i = 0; i < options.stages.size(); ++i)
        wanted.push_back(find_stage(options.stages[i]));
    if (wanted.empty())
        for (const StageEntry* s = stages; s->name; ++s)
            wanted.push_back(s);

    Run run;
    run.config.load(options.config);
    for (size_t i = 0; i < options.settings.size(); ++i)
        run.config.set(options.settings[i]);
    run.data = options.data;
    run.output = options.output;

    for (size_t i = 0; i < wanted.size() && !monitor_stopped(); ++i)
        wanted[i]->stage(run);
    if (monitor_stopped())
        throw Error("stopped by the operator");

    run.results.print(stdout);
    if (options.times)
        run.watch.print(stdout);
    if (!run.output.empty())
        run.results.write_csv(run.output + "/figures.csv");
    return warnings() > 0 ? 1 : 0;
}

int main(int argc, char** argv)
{
    try {
        monitor_install();
        return run_stages(parse(argc, argv));
    } catch (const std::exception& error) {
        fprintf(stderr, "fieldlab: %s\n", error.what());
        return 2;
    }
}
