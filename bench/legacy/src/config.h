// The configuration file: [section] headers, key = value lines, # comments.
#ifndef FIELDLAB_CONFIG_H
#define FIELDLAB_CONFIG_H

#include <map>
#include <string>

class Config {
public:
    void load(const std::string& file);
    void set(const std::string& assignment); // "section.key=value", from the command line

    bool has(const std::string& key) const;
    int integer(const std::string& key, int lowest, int highest) const;
    double real(const std::string& key) const;
    std::string text(const std::string& key) const;

private:
    const std::string& find(const std::string& key) const;

    std::map<std::string, std::string> values_;
};

#endif
