#include "argv.h"

#include "files.h"
#include "linker.h"
#include "options.h"
#include "response.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

namespace perfcc {
namespace {

struct Input {
  std::string path;
  int index;
  std::string language; // of the -x in force, or empty
};

std::string_view extension(std::string_view path) {
  const std::string_view base = base_name(path);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : base.substr(dot + 1);
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The language the driver gives a file of that name: "c", "c++", "preprocessed", "header", "other", or "" for an input
// of the linker.
std::string_view language_of(std::string_view path, bool cplusplus) {
  const std::string_view ext = extension(path);
  if (ext == "c")
    return cplusplus ? "c++" : "c";
  if (one_of(ext, {"cc", "cp", "cxx", "cpp", "CPP", "c++", "C"}))
    return "c++";
  if (one_of(ext, {"i", "ii", "mi", "mii"}))
    return "preprocessed";
  if (one_of(ext, {"h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"}))
    return "header";
  if (one_of(ext, {"m",   "mm",  "M",   "s",   "S",   "sx",  "f",    "for", "ftn", "F",   "FOR", "fpp",
                   "FPP", "FTN", "f90", "f95", "f03", "f08", "F90",  "F95", "F03", "F08", "go",  "d",
                   "di",  "dd",  "ads", "adb", "cu",  "cl",  "cppm", "ixx", "bc",  "ll"}))
    return "other";
  return "";
}

// The parts of a word such as -Wp,-MD,file after its first comma.
std::vector<std::string_view> comma_parts(std::string_view value) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t comma = std::min(value.find(',', at), value.size());
    parts.push_back(value.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// An option for the assembler that makes it write nothing but the same object.
bool is_harmless_to_assembler(std::string_view word) {
  return one_of(word, {"--noexecstack", "--execstack", "--fatal-warnings", "--no-warn", "--warn", "-W", "-mbig-obj",
                       "--reduce-memory-overheads", "--nocompress-debug-sections"}) ||
         word.starts_with("--compress-debug-sections") || word.starts_with("--generate-missing-build-notes=") ||
         word.starts_with("-mrelax-relocations=") || word.starts_with("-mbranches-within-32B-boundaries");
}

// An option for Clang's front end that concerns what it says.
bool is_harmless_to_clang(std::string_view word) {
  return word.starts_with("-W") || word.starts_with("-fdiagnostics-") ||
         one_of(word, {"-w", "-fcolor-diagnostics", "-fansi-escape-codes", "-fno-pch-timestamp"});
}

std::string replace_extension(std::string_view path, std::string_view ext) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has = dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash);
  return std::string(has ? path.substr(0, dot) : path) + std::string(ext);
}

class Reader {
public:
  Reader(Command &command, const std::string &cwd) : command_(command), cwd_(cwd) {}

