// Who holds a token, and may somebody do something? Asked of the API server with TokenReviews and SubjectAccessReviews:
// for those who read metrics or look at the page, and for those who write references into other namespaces
// (behaviour.md T1, T5, B5).
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/context.h"
#include "base/expiring_map.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace capi::ops {

// Who holds this bearer token, as a UserInfo of authentication.k8s.io; nullopt for nobody. Asked of the API server with
// a TokenReview. An error is that nobody could tell: it is away, or the operator may not ask.
Result<std::optional<Json>> HolderOf(const Context& ctx, kube::Client& client, const std::string& token);

// For how long an answer counts: a right that was just given or taken shows this much later.
inline constexpr Millis kAccessAnswerLasts = Seconds(5);

// Thread-safe. Keeps the last thousand answers. What it is given outlives it.
class AccessReviews {
 public:
  AccessReviews(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

  // `user`: a UserInfo of authentication.k8s.io: username, uid, groups, extra. `what`: the attributes of the review's
  // spec, as {"resourceAttributes": {...}}. An error is that nobody could tell: the API server is away, or the operator
  // may not ask; it isn't kept.
  Result<bool> Allowed(const Context& ctx, const Json& user, const Json& what);

 private:
  static constexpr size_t kMostAnswers = 1000;

  kube::Client& client_;
  Clock& clock_;
  Mutex mu_;
  ExpiringMap<bool> answers_ CAPI_GUARDED_BY(mu_){kMostAnswers,
                                                  kAccessAnswerLasts};  // by the digest of a review's spec
};

}  // namespace capi::ops
