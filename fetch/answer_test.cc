#include "fetch/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/url.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

const WallTime kNow{Seconds(1'700'000'000)};  // 2023-11-14T22:13:20Z

http::Response Answer(int status, std::vector<std::pair<std::string, std::string>> headers, std::string body = "") {
  http::Response response;
  response.status = status;
  for (const auto& [name, value] : headers) response.headers.Set(name, value);
  response.body = std::move(body);
  return response;
}

TEST(GitHubError, SaysWhatToDoNext_F1) {
  struct Case {
    std::string_view name;
    http::Response answer;
    Code code;
    std::string_view message;
    std::optional<Millis> retry_after;
  };
  const Case cases[] = {
      {"limit used up", Answer(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1700000600"}}),
       Code::kRateLimited, "resets at 2023-11-14T22:23:20Z", Seconds(600)},
      {"429 with a time", Answer(429, {{"Retry-After", "30"}}), Code::kRateLimited, "resets at 2023-11-14T22:13:50Z",
       Seconds(30)},
      {"403 with a time", Answer(403, {{"Retry-After", "90"}}), Code::kRateLimited, "resets at 2023-11-14T22:14:50Z",
       Seconds(90)},
      {"a secondary limit without a time",
       Answer(403, {}, R"({"message": "You have exceeded a secondary rate limit."})"), Code::kRateLimited,
       "resets at 2023-11-14T22:14:20Z", Seconds(60)},
      {"a reset in the past", Answer(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1600000000"}}),
       Code::kRateLimited, "resets at 2023-11-14T22:13:21Z", Seconds(1)},
      {"a time that no clock holds",
       Answer(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "9223372036854775807"}}), Code::kRateLimited,
       "resets at 2023-11-14T23:14:20Z", Seconds(3660)},
      {"a clock that is six hours behind",
       Answer(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1700022200"}}), Code::kRateLimited,
       "resets at 2023-11-14T23:14:20Z", Seconds(3660)},
      {"seconds without number", Answer(429, {{"Retry-After", "9223372036854775807"}}), Code::kRateLimited,
       "resets at 2023-11-15T22:13:20Z", Seconds(24 * 3600)},
      {"nonsense in the headers", Answer(429, {{"Retry-After", "soon"}, {"X-RateLimit-Reset", "-5"}}),
       Code::kRateLimited, "resets at 2023-11-14T22:14:20Z", Seconds(60)},
      {"a refused token",
       Answer(401, {}, R"({"message": "Bad credentials"})"),
       Code::kUnauthenticated,
       "Bad credentials",
       {}},
      {"no right",
       Answer(403, {{"X-RateLimit-Remaining", "55"}}, R"({"message": "Resource protected by organization SAML"})"),
       Code::kPermissionDenied,
       "SAML",
       {}},
      {"not there", Answer(404, {}), Code::kNotFound, "404", {}},
      {"in trouble", Answer(502, {}, "<html>unicorn</html>"), Code::kUnavailable, "HTTP 502", {}},
      {"in trouble with a time", Answer(503, {{"Retry-After", "7"}}), Code::kUnavailable, "HTTP 503", Seconds(7)},
      {"in trouble with no time", Answer(503, {{"Retry-After", "0"}}), Code::kUnavailable, "HTTP 503", Seconds(1)},
      {"something else", Answer(422, {}), Code::kInvalidArgument, "HTTP 422", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Error error = GitHubError(c.answer, kNow);
    EXPECT_EQ(error.code, c.code);
    EXPECT_THAT(error.message, HasSubstr(c.message));
    EXPECT_EQ(error.retry_after, c.retry_after);
  }
}

TEST(GitHubError, KeepsTheWordsThatPeopleSearchFor) {
  EXPECT_THAT(
      GitHubError(Answer(429, {}), kNow).message,
      HasSubstr("rate limit for github api has been reached. Please wait one hour or get a personal API token and "
                "assign it to the GITHUB_TOKEN environment variable"));
}

TEST(GitLabError, SaysWhatToDoNext_F1) {
  struct Case {
    std::string_view name;
    http::Response answer;
    Code code;
    std::string_view message;
    std::optional<Millis> retry_after;
  };
  const Case cases[] = {
      {"limit used up", Answer(429, {{"RateLimit-Remaining", "0"}, {"RateLimit-Reset", "1700000600"}}),
       Code::kRateLimited, "GitLab's rate limit has been reached; the limit resets at 2023-11-14T22:23:20Z",
       Seconds(600)},
      {"429 with a time", Answer(429, {{"Retry-After", "30"}, {"RateLimit-Reset", "1700000600"}}), Code::kRateLimited,
       "resets at 2023-11-14T22:13:50Z", Seconds(30)},
      {"429 without a time", Answer(429, {}, "Retry later\n"), Code::kRateLimited, "resets at 2023-11-14T22:14:20Z",
       Seconds(60)},
      {"403 of a limit", Answer(403, {{"RateLimit-Remaining", "0"}, {"RateLimit-Reset", "1700000060"}}),
       Code::kRateLimited, "resets at 2023-11-14T22:14:20Z", Seconds(60)},
      {"headers of another service",
       Answer(403, {{"X-RateLimit-Remaining", "0"}}),
       Code::kPermissionDenied,
       "GitLab denied access: HTTP 403",
       {}},
      {"a refused token",
       Answer(401, {}, R"({"error": "invalid_token", "error_description": "Token was revoked."})"),
       Code::kUnauthenticated,
       "GitLab refused the token: HTTP 401: Token was revoked.",
       {}},
      {"no right", Answer(403, {}, R"({"message": "403 Forbidden"})"), Code::kPermissionDenied, "403 Forbidden", {}},
      {"not there",
       Answer(404, {}, R"({"message": "404 Package Not Found"})"),
       Code::kNotFound,
       "Package Not Found",
       {}},
      {"in trouble", Answer(502, {}, "<html></html>"), Code::kUnavailable, "GitLab is in trouble: HTTP 502", {}},
      {"in trouble with a time", Answer(503, {{"Retry-After", "7"}}), Code::kUnavailable, "HTTP 503", Seconds(7)},
      {"something else",
       Answer(422, {}, R"({"message": {"version": ["is invalid"]}})"),
       Code::kInvalidArgument,
       "GitLab answered HTTP 422",
       {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Error error = GitLabError(c.answer, kNow);
    EXPECT_EQ(error.code, c.code);
    EXPECT_THAT(error.message, HasSubstr(c.message));
    EXPECT_EQ(error.retry_after, c.retry_after);
  }
}

TEST(NextPage, ReadsTheLinkHeader) {
  struct Case {
    std::string_view link, want;
  };
  const Case cases[] = {
      {"", ""},
      {R"(<https://a/x?page=2>; rel="next", <https://a/x?page=9>; rel="last")", "https://a/x?page=2"},
      {R"(<https://a/x?page=1>; rel="prev", <https://a/x?page=3>; rel="next")", "https://a/x?page=3"},
      {R"(<https://a/x?page=1>; rel="first")", ""},
      {R"(https://a/x?page=1; rel="next")", ""},
      {"<<<>>>, ;;", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(NextPage(c.link), c.want) << c.link;
}

TEST(SameOrigin, ComparesSchemeHostAndPort) {
  EXPECT_TRUE(SameOrigin("https://api.github.com/x?y", "https://API.github.com"));
  EXPECT_TRUE(SameOrigin("https://api.github.com:443/x", "https://api.github.com/api/v3"));
  EXPECT_FALSE(SameOrigin("http://api.github.com/x", "https://api.github.com/x"));
  EXPECT_FALSE(SameOrigin("https://api.github.com.evil.org/x", "https://api.github.com"));
  EXPECT_FALSE(SameOrigin("https://api.github.com@evil.org/x", "https://api.github.com"));
  EXPECT_FALSE(SameOrigin("https://api.github.com:8443/x", "https://api.github.com"));
  EXPECT_FALSE(SameOrigin("/repos/x", "/repos/x"));
}

TEST(IsOwnAnswer, IsThatOfTheHostWhateverItsSchemeButForCredentials_T9_T10) {
  struct Case {
    std::string_view url, by;
    int status;
    bool own;
  };
  const Case cases[] = {
      {"https://a/x", "https://a/y", 404, true},        {"https://a/x", "https://A:443", 401, true},
      {"http://a:81/x", "http://a:81", 401, true},      {"http://a/x", "https://a/x", 404, true},
      {"http://a:81/x", "https://a:444/x", 403, true},  {"http://a/x", "https://a/x", 401, false},
      {"https://a/x", "https://a:444/x", 404, false},   {"http://a:81/x", "http://a/x", 404, false},
      {"https://a/x", "https://b/x", 404, false},       {"http://a/x", "https://b/x", 404, false},
      {"https://a/x", "https://store.a/x", 404, false}, {"x", "https://a/x", 404, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsOwnAnswer(c.url, *http::Url::Parse(c.by), c.status), c.own) << c.url << " " << c.by << " " << c.status;
  }
}

}  // namespace
}  // namespace capi::fetch