  void read() {
    const auto &argv = command_.argv;
    const bool cplusplus = is_cplusplus_driver(base_name(argv[0]));
    for (std::size_t i = 1; i < argv.size(); ++i) {
      const std::string &word = argv[i];
      if (word == "-" || word.empty() || word[0] != '-') {
        inputs_.push_back({word, static_cast<int>(i), language_});
        command_.inputs.push_back(word);
        command_.pieces.push_back({static_cast<int>(i), 1, Effect::Neutral, true});
        continue;
      }
      if (!option(word, i))
        return;
    }
    decide(cplusplus);
  }

private:
  // False when nothing after this word could be understood.
  bool option(const std::string &word, std::size_t &i) {
    if (word.starts_with("-gsplit-dwarf"))
      splits_ = leaves_more_ = true;
    const Option *row = find_option(word);
    if (row == nullptr) {
      pass("unknown-option", word);
      return true;
    }
    std::string value = word.substr(row->spelling.size());
    const auto index = static_cast<int>(i);
    const bool separate =
        row->argument == Argument::Separate || (row->argument == Argument::JoinedOrSeparate && value.empty());
    if (separate) {
      if (i + 1 == command_.argv.size()) {
        pass("malformed", word);
        return false;
      }
      value = command_.argv[++i];
    }
    command_.pieces.push_back({index, separate ? 2 : 1, row->effect, false});
    switch (row->effect) {
    case Effect::Pass:
      pass(row->reason, word);
      break;
    case Effect::Compile:
      compile_ = true;
      break;
    case Effect::Output:
      command_.output = value;
      if (value.empty())
        pass("malformed", word);
      break;
    case Effect::Language:
      language_ = value == "none" ? "" : value;
      break;
    case Effect::Optimise:
      level_ = value.empty() ? "1" : value;
      break;
    case Effect::Depend:
      if (command_.dependencies == Dependencies::None)
        command_.dependencies = Dependencies::User;
      break;
    case Effect::DependAll:
      command_.dependencies = Dependencies::All;
      break;
    case Effect::DependFile:
      command_.depfile = value;
      depends_on_list_ = word;
      break;
    case Effect::Forward:
      if (!forward(row->spelling, value))
        pass("plugin", word);
      break;
    case Effect::DependTarget:
      depends_on_list_ = word;
      break;
    case Effect::Neutral:
    case Effect::Preprocess:
    case Effect::Semantics:
      break;
    }
    return true;
  }

  // False for what is handed on behind the driver's back and not understood.
  bool forward(std::string_view option, std::string_view value) {
    if (option == "-Xclang") {
      if (std::exchange(operand_of_clang_, one_of(value, {"-include-pch", "-include"})))
        return true;
      if (!operand_of_clang_)
        return is_harmless_to_clang(value);
      pass("pch-use", value);
      return true;
    }
    const std::vector<std::string_view> parts = comma_parts(value);
    if (option == "-Wa,")
      return std::all_of(parts.begin(), parts.end(), is_harmless_to_assembler);
    if (option != "-Wp,")
      return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (one_of(parts[i], {"-MD", "-MMD"}) && i + 1 < parts.size() && !forwarded_) {
        forwarded_ = true;
        forwarded_dependencies_ = parts[i] == "-MD" ? Dependencies::All : Dependencies::User;
        forwarded_depfile_ = parts[++i];
      } else if (one_of(parts[i], {"-MT", "-MQ"}) && i + 1 < parts.size()) {
        ++i;
      } else if (parts[i] != "-MP" && !(parts.size() == 1 && is_macro(parts[i]))) {
        return false;
      }
    }
    return true;
  }

  static bool is_macro(std::string_view part) {
    return part.size() > 2 && (part.starts_with("-D") || part.starts_with("-U"));
  }

  // The first reason stands, but for those that say what kind of command it is: they say more than an option found
  // before. A reason that only holds back gives way to any other.
  void pass(std::string_view reason, std::string_view word) {
    const bool kind = one_of(reason, {"preprocess-only", "assembly", "syntax-only", "version-query", "not-an-object"});
    const bool held = is_held_back(reason);
    leaves_more_ = leaves_more_ || one_of(reason, {"coverage", "lto", "profile", "side-output"});
    if (command_.reason.empty() || (kind && !kind_) || (command_.held_back && !held)) {
      command_.reason = reason;
      command_.detail = word;
      command_.held_back = held;
      kind_ = kind;
    }
  }

