// A unit's stored verdict, and the files it rests on. This code alone reads and writes the format.
#pragma once

#include "blake2b.h"

#include <cstdint>
#include <string>
#include <vector>

namespace perfcc {

enum class Verdict : unsigned char { Nothing = 1, Object = 2 };

// An included file as it was when the verdict was reached.
struct FileRecord {
  std::string path; // absolute, or relative to the unit's working directory
  std::int64_t size = 0;
  std::int64_t mtime = 0; // nanoseconds
  std::int64_t ctime = 0;
  std::uint64_t inode = 0;
  Digest hash = {};
};

struct Manifest {
  Verdict verdict = Verdict::Nothing;
  Digest object = {};        // the blob's hash, for Verdict::Object
  Digest original = {};      // of the compiler's own object, which that blob is to replace
  std::int64_t recorded = 0; // nanoseconds since the epoch
  std::vector<FileRecord> files;
  std::vector<std::string> dependencies; // as the compiler named them; sorted
};

std::string encode(const Manifest &manifest, const Digest &key);
// False for anything that is not exactly what encode() writes for that key, a damaged checksum included.
bool decode(std::string_view bytes, const Digest &key, Manifest &manifest);

// Describes a file as it is now; false when it is not a readable regular file.
bool record_file(const std::string &path, const std::string &cwd, FileRecord &record);
// The same without the hash, where the file's state alone will tell a change.
bool record_state(const std::string &path, const std::string &cwd, std::int64_t now, FileRecord &record);
// Every file is what it was: by its state where that is conclusive, else by its content.
bool still_holds(const Manifest &manifest, const std::string &cwd);

std::string unit_path(const std::string &store, const Digest &key);
std::string object_path(const std::string &store, const Digest &hash);

// Where the launcher notes what was linked into the output (an absolute path); empty when its folder does not exist.
std::string link_path(const std::string &store, const std::string &output);

bool read_manifest(const std::string &store, const Digest &key, Manifest &manifest);
bool write_manifest(const std::string &store, const Digest &key, const Manifest &manifest);

} // namespace perfcc
