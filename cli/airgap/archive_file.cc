#include "cli/airgap/archive_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/files.h"

namespace capi::cli {
namespace {

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

Result<fetch::ByteSource> OpenSource(const std::string& path) {
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
  return fetch::ByteSource{static_cast<std::uint64_t>(info.st_size), std::move(read)};
}

}  // namespace capi::cli
