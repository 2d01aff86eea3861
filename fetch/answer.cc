#include "fetch/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/http/url.h"
#include "base/json_filter.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

// Whose answers they are.
struct Service {
  std::string_view name;
  std::string_view limit_headers;  // how the names of those begin that tell of a rate limit
  std::string_view limit_reached;  // and what to do about it
};

// In words of clusterctl, which people search for.
constexpr Service kGitHub = {
    "GitHub", "X-RateLimit-",
    "rate limit for github api has been reached. Please wait one hour or get a personal API token and assign it to the "
    "GITHUB_TOKEN environment variable"};
constexpr Service kGitLab = {"GitLab", "RateLimit-", "GitLab's rate limit has been reached"};

// GitHub asks for at least a minute where a secondary limit comes without a time.
constexpr Seconds kWaitWithoutTime{60};
constexpr Seconds kLongestWait{24 * 3600};
// A limit is of an hour, GitLab's of less: where the reset is later, this machine's clock is wrong.
constexpr Seconds kLongestReset{61 * 60};
constexpr std::int64_t kFarAway = 9'000'000'000;  // seconds that a clock can still hold, in the year 2255

std::optional<std::int64_t> Number(const std::string& text) {
  std::int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return std::min(value, kFarAway);
}

// What the answer's JSON says in "message", or where OAuth speaks, in "error_description"; in short.
std::string MessageOf(const http::Response& response) {
  // Of an answer that may be as large as a list of releases.
  Result<Json> body = ParseJson(response.body, [](int depth, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::key) return value == "message" || value == "error_description";
    if (depth == 0) return event != Json::parse_event_t::array_start;
    return event == Json::parse_event_t::value;
  });
  if (!body.ok()) return "";
  return Shorten(GetString(*body, {"message"}, GetString(*body, {"error_description"})), 200);
}

std::string LimitHeader(const http::Response& response, const Service& service, std::string_view name) {
  return response.headers.Get(std::string(service.limit_headers) + std::string(name));
}

bool IsRateLimit(const http::Response& response, const Service& service, const std::string& message) {
  if (response.status == 429) return true;
  if (response.status != 403) return false;
  return LimitHeader(response, service, "Remaining") == "0" || response.headers.Has("Retry-After") ||
         ToLower(message).find("rate limit") != std::string::npos;
}

Error RateLimited(const http::Response& response, const Service& service, WallTime now) {
  Millis wait = kWaitWithoutTime;
  if (auto asked = RetryAfter(response)) {
    wait = *asked;
  } else if (auto reset = Number(LimitHeader(response, service, "Reset"));
             reset && LimitHeader(response, service, "Remaining") == "0") {
    wait = std::min<Millis>(std::chrono::duration_cast<Millis>(WallTime(Seconds(*reset)) - now), kLongestReset);
  }
  wait = std::clamp<Millis>(wait, Seconds(1), kLongestWait);
  return Error{Code::kRateLimited,
               fmt::format("{}; the limit resets at {}", service.limit_reached, FormatTime(now + wait)), wait};
}

Error ErrorOf(const http::Response& response, const Service& service, WallTime now) {
  std::string message = MessageOf(response);
  if (IsRateLimit(response, service, message)) return RateLimited(response, service, now);
  std::string text = fmt::format("HTTP {}{}{}", response.status, message.empty() ? "" : ": ", message);
  switch (response.status) {
    case 401: return Error{Code::kUnauthenticated, fmt::format("{} refused the token: {}", service.name, text), {}};
    case 403: return Error{Code::kPermissionDenied, fmt::format("{} denied access: {}", service.name, text), {}};
    case 404: return Error{Code::kNotFound, text, {}};
    default: break;
  }
  if (response.status < 500)
    return Error{Code::kInvalidArgument, fmt::format("{} answered {}", service.name, text), {}};
  return Error{Code::kUnavailable, fmt::format("{} is in trouble: {}", service.name, text), RetryAfter(response)};
}

}  // namespace

Error GitHubError(const http::Response& response, WallTime now) { return ErrorOf(response, kGitHub, now); }

Error GitLabError(const http::Response& response, WallTime now) { return ErrorOf(response, kGitLab, now); }

std::optional<Millis> RetryAfter(const http::Response& response) {
  auto seconds = Number(response.headers.Get("Retry-After"));
  if (!seconds) return std::nullopt;
  return std::clamp<Millis>(Seconds(*seconds), Seconds(1), kLongestWait);
}

std::string NextPage(std::string_view link) {
  for (const std::string& entry : Split(link, ',')) {
    size_t open = entry.find('<'), close = entry.find('>');
    if (open == std::string::npos || close == std::string::npos || close < open) continue;
    std::string parameters = ReplaceAll(entry.substr(close + 1), " ", "");
    if (parameters.find(";rel=\"next\"") == std::string::npos && parameters.find(";rel=next") == std::string::npos)
      continue;
    return entry.substr(open + 1, close - open - 1);
  }
  return "";
}

bool SameOrigin(std::string_view a, std::string_view b) {
  auto one = http::Url::Parse(a), other = http::Url::Parse(b);
  return one.ok() && other.ok() && one->Origin() == other->Origin();
}

bool IsOwnAnswer(std::string_view url, const http::Url& by, int status) {
  if (SameOrigin(url, by.Origin())) return true;
  auto own = http::Url::Parse(url);
  return own.ok() && own->host == by.host && own->scheme != by.scheme && status != 401;
}

}  // namespace capi::fetch
