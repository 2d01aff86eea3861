#include "operator/observe/tracks.h"

#include <algorithm>
#include <charconv>

#include "api/kinds.h"

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
  const std::uint64_t written = VersionNumber(resource_version);
  const MonoTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  DropBuried();
  auto it = tracks_.try_emplace(id).first;
  Track& track = it->second;
  if (track.gone && written <= track.seen) return Bury(it);
  track.gone = false;
  track.written = written;
  if (scaled_by) track.scaled_by = std::move(scaled_by);
  if (track.seen >= track.written) track.scaled_by.reset();
  track.until = now + kWatchLag;
  track.uncertain = false;
}

void Tracks::MarkUncertain(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  Track& track = tracks_[id];
  track.uncertain = true;
  track.gone = false;
}

void Tracks::Saw(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  const kube::Object& object = is ? *is : *was;
  const std::uint64_t version = VersionNumber(object.resource_version());
  MutexLock lock(mu_);
  DropBuried();
  auto it = tracks_.try_emplace(object.id()).first;
  Track& track = it->second;
  if (!is && track.gone && version == track.seen) return;  // another watch of its kind has told of this end
  if (was && version < VersionNumber(was->resource_version())) track.seen = track.written = 0;
  const bool has_own_version = version > track.seen;  // an end that a watch told has; one that a new list told hasn't
  track.seen = std::max(track.seen, version);
  track.gone = false;
  if (track.seen < track.written) return;  // what was written last is still to come
  track.scaled_by.reset();
  if (is || track.uncertain) return;
  if (has_own_version) return Bury(it);
  tracks_.erase(it);
}

void Tracks::Bury(Tracked::iterator track) {
  const MonoTime until = clock_.Monotonic() + kWatchLag;
  buried_.emplace_back(until, track->first);
  track->second = Track{.seen = track->second.seen, .until = until, .gone = true};
}

// In the order of their times: what is dropped is looked at once, however many go together.
void Tracks::DropBuried() {
  const MonoTime now = clock_.Monotonic();
  for (; !buried_.empty() && buried_.front().first <= now; buried_.pop_front()) {
    auto it = tracks_.find(buried_.front().second);
    if (it != tracks_.end() && it->second.gone && it->second.until <= now) tracks_.erase(it);
  }
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
    if (it != tracks_.end() && it->second.seen < it->second.written) {
      auto left = std::chrono::ceil<Millis>(it->second.until - clock_.Monotonic());
      if (left > Millis(0)) reading.awaited = left;
    }
    if (reading.awaited) reading.scaled_by = it->second.scaled_by;
  }
  reading.object = from_store();
  return reading;
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

kube::ApplyOptions TrackedApply(Tracks& tracks) {
  return {
      .field_manager = std::string(api::kFieldManager),
      .on_written = [&tracks](const kube::ObjectId& id, const std::string& version) { tracks.Expect(id, version); }};
}

}  // namespace capi::ops
