// Containers and iterators: loops, but none that could be a kernel.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

struct Item {
  std::string name;
  int count = 0;
  double price = 0;
};

class Inventory {
public:
  void add(const Item &item) {
    for (auto it = items_.begin(); it != items_.end(); ++it)
      if (it->name == item.name) {
        it->count += item.count;
        return;
      }
    items_.push_back(item);
    by_name_[item.name] = items_.size() - 1;
  }

  bool remove(const std::string &name, int count) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || items_[found->second].count < count)
      return false;
    items_[found->second].count -= count;
    return true;
  }

  double value() const {
    double sum = 0;
    for (const Item &item : items_)
      sum += item.count * item.price;
    return sum;
  }

  std::vector<std::string> missing(const std::vector<std::string> &wanted) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (by_name_.find(wanted[i]) == by_name_.end())
        names.push_back(wanted[i]);
    std::sort(names.begin(), names.end());
    return names;
  }

  void print(std::ostream &out) const {
    for (const auto &[name, at] : by_name_)
      out << name << ": " << items_[at].count << " at " << items_[at].price << '\n';
    for (int column = 0; column < 40; ++column)
      out << '-';
    out << "\n" << value() << '\n';
  }

private:
  std::vector<Item> items_;
  std::map<std::string, std::size_t> by_name_;
};

int read_inventory(std::istream &in, Inventory &inventory) {
  Item item;
  int lines = 0;
  while (in >> item.name >> item.count >> item.price) {
    inventory.add(item);
    ++lines;
  }
  return lines;
}

int main() {
  Inventory inventory;
  if (read_inventory(std::cin, inventory) == 0)
    return 1;
  inventory.print(std::cout);
}
