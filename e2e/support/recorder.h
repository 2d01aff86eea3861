// What happened to the objects of one kind while a test looked elsewhere.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "e2e/support/cluster.h"

namespace capi::e2e {

// All changes of one kind's objects while it lives, in the order of their resource versions (which are those of one
// store: what two recorders saw can be compared). Thread-safe.
class Recorder {
 public:
  // Returns when it knows the present state. Namespace "" is all of them.
  Recorder(Cluster& cluster, kube::Resource kind, std::string ns);
  Recorder(Cluster& cluster, const char* builtin, const std::string& ns)
      : Recorder(cluster, kube::Builtin(builtin), ns) {}

  // The state that it began with.
  std::vector<kube::Object> Before();
  // Every change since then, up to now: it waits until it has seen what the server has.
  std::vector<kube::WatchEvent> Seen();

 private:
  void Take(kube::WatchEvent event);
  bool HasSeen(const std::vector<kube::Object>& live);

  Cluster& cluster_;
  const kube::Resource kind_;
  const std::string ns_;
  std::unique_ptr<kube::Client> client_;
  Mutex mu_;
  bool synced_ CAPI_GUARDED_BY(mu_) = false;
  std::vector<kube::Object> before_ CAPI_GUARDED_BY(mu_);
  std::vector<kube::WatchEvent> seen_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, std::int64_t> versions_
      CAPI_GUARDED_BY(mu_);  // the last one of every object that lives, by uid
  std::jthread thread_;
};

std::int64_t VersionOf(const kube::Object& object);

}  // namespace capi::e2e
