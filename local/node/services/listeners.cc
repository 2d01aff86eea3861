#include "local/node/services/listeners.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/files.h"
#include "local/node/services/loopback.h"

namespace capi::local {
namespace {

constexpr std::string_view kListens = "0A";

// As the kernel writes them, in its own byte order: those that a connection to 127.0.0.1 reaches.
bool IsHere(std::string_view address) {
  bool any = address.find_first_not_of('0') == address.npos;
  return any || address == "0100007F" || address == "0000000000000000FFFF00000100007F";
}

// "socket:[INODE]" of each socket that listens there.
std::set<std::string> SocketsAt(int port) {
  std::set<std::string> sockets;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string skip, local, state, inode;
      words >> skip >> local >> skip >> state;
      for (int i = 0; i < 6; ++i) words >> inode;  // queues, timers, retransmissions, uid, timeout, inode
      size_t colon = local.find(':');
      if (state != kListens || colon == local.npos || !IsHere(std::string_view(local).substr(0, colon))) continue;
      int number = 0;
      std::from_chars(local.data() + colon + 1, local.data() + local.size(), number, 16);
      if (number == port) sockets.insert("socket:[" + inode + "]");
    }
  }
  return sockets;
}

bool HasOneOf(const std::string& process, const std::set<std::string>& sockets) {
  std::error_code gone;  // others' may not be read
  std::filesystem::directory_iterator all(process + "/fd", gone), end;
  for (; !gone && all != end; all.increment(gone)) {
    std::error_code closed;
    if (sockets.contains(std::filesystem::read_symlink(all->path(), closed).string())) return true;
  }
  return false;
}

// "PID (NAME) STATE PARENT GROUP ...".
Listener ProcessAt(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string line;
  std::getline(in, line);
  size_t open = line.find('('), close = line.rfind(')');
  if (open == line.npos || close == line.npos) return {};
  Listener one{.name = line.substr(open + 1, close - open - 1)};
  std::istringstream words(line.substr(close + 1));
  std::string state;
  pid_t parent = 0;
  words >> state >> parent >> one.group;
  std::from_chars(pid.data(), pid.data() + pid.size(), one.pid);
  return one;
}

// The first that has one of them, and that `counts`.
std::optional<Listener> Owner(const std::set<std::string>& sockets,
                              const std::function<bool(const Listener&)>& counts) {
  auto names = ListDir("/proc");
  if (!names.ok()) return std::nullopt;
  for (const std::string& name : *names) {
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    Listener one = ProcessAt(name);
    if (one.pid != 0 && counts(one) && HasOneOf("/proc/" + name, sockets)) return one;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Listener> ListenerOf(int port) {
  std::set<std::string> sockets = SocketsAt(port);
  if (sockets.empty()) return std::nullopt;
  return Owner(sockets, [](const Listener&) { return true; }).value_or(Listener{});
}

bool GroupListens(pid_t group, int port) {
  std::set<std::string> sockets = SocketsAt(port);
  return !sockets.empty() && Owner(sockets, [&](const Listener& one) { return one.group == group; }).has_value();
}

Result<int> FreePort() {
  const Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (fd.get() >= 0 && bind(fd.get(), plain, size) == 0 && getsockname(fd.get(), plain, &size) == 0)
    return ntohs(address.sin_port);
  return Error{Code::kUnavailable, "no free port: " + FileError("a socket", errno).message, {}};
}

}  // namespace capi::local
