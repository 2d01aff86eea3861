#include "base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace capi {
namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

Error FileError(const std::string& path, int number) {
  const Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound
                    : number == EACCES || number == EPERM ? Code::kPermissionDenied
                                                          : Code::kInternal;
  return {code, fmt::format("{}: {}", path, std::strerror(number)), {}};
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return FileError(path, errno);
  struct stat info {};
  if (fstat(file.fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    return Error{Code::kInvalidArgument, fmt::format("{}: is a folder", path), {}};
  }
  std::string out;
  char piece[64 * 1024];
  for (;;) {
    ssize_t n = read(file.fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path, errno);
    if (n == 0) return out;
    out.append(piece, static_cast<size_t>(n));
    if (out.size() > max_bytes) {
      return Error{Code::kInvalidArgument, fmt::format("{}: larger than {} bytes", path, max_bytes), {}};
    }
  }
}

Result<std::unique_ptr<NewFile>> NewFile::Create(const std::string& path, unsigned mode) {
  // Hidden: what a kill leaves of it is passed over by who reads the folder.
  const size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  std::string temporary = path.substr(0, name) + "." + path.substr(name) + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return FileError(path, errno);
  return std::unique_ptr<NewFile>(new NewFile(path, std::move(temporary), mode, fd));
}

NewFile::~NewFile() {
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status NewFile::Append(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t n = write(fd_, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path_, errno);
    piece.remove_prefix(static_cast<size_t>(n));
  }
  return Ok();
}

Status NewFile::Sync() { return fsync(fd_) == 0 ? Ok() : Status(FileError(path_, errno)); }

Status NewFile::Keep() {
  if (fchmod(fd_, mode_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) return FileError(path_, errno);
  temporary_.clear();
  return Ok();
}

Status WriteFile(const std::string& path, std::string_view content, unsigned mode) {
  const auto file = TRY(NewFile::Create(path, mode));
  TRY(file->Append(content));
  return file->Keep();
}

Result<std::vector<std::string>> ListDir(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return FileError(path, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace capi
