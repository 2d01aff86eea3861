// Files, read and written whole, or written piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi {

// kNotFound where there is none; kInvalidArgument for a folder or more than `max_bytes`.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes = 256u << 20);
// What the system says of a path: kNotFound, kPermissionDenied or kInternal.
Error FileError(const std::string& path, int number);

// A file that is there under its name only when it is whole; until then it is beside it, and goes with this object.
// Thread-compatible.
class NewFile {
 public:
  static Result<std::unique_ptr<NewFile>> Create(const std::string& path, unsigned mode);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Append(std::string_view piece);
  // Where it is until it is kept.
  const std::string& place() const { return temporary_; }
  // On the disk, and not in the system's memory alone.
  Status Sync();
  // Under its name, in the place of one that was there.
  Status Keep();

 private:
  NewFile(std::string path, std::string temporary, unsigned mode, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), mode_(mode), fd_(fd) {}

  const std::string path_;
  std::string temporary_;  // "" once it is kept
  const unsigned mode_;
  const int fd_;
};

// Written beside and renamed, so that a reader never sees half of it.
Status WriteFile(const std::string& path, std::string_view content, unsigned mode = 0644);
// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListDir(const std::string& path);

}  // namespace capi
