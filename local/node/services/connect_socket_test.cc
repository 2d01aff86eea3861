#include "local/node/services/connect_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "base/http/testing.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

// A client of the socket: what the API server's end is.
class Dial {
 public:
  Dial() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit Dial(const std::string& path) : Dial() { Connect(path); }
  void Connect(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    connected = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Dial() { close(fd_); }
  void Send(std::string_view text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  bool TrySend(std::string_view text) { return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) > 0; }
  std::string Read(Millis most = Seconds(30)) {
    timeval limit{most / Seconds(1), most % Seconds(1) / std::chrono::microseconds(1)};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::array<char, 4096> buffer;
    ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
    return size > 0 ? std::string(buffer.data(), static_cast<size_t>(size)) : "";
  }
  bool connected = false;

 private:
  int fd_;
};

constexpr const char* kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

// G6: after its 200 the connection is the process's, byte by byte, in both directions.
TEST(ConnectSocket, PassesBytes) {
  TempFolder folder;
  http_testing::RawServer server([](http_testing::Peer& peer, int) {
    std::string request = peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer.WaitForEnd();
  });
  std::string asked;
  auto socket = ConnectSocket::Listen(folder / "s", [&](const std::string& address) -> Result<std::vector<int>> {
    asked = address;
    return std::vector<int>{server.port()};
  });
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  struct stat file {};
  ASSERT_EQ(stat((folder / "s").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
  Dial dial(folder / "s");
  ASSERT_TRUE(dial.connected);
  dial.Send("CONNECT 10.96.0.7:443 HTTP/1.1\r\nHost: 10.96.0.7:443\r\n\r\n");
  EXPECT_EQ(dial.Read(), kEstablished);
  EXPECT_EQ(asked, "10.96.0.7:443");
  dial.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(dial.Read(), testing::HasSubstr("ok"));
}

// G6: the API server tells the words of the status line, so the reason is there.
TEST(ConnectSocket, RefusesWithAReason) {
  TempFolder folder;
  auto socket = ConnectSocket::Listen(folder / "s", [](const std::string& address) -> Result<std::vector<int>> {
    if (address == "dead:1") return std::vector<int>{1};
    return Error{Code::kUnavailable, "Service a/b has no pod that is ready", {}};
  });
  ASSERT_TRUE(socket.ok());
  struct Case {
    const char *request, *expected;
  };
  for (const Case& c : {Case{"CONNECT x:1 HTTP/1.1\r\n\r\n", "HTTP/1.1 503 Service a/b has no pod that is ready\r\n"},
                        {"CONNECT dead:1 HTTP/1.1\r\n\r\n", "HTTP/1.1 503 no process of dead:1 takes connections\r\n"},
                        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "}}) {
    Dial dial(folder / "s");
    dial.Send(c.request);
    EXPECT_THAT(dial.Read(), testing::StartsWith(c.expected));
  }
}

TEST(ConnectSocket, TakesAnotherOneThatServes) {
  TempFolder folder;
  http_testing::RawServer server([](http_testing::Peer& peer, int) { peer.WaitForEnd(); }, true);
  auto socket = ConnectSocket::Listen(folder / "s", [&](const std::string&) -> Result<std::vector<int>> {
    return std::vector<int>{1, server.port()};
  });
  ASSERT_TRUE(socket.ok());
  for (int i = 0; i < 4; ++i) {
    Dial dial(folder / "s");
    dial.Send("CONNECT x:1 HTTP/1.1\r\n\r\n");
    EXPECT_EQ(dial.Read(), kEstablished);
  }
}

TEST(ConnectSocket, EndsItsConnectionsAndItsFile) {
  TempFolder folder;
  http_testing::RawServer server([](http_testing::Peer& peer, int) { peer.WaitForEnd(); }, true);
  auto socket = ConnectSocket::Listen(
      folder / "s", [&](const std::string&) -> Result<std::vector<int>> { return std::vector<int>{server.port()}; });
  ASSERT_TRUE(socket.ok());
  Dial open(folder / "s"), silent(folder / "s");
  open.Send("CONNECT x:1 HTTP/1.1\r\n\r\n");
  ASSERT_EQ(open.Read(), kEstablished);
  socket->reset();
  EXPECT_EQ(open.Read(), "");
  EXPECT_EQ(silent.Read(), "");
  EXPECT_NE(access((folder / "s").c_str(), F_OK), 0);
  EXPECT_FALSE(Dial(folder / "s").connected);
}

// G6: what a node that was killed left there is no obstacle; a path that is too long is one.
TEST(ConnectSocket, ListensInThePlaceOfAnother) {
  TempFolder folder;
  auto route = [](const std::string&) -> Result<std::vector<int>> { return std::vector<int>(); };
  auto first = ConnectSocket::Listen(folder / "s", route);
  ASSERT_TRUE(first.ok());
  auto second = ConnectSocket::Listen(folder / "s", route);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_TRUE(Dial(folder / "s").connected);
  auto long_one = ConnectSocket::Listen(folder / std::string(200, 'x'), route);
  ASSERT_FALSE(long_one.ok());
  EXPECT_EQ(long_one.code(), Code::kInvalidArgument);
}

// No descriptor is to be had while this lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &was_);
    int next = dup(0);
    close(next);
    rlimit none{static_cast<rlim_t>(next), was_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &was_); }

 private:
  rlimit was_{};
};

// G6: without descriptors nobody is let in; who waits is, when there are some again.
TEST(ConnectSocket, OutlivesAWantOfDescriptors) {
  TempFolder folder;
  auto socket = ConnectSocket::Listen(
      folder / "s", [](const std::string&) -> Result<std::vector<int>> { return std::vector<int>{1}; });
  ASSERT_TRUE(socket.ok());
  Dial dial;
  {
    NoDescriptors none;
    dial.Connect(folder / "s");
    dial.Send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(dial.Read(Millis(300)), "");
  }
  EXPECT_THAT(dial.Read(), testing::StartsWith("HTTP/1.1 400 "));
}

// G6: a burst of connections is refused with a reason, and costs neither descriptors nor threads.
TEST(ConnectSocket, TakesSoManyAtATime) {
  TempFolder folder;
  http_testing::RawServer server([](http_testing::Peer& peer, int) { peer.WaitForEnd(); }, true);
  auto route = [&](const std::string&) -> Result<std::vector<int>> { return std::vector<int>{server.port()}; };
  auto socket = ConnectSocket::Listen(folder / "s", route, 2);
  ASSERT_TRUE(socket.ok());
  const std::string connect = "CONNECT x:1 HTTP/1.1\r\n\r\n";
  Dial first(folder / "s");
  first.Send(connect);
  ASSERT_EQ(first.Read(), kEstablished);
  {
    Dial second(folder / "s"), third(folder / "s");
    second.Send(connect);
    ASSERT_EQ(second.Read(), kEstablished);
    EXPECT_THAT(third.Read(), testing::StartsWith("HTTP/1.1 503 2 connections"));
  }
  std::string answer;
  const MonoTime end = SystemClock().Monotonic() + Seconds(30);
  while (answer != kEstablished && SystemClock().Monotonic() < end) {  // the second's end is noticed by its thread
    Dial again(folder / "s");
    answer = again.TrySend(connect) ? again.Read() : "";
  }
  EXPECT_EQ(answer, kEstablished);
}

}  // namespace
}  // namespace capi::local