  void decide(bool cplusplus) {
    if (kind_)
      return;
    if (inputs_.empty())
      return pass("no-input", "");
    std::vector<const Input *> sources;
    for (const Input &input : inputs_)
      if (input.path == "-" || !language(input, cplusplus).empty())
        sources.push_back(&input);
    command_.links = !compile_;
    if (!compile_ && sources.empty())
      return kind("link");
    if (command_.links && splits_ && command_.reason.empty())
      pass("side-output", "-gsplit-dwarf"); // the program finds its debug information in files made beside it
    if (command_.links && leaves_more_)
      command_.held_back = false;
    if (!command_.reason.empty() && !command_.held_back)
      return;
    if (sources.empty() || (compile_ && inputs_.size() > sources.size()))
      return pass("no-input", "");
    compiled_ = sources.size();
    for (const Input *input : sources)
      if (!source(*input, cplusplus))
        return;
    if (command_.sources.empty())
      return pass("other-language", sources[0]->path);
    if (!optimised())
      return;
    if (is_probe())
      return pass("probe", command_.sources[0].path);
    if (forwarded_) {
      // One list for one object; with -MD as well, GCC and Clang don't agree on which are written.
      if (command_.links || command_.sources.size() > 1 || command_.dependencies != Dependencies::None)
        return pass("plugin", forwarded_depfile_);
      command_.dependencies = forwarded_dependencies_;
      command_.depfile = forwarded_depfile_;
    }
    // The compiler objects to it, or not: with a list that we asked for it never would.
    if (command_.dependencies == Dependencies::None && !depends_on_list_.empty())
      return pass("malformed", depends_on_list_);
    if (command_.links)
      return name_program();
    name_objects();
  }

  std::string_view language(const Input &input, bool cplusplus) const {
    return input.language.empty() ? language_of(input.path, cplusplus) : std::string_view(input.language);
  }

