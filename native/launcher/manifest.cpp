#include "manifest.h"

#include "files.h"

#include <cstring>

namespace perfcc {
namespace {

constexpr std::string_view magic = "perfcc-manifest-2\n";
// A file changed this shortly before it was recorded may have changed again within one tick of the file system's clock.
constexpr std::int64_t settled = 2'000'000'000;

class Writer {
public:
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    raw(value);
  }
  void digest(const Digest &digest) { bytes_.append(reinterpret_cast<const char *>(digest.data()), digest.size()); }
  std::string &bytes() { return bytes_; }

private:
  std::string bytes_;
};

class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool raw(std::size_t size, std::string_view &bytes) {
    if (size > rest_.size())
      return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  template <typename T> bool number(T &value) {
    static_assert(sizeof value == 8);
    std::string_view bytes;
    if (!raw(sizeof value, bytes))
      return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
  }
  bool text(std::string &value) {
    std::uint64_t size;
    std::string_view bytes;
    if (!number(size) || !raw(size, bytes))
      return false;
    value = bytes;
    return true;
  }
  bool digest(Digest &digest) {
    std::string_view bytes;
    if (!raw(digest.size(), bytes))
      return false;
    std::memcpy(digest.data(), bytes.data(), digest.size());
    return true;
  }
  std::string_view rest() const { return rest_; }

private:
  std::string_view rest_;
};

std::string fan_out(const std::string &store, const char *folder, const Digest &digest) {
  const std::string hex = to_hex(digest);
  return store + "/" + folder + "/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

void fill(FileRecord &record, const struct stat &status) {
  record.size = status.st_size;
  record.mtime = nanoseconds(status.st_mtim);
  record.ctime = nanoseconds(status.st_ctim);
  record.inode = status.st_ino;
}

bool unchanged(const FileRecord &record, const std::string &cwd, std::int64_t recorded) {
  const std::string path = absolute(record.path, cwd);
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != record.size)
    return false;
  FileRecord now;
  fill(now, status);
  if (now.mtime == record.mtime && now.ctime == record.ctime && now.inode == record.inode &&
      record.ctime + settled <= recorded)
    return true;
  std::string text;
  return read_file(path, text) && blake2b(text) == record.hash;
}

} // namespace

std::string encode(const Manifest &manifest, const Digest &key) {
  Writer writer;
  writer.raw(magic);
  writer.digest(key);
  writer.number(static_cast<std::uint64_t>(manifest.verdict));
  writer.digest(manifest.object);
  writer.digest(manifest.original);
  writer.number(static_cast<std::uint64_t>(manifest.recorded));
  writer.number(manifest.files.size());
  for (const FileRecord &file : manifest.files) {
    writer.text(file.path);
    writer.number(static_cast<std::uint64_t>(file.size));
    writer.number(static_cast<std::uint64_t>(file.mtime));
    writer.number(static_cast<std::uint64_t>(file.ctime));
    writer.number(file.inode);
    writer.digest(file.hash);
  }
  writer.number(manifest.dependencies.size());
  for (const std::string &name : manifest.dependencies)
    writer.text(name);
  writer.digest(blake2b(writer.bytes()));
  return std::move(writer.bytes());
}

bool decode(std::string_view bytes, const Digest &key, Manifest &manifest) {
  if (bytes.size() < sizeof(Digest))
    return false;
  Digest checksum;
  std::memcpy(checksum.data(), bytes.data() + bytes.size() - checksum.size(), checksum.size());
  bytes.remove_suffix(checksum.size());
  if (blake2b(bytes) != checksum)
    return false;

  Reader reader(bytes);
  std::string_view head;
  Digest written;
  std::uint64_t verdict, count;
  if (!reader.raw(magic.size(), head) || head != magic || !reader.digest(written) || written != key ||
      !reader.number(verdict) || (verdict != 1 && verdict != 2))
    return false;
  manifest = Manifest();
  manifest.verdict = static_cast<Verdict>(verdict);
  if (!reader.digest(manifest.object) || !reader.digest(manifest.original) || !reader.number(manifest.recorded) ||
      !reader.number(count))
    return false;
  for (; count > 0; --count) {
    FileRecord file;
    if (!reader.text(file.path) || !reader.number(file.size) || !reader.number(file.mtime) ||
        !reader.number(file.ctime) || !reader.number(file.inode) || !reader.digest(file.hash))
      return false;
    manifest.files.push_back(std::move(file));
  }
  if (!reader.number(count))
    return false;
  for (; count > 0; --count) {
    std::string name;
    if (!reader.text(name))
      return false;
    manifest.dependencies.push_back(std::move(name));
  }
  return reader.rest().empty();
}

bool record_file(const std::string &path, const std::string &cwd, FileRecord &record) {
  const std::string full = absolute(path, cwd);
  struct stat before, after;
  std::string text;
  if (stat(full.c_str(), &before) != 0 || !read_file(full, text) || stat(full.c_str(), &after) != 0 ||
      !same_state(before, after))
    return false;
  record.path = path;
  fill(record, before);
  record.hash = blake2b(text);
  return true;
}

bool record_state(const std::string &path, const std::string &cwd, std::int64_t now, FileRecord &record) {
  struct stat status;
  if (stat(absolute(path, cwd).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  if (nanoseconds(status.st_ctim) + settled > now)
    return record_file(path, cwd, record);
  record.path = path;
  fill(record, status);
  return true;
}

bool still_holds(const Manifest &manifest, const std::string &cwd) {
  for (const FileRecord &file : manifest.files)
    if (!unchanged(file, cwd, manifest.recorded))
      return false;
  return true;
}

std::string unit_path(const std::string &store, const Digest &key) { return fan_out(store, "units", key); }

std::string object_path(const std::string &store, const Digest &hash) { return fan_out(store, "objects", hash); }

std::string link_path(const std::string &store, const std::string &output) {
  const std::string folder = real_path(std::string(directory_of(output)));
  if (folder.empty())
    return "";
  const std::size_t slash = output.rfind('/');
  return store + "/links/" + to_hex(blake2b(absolute(output.substr(slash + 1), folder)));
}

bool read_manifest(const std::string &store, const Digest &key, Manifest &manifest) {
  std::string bytes;
  return read_stored(unit_path(store, key), bytes) && decode(bytes, key, manifest);
}

bool write_manifest(const std::string &store, const Digest &key, const Manifest &manifest) {
  const std::string path = unit_path(store, key);
  return make_directories(std::string(directory_of(path))) && write_atomically(path, encode(manifest, key));
}

} // namespace perfcc
