#include "operator/webhooks/access_review.h"

#include "base/encoding.h"

namespace capi::ops {
namespace {

constexpr size_t kMostAnswers = 1000;

Json SpecOf(const Json& user, const Json& what) {
  Json spec = what;
  spec["user"] = GetString(user, {"username"});
  for (const char* part : {"uid", "groups", "extra"}) {
    if (const Json* value = Find(user, {part}); value != nullptr && !value->empty()) spec[part] = *value;
  }
  return spec;
}

}  // namespace

Result<bool> AccessReviews::Allowed(const Context& ctx, const Json& user, const Json& what) {
  Json spec = SpecOf(user, what);
  const std::string question = Sha256Hex(ToJsonText(spec));
  {
    MutexLock lock(mu_);
    auto known = answers_.find(question);
    if (known != answers_.end() && clock_.Monotonic() < known->second.until) return known->second.allowed;
  }
  kube::Object review(
      Json{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}});
  kube::Object answer = TRY(client_.Create(ctx, kube::Builtin("SubjectAccessReview"), review, {.unguarded = true}));
  bool allowed = GetBool(answer.json(), {"status", "allowed"});
  Keep(question, allowed);
  return allowed;
}

void AccessReviews::Keep(std::string question, bool allowed) {
  MutexLock lock(mu_);
  const MonoTime now = clock_.Monotonic();
  if (answers_.size() >= kMostAnswers) {
    std::erase_if(answers_, [&](const auto& entry) { return entry.second.until <= now; });
  }
  if (answers_.size() >= kMostAnswers) answers_.erase(answers_.begin());  // the keys are digests: any of them
  answers_[std::move(question)] = {allowed, now + kAccessAnswerLasts};
}

}  // namespace capi::ops