  // Adds a source of C or C++. A program may be made of others too; what can't be read twice stops all of it.
  bool source(const Input &input, bool cplusplus) {
    const std::string_view language = this->language(input, cplusplus);
    if (input.path == "-")
      return stop("stdin", "-");
    if (language == "header" || one_of(language, {"c-header", "c++-header"}))
      return stop("pch", input.path);
    if (language == "c" || language == "c++") {
      struct stat status;
      if (stat(absolute(input.path, cwd_).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return stop("source-unreadable", input.path);
      command_.sources.push_back({input.path, input.index, std::string(language), input.language, "", ""});
    } else if (!command_.links) {
      if (language == "preprocessed" || one_of(language, {"cpp-output", "c++-cpp-output"}))
        return stop("preprocessed-input", input.path);
      return stop("other-language", input.path);
    }
    return true;
  }

  // False for a level that nobody knows.
  bool optimised() {
    if (level_.empty() || level_ == "0" || level_ == "g")
      pass("not-optimised", level_.empty() ? "" : "-O" + level_);
    else if (level_ == "s" || level_ == "z")
      pass("optimised-for-size", "-O" + level_);
    else if (level_ != "fast" &&
             !std::all_of(level_.begin(), level_.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return stop("unknown-option", "-O" + level_);
    return true;
  }

  // What Autoconf, CMake and Meson compile to find something out is thrown away at once.
  bool is_probe() const {
    const std::string path = absolute(command_.sources[0].path, cwd_);
    if (base_name(path).starts_with("conftest."))
      return true;
    for (const std::string_view folder : {"/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp", "/meson-private/"})
      if (path.find(folder) != std::string::npos || (cwd_ + "/").find(folder) != std::string::npos)
        return true;
    return false;
  }

  // The object of each source, the dependency file of each, and what the first of them is.
  void name_objects() {
    std::vector<Source> &sources = command_.sources;
    const bool named = !command_.output.empty();
    const bool depends = command_.dependencies != Dependencies::None;
    if (sources.size() > 1 && (named || (depends && !command_.depfile.empty())))
      return pass("several-sources", sources[1].path);
    for (Source &source : sources) {
      source.output = named ? command_.output : replace_extension(base_name(source.path), ".o");
      if (depends)
        source.depfile = !command_.depfile.empty() ? command_.depfile : replace_extension(source.output, ".d");
      const auto same = [&](const Source &other) { return other.output == source.output; };
      if (std::count_if(sources.begin(), sources.end(), same) > 1)
        return pass("several-sources", source.path);
      if (!is_plain(source.output) || (depends && !is_plain(source.depfile)))
        return;
      if (depends && source.depfile == source.output)
        return pass("output-not-regular", source.depfile);
    }
    command_.output = sources[0].output;
    command_.depfile = sources[0].depfile;
    command_.source = sources[0].path;
    command_.source_index = sources[0].index;
    command_.language = sources[0].language;
  }

  // The program, and one dependency file at most: each further source would overwrite it.
  void name_program() {
    std::vector<Source> &sources = command_.sources;
    for (const Piece &piece : command_.pieces) {
      const std::string &word = command_.argv[static_cast<std::size_t>(piece.index)];
      const std::string &value = command_.argv[static_cast<std::size_t>(piece.index + piece.length - 1)];
      if ((word.starts_with("-Wl,") && !writes_program_alone(std::string_view(word).substr(4))) ||
          (word == "-Xlinker" && !writes_program_alone(value)))
        return pass("linker-output", word);
      if (word.starts_with("-gsplit-dwarf")) // its files are named after the program
        return kind("side-output");
    }
    const bool named = !command_.output.empty();
    if (command_.dependencies != Dependencies::None) {
      if (compiled_ > 1)
        return pass("several-sources", sources[0].path);
      if (!command_.depfile.empty())
        sources[0].depfile = command_.depfile;
      else if (named)
        sources[0].depfile = replace_extension(command_.output, ".d");
    }
    if (!named)
      command_.output = "a.out";
    if (!sources[0].depfile.empty() && !is_plain(sources[0].depfile))
      return;
    if (is_plain(command_.output))
      for (Source &source : sources)
        source.output = replace_extension(base_name(source.path), ".o");
  }

  // The output is a regular file, or none yet.
  bool is_plain(const std::string &output) {
    struct stat status;
    if (output == "-" || (lstat(absolute(output, cwd_).c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
      return stop("output-not-regular", output);
    return true;
  }

  bool stop(std::string_view reason, std::string_view word) {
    pass(reason, word);
    return false;
  }

  void kind(std::string_view reason) {
    command_.reason = reason;
    command_.detail.clear();
    command_.held_back = false;
  }

  Command &command_;
  const std::string &cwd_;
  std::vector<Input> inputs_;
  std::string language_;
  std::string level_;
  std::size_t compiled_ = 0;                                 // sources of any language
  Dependencies forwarded_dependencies_ = Dependencies::None; // of -Wp,-MD,file
  std::string forwarded_depfile_;
  bool forwarded_ = false;
  std::string depends_on_list_;   // an option that says something of the list, -MF or -MT
  bool operand_of_clang_ = false; // the next -Xclang holds the value of the last one
  bool compile_ = false;
  bool kind_ = false;
  bool leaves_more_ = false; // files beside the output, named after it
  bool splits_ = false;      // debug information goes to files of its own
};

// The name without a cross prefix and a version: x86_64-linux-gnu-g++-12 -> g++.
std::string_view plain_name(std::string_view name) {
  const std::size_t last = name.rfind('-');
  if (last != std::string_view::npos && last + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(last) + 1, name.end(),
                  [](char c) { return (c >= '0' && c <= '9') || c == '.'; }))
    name = name.substr(0, last);
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? name : name.substr(dash + 1);
}

} // namespace

bool Command::depends(const Piece &piece) const {
  return piece.effect == Effect::Depend || piece.effect == Effect::DependAll || piece.effect == Effect::DependFile ||
         piece.effect == Effect::DependTarget ||
         (piece.effect == Effect::Forward && argv[static_cast<std::size_t>(piece.index)].starts_with("-Wp,-M"));
}

Command classify(const std::vector<std::string> &argv, const std::string &cwd) {
  Command command;
  if (argv.empty()) {
    command.reason = "no-input";
  } else if (!expand_response_files(argv, cwd, command.argv)) {
    command.argv = argv;
    command.reason = "response-file";
  } else {
    Reader(command, cwd).read();
  }
  return command;
}

bool is_compiler_name(std::string_view name) {
  return one_of(plain_name(name), {"gcc", "g++", "cc", "c++", "clang", "clang++", "c89", "c99"});
}

bool is_cplusplus_driver(std::string_view name) { return one_of(plain_name(name), {"g++", "c++", "clang++"}); }

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace perfcc
