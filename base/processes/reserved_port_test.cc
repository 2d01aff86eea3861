#include "base/processes/reserved_port.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace capi {
namespace {

int Listen(int port, bool shared) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0) return fd;
  close(fd);
  return -1;
}

TEST(ReservedPort, IsNobodyElsesAndMayBeListenedOnBesideIt) {
  auto port = ReservedPort::Take();
  ASSERT_TRUE(port.ok()) << port.error().message;
  ASSERT_GT(port->number(), 0);
  EXPECT_EQ(Listen(port->number(), false), -1);
  int fd = Listen(port->number(), true);
  EXPECT_GE(fd, 0);
  // The one that is wanted isn't free while somebody has it, though he would share it.
  auto other = ReservedPort::Take(port->number());
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->number(), port->number());
  close(fd);
}

TEST(ReservedPort, IsHadAgainOnceItIsFree) {
  int number = 0;
  {
    auto port = ReservedPort::Take();
    ASSERT_TRUE(port.ok());
    number = port->number();
    auto other = ReservedPort::Take(number);
    ASSERT_TRUE(other.ok());
    EXPECT_NE(other->number(), number);
  }
  auto again = ReservedPort::Take(number);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->number(), number);
}

}  // namespace
}  // namespace capi
