#include "kube/testing/memory_limit.h"

#include <gtest/gtest.h>

#include "base/processes/process.h"

namespace capi::kube {
namespace {

// The limit holds, or every test that relies on it shows nothing.
TEST(MemoryLimit, EndsWhoWantsMore) {
  auto limit = MemoryLimit::Create(64u << 20);
  if (!limit.ok()) GTEST_SKIP() << "no process can be limited here: " << limit.error().message;
  auto take = [&](const char* much) {
    const std::string script = std::string("a=$(head -c ") + much + " /dev/zero | tr '\\0' x); test -n \"$a\"";
    auto process = Process::Start({.argv = {"/bin/bash", "-c", script}, .cgroup = (*limit)->folder()});
    EXPECT_TRUE(process.ok()) << process.error().message;
    return process.ok() ? (*process)->Wait(Seconds(60)).value_or(-1) : -1;
  };
  EXPECT_EQ(take("1M"), 0);
  EXPECT_EQ(*(*limit)->Kills(), 0u);
  EXPECT_NE(take("100M"), 0);
  EXPECT_GE(*(*limit)->Kills(), 1u);
}

TEST(MemoryLimit, ACgroupThatIsNotThereStartsNothing) {
  auto process = Process::Start({.argv = {"/bin/true"}, .cgroup = "/nowhere"});
  ASSERT_FALSE(process.ok());
}

}  // namespace
}  // namespace capi::kube
