// What the page shows, kept up to date for whoever looks (behaviour.md B4). Made of the operator's caches alone: the
// API server isn't asked for a viewer's sake, and while nobody looks little is kept.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/http/server/server_stream.h"
#include "base/mutex.h"
#include "operator/controller.h"
#include "operator/ui/facts.h"
#include "operator/ui/graph.h"
#include "operator/ui/timeline.h"

namespace capi::ops::ui {

// Which providers somebody may see.
using Sees = std::function<bool(const api::ProviderId&)>;

// So many viewers at once; a news' longest delay; how often those hear something that have no news; how long one looks
// on, before it has to come again and say who it is; how much may wait for one. A value.
struct FeedOptions {
  size_t viewers = 200;
  Millis tick{200}, beat = Seconds(10), longest = std::chrono::minutes(5);
  size_t waiting = 48u << 10;
};

// Thread-safe.
class Feed : public Onlooker {
 public:
  // `leads`: whether this replica looks after the providers; the others have their statuses alone.
  Feed(Clock& clock, std::function<bool()> leads, FeedOptions options = {});
  // Before Run, and before anybody looks. It outlives them.
  void Follow(const ProviderCache& providers) { providers_ = &providers; }

  void OnChange(const ProviderCache::Change& change) override;
  void OnPass(const Observation& o, const std::function<std::string(std::string)>& hide) override;
  void OnRestored(const api::ProviderId& id, size_t objects) override;

  // The text of /data.json.
  std::string Snapshot(const Sees& sees);
  // The text of /provider.json, and the object itself; nullopt where there is no such provider, or it isn't to be seen.
  std::optional<std::string> Details(const std::string& key, const Sees& sees);
  kube::ObjectPtr Object(const std::string& key, const Sees& sees) const;
  // Server-sent events from now on; null where too many look already. `unasked`: providers of which it isn't known yet
  // whether he may see them, whose coming ends the stream: he comes again, and is told.
  std::shared_ptr<http::ServerStream> Join(Sees sees, Sees unasked = nullptr);
  std::vector<api::ProviderId> Ids() const;

  // Sends what is new. Until the context stops. What it trips over is logged and ends all streams: who looks on comes
  // again, and fetches all (behaviour.md F7).
  Status Run(const Context& ctx);

 private:
  static constexpr size_t kMostAtOnce = 16u << 10;  // bytes of news for one; more, and all is to be fetched again
  static constexpr size_t kMinutes = 60;

  struct Viewer {
    std::shared_ptr<http::ServerStream> stream;
    Sees sees, unasked;
    MonoTime until;
  };
  struct Shown {
    CachedPtr cached;
    std::shared_ptr<const Facts> facts;
    Place place;
    std::string text;  // of the node
    std::uint64_t revision = 0;
  };
  struct News {
    std::string text;  // an event
    std::optional<api::ProviderId> of;
    bool has_node = false;  // it is there, and the event has the node's text
  };

  std::map<std::string, std::shared_ptr<const Facts>> AllFacts() const;
  std::string FleetText() const;
  std::vector<News> Refresh() CAPI_REQUIRES(show_mu_);
  static std::string NodeFor(const Shown& shown, const Sees& sees);
  std::string TextFor(const News& one, const Sees& sees) const CAPI_REQUIRES(show_mu_);
  void Send(const std::vector<News>& news) CAPI_REQUIRES(show_mu_);
  void SendNews() CAPI_REQUIRES(show_mu_);
  void EndStreams() CAPI_REQUIRES(show_mu_);
  void DropViewers(MonoTime now) CAPI_REQUIRES(show_mu_);
  void Tick(bool beat);
  void Changed() CAPI_REQUIRES(mu_);
  std::int64_t Minute() const;

  Clock& clock_;
  const std::function<bool()> leads_;
  const FeedOptions options_;
  const ProviderCache* providers_ = nullptr;

  // Held shortly: workers and watches wait for it.
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<const Facts>> facts_ CAPI_GUARDED_BY(mu_);
  Timeline timeline_ CAPI_GUARDED_BY(mu_);
  std::array<std::pair<std::int64_t, size_t>, kMinutes> restored_ CAPI_GUARDED_BY(mu_) = {};  // by minute
  bool dirty_ CAPI_GUARDED_BY(mu_) = false;
  bool watched_ CAPI_GUARDED_BY(mu_) = false;  // somebody looks

  // Held while all is looked through.
  Mutex show_mu_;
  std::map<std::string, Shown> shown_ CAPI_GUARDED_BY(show_mu_);
  std::string fleet_ CAPI_GUARDED_BY(show_mu_);
  std::uint64_t revision_ CAPI_GUARDED_BY(show_mu_) = 0;
  std::vector<Viewer> viewers_ CAPI_GUARDED_BY(show_mu_);
};

}  // namespace capi::ops::ui
