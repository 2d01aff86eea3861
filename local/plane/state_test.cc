#include "local/plane/state.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

// Rule G8: after a reboot, or in a container, a supervisor has the number of an earlier one.
TEST(State, OfARunThatBeginsIsNotTheOneOfTheRunBefore) {
  TempFolder temp;
  const std::string path = temp / "state.json";
  BeginState(path, 7, WallTime(Seconds(1'800'000'000)));
  EXPECT_EQ(ReadState(path)->port, 0);
  PlaneState before{.supervisor = 7, .ready = true, .port = 6443};
  before.processes.push_back({.name = "etcd", .pid = 8, .ready = true});
  ASSERT_TRUE(WriteState(path, before).ok());
  BeginState(path, 7, WallTime(Seconds(1'800'000'000)));
  const auto state = ReadState(path);
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->supervisor, 7);
  EXPECT_FALSE(state->ready);
  EXPECT_EQ(state->port, 6443);
  EXPECT_TRUE(state->processes.empty());
}

// Rule G3: on a full disk `status` went on telling of an etcd that was killed.
TEST(State, IsWrittenWhereThereIsNoRoomForASecondFile) {
  TempFolder temp;
  // A second file of this name and more would have too long a name.
  const std::string path = temp / std::string(250, 's');
  const PlaneState state{.supervisor = 7, .ready = true, .port = 6443, .message = "a longer one"};
  ASSERT_FALSE(WriteState(path, state).ok());
  std::ofstream(path) << std::string(4096, ' ');
  ASSERT_TRUE(WriteState(path, state).ok());
  EXPECT_EQ(*ReadState(path), state);
  const PlaneState shorter{.supervisor = 7};
  ASSERT_TRUE(WriteState(path, shorter).ok());
  EXPECT_EQ(*ReadState(path), shorter);
}

// No file is better than one that tells of another time.
TEST(State, IsGoneWhereItCannotBeWritten) {
  TempFolder temp;
  const std::string path = temp / "state.json";
  std::filesystem::create_directory(path);
  EXPECT_FALSE(WriteState(path, {.supervisor = 7}).ok());
  EXPECT_EQ(ReadState(path).code(), Code::kNotFound);
}

}  // namespace
}  // namespace capi::local
