#include "kube/client/transport.h"

#include <algorithm>

#include "base/http/url.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr Millis kFirstWait(100);  // before the first repeat, doubled for each further one

// What fails slowly is left to the next pass: a worker waits for it.
constexpr Seconds kSlow(2);

bool Writes(const Call& call) { return call.method != "GET" && call.method != "HEAD"; }

// Where a server fails now and then, what takes many calls would hardly ever come to its end if each failure were one
// of the whole (docs/behaviour.md F3).
bool MayPassSoon(int status) { return status == 429 || status == 500 || (status >= 502 && status <= 504); }

// A transport error has no HTTP status, so no answer; these come before one.
bool Lost(const Error& error) { return error.code == Code::kUnavailable; }

}  // namespace

Result<std::unique_ptr<Transport>> Transport::Create(const Config& config, const ClientOptions& options) {
  http::Options http_options;
  http_options.tls = config.tls;
  http_options.proxy = config.proxy;
  auto http = TRY_WITH(http::Client::Create(config.server, std::move(http_options)),
                       "API server " + http::PrintableUrl(config.server));
  return std::unique_ptr<Transport>(new Transport(config, options, std::move(http)));
}

Result<http::Response> Transport::Do(const Context& ctx, const Call& call) {
  std::optional<Credential> refused;        // by a 401, at most once
  std::optional<std::uint64_t> generation;  // of the credentials that `bounded` begins with
  bool fresh = false;                       // they are to be others than `refused`
  Context bounded = ctx;
  for (int sent = 1;; ++sent) {
    Identity identity = TRY(Authorize(ctx, fresh ? &*refused : nullptr));
    // Before a repeat, too, a plugin may have run: for minutes, perhaps.
    if (fresh || generation != identity.credential.generation) bounded = Bounded(ctx, call);
    generation = identity.credential.generation;
    fresh = false;
    MonoTime began;
    Result<http::Response> answer = Send(bounded, call, std::move(identity.headers), began);
    if (!answer.ok()) {
      if (!Lost(answer.error()) || !call.repeatable || call.on_data || sent > options_.max_retries) return answer;
      if (bounded.Check().ok() || ctx.stop.stop_requested()) continue;  // the gate says when
      return answer;
    }
    if (answer->status >= 200 && answer->status < 300) return answer;
    Error error = ErrorFromResponse(*answer);
    if (answer->status == 401 && config_.credentials != nullptr && !refused) {
      refused = std::move(identity.credential);
      fresh = true;
      continue;
    }
    bool soon =
        call.repeatable && error.Transient() && MayPassSoon(answer->status) && ctx.clock->Monotonic() - began < kSlow;
    std::optional<Millis> wait = RetryIn(bounded, call, soon, error, sent);
    if (!wait) {
      if (call.on_refusal) call.on_refusal(*answer);
      return error;
    }
    ctx.clock->Sleep(ctx.stop, *wait);
    TRY(bounded.Check());
  }
}

Status Transport::Ping(const Context& ctx) {
  Identity identity = TRY(Authorize(ctx, nullptr));
  MonoTime began;
  return TRY(Send(ctx, {.target = "/readyz", .accept = "*/*"}, std::move(identity.headers), began)), Ok();
}

Context Transport::Bounded(const Context& ctx, const Call& call) const {
  if (call.timeout) return ctx.WithTimeout(*call.timeout);
  return ctx.deadline ? ctx : ctx.WithTimeout(options_.timeout);
}

std::optional<Millis> Transport::RetryIn(const Context& ctx, const Call& call, bool soon, const Error& error,
                                         int sent) const {
  if (sent > options_.max_retries) return std::nullopt;
  Millis wait = kFirstWait * (1 << std::min(sent - 1, 6));
  if (!StorageInitializing(error)) {
    if (error.retry_after) {
      if (call.on_data) return std::nullopt;
      if (error.code != Code::kRateLimited && error.code != Code::kUnavailable) return std::nullopt;
      wait = std::max(*error.retry_after, Millis(50));
    } else if (!soon) {
      return std::nullopt;
    }
  }
  if (ctx.deadline && ctx.clock->Monotonic() + wait >= *ctx.deadline) return std::nullopt;
  return wait;
}

