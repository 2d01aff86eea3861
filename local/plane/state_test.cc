#include "local/plane/state.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

// Rule G8.
TEST(State, IsReadAsItWasWritten) {
  TempFolder temp;
  EXPECT_EQ(ReadState(temp / "none").code(), Code::kNotFound);
  const WallTime now{Seconds(1'800'000'000)};
  const PlaneState state{
      .supervisor = 7,
      .started = now,
      .ready = true,
      .port = 6443,
      .message = "m",
      .processes = {{"etcd", 8, now, 2, true, 0, ""}, {"kube-apiserver", 0, now, 0, false, 6443, "x"}}};
  ASSERT_TRUE(WriteState(temp / "state", state).ok());
  EXPECT_EQ(*ReadState(temp / "state"), state);
  ASSERT_TRUE(WriteFile(temp / "state", "{").ok());
  EXPECT_EQ(ReadState(temp / "state").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace capi::local
