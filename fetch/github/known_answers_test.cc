#include "fetch/github/known_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::fetch {
namespace {

using testing::HasSubstr;

constexpr MonoTime kNow{Seconds(1'000)};

http::Response Answer(std::string body, std::string_view etag, std::string_view cache_control = "") {
  http::Response response;
  response.status = 200;
  response.body = std::move(body);
  if (!etag.empty()) response.headers.Set("ETag", etag);
  if (!cache_control.empty()) response.headers.Set("Cache-Control", cache_control);
  response.headers.Set("Link", "<next>");
  response.headers.Set("X-Other", "more");
  return response;
}

TEST(GitHubAnswers, HoldAsLongAsTheServerSaysAndAMinuteAtMost) {
  const std::pair<std::string_view, int> cases[] = {
      {"", 0},
      {"public, max-age=30, s-maxage=60", 30},
      {"Private,MAX-AGE=60", 60},
      {"max-age=86400", 60},
      {"max-age=99999999999999999999", 0},
      {"max-age=x", 0},
      {"max-age=", 0},
      {"max-age=60, no-cache", 0},
      {"no-store, max-age=60", 0},
  };
  for (const auto& [cache_control, seconds] : cases) {
    GitHubAnswers answers;
    answers.Put("q", Answer("text", "e", cache_control), kNow);
    auto answer = answers.Of("q");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->holds_until - kNow, Seconds(seconds)) << cache_control;
    EXPECT_EQ(answer->etag, "e");
    EXPECT_EQ(answer->response.body, "text");
    EXPECT_EQ(answer->response.headers.Get("Link"), "<next>");
    answers.Renew("q", Answer("", "e", "max-age=7"), kNow + Seconds(100));
    EXPECT_EQ(answers.Of("q")->holds_until - kNow, Seconds(107));
  }
}

TEST(GitHubAnswers, WithoutAnETagNoneIsKept) {
  GitHubAnswers answers;
  answers.Put("q", Answer("text", "e"), kNow);
  answers.Put("q", Answer("another", ""), kNow);
  EXPECT_FALSE(answers.Of("q"));
  answers.Renew("q", Answer("", "e", "max-age=7"), kNow);
  EXPECT_FALSE(answers.Of("q"));
}

// F2: 4 MiB together, whatever is asked.
TEST(GitHubAnswers, TheOldestGo_F2) {
  GitHubAnswers answers;
  const std::string large(1u << 20, 'x');
  for (int i = 0; i < 10; ++i) answers.Put("q" + std::to_string(i), Answer(large, "e"), kNow);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(answers.Of("q" + std::to_string(i)).has_value(), i >= 7) << i;
  for (int i = 0; i < 10; ++i) answers.Put("q8", Answer(large, "e" + std::to_string(i)), kNow);
  EXPECT_TRUE(answers.Of("q7")) << "one that is replaced takes no more room";
  EXPECT_EQ(answers.Of("q8")->etag, "e9");
  answers.Put("q8", Answer(std::string(5u << 20, 'x'), "e"), kNow);
  EXPECT_FALSE(answers.Of("q8")) << "it is no longer so";
  EXPECT_TRUE(answers.Of("q7"));
}

// I17: of two requests under way one is told of the hour's limit, the other, before or after, of a secondary one.
TEST(GitHubAnswers, TheLongestWaitCounts_I17) {
  const Error hour{Code::kRateLimited, "in an hour", Seconds(3'000)}, minute{Code::kRateLimited, "soon", Seconds(60)};
  for (const auto& [first, second] : {std::pair(hour, minute), std::pair(minute, hour)}) {
    GitHubAnswers answers;
    answers.Limit("a", first, kNow);
    answers.Limit("a", second, kNow + Seconds(1));
    Status status = answers.CheckLimit("a", kNow + Seconds(100));
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("in an hour"));
    answers.Limit("a", minute, kNow + Seconds(4'000));
    EXPECT_THAT(answers.CheckLimit("a", kNow + Seconds(4'001)).error().message, HasSubstr("soon"));
  }
}

TEST(GitHubAnswers, WhoIsToldToWaitWaits) {
  GitHubAnswers answers;
  EXPECT_TRUE(answers.CheckLimit("a", kNow).ok());
  answers.Limit("a", Error{Code::kRateLimited, "resets at noon", Seconds(90)}, kNow);
  EXPECT_TRUE(answers.CheckLimit("b", kNow).ok());
  Status status = answers.CheckLimit("a", kNow + Seconds(60));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::kRateLimited);
  EXPECT_EQ(status.error().retry_after, Seconds(30));
  EXPECT_THAT(status.error().message, HasSubstr("resets at noon"));
  EXPECT_TRUE(answers.CheckLimit("a", kNow + Seconds(90)).ok());
}

}  // namespace
}  // namespace capi::fetch