Result<http::Response> Transport::Send(const Context& ctx, const Call& call, http::Headers credentials,
                                       MonoTime& began) {
  http::Request request;
  request.method = call.method;
  request.target = call.target;
  request.body = call.body;
  request.content_type = call.content_type;
  request.headers.Set("Accept", call.accept);
  if (!options_.user_agent.empty()) request.headers.Set("User-Agent", options_.user_agent);
  for (const auto& [name, value] : credentials.all()) request.headers.Add(name, value);
  request.on_data = call.on_data;
  request.max_silence = call.max_silence;
  request.max_body = call.max_body;
  request.idempotent = call.repeatable || call.method == "GET";

  bool begun = false, sent = false, connected = false;
  request.on_begin = [&] { begun = true; };
  request.before_send = [&, guarded = may_write_ && Writes(call) && !call.unguarded]() -> Status {
    Status may = guarded ? may_write_(ctx) : Ok();
    if (!sent && !may.ok()) begun = false;  // where it was sent once, and lost, it counts
    sent = connected = true;
    return may;
  };
  request.on_again = [&] { connected = false; };

  TRY(gate_.Enter(ctx));
  began = ctx.clock->Monotonic();
  bool answered = false;
  request.on_head = [&](int status) {
    gate_.Answered(ctx);
    answered = true;
    Tell(ctx, call, status, began);
  };
  Result<http::Response> answer = http_->Do(ctx, std::move(request));
  if (!answered && begun && !ctx.stop.stop_requested()) Tell(ctx, call, 0, began);
  if (!answered && !answer.ok() && Lost(answer.error())) gate_.Lost(ctx, began, answer.error());
  // Not told to the gate: the time may have been too short for any server.
  if (begun && !connected && !answer.ok() && answer.code() == Code::kDeadlineExceeded) {
    return Error{Code::kUnavailable, answer.error().message, {}};
  }
  return answer;
}

void Transport::Tell(const Context& ctx, const Call& call, int status, MonoTime began) const {
  if (options_.on_answer) options_.on_answer(call.method, status, ctx.clock->Monotonic() - began);
}

Result<Transport::Identity> Transport::Authorize(const Context& ctx, const Credential* refused) {
  Identity identity;
  http::Headers& headers = identity.headers;
  if (!ctx.in_name_of.empty()) {
    headers.Set("Impersonate-User", ctx.in_name_of);  // the server gives it the groups of its kind
  } else if (!config_.impersonate_user.empty()) {
    headers.Set("Impersonate-User", config_.impersonate_user);
    if (!config_.impersonate_uid.empty()) headers.Set("Impersonate-Uid", config_.impersonate_uid);
    for (const std::string& group : config_.impersonate_groups) headers.Add("Impersonate-Group", group);
  }
  if (config_.credentials == nullptr) return identity;
  identity.credential = TRY_WITH(config_.credentials->Get(ctx, refused), "credentials");
  if (!identity.credential.authorization.empty()) headers.Set("Authorization", identity.credential.authorization);
  TRY(UseCertificate(identity.credential));
  return identity;
}

// Two calls may come here in another order than they got their credentials in: the newer certificate stays.
Status Transport::UseCertificate(const Credential& credential) {
  MutexLock lock(mu_);
  if (credential.generation < client_cert_generation_) return Ok();
  if (credential.client_cert_pem != client_cert_) {
    http::TlsOptions tls = config_.tls;
    if (!credential.client_cert_pem.empty()) {
      tls.cert_pem = credential.client_cert_pem;
      tls.key_pem = credential.client_key_pem;
      tls.cert_file.clear();
      tls.key_file.clear();
    }
    TRY(http_->SetTls(std::move(tls)));
    client_cert_ = credential.client_cert_pem;
  }
  client_cert_generation_ = credential.generation;
  return Ok();
}

}  // namespace capi::kube
