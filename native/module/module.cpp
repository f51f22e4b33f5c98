// perfcc._native: the launcher's own code, for Python.
#include "argv.h"
#include "blake2b.h"
#include "compiler.h"
#include "depends.h"
#include "files.h"
#include "key.h"
#include "manifest.h"
#include "options.h"
#include "prefilter.h"
#include "settings.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdlib>

namespace py = pybind11;
using namespace perfcc;

namespace {

// Paths and arguments are bytes that Python shows as str by os.fsdecode; so they are here.
py::str to_python(std::string_view bytes) {
  PyObject *text = PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  if (text == nullptr)
    throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::string from_python(const py::handle &text) {
  PyObject *bytes = nullptr;
  if (PyUnicode_FSConverter(text.ptr(), &bytes) == 0)
    throw py::error_already_set();
  const auto owned = py::reinterpret_steal<py::bytes>(bytes);
  return owned;
}

std::vector<std::string> words_from_python(const py::iterable &words) {
  std::vector<std::string> made;
  for (const py::handle &word : words)
    made.push_back(from_python(word));
  return made;
}

py::list words_to_python(const std::vector<std::string> &words) {
  py::list made;
  for (const std::string &word : words)
    made.append(to_python(word));
  return made;
}

Digest digest_from_python(const std::string &hex) {
  Digest digest;
  if (!from_hex(hex, digest))
    throw py::value_error("not 64 hexadecimal digits: " + hex);
  return digest;
}

py::dict classify_command(const py::iterable &argv, const py::object &cwd) {
  const Command command = classify(words_from_python(argv), from_python(cwd));
  py::dict made;
  made["eligible"] = command.eligible();
  made["held_back"] = command.held_back;
  made["reason"] = std::string(command.reason);
  made["detail"] = to_python(command.detail);
  made["argv"] = words_to_python(command.argv);
  made["source"] = to_python(command.source);
  made["source_index"] = command.source_index;
  made["output"] = to_python(command.output);
  made["language"] = command.language;
  made["depfile"] = to_python(command.depfile);
  made["inputs"] = words_to_python(command.inputs);
  made["links"] = command.links;
  py::list sources;
  for (const Source &source : command.sources)
    sources.append(py::make_tuple(to_python(source.path), source.index, source.language, to_python(source.output)));
  made["sources"] = sources;
  return made;
}

py::list options() {
  py::list rows;
  for (const Option &option : option_table())
    rows.append(py::make_tuple(std::string(option.spelling), name(option.argument), name(option.effect),
                               std::string(option.reason)));
  return rows;
}

py::object option(const py::object &word) {
  const Option *row = find_option(from_python(word));
  if (row == nullptr)
    return py::none();
  return py::make_tuple(std::string(row->spelling), name(row->argument), name(row->effect), std::string(row->reason));
}

py::list reasons() {
  py::list rows;
  for (const PassReason &reason : pass_reasons())
    rows.append(py::make_tuple(std::string(reason.id), std::string(reason.sentence)));
  return rows;
}

py::dict compiler(const py::object &word, const py::object &cwd) {
  const Compiler found = find_compiler(from_python(word), from_python(cwd), 0);
  py::dict made;
  made["path"] = to_python(found.path);
  made["real"] = to_python(found.real);
  made["family"] = found.family == Family::Gcc ? "gcc" : found.family == Family::Clang ? "clang" : "unknown";
  return made;
}

std::string key(const py::iterable &argv, const py::object &cwd, const py::object &compiler_path,
                const py::object &source) {
  const std::string directory = from_python(cwd);
  const Compiler found = find_compiler(from_python(compiler_path), directory, 0);
  const std::string path = absolute(from_python(source), directory);
  std::string text;
  if (!found.found() || !read_file(path, text))
    throw py::value_error("no such compiler or source");
  const std::vector<std::string> words = words_from_python(argv);
  const Settings settings = load_settings_for(path);
  return to_hex(unit_key({words, directory, found.identity(), text, settings.content}));
}

py::dict file_to_python(const FileRecord &file) {
  py::dict made;
  made["path"] = to_python(file.path);
  made["size"] = file.size;
  made["mtime_ns"] = file.mtime;
  made["ctime_ns"] = file.ctime;
  made["inode"] = file.inode;
  made["hash"] = to_hex(file.hash);
  return made;
}

FileRecord file_from_python(const py::handle &row) {
  FileRecord file;
  file.path = from_python(row["path"]);
  file.size = row["size"].cast<std::int64_t>();
  file.mtime = row["mtime_ns"].cast<std::int64_t>();
  file.ctime = row["ctime_ns"].cast<std::int64_t>();
  file.inode = row["inode"].cast<std::uint64_t>();
  file.hash = digest_from_python(row["hash"].cast<std::string>());
  return file;
}

// Every path as it is now, or None when one of them can't be read or changes under the hand.
py::object record_files(const py::iterable &paths, const py::object &cwd) {
  const std::string directory = from_python(cwd);
  py::list made;
  for (const std::string &path : words_from_python(paths)) {
    FileRecord file;
    if (!record_file(path, directory, file))
      return py::none();
    made.append(file_to_python(file));
  }
  return made;
}

bool store_manifest(const py::object &store, const std::string &hex, const std::string &object,
                    const std::string &original, const py::iterable &files, const py::iterable &dependencies,
                    std::int64_t recorded) {
  Manifest manifest;
  manifest.verdict = object.empty() ? Verdict::Nothing : Verdict::Object;
  if (!object.empty()) {
    manifest.object = digest_from_python(object);
    manifest.original = digest_from_python(original);
  }
  manifest.recorded = recorded != 0 ? recorded : now_nanoseconds();
  for (const py::handle &row : files)
    manifest.files.push_back(file_from_python(row));
  manifest.dependencies = words_from_python(dependencies);
  std::sort(manifest.dependencies.begin(), manifest.dependencies.end());
  return write_manifest(from_python(store), digest_from_python(hex), manifest);
}

py::object load_manifest(const py::object &store, const std::string &hex) {
  Manifest manifest;
  if (!read_manifest(from_python(store), digest_from_python(hex), manifest))
    return py::none();
  py::dict made;
  made["verdict"] = manifest.verdict == Verdict::Object ? "object" : "nothing";
  made["object"] = manifest.verdict == Verdict::Object ? to_hex(manifest.object) : std::string();
  made["original"] = manifest.verdict == Verdict::Object ? to_hex(manifest.original) : std::string();
  made["recorded_ns"] = manifest.recorded;
  py::list files;
  for (const FileRecord &file : manifest.files)
    files.append(file_to_python(file));
  made["files"] = files;
  made["dependencies"] = words_to_python(manifest.dependencies);
  return made;
}

bool manifest_holds(const py::object &store, const std::string &hex, const py::object &cwd) {
  Manifest manifest;
  return read_manifest(from_python(store), digest_from_python(hex), manifest) &&
         still_holds(manifest, from_python(cwd));
}

std::string loops(const py::bytes &text, const std::string &language) {
  constexpr const char *names[] = {"none", "refused", "candidate"};
  return names[static_cast<int>(loops_in(std::string_view(text), language == "c++"))];
}

py::list refusal_table() {
  constexpr const char *kinds[] = {"form", "word", "call", "std"};
  py::list rows;
  for (const Refusal &refusal : refusals())
    rows.append(
        py::make_tuple(kinds[refusal.kind], std::string(refusal.name), refusal.cplusplus, std::string(refusal.reason)));
  return rows;
}

py::dict settings_for(const py::object &directory) {
  const Settings settings = load_settings(from_python(directory));
  py::dict made;
  made["file"] = to_python(settings.file);
  made["mode"] = to_python(settings.mode);
  made["store"] = to_python(settings.store);
  return made;
}

} // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The launcher's own code: command lines, keys, manifests.";
  module.attr("version") = version();
  module.def("classify", &classify_command, py::arg("argv"), py::arg("cwd"));
  module.def("option_table", &options);
  module.def("find_option", &option, py::arg("word"));
  module.def("pass_reasons", &reasons);
  module.def(
      "blake2b", [](const py::bytes &bytes) { return to_hex(blake2b(std::string_view(bytes))); }, py::arg("data"));
  module.def("machine_label", &machine_label);
  module.def("unit_key", &key, py::arg("argv"), py::arg("cwd"), py::arg("compiler"), py::arg("source"));
  module.def("find_compiler", &compiler, py::arg("word"), py::arg("cwd"));
  module.def("settings", &settings_for, py::arg("directory"));
  module.def("loops_in", &loops, py::arg("text"), py::arg("language"));
  module.def("refusals", &refusal_table);
  module.def(
      "parse_make_rule", [](const py::bytes &text) { return words_to_python(parse_make_rule(std::string_view(text))); },
      py::arg("text"));
  module.def(
      "parse_header_list",
      [](const py::bytes &text) { return words_to_python(parse_header_list(std::string_view(text))); },
      py::arg("text"));
  module.def("record_files", &record_files, py::arg("paths"), py::arg("cwd"));
  module.def("write_manifest", &store_manifest, py::arg("store"), py::arg("key"), py::arg("object"),
             py::arg("original"), py::arg("files"), py::arg("dependencies"), py::arg("recorded_ns") = 0);
  module.def(
      "replace_file",
      [](const py::object &path, const py::bytes &bytes) {
        const std::string name = from_python(path);
        struct stat status;
        return lstat(name.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
               replace_file(name, std::string_view(bytes), status);
      },
      py::arg("path"), py::arg("bytes"));
  module.def("read_manifest", &load_manifest, py::arg("store"), py::arg("key"));
  module.def("manifest_holds", &manifest_holds, py::arg("store"), py::arg("key"), py::arg("cwd"));
  module.def(
      "link_path",
      [](const py::object &store, const py::object &output) {
        return to_python(link_path(from_python(store), from_python(output)));
      },
      py::arg("store"), py::arg("output"));
  module.def(
      "unit_path",
      [](const py::object &store, const std::string &hex) {
        return to_python(unit_path(from_python(store), digest_from_python(hex)));
      },
      py::arg("store"), py::arg("key"));
  module.def(
      "object_path",
      [](const py::object &store, const std::string &hex) {
        return to_python(object_path(from_python(store), digest_from_python(hex)));
      },
      py::arg("store"), py::arg("hash"));
}
