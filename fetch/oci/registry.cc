#include "fetch/oci/registry.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/http/fetch_from.h"
#include "base/http/grammar.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/oci/answers.h"

namespace capi::fetch {
namespace {

constexpr size_t kMostOfUrl = 200;  // characters that are shown
constexpr size_t kMaxTokenAnswer = 1u << 20;
constexpr std::string_view kClientId = "capi-operator";
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";
constexpr std::string_view kWhichCredentials = "OCI_USERNAME and OCI_PASSWORD, OCI_ACCESS_TOKEN or OCI_REFRESH_TOKEN";

// Docker Hub's registry isn't where its name points to.
std::string HostOf(const api::OciReference& reference) {
  return reference.host == "docker.io" ? "registry-1.docker.io" : reference.host;
}

OciOptions Trimmed(OciOptions options) {
  for (std::string* text :
       {&options.credentials.username, &options.credentials.access_token, &options.credentials.refresh_token}) {
    *text = std::string(Trim(*text));
  }
  return options;
}

}  // namespace

OciRegistry::OciRegistry(const api::OciReference& reference, OciOptions options)
    : host_(HostOf(reference)),
      repository_(reference.repository),
      plain_http_(reference.plain_http),
      base_(fmt::format("{}://{}/v2/{}", plain_http_ ? "http" : "https", host_, repository_)),
      options_(Trimmed(std::move(options))),
      may_lead_inward_(InwardFrom(base_, options_.inward_hosts)) {}

std::string OciRegistry::Authorization() const {
  MutexLock lock(mu_);
  return authorization_;
}

Result<http::Response> OciRegistry::Get(const Context& ctx, const std::string& url, std::string_view accept,
                                        size_t max_body) {
  return Ask(ctx, {.method = "GET", .url = url, .accept = accept, .max_body = max_body});
}

Result<http::Response> OciRegistry::Ask(const Context& ctx, const OciCall& call) {
  Answer answer = TRY(Send(ctx, call, Authorization()));
  // Only the registry itself is answered with credentials, whatever a server behind a redirect asks for.
  if (answer.response.status == 401 && answer.own) {
    const std::string authorization = TRY(Authorize(ctx, answer.response));
    answer = TRY(Send(ctx, call, authorization));
    MutexLock lock(mu_);
    if (answer.response.status != 401) authorization_ = authorization;
  }
  if (answer.response.status / 100 == 2) return std::move(answer.response);
  if (answer.own) return ErrorOf(ctx, answer.response, "registry " + host_);
  return OfStore("registry " + host_, answer.response, call.optional);
}

Result<OciRegistry::Answer> OciRegistry::Send(const Context& ctx, const OciCall& call, const std::string& sent) const {
  http::Request request;
  request.method = call.method;
  request.max_body = call.max_body;
  request.content_type = call.content_type;
  request.body = call.body;
  request.headers = call.headers;
  request.on_head = call.on_head;
  request.on_data = call.on_data;
  if (call.on_data) {
    request.max_silence = options_.request_timeout;
    request.headers.Set("Accept-Encoding", "identity");  // its bytes are those that a digest names
  }
  if (!call.accept.empty()) request.headers.Set("Accept", call.accept);
  if (!sent.empty()) request.headers.Set("Authorization", sent);
  return Fetch(ctx, call.url, std::move(request), call.time);
}

Result<OciRegistry::Answer> OciRegistry::Fetch(const Context& ctx, const std::string& url, http::Request request,
                                               std::optional<Millis> time) const {
  if (!options_.user_agent.empty()) request.headers.Set("User-Agent", options_.user_agent);
  http::Options http;
  http.tls.ca_file = options_.ca_file;
  http.proxy = options_.proxy;
  http.connect_timeout = options_.connect_timeout;
  http.may_lead_inward = may_lead_inward_;
  http::Url by;
  auto response =
      http::Fetch(ctx.WithTimeout(time.value_or(options_.request_timeout)), url, std::move(request), http, by);
  if (!response.ok()) return OfOwnLimit(ctx, response.error());
  const bool own = IsOwnAnswer(url, by, response->status);
  return Answer{*std::move(response), own};
}

Result<std::string> OciRegistry::Authorize(const Context& ctx, const http::Response& response) const {
  auto challenge = ReadChallenge(http::Values(response.headers, "WWW-Authenticate"));
  if (!challenge) return ErrorOf(ctx, response, "registry " + host_);
  return challenge->bearer ? AskForToken(ctx, *challenge) : BasicCredentials();
}

Result<std::string> OciRegistry::BasicCredentials() const {
  const OciCredentials& own = options_.credentials;
  if (own.username.empty() || own.password.empty()) {
    return Error{
        Code::kUnauthenticated,
        fmt::format("registry {} asks for a user and a password: give it OCI_USERNAME and OCI_PASSWORD", host_),
        {}};
  }
  return "Basic " + Base64Encode(own.username + ":" + own.password);
}

// A registry that one reaches over TLS can't have the credentials sent in the clear.
Status OciRegistry::CheckRealm(const std::string& realm) const {
  auto url = http::Url::Parse(realm);
  if (url.ok() && url->user_info.empty() && (url->tls() || plain_http_)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("registry {} names no token server that may be asked: {}", host_,
                           url.ok() ? Shorten(http::PrintableUrl(realm), kMostOfUrl) : "its realm is no URL of http"),
               {}};
}

Result<std::string> OciRegistry::AskForToken(const Context& ctx, const Challenge& challenge) const {
  const OciCredentials& own = options_.credentials;
  if (!own.access_token.empty()) return "Bearer " + TRY(CheckToken(own.access_token, "registry's"));
  TRY(CheckRealm(challenge.realm));
  auto answer = own.refresh_token.empty() ? TokenByPassword(ctx, challenge) : TokenByRefresh(ctx, challenge);
  const std::string server = "token server " + Shorten(http::PrintableUrl(challenge.realm), kMostOfUrl);
  if (!answer.ok()) return answer.error().With(server);
  auto token = TokenOf(ctx, answer->response, server);
  if (token.ok()) return "Bearer " + *token;
  if (answer->own) return token.error();
  // Credentials don't go where it redirects to, so nothing is said of them there.
  return Error{Code::kUnavailable,
               fmt::format("where {} sends to gave no token: HTTP {}", server, answer->response.status),
               RetryAfter(answer->response)};
}

Result<std::string> OciRegistry::TokenOf(const Context& ctx, const http::Response& response,
                                         const std::string& server) const {
  if (response.status == 404) return Error{Code::kInvalidArgument, server + " isn't there: HTTP 404", {}};
  if (response.status / 100 != 2) return ErrorOf(ctx, response, server);
  std::string token = TRY(CheckToken(TokenIn(response.body), "registry's"));
  if (token.empty()) return Error{Code::kInvalidArgument, server + " gave no token", {}};
  return token;
}

// Those that the registry names, else what is needed of this repository. The first request of a push reads: its answer
// names no right to write, and the token that comes of it is sent with all others. One to delete it names where that is
// asked for.
std::vector<std::string> OciRegistry::ScopesOf(const Challenge& challenge) const {
  const std::string own = fmt::format("repository:{}:", repository_), all = own + "pull,push";
  std::vector<std::string> scopes;
  for (std::string& scope : Split(challenge.scope, ' ')) {
    const bool replaced = options_.writes && (scope == own + "pull" || scope == own + "push" || scope == all);
    if (!scope.empty() && !replaced) scopes.push_back(std::move(scope));
  }
  if (options_.writes || scopes.empty()) scopes.push_back(options_.writes ? all : own + "pull");
  return scopes;
}

Result<OciRegistry::Answer> OciRegistry::TokenByPassword(const Context& ctx, const Challenge& challenge) const {
  const OciCredentials& own = options_.credentials;
  std::string url = challenge.realm + (challenge.realm.find('?') == std::string::npos ? "?" : "&");
  if (!challenge.service.empty()) url += fmt::format("service={}&", PercentEscape(challenge.service));
  std::vector<std::string> scopes = ScopesOf(challenge);
  for (std::string& scope : scopes) scope = "scope=" + PercentEscape(scope);
  url += Join(scopes, "&");
  http::Request request;
  request.max_body = kMaxTokenAnswer;
  if (!own.username.empty() || !own.password.empty())
    request.headers.Set("Authorization", "Basic " + Base64Encode(own.username + ":" + own.password));
  return Fetch(ctx, url, std::move(request));
}

Result<OciRegistry::Answer> OciRegistry::TokenByRefresh(const Context& ctx, const Challenge& challenge) const {
  http::Request request;
  request.method = "POST";
  request.max_body = kMaxTokenAnswer;
  request.content_type = kFormType;
  request.body = fmt::format("grant_type=refresh_token&service={}&client_id={}&scope={}&refresh_token={}",
                             PercentEscape(challenge.service), kClientId, PercentEscape(Join(ScopesOf(challenge), " ")),
                             PercentEscape(options_.credentials.refresh_token));
  return Fetch(ctx, challenge.realm, std::move(request));
}

Error OciRegistry::ErrorOf(const Context& ctx, const http::Response& response, std::string_view who) const {
  const std::string code = ErrorCodeIn(response.body);
  const std::string text = fmt::format("HTTP {}{}{}", response.status, code.empty() ? "" : " ", code);
  auto error = [&](Code kind, std::string message, std::optional<Millis> wait = std::nullopt) {
    return Error{kind, std::move(message), wait};
  };
  switch (response.status) {
    case 401:
      return error(Code::kUnauthenticated,
                   options_.credentials.empty()
                       ? fmt::format("{} asks for credentials ({}): give it {}", who, text, kWhichCredentials)
                       : fmt::format("{} refused the credentials ({}): correct {}", who, text, kWhichCredentials));
    case 403: return error(Code::kPermissionDenied, fmt::format("{} denied access: {}", who, text));
    case 404: return error(Code::kNotFound, text);
    case 429: {
      const auto wait = RetryAfter(response);
      const std::string until =
          wait ? "; the next one may come at " + FormatTime(ctx.clock->Now() + *wait) : std::string();
      return error(Code::kRateLimited, fmt::format("{} limits requests ({}){}", who, text, until), wait);
    }
    default: break;
  }
  // It was started anew, or another one of several answers: they know nothing of what another has begun.
  if (code == "BLOB_UPLOAD_UNKNOWN" || code == "BLOB_UPLOAD_INVALID")
    return error(Code::kUnavailable, fmt::format("{} has lost an upload: {}", who, text));
  constexpr int kNotImplemented = 501;  // it can't do that with the next try, either
  if (response.status < 500 || response.status == kNotImplemented)
    return error(Code::kInvalidArgument, fmt::format("{} answered {}", who, text));
  return error(Code::kUnavailable, fmt::format("{} is in trouble: {}", who, text), RetryAfter(response));
}

}  // namespace capi::fetch
