#include <fmt/format.h>

#include "base/http/fetch_from.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/git/conversation.h"
#include "fetch/github/git_refs.h"

namespace capi::fetch {
namespace {

constexpr Seconds kLimitWait{60};  // where a limit of requests comes without a time
constexpr std::string_view kBeginning = "/info/refs?service=git-upload-pack";

// Git's "smart" HTTP: one request to begin with, and one for each question. Thread-compatible.
class OverHttp : public GitConversation {
 public:
  OverHttp(const api::GitReference& reference, const GitCredentials& credentials, const HttpOptions& options)
      : host_(reference.HostPort()),
        base_(fmt::format("{}://{}{}", reference.scheme == api::GitReference::Scheme::kHttp ? "http" : "https", host_,
                          reference.path)),
        credentials_(credentials),
        options_(options),
        may_lead_inward_(InwardFrom(base_, options.inward_hosts)) {}

  bool over_http() const override { return true; }

  Result<std::string> Begin(const Context& ctx) override {
    http::Request request;
    request.max_body = options_.max_answer;
    http::Url by;
    http::Response response = TRY(Send(ctx, base_ + std::string(kBeginning), std::move(request), by));
    const std::string path = by.path;
    if (response.status / 100 == 2 && !IsOfType(response, kGitRefsType)) {
      return Error{
          Code::kInvalidArgument, fmt::format("what answers at {} is no git server (of \"smart\" HTTP)", host_), {}};
    }
    // Within the server it may have moved, with ".git" behind its name for one.
    if (path.ends_with(kBeginning)) base_ = by.Origin() + path.substr(0, path.size() - kBeginning.size());
    return std::move(response.body);
  }

  Result<std::string> Ask(const Context& ctx, std::string_view text, int, size_t most, bool* too_much) override {
    http::Request request;
    int status = 0;
    request.on_head = [&status](int seen) { status = seen; };
    request.method = "POST";
    request.idempotent = true;  // it only reads
    request.max_body = most;
    request.body = text;
    request.content_type = "application/x-git-upload-pack-request";
    request.headers.Set("Accept", "application/x-git-upload-pack-result");
    http::Url by;
    auto answer = Send(ctx, base_ + "/git-upload-pack", std::move(request), by);
    // After a good head it is the body's size alone.
    if (too_much != nullptr) *too_much = !answer.ok() && answer.code() == Code::kInvalidArgument && status / 100 == 2;
    http::Response response = TRY(std::move(answer));
    if (!IsOfType(response, "application/x-git-upload-pack-result"))
      return Error{Code::kInvalidArgument, fmt::format("{} answers with something else than a pack", host_), {}};
    return std::move(response.body);
  }

 private:
  static bool IsOfType(const http::Response& response, std::string_view type) {
    const std::string is = response.headers.Get("Content-Type");
    return ToLower(Trim(is.substr(0, is.find(';')))) == type;
  }

  // T15: another server isn't asked, whatever it is.
  Status CheckIsOwn(const std::string& url, const http::Url& next) const {
    if (SameOrigin(url, next.Origin())) return Ok();
    return Error{Code::kInvalidArgument,
                 fmt::format("{} sends to another server, which isn't asked: where that is right, name {} in its place",
                             host_, next.Origin()),
                 {}};
  }

  // An answer of 2xx of the server itself.
  Result<http::Response> Send(const Context& ctx, const std::string& url, http::Request request, http::Url& by) const {
    request.headers.Set("Git-Protocol", "version=2");
    if (!options_.user_agent.empty()) request.headers.Set("User-Agent", options_.user_agent);
    if (const std::string value = credentials_.Authorization(); !value.empty())
      request.headers.Set("Authorization", value);
    http::Options http;
    http.tls.ca_pem = credentials_.ca;
    if (credentials_.ca.empty()) http.tls.ca_file = options_.ca_file;
    http.proxy = options_.proxy;
    http.connect_timeout = options_.connect_timeout;
    http.may_lead_inward = may_lead_inward_;
    auto response = http::Fetch(ctx.WithTimeout(options_.request_timeout), url, std::move(request), http, by,
                                [&](const http::Url& next) { return CheckIsOwn(url, next); });
    if (!response.ok()) return OfOwnLimit(ctx, response.error());
    if (response->status / 100 != 2) return ErrorOf(ctx, *response);
    return response;
  }

  Error ErrorOf(const Context& ctx, const http::Response& response) const {
    const std::string text = fmt::format("git server {} answered HTTP {}", host_, response.status);
    const bool named = !credentials_.Authorization().empty();
    switch (response.status) {
      case 401:
        return Error{Code::kUnauthenticated,
                     text + (named ? ": it refused what the Secret of spec.fetchConfig.git.secretRef has"
                                   : ": it asks for credentials: put username and password, or bearerToken, into the "
                                     "Secret of spec.fetchConfig.git.secretRef"),
                     {}};
      case 403:
        return Error{Code::kUnauthenticated,
                     text + (named ? ": it forbids it to what the Secret of spec.fetchConfig.git.secretRef has, or to "
                                     "this address"
                                   : ": it forbids it to who has no credentials, or to this address"),
                     {}};
      case 404:
        return Error{Code::kNotFound,
                     text + (named ? ": there is no such repository, or it isn't for these credentials"
                                   : ": there is no such repository, or it isn't for everybody"),
                     {}};
      case 429: {
        const Millis wait = RetryAfter(response).value_or(kLimitWait);
        return Error{Code::kRateLimited,
                     fmt::format("{}; the next one may come at {}", text, FormatTime(ctx.clock->Now() + wait)), wait};
      }
      default: break;
    }
    const bool away = response.status >= 500 || response.status == 408;
    return Error{away ? Code::kUnavailable : Code::kInvalidArgument, text, RetryAfter(response)};
  }

  const std::string host_;
  std::string base_;
  const GitCredentials credentials_;
  const HttpOptions options_;
  const std::function<bool(const http::Url&)> may_lead_inward_;
};

}  // namespace

Result<std::unique_ptr<GitConversation>> TalkOverHttp(const api::GitReference& reference,
                                                      const GitCredentials& credentials, const HttpOptions& options) {
  return std::unique_ptr<GitConversation>(std::make_unique<OverHttp>(reference, credentials, options));
}

}  // namespace capi::fetch
