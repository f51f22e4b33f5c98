#include "config.h"

#include <fstream>
#include <stdlib.h>

#include "error.h"

static std::string trimmed(const std::string& text)
{
    const char* blanks = " \t\r";
    std::string::size_type first = text.find_first_not_of(blanks);
    if (first == std::string::npos)
        return "";
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

void Config::load(const std::string& file)
{
    std::ifstream in(file.c_str());
    if (!in)
        throw Error(file, "cannot open the configuration");
    std::string line, section;
    for (long number = 1; std::getline(in, line); ++number) {
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty())
            continue;
        if (line[0] == '[') {
            if (line[line.size() - 1] != ']')
                throw Error(file, "line " + to_text(number) + ": ']' is missing");
            section = trimmed(line.substr(1, line.size() - 2));
            continue;
        }
        if (line.find('=') == std::string::npos)
            throw Error(file, "line " + to_text(number) + ": 'key = value' expected");
        set(section + "." + line);
    }
}

void Config::set(const std::string& assignment)
{
    std::string::size_type equals = assignment.find('=');
    if (equals == std::string::npos || assignment.find('.') > equals)
        throw Error("setting '" + assignment + "': section.key=value expected");
    values_[trimmed(assignment.substr(0, equals))] = trimmed(assignment.substr(equals + 1));
}

bool Config::has(const std::string& key) const
{
    return values_.find(key) != values_.end();
}

const std::string& Config::find(const std::string& key) const
{
    std::map<std::string, std::string>::const_iterator found = values_.find(key);
    if (found == values_.end())
        throw Error("setting '" + key + "' is missing");
    return found->second;
}

int Config::integer(const std::string& key, int lowest, int highest) const
{
    const std::string& value = find(key);
    char* end = 0;
    long number = strtol(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || number < lowest || number > highest)
        throw Error("setting '" + key + "': whole number from " + to_text(lowest) + " to " + to_text(highest) + " expected, not '" + value + "'");
    return static_cast<int>(number);
}

double Config::real(const std::string& key) const
{
    const std::string& value = find(key);
    char* end = 0;
    double number = strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0')
        throw Error("setting '" + key + "': number expected, not '" + value + "'");
    return number;
}

std::string Config::text(const std::string& key) const
{
    return find(key);
}
