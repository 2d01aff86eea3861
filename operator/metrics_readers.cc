#include "operator/metrics_readers.h"

#include <fmt/core.h>

#include "base/encoding.h"
#include "operator/report/secret_values.h"

namespace capi::ops {
namespace {

constexpr Seconds kCounts{60};

constexpr std::string_view kBearer = "Bearer ";

MetricsRefusal SendAToken(int status, const MetricsRequest& wanted) {
  return {.status = status,
          .text = fmt::format("send a bearer token that may {} {}\n", wanted.verb, wanted.path),
          .user = ""};
}

}  // namespace

MetricsRefusal MetricsReaders::Ask(const std::stop_token& stop, const std::string& token,
                                   const MetricsRequest& wanted) {
  const Context ctx = Context{}.WithStop(stop).WithTimeout(longest_review_);
  auto user = HolderOf(ctx, client_, token);
  if (!user.ok()) return Unknown(ctx, user.error(), token, wanted);
  if (!*user) return SendAToken(401, wanted);
  auto allowed =
      access_.Allowed(ctx, **user, {{"nonResourceAttributes", {{"path", wanted.path}, {"verb", wanted.verb}}}});
  if (!allowed.ok()) return Unknown(ctx, allowed.error(), token, wanted);
  if (!*allowed) return SendAToken(403, wanted);
  return {.status = 0, .text = "", .user = GetString(**user, {"username"})};
}

MetricsRefusal MetricsReaders::Unknown(const Context& ctx, const Error& error, const std::string& token,
                                       const MetricsRequest& wanted) {
  const std::string message = fmt::format("can't ask the API server who may {} {}", wanted.verb, wanted.path);
  if (!ctx.stop.stop_requested() && IsNews(message)) {  // an end isn't a failure
    SecretValues values;                                // a server may repeat what it refuses
    values.Add(token);
    log_.Error(message, {{"code", CodeName(error.code)}, {"error", values.Hide(error.message)}});
  }
  return {.status = 500,
          .text = fmt::format("the API server can't say now who may {} {}\n", wanted.verb, wanted.path),
          .user = ""};
}

MetricsRefusal MetricsReaders::Busy(const std::stop_token& stop, const MetricsRequest& wanted) {
  const std::string message =
      fmt::format("too many clients with unknown tokens ask for {}, or the API server is slow", wanted.path);
  if (!stop.stop_requested() && IsNews(message)) log_.Warn(message);
  return {.status = 500, .text = message + ": try again\n", .user = ""};
}

bool MetricsReaders::IsNews(const std::string& message) {
  MutexLock lock(mu_);
  const MonoTime now = clock_.Monotonic();
  if (logged_.Find(message, now) != nullptr) return false;
  logged_.Put(message, true, now);
  return true;
}

bool MetricsReaders::Knows(const std::string& digest, Seconds age) {
  MutexLock lock(mu_);
  const MonoTime now = clock_.Monotonic();
  const MonoTime* said = readers_.Find(digest, now);
  return said != nullptr && now < *said + age;
}

MetricsRefusal MetricsReaders::Refusal(const std::stop_token& stop, const std::string& authorization,
                                       const MetricsRequest& wanted) {
  if (!authorization.starts_with(kBearer)) return SendAToken(401, wanted);
  ReviewTurns::Turn turn = turns_.Take(stop);
  if (turn == nullptr) return Busy(stop, wanted);
  return Ask(stop, authorization.substr(kBearer.size()), wanted);
}

MetricsRefusal MetricsReaders::Refusal(const std::stop_token& stop, const std::string& authorization) {
  const MetricsRequest wanted;
  if (!authorization.starts_with(kBearer)) return SendAToken(401, wanted);
  const std::string token = authorization.substr(kBearer.size()), digest = Sha256Hex(token);
  if (Knows(digest, kCounts)) return {};
  ReviewTurns::Turn turn;
  if (!Knows(digest, kCountsWhileAway)) {
    turn = turns_.Take(stop);
    if (Knows(digest, kCounts)) return {};  // meanwhile somebody else with this token had a turn
    if (turn == nullptr) return Busy(stop, wanted);
  }
  const MetricsRefusal refusal = Ask(stop, token, wanted);
  if (refusal.status == 500) return Knows(digest, kCountsWhileAway) ? MetricsRefusal() : refusal;
  MutexLock lock(mu_);
  if (refusal.status == 0) {
    const MonoTime now = clock_.Monotonic();
    readers_.Put(digest, now, now);
  } else {
    readers_.Erase(digest);
  }
  return refusal;
}

}  // namespace capi::ops
