#include "fetch/github_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/http/url.h"
#include "base/json_filter.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

// GitHub asks for at least a minute where a secondary limit comes without a time.
constexpr Seconds kSecondaryLimitWait{60};
constexpr Seconds kLongestWait{24 * 3600};
constexpr std::int64_t kFarAway = 9'000'000'000;  // seconds that a clock can still hold, in the year 2255

std::optional<std::int64_t> Number(const std::string& text) {
  std::int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return std::min(value, kFarAway);
}

// What the answer's JSON says in "message", in short.
std::string MessageOf(const http::Response& response) {
  // Of an answer that may be as large as a list of releases.
  Result<Json> body = ParseJson(response.body, [](int depth, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::key) return value == "message";
    if (depth == 0) return event != Json::parse_event_t::array_start;
    return event == Json::parse_event_t::value;
  });
  return body.ok() ? Shorten(GetString(*body, {"message"}), 200) : "";
}

bool IsRateLimit(const http::Response& response, const std::string& message) {
  if (response.status == 429) return true;
  if (response.status != 403) return false;
  return response.headers.Get("X-RateLimit-Remaining") == "0" || response.headers.Has("Retry-After") ||
         ToLower(message).find("rate limit") != std::string::npos;
}

Error RateLimited(const http::Response& response, WallTime now) {
  Millis wait = kSecondaryLimitWait;
  if (auto seconds = Number(response.headers.Get("Retry-After"))) {
    wait = Seconds(*seconds);
  } else if (auto reset = Number(response.headers.Get("X-RateLimit-Reset"));
             reset && response.headers.Get("X-RateLimit-Remaining") == "0") {
    wait = std::chrono::duration_cast<Millis>(WallTime(Seconds(*reset)) - now);
  }
  wait = std::clamp<Millis>(wait, Seconds(1), kLongestWait);
  // Words of clusterctl, which people search for; then what is known beyond them.
  return Error{
      Code::kRateLimited,
      fmt::format("rate limit for github api has been reached. Please wait one hour or get a personal API token and "
                  "assign it to the GITHUB_TOKEN environment variable; the limit resets at {}",
                  FormatTime(now + wait)),
      wait};
}

}  // namespace

Error GitHubError(const http::Response& response, WallTime now) {
  std::string message = MessageOf(response);
  if (IsRateLimit(response, message)) return RateLimited(response, now);
  std::string text = fmt::format("HTTP {}{}{}", response.status, message.empty() ? "" : ": ", message);
  switch (response.status) {
    case 401: return Error{Code::kUnauthenticated, "GitHub refused the token: " + text, {}};
    case 403: return Error{Code::kPermissionDenied, "GitHub denied access: " + text, {}};
    case 404: return Error{Code::kNotFound, text, {}};
    default: break;
  }
  if (response.status < 500) return Error{Code::kInvalidArgument, "GitHub answered " + text, {}};
  Error error{Code::kUnavailable, "GitHub is in trouble: " + text, {}};
  if (auto seconds = Number(response.headers.Get("Retry-After"))) {
    error.retry_after = std::min<Millis>(Seconds(*seconds), kLongestWait);
  }
  return error;
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

}  // namespace capi::fetch
