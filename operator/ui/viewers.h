// Who sees which providers on the page (behaviour.md B5).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "base/clock.h"
#include "base/expiring_map.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/review_turns.h"
#include "operator/ui/feed.h"
#include "operator/webhooks/access_review.h"

namespace capi::ops::ui {

// What somebody may see, or why nothing. A value.
struct View {
  int status = 0;    // of HTTP: 401 for nobody's token, 403 for one that may get no provider, 500 where nobody can tell
  std::string text;  // for whoever asked, with a line feed at its end; "" where status is 0
  Sees sees;
  Sees unasked;  // what `sees` doesn't tell of yet: whoever asks for a view again may come to see it
};

// Thread-safe. Asks the API server whose the token is (TokenReview), then which kinds of providers its holder may get,
// in all namespaces, and of the other kinds in which (SubjectAccessReview). The answers count for a minute, refusals
// for ten seconds; what has come meanwhile is asked about by itself. No token is kept, only its digest, of the last two
// hundred. Asked in turns, as for the metrics (T5a). Why nobody can tell is logged, at most once a minute.
class Viewers {
 public:
  // Whoever waits for a turn, or for the API server, holds a thread. Two are left for those who are known.
  static constexpr int kThreads = ReviewTurns::kAtOnce + ReviewTurns::kInLine + 2;
  static constexpr size_t kMostQuestions = 200;  // kinds in namespaces; what isn't asked about isn't seen
  static constexpr Millis kLongestReview = Seconds(10);

  Viewers(kube::Client& client, Clock& clock, Logger log)
      : client_(client), clock_(clock), log_(std::move(log)), access_(client, clock), turns_(clock) {}

  // For whoever sends this Authorization header. `all`: the providers that there are.
  View Of(const std::stop_token& stop, const std::string& authorization, const std::vector<api::ProviderId>& all);

 private:
  static constexpr size_t kMostViewers = 200;
  static constexpr Seconds kCounts{60}, kRefusalCounts{10}, kBetweenWords{60};

  struct Rights {
    Json user;  // whose they are, as a UserInfo of authentication.k8s.io
    MonoTime until;
    std::set<api::ProviderType> everywhere;
    std::set<std::pair<api::ProviderType, std::string>> in, asked;  // with the namespace
    bool Has(const api::ProviderId& id) const { return everywhere.contains(id.type) || in.contains({id.type, id.ns}); }
    bool Lacks(const api::ProviderId& id) const {
      return !everywhere.contains(id.type) && asked.size() < kMostQuestions && !asked.contains({id.type, id.ns});
    }
    bool none() const { return everywhere.empty() && in.empty(); }
  };
  using RightsPtr = std::shared_ptr<const Rights>;

  static View ViewOf(RightsPtr rights);
  // What needs no question; nullopt where there is one.
  std::optional<View> Known(const std::string& digest, const std::vector<api::ProviderId>& all);
  RightsPtr RightsOf(const std::string& digest);
  View Keep(const std::string& digest, RightsPtr rights);
  View Refuse(const std::string& digest, int status);
  View Failed(const std::stop_token& stop, const Error& error, const std::string& token);
  View Ask(const std::stop_token& stop, const std::string& token, const std::string& digest,
           const std::vector<api::ProviderId>& all);
  Result<RightsPtr> Review(const Context& ctx, Rights rights, const std::vector<api::ProviderId>& all);

  kube::Client& client_;
  Clock& clock_;
  const Logger log_;
  AccessReviews access_;
  ReviewTurns turns_;
  Mutex mu_;
  ExpiringMap<RightsPtr> known_ CAPI_GUARDED_BY(mu_){kMostViewers, kCounts};     // by the token's digest
  ExpiringMap<int> refused_ CAPI_GUARDED_BY(mu_){kMostViewers, kRefusalCounts};  // with which status
  ExpiringMap<bool> logged_ CAPI_GUARDED_BY(mu_){1, kBetweenWords};
};

}  // namespace capi::ops::ui
