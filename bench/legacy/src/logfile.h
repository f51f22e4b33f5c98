// The stations' logs. A line is
//   2005-03-14 07:22:31 K17 WARN 1203.75 free text up to the end
#ifndef FIELDLAB_LOGFILE_H
#define FIELDLAB_LOGFILE_H

#include <map>
#include <string>
#include <vector>

struct LogEntry {
    int day;    // days since 2000-01-01, for sorting only
    int second; // of the day
    std::string station;
    std::string level;
    double reading;
    std::string message;
};

struct StationSummary {
    StationSummary() : entries(0), problems(0), readings(0.0) {}

    int entries;
    int problems;
    double readings;
};

typedef std::map<std::string, StationSummary> Summaries;

class LogFile {
public:
    // Lines that can't be understood are counted and left out.
    void load(const std::string& file);

    const std::vector<LogEntry>& entries() const { return entries_; }
    int bad_lines() const { return bad_lines_; }

    Summaries by_station() const;

    // How often each word occurs in the messages, case ignored.
    std::map<std::string, int> words() const;

    // Longest stretch in seconds without an entry, day limits included.
    long longest_gap() const;

private:
    std::vector<LogEntry> entries_;
    int bad_lines_;
};

// Number of insertions, deletions and replacements that turn a into b (Levenshtein).
int edit_distance(const std::string& a, const std::string& b);

// Index of the text in `known` that is nearest to `message`.
int nearest(const std::vector<std::string>& known, const std::string& message);

// All as one text, for the checksum.
std::string to_text(const Summaries& summaries);

#endif
