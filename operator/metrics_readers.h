// Who may read the metrics, and who may set the verbosity.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/expiring_map.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/review_turns.h"
#include "operator/webhooks/access_review.h"

namespace capi::ops {

// Why somebody may not do what he asks for. A value.
struct MetricsRefusal {
  int status = 0;    // of HTTP: 401 for nobody's token, 403 for one that may not, 500 where nobody can tell; 0: may
  std::string text;  // for whoever asked, with a line feed at its end
  std::string user;  // who asked, where the API server has just named him
};

// What somebody wants to do with a path of ours, as the attributes of a SubjectAccessReview. A value.
struct MetricsRequest {
  std::string_view verb = "get", path = "/metrics";
};

// Thread-safe. Asks the API server by a TokenReview and a SubjectAccessReview (behaviour.md T5). That a token may
// counts for a minute, and while the API server can't say, for ten: a scrape tells of its outage, too. No token is
// kept, only its digest, of the last hundred that may. About tokens that nobody knows yet it is asked in turns: those
// keep out nobody who may (T5a). Why nobody can tell is logged, at most once a minute.
class MetricsReaders {
 public:
  // Whoever waits for a turn, or for the API server, holds a thread. Two are left for those who are known.
  static constexpr int kThreads = ReviewTurns::kAtOnce + ReviewTurns::kInLine + 2;

  // A scraper waits for ten seconds itself, by default: one that comes behind others, and may read them without an
  // answer, has them before that. In real time, whatever `clock` says.
  static constexpr Millis kLongestReview = Seconds(4);

  MetricsReaders(kube::Client& client, Clock& clock, Logger log, Millis longest_review = kLongestReview)
      : client_(client),
        clock_(clock),
        log_(std::move(log)),
        longest_review_(longest_review),
        access_(client, clock),
        turns_(clock) {}

  // For whoever sends this Authorization header, and wants to read the metrics.
  MetricsRefusal Refusal(const std::stop_token& stop, const std::string& authorization);
  // The same for anything else: asked each time, and in turns.
  MetricsRefusal Refusal(const std::stop_token& stop, const std::string& authorization, const MetricsRequest& wanted);

 private:
  static constexpr size_t kMostReaders = 100, kMostMessages = 4;
  static constexpr Seconds kCountsWhileAway{600}, kBetweenWords{60};

  MetricsRefusal Ask(const std::stop_token& stop, const std::string& token, const MetricsRequest& wanted);
  MetricsRefusal Unknown(const Context& ctx, const Error& error, const std::string& token,
                         const MetricsRequest& wanted);
  MetricsRefusal Busy(const std::stop_token& stop, const MetricsRequest& wanted);
  bool Knows(const std::string& digest, Seconds age);
  bool IsNews(const std::string& message);

  kube::Client& client_;
  Clock& clock_;
  const Logger log_;
  const Millis longest_review_;
  AccessReviews access_;
  ReviewTurns turns_;
  Mutex mu_;
  // When it was said that they may, by the token's digest.
  ExpiringMap<MonoTime> readers_ CAPI_GUARDED_BY(mu_){kMostReaders, kCountsWhileAway};
  ExpiringMap<bool> logged_ CAPI_GUARDED_BY(mu_){kMostMessages, kBetweenWords};
};

}  // namespace capi::ops
