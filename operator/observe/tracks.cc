#include "operator/observe/tracks.h"

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
  MutexLock lock(mu_);
  DropWhatIsOver();
  Track& track = tracks_[id];
  track.written = VersionNumber(resource_version);
  track.until = clock_.Monotonic() + kWatchLag;
  track.uncertain = false;
  if (scaled_by) track.scaled_by = std::move(scaled_by);
  bool shown = false;
  for (auto& [watch, seen] : track.seen) {
    if (seen.version >= track.written) track.scaled_by.reset();
    if (seen.kept) seen.kept = track.until;
    shown = shown || !seen.kept;
  }
  if (!shown) DropLater(id);  // no event may ever tell of it
}

void Tracks::MarkUncertain(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  tracks_[id].uncertain = true;
}

void Tracks::Saw(const kube::Resource& watched, const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  const kube::Object& object = is ? *is : *was;
  const std::uint64_t version = VersionNumber(object.resource_version());
  const std::uint64_t before = was ? VersionNumber(was->resource_version()) : 0;
  MutexLock lock(mu_);
  DropWhatIsOver();
  auto it = tracks_.try_emplace(object.id()).first;
  Track& track = it->second;
  Seen& seen = track.seen[watched.version];
  if (version < before && before <= track.written) track.written = 0;
  const bool has_own_version = version > seen.version;  // an end that a watch told has; one that a new list told hasn't
  seen.version = version;
  seen.kept.reset();
  if (seen.version >= track.written) track.scaled_by.reset();
  if (is) return;
  if (has_own_version) {
    seen.kept = clock_.Monotonic() + kWatchLag;
  } else {
    track.seen.erase(watched.version);
  }
  if (track.seen.empty() && version >= track.written && !track.uncertain) {
    tracks_.erase(it);
  } else {
    DropLater(object.id());
  }
}

// Looks at it when all that is kept for a while now is over.
void Tracks::DropLater(const kube::ObjectId& id) { to_drop_.emplace_back(clock_.Monotonic() + kWatchLag, id); }

// In the order of their times: what is dropped is looked at once, however many go together.
void Tracks::DropWhatIsOver() {
  const MonoTime now = clock_.Monotonic();
  for (; !to_drop_.empty() && to_drop_.front().first <= now; to_drop_.pop_front()) {
    auto it = tracks_.find(to_drop_.front().second);
    if (it == tracks_.end()) continue;
    Track& track = it->second;
    std::erase_if(track.seen, [now](const auto& one) { return one.second.kept && *one.second.kept <= now; });
    if (track.seen.empty() && track.until <= now && !track.uncertain) tracks_.erase(it);
  }
}

void Tracks::Forget(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  tracks_.erase(id);
}

void Tracks::ForgetWatch(const kube::Resource& watched) {
  const kube::GroupKind kind{watched.group, watched.kind};
  MutexLock lock(mu_);
  for (auto& [id, track] : tracks_) {
    if (id.group_kind() == kind && track.seen.erase(watched.version) > 0) DropLater(id);
  }
}

Tracks::Reading Tracks::Read(const kube::Resource& watched, const kube::ObjectId& id,
                             const std::function<kube::ObjectPtr()>& from_store) {
  Reading reading;
  {
    MutexLock lock(mu_);
    if (auto it = tracks_.find(id); it != tracks_.end()) {
      const Track& track = it->second;
      auto seen = track.seen.find(watched.version);
      const bool shown = seen != track.seen.end() && seen->second.version >= track.written;
      auto left = std::chrono::ceil<Millis>(track.until - clock_.Monotonic());
      if (!shown && track.written > 0 && left > Millis(0)) reading.awaited = left;
      if (reading.awaited) reading.scaled_by = track.scaled_by;
    }
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

size_t Tracks::size() {
  MutexLock lock(mu_);
  return tracks_.size();
}

kube::ApplyOptions TrackedApply(Tracks& tracks) {
  return {
      .field_manager = std::string(api::kFieldManager),
      .on_written = [&tracks](const kube::ObjectId& id, const std::string& version) { tracks.Expect(id, version); }};
}

}  // namespace capi::ops
