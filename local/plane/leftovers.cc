#include "local/plane/leftovers.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stop_token>

#include "base/files.h"
#include "base/strings.h"

namespace capi::local {
namespace {

constexpr size_t kMostEnvironment = 1u << 22;
constexpr Millis kLook{20};

bool Has(const std::string& folder, const std::string& entry) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0 || info.st_uid != geteuid()) return false;
  auto text = ReadFile(folder + "/environ", kMostEnvironment);
  if (!text.ok()) return false;
  const std::vector<std::string> entries = Split(*text, '\0');
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}

}  // namespace

std::vector<pid_t> LeftoversOf(const std::string& plane) {
  std::vector<pid_t> out;
  const std::string entry = std::string(kPlaneVariable) + "=" + plane;
  auto names = ListDir("/proc");
  if (!names.ok()) return out;
  for (const std::string& name : *names) {
    pid_t pid = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const bool number = error == std::errc() && end == name.data() + name.size();
    if (number && pid != getpid() && Has("/proc/" + name, entry)) out.push_back(pid);
  }
  return out;
}

size_t EndLeftovers(const std::string& plane, Millis limit) {
  const MonoTime end = SystemClock().Monotonic() + limit;
  size_t most = 0;
  for (;;) {
    const std::vector<pid_t> left = LeftoversOf(plane);
    most = std::max(most, left.size());
    for (pid_t pid : left) kill(pid, SIGKILL);
    if (left.empty() || SystemClock().Monotonic() >= end) return most;
    SystemClock().Sleep(std::stop_token(), kLook);
  }
}

}  // namespace capi::local
