// One request to an API server: credentials, repeats, and errors by status.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/http/client.h"
#include "kube/client/client.h"
#include "kube/client/outage_gate.h"

namespace capi::kube {

struct Call {
  std::string method = "GET";
  std::string target;
  std::string body;
  std::string content_type;
  std::string accept = "application/json";
  // May be sent again when the connection was lost, or the server failed: nobody can tell whether it was done.
  bool repeatable = false;
  bool unguarded = false;  // GuardWrites' question isn't asked
  // Of a 2xx answer. Such a call isn't sent again because its connection was lost, or where a server says when.
  std::function<Status(std::string_view piece)> on_data;
  std::function<void(const http::Response&)> on_refusal;  // of the answer that the call fails with
  std::optional<Millis> max_silence;                      // as in http::Request
  std::optional<Millis> timeout;  // from when there are credentials, beside the context's own deadline
  size_t max_body = 16u << 20;    // of the answer; several times what etcd takes for one object
};

// Thread-safe.
class Transport {
 public:
  static Result<std::unique_ptr<Transport>> Create(const Config& config, const ClientOptions& options);

  // The 2xx answer. Others are errors (client.h). A 429, or a 503 that says when to come back, is sent again after that
  // time, since the server did nothing; sooner where storage is (re)initializing, and where a repeatable call soon met
  // a 429, 500, 502, 503 or 504 that doesn't say when; a 401 once, with fresh credentials. Without a deadline of the
  // context's own, or a timeout of its own, the call has ClientOptions.timeout, from when there are credentials: a
  // person may have to log in first.
  Result<http::Response> Do(const Context& ctx, const Call& call);

  // As Client::GuardWrites.
  void GuardWrites(std::function<Status(const Context&)> may_write) { may_write_ = std::move(may_write); }
  // One request; Ok when any answer comes, whatever it says.
  Status Ping(const Context& ctx);

 private:
  Transport(Config config, ClientOptions options, std::unique_ptr<http::Client> http)
      : config_(std::move(config)), options_(std::move(options)), http_(std::move(http)) {}

  using Credential = CredentialSource::Credential;

  // `began`: when the request was sent, after it had waited for its turn.
  Result<http::Response> Send(const Context& ctx, const Call& call, http::Headers credentials, MonoTime& began);
  void Tell(const Context& ctx, const Call& call, int status, MonoTime began) const;
  // Who asks, in headers and in the TLS client certificate; `refused` as for CredentialSource.
  struct Identity {
    http::Headers headers;
    Credential credential;
  };
  Result<Identity> Authorize(const Context& ctx, const Credential* refused) CAPI_EXCLUDES(mu_);
  Status UseCertificate(const Credential& credential) CAPI_EXCLUDES(mu_);
  // The time of a call that has just got its credentials.
  Context Bounded(const Context& ctx, const Call& call) const;
  // How long to wait before `call`, which has been sent `sent` times, is sent again; null to give up. `soon`: also
  // where the server doesn't say when.
  std::optional<Millis> RetryIn(const Context& ctx, const Call& call, bool soon, const Error& error, int sent) const;

  const Config config_;
  const ClientOptions options_;
  std::unique_ptr<http::Client> http_;
  OutageGate gate_;
  std::function<Status(const Context&)> may_write_;
  Mutex mu_;
  // The one last given by an exec plugin.
  std::string client_cert_ CAPI_GUARDED_BY(mu_);
  std::uint64_t client_cert_generation_ CAPI_GUARDED_BY(mu_) = 0;
};

}  // namespace capi::kube
