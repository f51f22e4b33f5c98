// The job file is text, one record a line, the first word its kind:
//
//   perfcc-job 1
//   mode compare|run|time|probe|cover
//   original|candidate|data|scratch PATH          (the rest of the line)
//   paged|poison|wall|errno|seed|sample_ns|samples|pairs|limit_ms|cpu_seconds|address_bytes NUMBER
//   sign_test RATIO WIN LOSS ACCEPT REJECT        (in thousandths)
//   var scalar|pointer|array|vector ELEMENT_BYTES NAME
//   input ID                                      (what follows belongs to it)
//   block DATA_OFFSET BYTES ALIGNMENT COMPARED    (content: bytes of the data file)
//   arg BLOCK BYTE_OFFSET                         (one a var, in order)
#include "job.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace perfcc {
namespace {

std::span<const std::byte> map_file(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (fd < 0 || fstat(fd, &status) != 0)
    throw std::runtime_error("can't read " + path);
  auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    close(fd);
    return {};
  }
  void *base = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (base == MAP_FAILED)
    throw std::runtime_error("can't map " + path);
  return {static_cast<const std::byte *>(base), size};
}

Kind kind_of(const std::string &word) {
  if (word == "scalar")
    return Kind::Scalar;
  if (word == "pointer")
    return Kind::Pointer;
  if (word == "array")
    return Kind::Array;
  if (word == "vector")
    return Kind::Vector;
  throw std::runtime_error("unknown kind of variable: " + word);
}

Mode mode_of(const std::string &word) {
  if (word == "compare")
    return Mode::Compare;
  if (word == "run")
    return Mode::Run;
  if (word == "time")
    return Mode::Time;
  if (word == "probe")
    return Mode::Probe;
  if (word == "cover")
    return Mode::Cover;
  throw std::runtime_error("unknown mode: " + word);
}

std::string rest_of(std::istringstream &line) {
  std::string text;
  std::getline(line >> std::ws, text);
  return text;
}

std::uint64_t number(std::istringstream &line) {
  std::uint64_t value = 0;
  if (!(line >> value))
    throw std::runtime_error("a number is missing: " + line.str());
  return value;
}

void check(const Job &job) {
  for (const Input &input : job.inputs) {
    if (input.arguments.size() != job.variables.size())
      throw std::runtime_error("an input has not one argument a variable");
    for (const Argument &argument : input.arguments)
      if (argument.block >= input.blocks.size() || argument.offset > input.blocks[argument.block].content.size())
        throw std::runtime_error("an argument lies outside its block");
  }
}

} // namespace

Job read_job(const std::string &path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text) || text != "perfcc-job 1")
    throw std::runtime_error("not a job: " + path);
  Job job;
  std::span<const std::byte> data;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "mode") {
      job.mode = mode_of(rest_of(line));
    } else if (word == "original") {
      job.original = rest_of(line);
    } else if (word == "candidate") {
      job.candidate = rest_of(line);
    } else if (word == "data") {
      job.data = rest_of(line);
      data = map_file(job.data);
    } else if (word == "scratch") {
      job.scratch = rest_of(line);
    } else if (word == "paged") {
      job.paged = number(line) != 0;
    } else if (word == "poison") {
      job.poison = static_cast<int>(number(line) & 255);
    } else if (word == "wall") {
      job.wall = number(line) != 0;
    } else if (word == "errno") {
      job.check_errno = number(line) != 0;
    } else if (word == "seed") {
      job.seed = number(line);
    } else if (word == "sample_ns") {
      job.sample_ns = number(line);
    } else if (word == "samples") {
      job.samples = static_cast<unsigned>(number(line));
    } else if (word == "pairs") {
      job.pairs = static_cast<unsigned>(number(line));
    } else if (word == "limit_ms") {
      job.limit_ms = number(line);
    } else if (word == "sign_test") {
      job.ratio = number(line);
      job.win = number(line);
      job.loss = number(line);
      job.accept = number(line);
      job.reject = number(line);
    } else if (word == "cpu_seconds") {
      job.cpu_seconds = number(line);
    } else if (word == "address_bytes") {
      job.address_bytes = number(line);
    } else if (word == "var") {
      Variable variable;
      std::string kind;
      line >> kind;
      variable.kind = kind_of(kind);
      variable.element = number(line);
      variable.name = rest_of(line);
      if (variable.element == 0)
        throw std::runtime_error("an element has no bytes");
      job.variables.push_back(variable);
    } else if (word == "input") {
      job.inputs.push_back({.id = number(line), .blocks = {}, .arguments = {}});
    } else if (word == "block" && !job.inputs.empty()) {
      std::uint64_t offset = number(line);
      std::uint64_t size = number(line);
      std::uint64_t alignment = number(line);
      bool compared = number(line) != 0;
      if (offset > data.size() || size > data.size() - offset || alignment == 0)
        throw std::runtime_error("a block lies outside the data");
      job.inputs.back().blocks.push_back({data.subspan(offset, size), alignment, compared});
    } else if (word == "arg" && !job.inputs.empty()) {
      std::uint64_t block = number(line);
      job.inputs.back().arguments.push_back({block, number(line)});
    } else if (!word.empty()) {
      throw std::runtime_error("unknown record: " + text);
    }
  }
  check(job);
  return job;
}

} // namespace perfcc
