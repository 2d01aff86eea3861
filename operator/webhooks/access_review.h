// May somebody do something? Asked of the API server with a SubjectAccessReview: for those who read metrics, and for
// those who write references into other namespaces (behaviour.md T1, T5).
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace capi::ops {

// For how long an answer counts: a right that was just given or taken shows this much later.
inline constexpr Millis kAccessAnswerLasts = Seconds(5);

// Thread-safe. Keeps the last answers, 1,000 at most. What it is given outlives it.
class AccessReviews {
 public:
  AccessReviews(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

  // `user`: a UserInfo of authentication.k8s.io: username, uid, groups, extra. `what`: the attributes of the review's
  // spec, as {"resourceAttributes": {...}}. An error is that nobody could tell: the API server is away, or the operator
  // may not ask; it isn't kept.
  Result<bool> Allowed(const Context& ctx, const Json& user, const Json& what);

 private:
  struct Answer {
    bool allowed = false;
    MonoTime until;
  };
  void Keep(std::string question, bool allowed);

  kube::Client& client_;
  Clock& clock_;
  Mutex mu_;
  std::map<std::string, Answer> answers_ CAPI_GUARDED_BY(mu_);  // by the digest of the review's spec
};

}  // namespace capi::ops
