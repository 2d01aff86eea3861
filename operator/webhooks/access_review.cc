#include "operator/webhooks/access_review.h"

#include "base/encoding.h"

namespace capi::ops {
namespace {

Json SpecOf(const Json& user, const Json& what) {
  Json spec = what;
  spec["user"] = GetString(user, {"username"});
  for (const char* part : {"uid", "groups", "extra"}) {
    if (const Json* value = Find(user, {part}); value != nullptr && !value->empty()) spec[part] = *value;
  }
  return spec;
}

}  // namespace

Result<std::optional<Json>> HolderOf(const Context& ctx, kube::Client& client, const std::string& token) {
  kube::Object review(
      Json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  kube::Object answer = TRY(client.Create(ctx, kube::Builtin("TokenReview"), review, {.unguarded = true}));
  if (!GetBool(answer.json(), {"status", "authenticated"})) return std::optional<Json>();
  const Json* user = Find(answer.json(), {"status", "user"});
  return std::optional<Json>(user == nullptr ? Json::object() : *user);
}

Result<bool> AccessReviews::Allowed(const Context& ctx, const Json& user, const Json& what) {
  Json spec = SpecOf(user, what);
  const std::string question = Sha256Hex(ToJsonText(spec));
  {
    MutexLock lock(mu_);
    if (const bool* known = answers_.Find(question, clock_.Monotonic())) return *known;
  }
  kube::Object review(
      Json{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}});
  kube::Object answer = TRY(client_.Create(ctx, kube::Builtin("SubjectAccessReview"), review, {.unguarded = true}));
  bool allowed = GetBool(answer.json(), {"status", "allowed"});
  MutexLock lock(mu_);
  answers_.Put(question, allowed, clock_.Monotonic());
  return allowed;
}

}  // namespace capi::ops
