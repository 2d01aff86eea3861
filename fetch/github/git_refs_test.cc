#include "fetch/github/git_refs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/cost.h"
#include "fetch/github_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using std::string_literals::operator""s;

// What `git http-backend` answers of a repository with a branch, an annotated tag, a light one, and one of a module.
const std::string kOfGit =
    "001e# service=git-upload-pack\n0000"
    "010b0dff1f1b0fa38d4ef974b547466f0a3c3f8c05cb HEAD\0multi_ack thin-pack side-band side-band-64k ofs-delta shallow "
    "deepen-since deepen-not "
    "deepen-relative no-progress include-tag multi_ack_detailed no-done symref=HEAD:refs/heads/main "
    "object-format=sha1 agent=git/2.39.5\n"
    "003d0dff1f1b0fa38d4ef974b547466f0a3c3f8c05cb refs/heads/main\n"
    "00420dff1f1b0fa38d4ef974b547466f0a3c3f8c05cb refs/tags/1.1.0-rc.0\n"
    "00430dff1f1b0fa38d4ef974b547466f0a3c3f8c05cb refs/tags/test/v1.0.0\n"
    "003e10d55e517056b2fe6132e33871d304153adc4cbb refs/tags/v1.0.0\n"
    "00410dff1f1b0fa38d4ef974b547466f0a3c3f8c05cb refs/tags/v1.0.0^{}\n"
    "0000"s;

TEST(ReadTags, ReadsWhatGitAnswers) {
  auto tags = ReadTags(kOfGit);
  ASSERT_TRUE(tags.ok()) << tags.error().message;
  EXPECT_THAT(*tags, ElementsAre("1.1.0-rc.0", "test/v1.0.0", "v1.0.0"));
}

TEST(ReadTags, NamesEachTagOnce) {
  auto tags = ReadTags(RefsOf({"v1.0.0", "test/v1.0.0", "1.1.0"}));
  ASSERT_TRUE(tags.ok()) << tags.error().message;
  EXPECT_THAT(*tags, ElementsAre("v1.0.0", "test/v1.0.0", "1.1.0"));
  const std::string none = "0000000000000000000000000000000000000000 capabilities^{}\0multi_ack\n"s;
  auto empty = ReadTags(fmt::format("001e# service=git-upload-pack\n0000{:04x}{}0000", none.size() + 4, none));
  ASSERT_TRUE(empty.ok()) << empty.error().message;
  EXPECT_THAT(*empty, IsEmpty());
}

// F2, F3: one that is cut off anywhere would hide the newest versions.
TEST(ReadTags, RefusesWhatIsCutOffAnywhere_F3) {
  const std::string whole = RefsOf({"v1.0.0", "v1.1.0"});
  for (size_t size = 0; size < whole.size(); ++size) {
    auto tags = ReadTags(whole.substr(0, size));
    ASSERT_FALSE(tags.ok()) << size;
    EXPECT_EQ(tags.code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(ReadTags(whole + "0000").ok());
}

TEST(ReadTags, RefusesWhatIsNone_F2) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"<!DOCTYPE html><html></html>", "a line has no length"},
      {"1f9c1e5a3a1cba6ff2be0b4a1d5e5f7c8d9e0a1b\trefs/tags/v1.0.0\n", "it is cut off"},
      {"001d# service=git-receive-pack0000", "it doesn't begin as one"},
      {"001e# service=git-upload-pack\n001e# service=git-upload-pack\n0000", "it doesn't begin as one"},
      {"001e# service=git-upload-pack\n00000001", "it is cut off"},
      {"001e# service=git-upload-pack\n0000-001", "a line has no length"},
      {"001e# service=git-upload-pack\n00000004", "a line names nothing"},
      {"001e# service=git-upload-pack\n0000000fERR no re", "it is cut off"},
      {"001e# service=git-upload-pack\n0000000fERR no way0000", "no way"},
  };
  for (const auto& [text, why] : cases) {
    auto tags = ReadTags(text);
    ASSERT_FALSE(tags.ok()) << text;
    EXPECT_EQ(tags.code(), Code::kInvalidArgument);
    EXPECT_THAT(tags.error().message, HasSubstr(why)) << text;
  }
}

// F2: as large as the longest list of versions.
TEST(ReadTags, ReadsTenThousandTagsInAFifthOfASecond_F2) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(fmt::format("v1.{}.{}", i / 100, i % 100));
  const std::string text = RefsOf(names);
  Cost cost = Measure([&] {
    auto tags = ReadTags(text);
    return tags.ok() ? std::to_string(tags->size()) : tags.error().message;
  });
  EXPECT_EQ(cost.answer, "10000");
  if (!kMeasuresCost) return;
  EXPECT_LT(cost.seconds, 5);
  EXPECT_LT(cost.bytes, 20e6);
}

}  // namespace
}  // namespace capi::fetch
