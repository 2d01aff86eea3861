// Requests to one registry, authenticated as it asks for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/http/client.h"
#include "base/mutex.h"
#include "fetch/credentials.h"
#include "fetch/oci/challenge.h"
#include "fetch/repository.h"

namespace capi::fetch {

// `inward_hosts` counts for token servers, too.
struct OciOptions : HttpOptions {
  OciOptions() { max_answer = 4u << 20; }  // a manifest, a page of tags

  OciCredentials credentials;
  // An artifact of several providers: files whose titles have a provider and a version in them count alone.
  bool full_titles = false;
  bool writes = false;  // tokens are asked for with the right to push
};

// A request to a registry. A value.
struct OciCall {
  std::string method;
  std::string url;
  std::string_view accept;
  size_t max_body = 1u << 20;  // of the answer
  std::string_view content_type = {};
  std::string_view body = {};
  // It may be missing, and others do: what a server behind a redirect refuses or lacks isn't there, and no outage.
  bool optional = false;
  std::function<void(int status)> on_head = {};                // of each answer, before its body
  std::function<Status(std::string_view piece)> on_data = {};  // of an answer of 2xx, in the place of its body
  std::optional<Millis> time = {};                             // for each request, instead of the options'
  http::Headers headers = {};                                  // besides those that all have
};

// Anonymous until the registry asks for more; then with a token that the server it names gives for this repository, or
// with user and password. Thread-safe.
class OciRegistry {
 public:
  OciRegistry(const api::OciReference& reference, OciOptions options);

  // "https://host/v2/org/provider"
  const std::string& base() const { return base_; }
  const OciOptions& options() const { return options_; }

  // An answer of 2xx. Redirects are followed, without what authenticates. Errors: kNotFound, kUnauthenticated,
  // kPermissionDenied, kRateLimited, kUnavailable, kInvalidArgument; of another server to which a redirect leads
  // kUnavailable alone, but for OciCall::optional.
  Result<http::Response> Get(const Context& ctx, const std::string& url, std::string_view accept, size_t max_body);
  // The same of any method. What writes isn't followed where a redirect leads: that is kInvalidArgument.
  Result<http::Response> Ask(const Context& ctx, const OciCall& call);

 private:
  struct Answer {
    http::Response response;
    bool own = false;  // of the server that was asked, and not of another one to which it redirects
  };
  Result<Answer> Send(const Context& ctx, const OciCall& call, const std::string& sent) const;
  // `time`: for all of it, instead of the options'.
  Result<Answer> Fetch(const Context& ctx, const std::string& url, http::Request request,
                       std::optional<Millis> time = {}) const;
  // The value of Authorization that a challenge asks for.
  Result<std::string> Authorize(const Context& ctx, const http::Response& response) const;
  Result<std::string> BasicCredentials() const;
  Result<std::string> AskForToken(const Context& ctx, const Challenge& challenge) const;
  std::vector<std::string> ScopesOf(const Challenge& challenge) const;
  Result<Answer> TokenByPassword(const Context& ctx, const Challenge& challenge) const;
  Result<Answer> TokenByRefresh(const Context& ctx, const Challenge& challenge) const;
  // `server` is for people.
  Result<std::string> TokenOf(const Context& ctx, const http::Response& response, const std::string& server) const;
  Status CheckRealm(const std::string& realm) const;
  std::string Authorization() const;
  Error ErrorOf(const Context& ctx, const http::Response& response, std::string_view who) const;

  const std::string host_, repository_;
  const bool plain_http_;
  const std::string base_;
  const OciOptions options_;
  const std::function<bool(const http::Url&)> may_lead_inward_;
  mutable Mutex mu_;
  std::string authorization_ CAPI_GUARDED_BY(mu_);  // what the registry took last
};

}  // namespace capi::fetch
