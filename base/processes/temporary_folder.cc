#include "base/processes/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace capi {
namespace {

constexpr char kPrefix[] = "capi-test-";
constexpr time_t kYoung = 60;  // seconds in which a folder's maker may not have taken the lock yet

std::string Parent() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

void RemoveIfAbandoned(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || std::time(nullptr) - info.st_mtime < kYoung) return;
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  std::error_code ignored;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(path, ignored);
  close(fd);
}

void Sweep() {
  std::error_code error;
  for (std::filesystem::directory_iterator it(Parent(), error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().rfind(kPrefix, 0) == 0) RemoveIfAbandoned(it->path());
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_(Parent() + "/" + kPrefix + "XXXXXX") {
  [[maybe_unused]] static const bool swept = (Sweep(), true);
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace capi
