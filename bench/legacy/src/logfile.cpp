#include "logfile.h"

#include <algorithm>
#include <ctype.h>
#include <fstream>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"

static bool parse_line(const std::string& line, LogEntry& entry)
{
    int year, month, day, hour, minute, second, used = 0;
    char station[16], level[8];
    if (sscanf(line.c_str(), "%4d-%2d-%2d %2d:%2d:%2d %15s %7s %lf %n", &year, &month, &day, &hour, &minute, &second, station, level,
               &entry.reading, &used) != 9
        || used == 0)
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
        return false;
    entry.day = ((year - 2000) * 12 + month - 1) * 31 + day - 1;
    entry.second = (hour * 60 + minute) * 60 + second;
    entry.station = station;
    entry.level = level;
    entry.message = line.substr(used);
    return true;
}

void LogFile::load(const std::string& file)
{
    std::ifstream in(file.c_str());
    if (!in)
        throw Error(file, "cannot open the log");
    entries_.clear();
    bad_lines_ = 0;
    std::string line;
    LogEntry entry;
    while (std::getline(in, line)) {
        if (parse_line(line, entry))
            entries_.push_back(entry);
        else
            ++bad_lines_;
    }
}

Summaries LogFile::by_station() const
{
    Summaries summaries;
    for (size_t i = 0; i < entries_.size(); ++i) {
        StationSummary& summary = summaries[entries_[i].station];
        ++summary.entries;
        if (entries_[i].level != "INFO")
            ++summary.problems;
        summary.readings += entries_[i].reading;
    }
    return summaries;
}

std::map<std::string, int> LogFile::words() const
{
    std::map<std::string, int> counts;
    for (std::vector<LogEntry>::const_iterator entry = entries_.begin(); entry != entries_.end(); ++entry) {
        std::string word;
        for (size_t i = 0; i <= entry->message.size(); ++i) {
            int c = i < entry->message.size() ? static_cast<unsigned char>(entry->message[i]) : ' ';
            if (isalnum(c)) {
                word += static_cast<char>(tolower(c));
            } else if (!word.empty()) {
                ++counts[word];
                word.clear();
            }
        }
    }
    return counts;
}

long LogFile::longest_gap() const
{
    long longest = 0;
    for (size_t i = 1; i < entries_.size(); ++i) {
        long gap = (entries_[i].day - entries_[i - 1].day) * 86400L + entries_[i].second - entries_[i - 1].second;
        longest = std::max(longest, gap);
    }
    return longest;
}

int edit_distance(const std::string& a, const std::string& b)
{
    const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
    std::vector<int> row(m + 1);
    for (int j = 0; j <= m; ++j)
        row[j] = j;
    for (int i = 1; i <= n; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; ++j) {
            int above = row[j];
            int best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[m];
}

int nearest(const std::vector<std::string>& known, const std::string& message)
{
    int best = -1, least = 0;
    for (size_t i = 0; i < known.size(); ++i) {
        int distance = edit_distance(known[i], message);
        if (best < 0 || distance < least) {
            best = static_cast<int>(i);
            least = distance;
        }
    }
    return best;
}

std::string to_text(const Summaries& summaries)
{
    std::string text;
    char buffer[96];
    for (Summaries::const_iterator s = summaries.begin(); s != summaries.end(); ++s) {
        sprintf(buffer, "%s %d %d %.6f\n", s->first.c_str(), s->second.entries, s->second.problems, s->second.readings);
        text += buffer;
    }
    return text;
}
