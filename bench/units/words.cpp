// Text is taken apart and counted: loops over characters, lines and maps.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using Counts = std::map<std::string, int>;

static std::string lowered(const std::string &text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i)
    made.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(text[i]))));
  return made;
}

static std::vector<std::string> split(const std::string &line, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    if (end > begin)
      parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  } while (begin <= line.size());
  return parts;
}

static void count(std::istream &in, Counts &counts) {
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#')
      continue;
    for (const std::string &word : split(line, ' '))
      ++counts[lowered(word)];
  }
}

static const char *skip_space(const char *text) {
  for (; *text != '\0' && std::isspace(static_cast<unsigned char>(*text)); ++text) {
  }
  return text;
}

int main(int argc, char **argv) {
  Counts counts;
  int first = 1, wanted = 10;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    std::istringstream number(skip_space(argv[first] + 1));
    if (!(number >> wanted)) {
      std::cerr << "not a number: " << argv[first] << '\n';
      return 2;
    }
  }
  for (int i = first; i < argc; ++i) {
    std::ifstream in(argv[i]);
    if (!in) {
      std::cerr << argv[i] << ": can't be read\n";
      return 1;
    }
    count(in, counts);
  }
  std::vector<std::pair<int, std::string>> ranking;
  for (const auto &entry : counts)
    ranking.emplace_back(entry.second, entry.first);
  std::sort(ranking.rbegin(), ranking.rend());
  for (auto it = ranking.begin(); it != ranking.end() && wanted > 0; ++it, --wanted)
    std::cout << std::setw(6) << it->first << ' ' << it->second << '\n';
}
