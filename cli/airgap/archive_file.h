// Archives on disk that are larger than memory: read at any place, and written piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/airgap/tar.h"

namespace capi::cli {

// Of a file, which stays open as long as a copy is there. kNotFound where there is none.
Result<ByteSource> OpenSource(const std::string& path);

// A file that is there under its name only when it is whole; until then it is beside it, and goes with this object.
// Thread-compatible.
class NewFile {
 public:
  // kInvalidArgument where something is there that is no file.
  static Result<std::unique_ptr<NewFile>> Create(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Append(std::string_view piece);
  // What was written so far.
  Result<ByteSource> Source() const;
  // Under its name, in the place of one that was there.
  Status Keep();

 private:
  NewFile(std::string path, std::string temporary, unsigned mode, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), mode_(mode), fd_(fd) {}

  const std::string path_;
  std::string temporary_;  // "" once it is kept
  const unsigned mode_;
  int fd_;
};

}  // namespace capi::cli
