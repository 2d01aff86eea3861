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

Error FileError(const std::string& path, int number) {
  Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound
              : number == EACCES || number == EPERM ? Code::kPermissionDenied
                                                    : Code::kInternal;
  return {code, fmt::format("{}: {}", path, std::strerror(number)), {}};
}

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

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

Status WriteFile(const std::string& path, std::string_view content, unsigned mode) {
  std::string temporary = path + ".XXXXXX";
  Descriptor file{mkstemp(temporary.data())};
  if (file.fd < 0) return FileError(path, errno);
  auto fail = [&](int number) {
    unlink(temporary.c_str());
    return FileError(path, number);
  };
  for (std::string_view rest = content; !rest.empty();) {
    ssize_t n = write(file.fd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno);
    rest.remove_prefix(static_cast<size_t>(n));
  }
  if (fchmod(file.fd, mode) != 0 || rename(temporary.c_str(), path.c_str()) != 0) return fail(errno);
  return Ok();
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
