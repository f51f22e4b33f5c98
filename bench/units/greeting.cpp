// No loop at all.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

std::string greeting(const std::string &name, bool formal) {
  if (name.empty())
    return formal ? "Dear Sir or Madam" : "Hello";
  return (formal ? "Dear " : "Hello ") + name;
}

void greet(const std::string &name) { std::cout << greeting(name, false) << '\n'; }
