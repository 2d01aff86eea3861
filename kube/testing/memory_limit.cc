#include "kube/testing/memory_limit.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "kube/testing/control_plane.h"

namespace capi::kube {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";

// A folder in which cgroups may be made, and the version of these.
struct Place {
  std::string folder;
  bool second = false;
};

// This process's own cgroups, and where a container doesn't see these, the first of all.
std::vector<Place> Places() {
  std::vector<Place> places;
  auto text = ReadFile("/proc/self/cgroup");
  for (const std::string& line : Split(text.ok() ? *text : "", '\n')) {
    const std::vector<std::string> fields = Split(line, ':');  // "4:memory:/path", "0::/path"
    if (fields.size() != 3) continue;
    const bool second = fields[0] == "0";
    if (!second && fields[1] != "memory") continue;
    const std::string root = second ? kRoot : std::string(kRoot) + "/memory";
    places.push_back({root + fields[2], second});
    places.push_back({root, second});
  }
  return places;
}

// A line for each, after the head.
bool HasSwap() {
  auto text = ReadFile("/proc/swaps");
  return text.ok() && Split(Trim(*text), '\n').size() > 1;
}

// A file of a cgroup is there already, and takes one number at once.
Status Write(const std::string& path, size_t number) {
  const std::string text = std::to_string(number);
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) close(file);
  return written ? Ok() : Status(Error{Code::kUnsupported, path + ": " + std::strerror(error), {}});
}

}  // namespace

Status MemoryLimit::Set(size_t bytes) const {
  TRY(Write(folder_ + (second_ ? "/memory.max" : "/memory.limit_in_bytes"), bytes));
  // Where the kernel doesn't count swap there is no such file: then there is to be no swap.
  Status swap = Write(folder_ + (second_ ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"), second_ ? 0 : bytes);
  if (!swap.ok() && HasSwap()) return swap;
  TRY(Kills());
  return Ok();
}

Result<std::unique_ptr<MemoryLimit>> MemoryLimit::Create(size_t bytes) {
  static std::atomic<int> made = 0;
  Error last{Code::kUnsupported, "this machine has no memory cgroups", {}};
  for (const Place& place : Places()) {
    const std::string folder = fmt::format("{}/capi-test-{}-{}", place.folder, getpid(), ++made);
    rmdir(folder.c_str());  // of a test that was killed
    if (mkdir(folder.c_str(), 0755) != 0) {
      last.message = folder + ": " + std::strerror(errno);
      continue;
    }
    std::unique_ptr<MemoryLimit> limit(new MemoryLimit(folder, place.second));
    Status set = limit->Set(bytes);
    if (set.ok()) return limit;
    last = set.error();
  }
  return last;
}

// Children of a process that was killed may outlive it by a moment.
MemoryLimit::~MemoryLimit() {
  Eventually([this] { return rmdir(folder_.c_str()) == 0 || errno != EBUSY; }, Seconds(5));
}

Result<size_t> MemoryLimit::Kills() const {
  const std::string path = folder_ + (second_ ? "/memory.events" : "/memory.oom_control");
  for (const std::string& line : Split(TRY(ReadFile(path)), '\n')) {
    constexpr std::string_view kName = "oom_kill ";
    size_t kills = 0;
    if (!line.starts_with(kName)) continue;
    std::from_chars(line.data() + kName.size(), line.data() + line.size(), kills);
    return kills;
  }
  return Error{Code::kUnsupported, path + " doesn't say how many processes were killed", {}};
}

}  // namespace capi::kube
