#include "local/node/services/loopback.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

namespace capi::local {
namespace {

// Listens, and takes nobody: after the few that its queue has room for, the kernel doesn't answer.
class DeafServer {
 public:
  DeafServer() : listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listening_.get(), any, size), 0);
    EXPECT_EQ(listen(listening_.get(), 0), 0);
    EXPECT_EQ(getsockname(listening_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 4; ++i) {
      waiting_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)connect(waiting_.back().get(), any, size);
    }
  }
  int port() const { return port_; }

 private:
  Fd listening_;
  std::vector<Fd> waiting_;
  int port_ = 0;
};

// G7: a process that hangs isn't waited for longer than its probe says.
TEST(ConnectLoopback, EndsWithItsTime) {
  DeafServer server;
  auto connected = ConnectLoopback(Context{}.WithTimeout(Millis(200)), server.port());
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.code(), Code::kDeadlineExceeded);
}

// G8: nor when the plane is to end.
TEST(ConnectLoopback, EndsWithAStop) {
  DeafServer server;
  std::stop_source stop;
  Context ctx = Context{}.WithStop(stop.get_token());
  std::thread stopper([&] { stop.request_stop(); });
  auto connected = ConnectLoopback(ctx, server.port());
  stopper.join();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.code(), Code::kCancelled);
}

TEST(ConnectLoopback, SaysWhyNot) {
  auto connected = ConnectLoopback({}, 1);
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().message, "port 1: Connection refused");
}

}  // namespace
}  // namespace capi::local
