#include "local/node/services/listeners.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local/node/services/loopback.h"

namespace capi::local {
namespace {

// A socket at a port of 127.0.0.1, or of all addresses of IPv6.
struct Bound {
  explicit Bound(int family) : fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage place{};
    place.ss_family = static_cast<sa_family_t>(family);
    auto* any = reinterpret_cast<sockaddr*>(&place);
    if (family == AF_INET) reinterpret_cast<sockaddr_in*>(&place)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    bound = bind(fd.get(), any, size) == 0 && getsockname(fd.get(), any, &size) == 0;
    port = ntohs(family == AF_INET ? reinterpret_cast<sockaddr_in*>(&place)->sin_port
                                   : reinterpret_cast<sockaddr_in6*>(&place)->sin6_port);
  }
  Fd fd;
  bool bound = false;
  int port = 0;
};

// G5: a port belongs to who listens there.
TEST(Listener, IsFoundWithItsProcess) {
  for (int family : {AF_INET, AF_INET6}) {
    Bound one(family);
    if (!one.bound) continue;  // a machine without IPv6
    EXPECT_FALSE(ListenerOf(one.port)) << "it doesn't listen";
    ASSERT_EQ(listen(one.fd.get(), 1), 0);
    auto found = ListenerOf(one.port);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pid, getpid());
    EXPECT_EQ(found->group, getpgrp());
    EXPECT_FALSE(found->name.empty());
    EXPECT_TRUE(GroupListens(getpgrp(), one.port));
    EXPECT_FALSE(GroupListens(1 << 30, one.port));
  }
}

// G5: where there is none that is said: a manager would take 0 for its own default.
TEST(FreePort, IsNeverZero_G5) {
  const auto port = FreePort();
  ASSERT_TRUE(port.ok());
  EXPECT_GT(*port, 0);
  rlimit was{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
  const rlimit none{0, was.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto without = FreePort();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.code(), Code::kUnavailable);
}

}  // namespace
}  // namespace capi::local
