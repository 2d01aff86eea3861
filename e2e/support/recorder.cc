#include "e2e/support/recorder.h"

#include <gtest/gtest.h>

#include <utility>

namespace capi::e2e {

Recorder::Recorder(Cluster& cluster, kube::Resource kind, std::string ns)
    : cluster_(cluster), kind_(std::move(kind)), ns_(std::move(ns)), client_(cluster.plane().NewClient("recorder")) {
  thread_ = std::jthread([this](std::stop_token stop) {
    kube::WatchOptions options{.send_initial_events = true};
    (void)client_->Watch(Context{}.WithStop(stop), kind_, ns_, options, [this](kube::WatchEvent event) -> Status {
      Take(std::move(event));
      return Ok();
    });
  });
  bool synced = kube::Eventually([&] {
    MutexLock lock(mu_);
    return synced_;
  });
  EXPECT_TRUE(synced) << kind_.kind;
}

void Recorder::Take(kube::WatchEvent event) {
  MutexLock lock(mu_);
  if (event.type == kube::WatchEvent::Type::kBookmark) {
    synced_ = synced_ || event.initial_events_end;
    return;
  }
  if (event.type == kube::WatchEvent::Type::kDeleted) {
    versions_.erase(event.object.uid());
  } else {
    versions_[event.object.uid()] = VersionOf(event.object);
  }
  if (synced_) {
    seen_.push_back(std::move(event));
  } else {
    before_.push_back(std::move(event.object));
  }
}

bool Recorder::HasSeen(const std::vector<kube::Object>& live) {
  MutexLock lock(mu_);
  for (const auto& object : live) {
    auto it = versions_.find(object.uid());
    if (it == versions_.end() || it->second < VersionOf(object)) return false;
  }
  return versions_.size() == live.size();
}

std::vector<kube::Object> Recorder::Before() {
  MutexLock lock(mu_);
  return before_;
}

std::vector<kube::WatchEvent> Recorder::Seen() {
  bool all = kube::Eventually([&] {
    auto live = cluster_.client().List(cluster_.ctx(), kind_, ns_, {.metadata_only = true});
    return live.ok() && HasSeen(live->items);
  });
  EXPECT_TRUE(all) << "the watch of " << kind_.kind << " has ended, or they change all the time";
  MutexLock lock(mu_);
  return seen_;
}

std::int64_t VersionOf(const kube::Object& object) { return std::stoll(object.resource_version()); }

}  // namespace capi::e2e
