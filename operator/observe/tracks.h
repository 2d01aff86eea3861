// Our own writes and what the watches have shown since: a cache that hasn't caught up with a write says what is no
// longer so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/meta/object.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Resource versions are decimal numbers that grow (Kubernetes promises so since 1.35; etcd always did).
std::uint64_t VersionNumber(const std::string& resource_version);

// Thread-safe. Of objects that are watched; what is deleted is dropped.
class Tracks {
 public:
  explicit Tracks(Clock& clock) : clock_(clock) {}

  // The watch must show this version of the object before what the cache says of it counts; until then `scaled_by`,
  // where it is given, says who sets its replicas. A watch that missed it (it listed anew while the object came and
  // went) holds things up for half a minute at most.
  void Expect(const kube::ObjectId& id, const std::string& resource_version,
              std::optional<std::string> scaled_by = std::nullopt);
  // A write that failed may have been done all the same: the object itself has to be read, and Expect told.
  void Doubt(const kube::ObjectId& id);
  // For every event of the watches, and the last version of one that was deleted.
  void Saw(const kube::Object& object);
  void SawGo(const kube::Object& object);

  bool Awaited(const kube::ObjectId& id);
  bool Doubted(const kube::ObjectId& id);
  // As the last write left it, of an object that is awaited.
  std::optional<std::string> ScaledBy(const kube::ObjectId& id);
  // Its only fault for a minute is a pod that doesn't go: longer than pods take to end, so that its node is gone and it
  // serves nobody (behaviour.md U2). To be told every state.
  bool Outlived(const Workload& workload);

 private:
  struct Track {
    std::uint64_t written = 0, seen = 0;  // versions: our last write, and the last that the watch has shown
    MonoTime until;
    std::optional<std::string> scaled_by;  // until that version is seen
    bool doubted = false;
    std::optional<MonoTime> lingers_since;
  };
  Clock& clock_;
  Mutex mu_;
  std::map<kube::ObjectId, Track> tracks_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
