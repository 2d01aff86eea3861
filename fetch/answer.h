// What answers of GitHub and GitLab other than success mean, as errors with the words that users look for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/http/client.h"

namespace capi::fetch {

// The error that an answer other than 2xx stands for; kNotFound for 404. `now` turns the time of a rate limit's reset
// into a wait.
Error GitHubError(const http::Response& response, WallTime now);
Error GitLabError(const http::Response& response, WallTime now);

// The seconds that a server asks to wait, from one to those of a day; nullopt where it names none.
std::optional<Millis> RetryAfter(const http::Response& response);

// The URL of the next page in a Link header, "" for the last page.
std::string NextPage(std::string_view link);

// True when both URLs have the same scheme, host and port.
bool SameOrigin(std::string_view a, std::string_view b);

// Whether an answer from `by`, wherever redirects led, is the word of the server that `url` names: one of its host,
// from http to https too. No credentials go along there, so that one on them (401) is only of the same origin.
bool IsOwnAnswer(std::string_view url, const http::Url& by, int status);

}  // namespace capi::fetch
