#include "local/programs/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/files.h"

namespace capi::local {
namespace {

constexpr char kPrefix[] = ".tmp-";
constexpr time_t kYoung = 60;  // seconds in which a folder's maker may not have taken the lock yet

void RemoveIfAbandoned(const std::filesystem::path& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || std::time(nullptr) - info.st_mtime < kYoung) return;
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  std::error_code ignored;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(path, ignored);
  close(fd);
}

void Sweep(const std::string& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(kPrefix)) RemoveIfAbandoned(it->path());
  }
}

}  // namespace

Result<std::unique_ptr<Scratch>> Scratch::Create(const std::string& parent) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return FileError(parent, error.value());
  Sweep(parent);
  std::string path = parent + "/" + kPrefix + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return FileError(parent, errno);
  const int lock = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0) flock(lock, LOCK_EX | LOCK_NB);
  return std::unique_ptr<Scratch>(new Scratch(std::move(path), lock));
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

Status Scratch::Keep(const std::string& name) {
  constexpr mode_t kForAll = 0755;
  if (chmod(path_.c_str(), kForAll) != 0) return FileError(path_, errno);
  // What a power cut left of it would count for whole from then on.
  if (lock_ >= 0 && syncfs(lock_) != 0) return FileError(path_, errno);
  if (std::rename(path_.c_str(), name.c_str()) == 0) {
    path_.clear();
    return Ok();
  }
  return errno == ENOTEMPTY || errno == EEXIST ? Ok() : Status(FileError(name, errno));
}

}  // namespace capi::local
