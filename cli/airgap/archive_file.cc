#include "cli/airgap/archive_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace capi::cli {
namespace {

Error FileError(const std::string& path, int number) {
  const Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound
                    : number == EACCES || number == EPERM ? Code::kPermissionDenied
                                                          : Code::kInternal;
  return {code, fmt::format("{}: {}", path, std::strerror(number)), {}};
}

struct OpenFile {
  explicit OpenFile(int opened) : fd(opened) {}
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int fd;
};

}  // namespace

Result<ByteSource> OpenSource(const std::string& path) {
  auto file = std::make_shared<OpenFile>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->fd < 0) return FileError(path, errno);
  struct stat info {};
  if (fstat(file->fd, &info) != 0) return FileError(path, errno);
  if (!S_ISREG(info.st_mode)) return Error{Code::kInvalidArgument, path + ": is no file", {}};
  auto read = [file, path](std::uint64_t at, size_t count) -> Result<std::string> {
    std::string out(count, '\0');
    for (size_t have = 0; have < count;) {
      const ssize_t n = pread(file->fd, out.data() + have, count - have, static_cast<off_t>(at + have));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FileError(path, errno);
      if (n == 0) return Error{Code::kInvalidArgument, path + ": is shorter than it was a moment ago", {}};
      have += static_cast<size_t>(n);
    }
    return out;
  };
  return ByteSource{static_cast<std::uint64_t>(info.st_size), std::move(read)};
}

Result<std::unique_ptr<NewFile>> NewFile::Create(const std::string& path) {
  struct stat info {};
  const bool there = stat(path.c_str(), &info) == 0;
  if (there && !S_ISREG(info.st_mode))
    return Error{Code::kInvalidArgument, path + ": something is there that is no file: name another one", {}};
  std::unique_ptr<char, decltype(&std::free)> target(there ? realpath(path.c_str(), nullptr) : nullptr, &std::free);
  const std::string whole = target ? target.get() : path;
  std::string temporary = whole + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return FileError(path, errno);
  return std::unique_ptr<NewFile>(new NewFile(whole, std::move(temporary), there ? info.st_mode & 0777 : 0600, fd));
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

Result<ByteSource> NewFile::Source() const { return OpenSource(temporary_); }

Status NewFile::Keep() {
  if (fchmod(fd_, mode_) != 0 || fsync(fd_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0)
    return FileError(path_, errno);
  temporary_.clear();
  return Ok();
}

}  // namespace capi::cli
