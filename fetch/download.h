// What the clients of GitHub and GitLab have in common: one bounded GET, and the checks of what came.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/version.h"
#include "base/context.h"
#include "base/http/client.h"
#include "fetch/repository.h"

namespace capi::fetch {

inline constexpr int kMostPages = 400;                         // of a list
inline constexpr size_t kMostReleases = 10'000;                // GitHub lists no more
inline constexpr Seconds kListTime = std::chrono::minutes(5);  // for all pages together
inline constexpr Seconds kDigestTime{10};                      // what can't be asked in this time isn't known
inline constexpr size_t kMostOfDigest = 100;  // characters that are kept; a longer one is none that could be right
inline constexpr std::string_view kMetadataFile = "metadata.yaml";
inline constexpr std::string_view kFileType = "application/octet-stream";

// A value.
struct Download {
  std::string url;
  std::string_view accept;
  std::string token;  // "" for none; goes to no other host, wherever a redirect leads
  size_t max_body = 0;
  std::string etag = {};  // of the answer that is there already: then 304 is an answer, too
  bool optional = false;  // see OfStore
  // Whose word counts: that of the server alone, or of whoever answers in its place too. A server of plain files has
  // no API, and sends no credentials along: where it leads is its store.
  bool store_counts = false;
};

// Whether a file of a release with that name is one of those that it may be verified by: one is enough (T14).
bool IsSignatureFile(std::string_view name);

// What a server behind a redirect of `server` answered. Neither what it lacks nor what it refuses is that one's word:
// it is kUnavailable. But of what may be missing, and others do in its place (`optional`), 404 and 410 are kNotFound,
// and other refusals kFailedPrecondition: they'd be the same with the next try.
Error OfStore(std::string_view server, const http::Response& response, bool optional);

// An answer of another status than 2xx is the error that `error_of` makes of it, and kUnavailable where it is that of
// another server, to which a redirect led (unless `store_counts`). `too_large`: whether the body is why there is no
// answer.
Result<http::Response> Get(const Context& ctx, const HttpOptions& options, const Download& download,
                           Error (*error_of)(const http::Response& response, WallTime now), bool* too_large = nullptr);

// For http::Options::may_lead_inward of requests that begin at `url`: to addresses of a private network leads a server
// that has one too, and any where `listed` says so (T11). Unset where `listed` is. Copies share what they learn.
std::function<bool(const http::Url&)> InwardFrom(std::string_view url, std::function<bool(const http::Url&)> listed);

// Our own limit of time is the server's slowness (kUnavailable), not the caller's wish to end.
Error OfOwnLimit(const Context& ctx, Error error);

// A page that a network's login puts in the place of an answer says so, and not that somebody changed a file.
Status CheckIsNoPage(std::string_view body);

// `digest` as `service` ("GitHub") names it, "" for none. One of a kind that isn't known here can't be checked: then
// nothing vouches for what came (behaviour.md T6).
Status CheckDigest(std::string_view digest, std::string_view body, std::string_view service);

// Without white space around it. kInvalidArgument for what would end a header's line.
Result<std::string> CheckToken(std::string_view token, std::string_view service);

// Nobody has answered what there is: it may be told with the next try.
bool IsAway(Code code);

// Ascending, each once.
void Order(std::vector<api::Version>& versions);

}  // namespace capi::fetch
