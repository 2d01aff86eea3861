#include "operator/observe/tracks.h"

#include <algorithm>
#include <charconv>

namespace capi::ops {
namespace {

constexpr Seconds kLongestEnd{60};

}  // namespace

std::uint64_t VersionNumber(const std::string& resource_version) {
  std::uint64_t value = 0;
  std::from_chars(resource_version.data(), resource_version.data() + resource_version.size(), value);
  return value;
}

void Tracks::Expect(const kube::ObjectId& id, const std::string& resource_version,
                    std::optional<std::string> scaled_by) {
  MutexLock lock(mu_);
  Track& track = tracks_[id];
  track.written = VersionNumber(resource_version);
  if (scaled_by) track.scaled_by = std::move(scaled_by);
  if (track.seen >= track.written) track.scaled_by.reset();
  track.until = clock_.Monotonic() + kWatchLag;
  track.uncertain = false;
}

void Tracks::ExpectWritten(const std::vector<kube::Change>& changes) {
  for (const kube::Change& change : changes) {
    bool written =
        change.action == kube::Change::Action::kCreated || change.action == kube::Change::Action::kConfigured;
    if (written) Expect(change.id, change.resource_version);
  }
}

void Tracks::MarkUncertain(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  tracks_[id].uncertain = true;
}

void Tracks::Saw(const kube::Object& object) {
  MutexLock lock(mu_);
  Track& track = tracks_[object.id()];
  track.seen = std::max(track.seen, VersionNumber(object.resource_version()));
  if (track.seen >= track.written) track.scaled_by.reset();
}

// What was written last, and isn't seen yet, is still to come.
void Tracks::SawGo(const kube::Object& object) {
  Saw(object);
  MutexLock lock(mu_);
  auto it = tracks_.find(object.id());
  if (it != tracks_.end() && it->second.seen >= it->second.written && !it->second.uncertain) tracks_.erase(it);
}

void Tracks::Forget(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  tracks_.erase(id);
}

void Tracks::ForgetKind(const kube::GroupKind& kind) {
  MutexLock lock(mu_);
  std::erase_if(tracks_, [&](const auto& track) { return track.first.group_kind() == kind; });
}

Tracks::Reading Tracks::Read(const kube::ObjectId& id, const std::function<kube::ObjectPtr()>& from_store) {
  Reading reading;
  {
    MutexLock lock(mu_);
    auto it = tracks_.find(id);
    reading.awaited = it != tracks_.end() && IsAwaited(it->second);
    if (reading.awaited) reading.scaled_by = it->second.scaled_by;
  }
  reading.object = from_store();
  return reading;
}

bool Tracks::IsAwaited(const Track& track) const {
  return track.seen < track.written && clock_.Monotonic() < track.until;
}

bool Tracks::Awaited(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  auto it = tracks_.find(id);
  return it != tracks_.end() && IsAwaited(it->second);
}

bool Tracks::IsUncertain(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  auto it = tracks_.find(id);
  return it != tracks_.end() && it->second.uncertain;
}

bool Tracks::Outlived(const Workload& workload) {
  bool lingers = workload.exists && workload.health.ok() && workload.terminating > 0;
  MutexLock lock(mu_);
  auto it = tracks_.find(workload.id);
  if (it == tracks_.end()) return false;
  if (!lingers) {
    it->second.lingers_since.reset();
    return false;
  }
  MonoTime now = clock_.Monotonic();
  if (!it->second.lingers_since) it->second.lingers_since = now;
  return now - *it->second.lingers_since >= kLongestEnd;
}

}  // namespace capi::ops
