// Our own writes and what the watches have shown since: a cache that hasn't caught up with a write says what is no
// longer so.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/apply/apply.h"
#include "kube/cache/store.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Resource versions are decimal numbers that grow (Kubernetes promises so since 1.35; etcd always did).
std::uint64_t VersionNumber(const std::string& resource_version);

// How long a watch may lag behind a write before it is taken to have missed it.
inline constexpr Seconds kWatchLag{30};

// Thread-safe. Of objects that are watched. What is deleted is dropped half a minute later, as who wrote it may come to
// say so only then; a kind that isn't watched any more is dropped at once.
class Tracks {
 public:
  explicit Tracks(Clock& clock) : clock_(clock) {}

  // The watch must show this version of the object before what the cache says of it counts; until then `scaled_by`,
  // where it is given, says who sets its replicas. A watch that missed it (it listed anew while the object came and
  // went) holds things up for kWatchLag at most.
  void Expect(const kube::ObjectId& id, const std::string& resource_version,
              std::optional<std::string> scaled_by = std::nullopt);
  // A write that failed may have been done all the same: the object itself has to be read, and Expect told.
  void MarkUncertain(const kube::ObjectId& id);
  // For every event of the watches, as an informer tells it. A version smaller than that of `was` is of a cluster that
  // was restored from a backup: what was written and seen before is no longer so. What a new list lacks says nothing of
  // when it went, and it may have been such a restore: then a write that is told of afterwards is awaited.
  void Saw(const kube::ObjectPtr& was, const kube::ObjectPtr& is);

  // The object is not there, so nothing of it is awaited. And nobody watches a kind any more.
  void Forget(const kube::ObjectId& id);
  void ForgetKind(const kube::GroupKind& kind);

  // What a watch's store has of an object, and what is known of that. `from_store` is called after the look at what is
  // awaited: a state that is said to be up to date is one. (The other way round an event between the two would make an
  // old state look new.)
  struct Reading {
    kube::ObjectPtr object;
    std::optional<Millis> awaited;         // `object` may be older than our last write: for so long, from now
    std::optional<std::string> scaled_by;  // as the last write left it, where it is awaited
  };
  Reading Read(const kube::ObjectId& id, const std::function<kube::ObjectPtr()>& from_store);
  bool IsUncertain(const kube::ObjectId& id);
  // Its only fault for a minute is a pod that doesn't go: longer than pods take to end, so that its node is gone and it
  // serves nobody (behaviour.md U2). To be told every state.
  bool Outlived(const Workload& workload);

 private:
  struct Track {
    std::uint64_t written = 0, seen = 0;  // versions: our last write, and the last that the watch has shown
    MonoTime until;
    std::optional<std::string> scaled_by;  // until that version is seen
    bool uncertain = false;
    bool gone = false;  // `seen` is its end, and it is kept until `until`: the watch can be faster than the answer
    std::optional<MonoTime> lingers_since;
  };
  using Tracked = std::map<kube::ObjectId, Track>;
  void Bury(Tracked::iterator track) CAPI_REQUIRES(mu_);
  void DropBuried() CAPI_REQUIRES(mu_);

  Clock& clock_;
  Mutex mu_;
  Tracked tracks_ CAPI_GUARDED_BY(mu_);
  std::deque<std::pair<MonoTime, kube::ObjectId>> buried_ CAPI_GUARDED_BY(mu_);  // until when, in that order
};

// How a provider's objects are applied: each is awaited as soon as the server has answered. `tracks` outlives it.
kube::ApplyOptions TrackedApply(Tracks& tracks);

}  // namespace capi::ops
