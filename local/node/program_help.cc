#include "local/node/program_help.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/files.h"
#include "base/processes/process.h"

namespace capi::local {
namespace {

constexpr std::array kHelpTimes = {Seconds(5), Seconds(20)};  // a machine may be busy; what knows no --help runs on
constexpr Millis kTick{50};
constexpr size_t kLongestHelp = 1u << 20;

Flags AskProgram(const Context& ctx, const std::string& path, const std::string& folder,
                 const std::vector<std::string>& environment, Seconds limit) {
  const std::string output = fmt::format("{}/help-{}", folder, FreePort());  // a name that no other call has
  auto process = Process::Start({.argv = {path, "--help"},
                                 .log_file = output,
                                 .folder = folder,
                                 .environment = environment,
                                 .inherit_environment = false});
  if (process.ok()) {
    pid_t group = (*process)->pid();
    Context soon = ctx.WithTimeout(limit);
    while (!(*process)->Wait(kTick)) {
      if (!soon.Check().ok()) (*process)->Signal(SIGKILL);
    }
    kill(-group, SIGKILL);
  }
  auto text = ReadFile(output, kLongestHelp);
  unlink(output.c_str());
  return text.ok() ? FlagsOfHelp(*text) : Flags();
}

}  // namespace

Flags ProgramHelp::Of(const Context& ctx, const std::string& path, const std::string& folder,
                      const std::vector<std::string>& environment) {
  struct stat file {};
  stat(path.c_str(), &file);
  const std::string key = fmt::format("{} {} {} {}", path, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  {
    MutexLock lock(mu_);
    if (auto known = known_.find(key); known != known_.end()) return known->second;
  }
  Flags flags;
  for (Seconds limit : kHelpTimes) {
    MonoTime end = ctx.clock->Monotonic() + limit;
    flags = AskProgram(ctx, path, folder, environment, limit);
    if (!flags.empty() || ctx.clock->Monotonic() < end) break;
  }
  if (ctx.stop.stop_requested()) return flags;  // it may have been cut off
  MutexLock lock(mu_);
  return known_.try_emplace(key, std::move(flags)).first->second;
}

int FreePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  int port = 0;
  if (fd >= 0 && bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0) port = ntohs(address.sin_port);
  if (fd >= 0) close(fd);
  return port;
}

}  // namespace capi::local
