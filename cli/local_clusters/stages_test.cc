#include "cli/local_clusters/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli::local_clusters {
namespace {

using testing::HasSubstr;

// G11.
TEST(Stages, HaveNamesAndTimeouts) {
  EXPECT_EQ(StageNames(false), "pre-provision, infrastructure, infra-ready, ignition, machines, post-provision");
  EXPECT_EQ(StageNames(true), "pre-provision, infra-ready, ignition, post-provision");
  for (Stage stage : kStages) EXPECT_EQ(StageByName(InfoOf(stage).name), stage);
  EXPECT_EQ(StageByName("Machines"), std::nullopt);
}

TEST(Stages, TimeoutsOfFlags) {
  Timeouts timeouts = ParseTimeouts({"machines=90s", "ignition=1h"}).value();
  EXPECT_EQ(timeouts[Stage::kMachines], Seconds(90));
  EXPECT_EQ(timeouts[Stage::kIgnition], Seconds(3600));
  EXPECT_EQ(timeouts[Stage::kInfrastructure], Seconds(1800));
  for (const char* bad :
       {"machines", "=5s", "machines=", "machines=0s", "machines=-1s", "machines=soon", "machine=5s"}) {
    auto got = ParseTimeouts({bad});
    ASSERT_FALSE(got.ok()) << bad;
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr("--timeout " + std::string(bad)));
  }
}

TEST(Stages, ATimeoutIsNamedOnce) {
  EXPECT_THAT(ParseTimeouts({"machines=1h", "ignition=1m", "machines=5m"}).error().message,
              HasSubstr("--timeout machines=5m: machines has two timeouts"));
}

TEST(Stages, HooksOfFlags) {
  EXPECT_EQ(ParseHooks({"infra-ready=./a=b"}).value(), (Hooks{{Stage::kInfraReady, "./a=b"}}));
  for (const char* bad : {"machines=./a", "infra-ready", "infra-ready=", "x=./a"})
    EXPECT_FALSE(ParseHooks({bad}).ok()) << bad;
  EXPECT_THAT(ParseHooks({"ignition=a", "ignition=b"}).error().message, HasSubstr("two programs"));
}

}  // namespace
}  // namespace capi::cli::local_clusters
