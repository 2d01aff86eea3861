// Who may read the metrics.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/webhooks/access_review.h"

namespace capi::ops {

// Thread-safe. Asks the API server by a TokenReview and a SubjectAccessReview (behaviour.md T5). That a token may
// counts for a minute, and while the API server can't say, for ten: a scrape tells of its outage, too. No token is
// kept, only its digest. Why nobody can tell is logged, at most once a minute.
class MetricsReaders {
 public:
  // Of the tokens that nobody knows yet, as many are asked for at once; more are told 500, so that they don't keep out
  // who may (T5a).
  static constexpr int kMostAsked = 4;

  MetricsReaders(kube::Client& client, Clock& clock, Logger log)
      : client_(client), clock_(clock), log_(std::move(log)), access_(client, clock) {}

  // 0 when whoever sends this Authorization header may read them, else the HTTP status to answer: 401 for nobody's
  // token, 403 for one that may not, 500 where nobody can tell.
  int Refusal(const std::stop_token& stop, const std::string& authorization);

 private:
  int Ask(const Context& ctx, const std::string& token);
  void Tell(const Context& ctx, const Error& error, const std::string& token);
  bool Knows(const std::string& digest, Seconds age) CAPI_REQUIRES(mu_);

  kube::Client& client_;
  Clock& clock_;
  const Logger log_;
  AccessReviews access_;
  Mutex mu_;
  std::map<std::string, MonoTime> readers_ CAPI_GUARDED_BY(mu_);  // by the token's digest: when it was last said
  std::optional<MonoTime> told_ CAPI_GUARDED_BY(mu_);             // that nobody can tell
  int asked_ CAPI_GUARDED_BY(mu_) = 0;                            // tokens that nobody knows yet
};

}  // namespace capi::ops
