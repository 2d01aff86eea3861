// From kinds to resources, by discovery; never by guessing a plural.
#pragma once

#include <condition_variable>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "kube/client/discovery.h"
#include "kube/meta/resource.h"

namespace capi::kube {

// Answers for built-in kinds (resource.h) without asking. For others asks once (aggregated discovery, two requests,
// where the server offers it) and keeps the answer. It asks at most once a second (behaviour.md F8), for an unknown
// kind and after Invalidate, also where the last time failed. One asks for all; the others wait for its answer, each
// until its own context ends. Thread-safe.
class RestMapper {
 public:
  // `get` performs a GET: path and Accept header to body.
  using Getter = DiscoveryGetter;
  RestMapper(Getter get, Clock& clock) : get_(std::move(get)), clock_(clock) {}

  // kNotFound when the server has no such kind (at that version, when one is named). Without a version: the
  // server's preferred one. kUnavailable for an unknown kind of a group whose server doesn't answer now.
  Result<Resource> For(const Context& ctx, const GroupKind& kind, std::string_view version = "");
  // What discovery says of a kind; an error where discovery itself fails.
  struct Finding {
    std::optional<Resource> resource;
    bool group_is_stale = false;  // of a kind without `resource`: the server of its group doesn't answer now
  };
  Result<Finding> Look(const Context& ctx, const GroupKind& kind, std::string_view version = "");
  // The same from what is known already; null without a request where it isn't known.
  std::optional<Resource> Known(const GroupKind& kind, std::string_view version = "");
  // Adds what is known from elsewhere: a CRD just applied. It stays, also where discovery lags behind.
  void Learn(const Resource& resource);
  // Kinds may have come or gone. An answer from before doesn't count any more for a kind that it lacks; whoever asks
  // for one waits for the rest of the second. Kinds that it has are known for as long.
  void Invalidate();
  // Every resource the server lists, as asked after the last Invalidate, or within the last second.
  Result<std::vector<Resource>> All(const Context& ctx);

 private:
  using Table = std::map<GroupKind, std::vector<Resource>>;  // versions of a kind, the preferred one first
  std::optional<Resource> Lookup(const GroupKind& kind, std::string_view version) const CAPI_REQUIRES(mu_);
  bool AskedJustNow() const CAPI_REQUIRES(mu_);
  // Asks, or waits for who asks already, or until it may. Within a second of the last time its outcome stands, unless
  // it was invalidated.
  Status Refresh(const Context& ctx) CAPI_EXCLUDES(mu_);
  Status AskNow(const Context& ctx) CAPI_EXCLUDES(mu_);
  void Keep(Discovery discovery) CAPI_REQUIRES(mu_);

  Getter get_;
  Clock& clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  bool asking_ CAPI_GUARDED_BY(mu_) = false;
  long invalidations_ CAPI_GUARDED_BY(mu_) = 0;
  long covered_ CAPI_GUARDED_BY(mu_) = 0;                      // invalidations before the last answer was asked for
  std::optional<MonoTime> last_refresh_ CAPI_GUARDED_BY(mu_);  // its end
  Status last_outcome_ CAPI_GUARDED_BY(mu_);                   // of that
  Table discovered_ CAPI_GUARDED_BY(mu_);
  Table learned_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> stale_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
