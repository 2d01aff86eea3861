#include "local/plane/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/processes/process.h"

namespace capi::local {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<Process> Start(const std::string& plane) {
  auto process = Process::Start(
      {.argv = {"/usr/bin/tail", "-f", "/dev/null"}, .environment = {std::string(kPlaneVariable) + "=" + plane}});
  EXPECT_TRUE(process.ok());
  return std::move(process).value();
}

// Rule G3: what a manager started by itself ends too, and nothing of another plane.
TEST(Leftovers, OfOnePlaneAreFoundAndEnded) {
  auto ours = Start("0123456789abcdef"), theirs = Start("0123456789abcde");
  EXPECT_THAT(LeftoversOf("0123456789abcdef"), ElementsAre(ours->pid()));
  EXPECT_EQ(EndLeftovers("0123456789abcdef", Seconds(10)), 1u);
  EXPECT_EQ(ours->Wait(Seconds(10)), 128 + SIGKILL);
  EXPECT_TRUE(theirs->running());
  EXPECT_THAT(LeftoversOf("0123456789abcdef"), IsEmpty());
  EXPECT_EQ(EndLeftovers("0123456789abcdef", Seconds(10)), 0u);
}

}  // namespace
}  // namespace capi::local
