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

// Thread-safe. Of objects that are watched: our last write of each, and what each watch of its kind has shown since. A
// kind has a watch for each API version that it is applied at, and one may be behind another. What no watch has any
// more is dropped half a minute later, as who wrote it may come to say so only then.
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
  // For every event of a watch of `watched`, as an informer tells it. A version smaller than that of `was` is of a
  // cluster that was restored from a backup: what was written after `was` is no longer so. What a new list lacks says
  // nothing of when it went, and it may have been such a restore: then a write that is told of afterwards is awaited.
  void Saw(const kube::Resource& watched, const kube::ObjectPtr& was, const kube::ObjectPtr& is);

  // The object is not there, so nothing of it is awaited.
  void Forget(const kube::ObjectId& id);
  // A watch has ended: the next one of that kind and version has everything still to show.
  void ForgetWatch(const kube::Resource& watched);

  // What the store of the watch of `watched` has of an object, and what is known of that. `from_store` is called after
  // the look at what is awaited: a state that is said to be up to date is one. (The other way round an event between
  // the two would make an old state look new.)
  struct Reading {
    kube::ObjectPtr object;
    std::optional<Millis> awaited;         // `object` may be older than our last write: for so long, from now
    std::optional<std::string> scaled_by;  // as the last write left it, where it is awaited
  };
  Reading Read(const kube::Resource& watched, const kube::ObjectId& id,
               const std::function<kube::ObjectPtr()>& from_store);
  bool IsUncertain(const kube::ObjectId& id);
  // Its only fault for a minute is a pod that doesn't go: longer than pods take to end, so that its node is gone and it
  // serves nobody (behaviour.md U2). To be told every state.
  bool Outlived(const Workload& workload);
  size_t size();  // objects that something is known of

 private:
  // By one watch.
  struct Seen {
    std::uint64_t version = 0;  // the last that it has shown
    // That was the object's end: kept until then, as a watch can be faster than an answer.
    std::optional<MonoTime> kept;
  };
  struct Track {
    std::uint64_t written = 0;             // the version of our last write
    MonoTime until;                        // when that stops being awaited
    std::map<std::string, Seen> seen;      // by the API version of the watch
    std::optional<std::string> scaled_by;  // until a watch has shown that version: workloads have one watch each
    bool uncertain = false;
    std::optional<MonoTime> lingers_since;
  };
  using Tracked = std::map<kube::ObjectId, Track>;
  void DropLater(const kube::ObjectId& id) CAPI_REQUIRES(mu_);
  void DropWhatIsOver() CAPI_REQUIRES(mu_);

  Clock& clock_;
  Mutex mu_;
  Tracked tracks_ CAPI_GUARDED_BY(mu_);
  std::deque<std::pair<MonoTime, kube::ObjectId>> to_drop_ CAPI_GUARDED_BY(mu_);  // when to look at it, in that order
};

// How a provider's objects are applied: each is awaited as soon as the server has answered. `tracks` outlives it.
kube::ApplyOptions TrackedApply(Tracks& tracks);

}  // namespace capi::ops
