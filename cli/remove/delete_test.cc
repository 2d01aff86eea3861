// L22: what is told before any cluster is looked for.
#include "cli/remove/delete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace capi::cli {
namespace {

using ::testing::HasSubstr;

TEST(Delete, FlagsThatDontFit) {
  const std::string flags =
      "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"delete"}, "At least one of " + flags + " should be specified or the --all flag should be set"},
      {{"delete", "--include-crd"}, "At least one of "},
      {{"delete", "--all", "-i", "aws"}, "The --all flag can't be used in combination with " + flags},
      {{"delete", "-i", ""}, "the flag for InfrastructureProvider has an empty name"},
      {{"delete", "aws"}, "unknown command \"aws\""},
      {{"delete", "--all", "--wait-timeout=0"}, "--wait-timeout"},
      {{"delete", "--all", "--operator=perhaps"}, "--operator"},
  };
  for (const auto& [arguments, error] : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    Outcome outcome = Clusterctl(arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Error: "));
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
}

}  // namespace
}  // namespace capi::cli
