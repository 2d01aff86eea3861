#include "operator/metrics_readers.h"

#include <optional>

#include "base/encoding.h"

namespace capi::ops {
namespace {

constexpr Seconds kCounts{60}, kCountsWhileAway{600};
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
  if (!user.ok()) return 500;
  if (!*user) return 401;
  auto allowed = access_.Allowed(ctx, **user, {{"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}});
  if (!allowed.ok()) return 500;
  return *allowed ? 0 : 403;
}

bool MetricsReaders::Knows(const std::string& digest, Seconds age) {
  auto known = readers_.find(digest);
  return known != readers_.end() && clock_.Monotonic() < known->second + age;
}

int MetricsReaders::Refusal(const std::stop_token& stop, const std::string& authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer)) return 401;
  const std::string token = authorization.substr(kBearer.size()), digest = Sha256Hex(token);
  {
    MutexLock lock(mu_);
    if (Knows(digest, kCounts)) return 0;
  }
  const int refusal = Ask(Context{}.WithStop(stop).WithTimeout(Seconds(10)), token);
  MutexLock lock(mu_);
  if (refusal == 500) return Knows(digest, kCountsWhileAway) ? 0 : refusal;
  readers_.erase(digest);
  if (refusal != 0) return refusal;
  if (readers_.size() >= kMostReaders) readers_.erase(readers_.begin());  // the keys are digests: any of them
  readers_.emplace(digest, clock_.Monotonic());
  return 0;
}

}  // namespace capi::ops
