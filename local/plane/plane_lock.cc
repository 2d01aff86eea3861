#include "local/plane/plane_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"

namespace capi::local {
namespace {

// Whether the file at `path` is still the one that is open: `down --delete` removes it.
bool IsStillThere(int fd, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(fd, &open_one) == 0 && stat(path.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

// Bytes of the file, whether they are there or not: the first is the plane's lock, the second says that its holder is
// the supervisor.
struct flock Bytes(off_t from, off_t count) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = from;
  lock.l_len = count;
  return lock;
}

}  // namespace

Result<std::optional<PlaneLock>> PlaneLock::TryTake(const std::string& path, Who who) {
  for (;;) {
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return FileError(path, errno);
    PlaneLock lock(fd);
    struct flock wanted = Bytes(0, who == Who::kSupervisor ? 2 : 1);
    if (fcntl(fd, F_SETLK, &wanted) != 0) {
      if (errno == EACCES || errno == EAGAIN) return std::optional<PlaneLock>();
      return FileError(path, errno);
    }
    if (IsStillThere(fd, path)) return std::optional<PlaneLock>(std::move(lock));
  }
}

PlaneLock::PlaneLock(PlaneLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
PlaneLock& PlaneLock::operator=(PlaneLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
PlaneLock::~PlaneLock() {
  if (fd_ >= 0) close(fd_);
}

Result<std::optional<pid_t>> SupervisorOf(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<pid_t>();
  if (fd < 0) return FileError(path, errno);
  struct flock lock = Bytes(1, 1);
  lock.l_type = F_RDLCK;  // which a file that is open for reading may ask for
  const int done = fcntl(fd, F_GETLK, &lock);
  const int number = errno;
  close(fd);
  if (done != 0) return FileError(path, number);
  if (lock.l_type == F_UNLCK) return std::optional<pid_t>();
  // Of another pid namespace, or of another machine by a network's file system: no signal reaches it, but 0 and
  // negative numbers would reach processes that have nothing to do with it.
  if (lock.l_pid <= 0) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is held by a process of another container or machine: end the plane there", path),
                 {}};
  }
  return std::optional(lock.l_pid);
}

}  // namespace capi::local
