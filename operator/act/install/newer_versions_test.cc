// Installer::NewerVersions: what a look at a source asks, and what it tells (behaviour.md U12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/install/installer_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const api::AvailableUpgrade kNewer{"v1.12.0", "v1beta2"};

class LookTest : public InstallerTest {
 protected:
  size_t AskedOfTheApi() const {
    auto seen = github_->seen();
    return static_cast<size_t>(
        std::count_if(seen.begin(), seen.end(), [](const auto& request) { return request.host == "api"; }));
  }
};

// A look leaves GitHub's few requests to those who install something, whose files are checked (T6).
TEST_F(LookTest, TakesNoRequestOfTheApi_U12_I17_T6) {
  Process& process = Begin(NewRelease(kUnfinished));
  github_->ServeTags();
  auto newer = process.Look("v1.11.0");
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(*newer, ElementsAre(kNewer));
  EXPECT_EQ(AskedOfTheApi(), 0u);
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(AskedOfTheApi(), 1u) << "an installation asks for the digests";
}

// T13: those who install something have the turns, and a look waits for none.
TEST_F(LookTest, TakesNoTurn_U12_T13) {
  Process& process = Begin(NewRelease(kUnfinished));
  auto turn = process.turns.Take("another");
  EXPECT_TRUE(process.Look("v1.11.0").ok());
  turn.reset();
  EXPECT_TRUE(process.turns.Take("a third")) << "nor does it stand in line";
}

// T9: with the source's credentials, or not at all.
TEST_F(LookTest, NeedsTheSecretOfTheSource_U12_T9) {
  Process& process = Begin(NewRelease(kUnfinished));
  process.source_secret = Referenced{{"access", "aws-system"}, false, ""};
  auto newer = process.Look("v1.11.0");
  ASSERT_FALSE(newer.ok());
  EXPECT_THAT(newer.error().message, HasSubstr("Secret aws-system/access (spec.fetchConfig.secretRef) doesn't exist"));
}

}  // namespace
}  // namespace capi::ops
