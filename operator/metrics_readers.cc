#include "operator/metrics_readers.h"

#include "base/encoding.h"
#include "operator/report/secret_values.h"

namespace capi::ops {
namespace {

constexpr Seconds kCounts{60}, kCountsWhileAway{600};
// A scraper waits for ten seconds itself, by default: one that comes behind others, and may read them without an
// answer, has them before that.
constexpr Seconds kLongestReview{4};
constexpr Seconds kBetweenWords{60};
constexpr size_t kMostReaders = 100;

// Who holds this token; nullopt for nobody. An error is that nobody could tell: the API server is away, or the operator
// may not ask.
Result<std::optional<Json>> Review(const Context& ctx, kube::Client& client, const std::string& token) {
  kube::Object review(
      Json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  kube::Object answer = TRY(client.Create(ctx, kube::Builtin("TokenReview"), review, {.unguarded = true}));
  if (!GetBool(answer.json(), {"status", "authenticated"})) return std::optional<Json>();
  const Json* user = Find(answer.json(), {"status", "user"});
  return std::optional<Json>(user == nullptr ? Json::object() : *user);
}

}  // namespace

int MetricsReaders::Ask(const Context& ctx, const std::string& token) {
  auto user = Review(ctx, client_, token);
  if (!user.ok()) return Tell(ctx, user.error(), token), 500;
  if (!*user) return 401;
  auto allowed = access_.Allowed(ctx, **user, {{"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}});
  if (!allowed.ok()) return Tell(ctx, allowed.error(), token), 500;
  return *allowed ? 0 : 403;
}

void MetricsReaders::Tell(const Context& ctx, const Error& error, const std::string& token) {
  if (ctx.stop.stop_requested()) return;  // an end isn't a failure
  {
    MutexLock lock(mu_);
    const MonoTime now = clock_.Monotonic();
    if (told_ && now < *told_ + kBetweenWords) return;
    told_ = now;
  }
  SecretValues values;  // a server may repeat what it refuses
  values.Add(token);
  log_.Error("can't ask the API server who may get /metrics",
             {{"code", CodeName(error.code)}, {"error", values.Hide(error.message)}});
}

bool MetricsReaders::Knows(const std::string& digest, Seconds age) {
  auto known = readers_.find(digest);
  return known != readers_.end() && clock_.Monotonic() < known->second + age;
}

int MetricsReaders::Refusal(const std::stop_token& stop, const std::string& authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer)) return 401;
  const std::string token = authorization.substr(kBearer.size()), digest = Sha256Hex(token);
  bool known = false;
  {
    MutexLock lock(mu_);
    if (Knows(digest, kCounts)) return 0;
    known = Knows(digest, kCountsWhileAway);
    if (!known && asked_ == kMostAsked) return 500;
    if (!known) ++asked_;
  }
  const int refusal = Ask(Context{}.WithStop(stop).WithTimeout(kLongestReview), token);
  MutexLock lock(mu_);
  if (!known) --asked_;
  if (refusal == 500) return Knows(digest, kCountsWhileAway) ? 0 : refusal;
  readers_.erase(digest);
  if (refusal != 0) return refusal;
  if (readers_.size() >= kMostReaders) readers_.erase(readers_.begin());  // the keys are digests: any of them
  readers_.emplace(digest, clock_.Monotonic());
  return 0;
}

}  // namespace capi::ops
