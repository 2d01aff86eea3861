#include "fetch/download.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "api/release.h"
#include "base/encoding.h"
#include "base/http/fetch_from.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/text.h"

namespace capi::fetch {

Result<http::Response> Get(const Context& ctx, const HttpOptions& options, const Download& download,
                           Error (*error_of)(const http::Response& response, WallTime now), bool* too_large) {
  http::Request request;
  request.max_body = download.max_body;
  request.headers.Set("Accept", download.accept);
  if (!options.user_agent.empty()) request.headers.Set("User-Agent", options.user_agent);
  if (!download.token.empty()) request.headers.Set("Authorization", "Bearer " + download.token);
  if (!download.etag.empty()) request.headers.Set("If-None-Match", download.etag);
  int status = 0;
  request.on_head = [&status](int seen) { status = seen; };
  http::Options http;
  http.tls.ca_file = options.ca_file;
  http.proxy = options.proxy;
  http.connect_timeout = options.connect_timeout;
  http.may_lead_inward = InwardFrom(download.url, options.inward_hosts);
  http::Url by;
  Result<http::Response> response =
      http::Fetch(ctx.WithTimeout(options.request_timeout), download.url, std::move(request), http, by);
  // After a good head nothing but the body's size is the fault of what was asked for.
  if (too_large != nullptr) {
    *too_large = !response.ok() && response.code() == Code::kInvalidArgument && status / 100 == 2;
  }
  if (!response.ok()) return OfOwnLimit(ctx, response.error());
  if (response->status / 100 == 2) return response;
  if (response->status == 304 && !download.etag.empty() && IsOwnAnswer(download.url, by, 304)) return response;
  Error error = error_of(*response, ctx.clock->Now());
  if (IsOwnAnswer(download.url, by, response->status)) return error;
  const http::Url own = TRY(http::Url::Parse(download.url));
  if (download.store_counts)
    return error.With(fmt::format("where {} sends to ({})", own.HostHeader(), by.HostHeader()));
  return OfStore(own.HostHeader(), *response, download.optional);
}

bool IsSignatureFile(std::string_view name) {
  return std::any_of(std::begin(api::kSignatureSuffixes), std::end(api::kSignatureSuffixes),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

Error OfStore(std::string_view server, const http::Response& response, bool optional) {
  const int status = response.status;
  std::string message = fmt::format("where {} sends to answered HTTP {}", server, status);
  const bool refuses = status / 100 == 4 && status != 408 && status != 429;
  if (!optional || !refuses) return Error{Code::kUnavailable, std::move(message), RetryAfter(response)};
  return Error{status == 404 || status == 410 ? Code::kNotFound : Code::kFailedPrecondition, std::move(message), {}};
}

std::function<bool(const http::Url&)> InwardFrom(std::string_view url, std::function<bool(const http::Url&)> listed) {
  if (!listed) return {};
  auto own = http::Url::Parse(url);
  auto is_inside = std::make_shared<std::atomic<bool>>(false);
  return [host = own.ok() ? own->host : std::string(), is_inside, listed = std::move(listed)](const http::Url& to) {
    if (to.host == host) *is_inside = true;
    return *is_inside || listed(to);
  };
}

Error OfOwnLimit(const Context& ctx, Error error) {
  if (error.code == Code::kDeadlineExceeded && ctx.Check().ok()) error.code = Code::kUnavailable;
  return error;
}

bool IsAway(Code code) {
  return code == Code::kUnavailable || code == Code::kRateLimited || code == Code::kCancelled ||
         code == Code::kDeadlineExceeded;
}

Status CheckIsNoPage(std::string_view body) {
  if (!LooksLikeHtml(body)) return Ok();
  return Error{Code::kInvalidArgument, "the server answered with HTML", {}};
}

Status CheckDigest(std::string_view digest, std::string_view body, std::string_view service) {
  if (digest.empty() || ToLower(digest) == "sha256:" + Sha256Hex(body)) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("what came does not have the digest that {} names ({:.80})", service, digest),
               {}};
}

Result<std::string> CheckToken(std::string_view token, std::string_view service) {
  std::string trimmed(Trim(token));
  if (std::all_of(trimmed.begin(), trimmed.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; })) return trimmed;
  return Error{Code::kInvalidArgument, fmt::format("the {} token holds characters that no token has", service), {}};
}

void Order(std::vector<api::Version>& versions) {
  std::sort(versions.begin(), versions.end());
  auto end = std::unique(versions.begin(), versions.end(),
                         [](const auto& a, const auto& b) { return a.ToString() == b.ToString(); });
  versions.erase(end, versions.end());
}

}  // namespace capi::fetch
