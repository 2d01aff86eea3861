// What all Pods of a node share.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "local/node/command/program_help.h"
#include "local/node/node.h"

namespace capi::local {

// Which Deployments have processes now, and of which of them one alone may run: those whose election isn't held.
// Thread-safe.
class Runners {
 public:
  // False where another Pod of `owner` has a process of the same `container`, and one of the two has to be alone, or of
  // another one, and both have. End() after a true.
  bool Begin(const std::string& owner, const std::string& pod, const std::string& container, bool alone) {
    MutexLock lock(mu_);
    if (owner.empty()) return true;
    if (alone) alone_[owner].insert(pod);
    auto& running = running_[owner];
    auto is_other = [&](const Run& run) {
      const bool same = run.container == container;
      return run.pod != pod && ((alone && run.alone) || (same && (alone || run.alone)));
    };
    if (std::any_of(running.begin(), running.end(), is_other)) return false;
    running.push_back({pod, container, alone});
    return true;
  }
  void End(const std::string& owner, const std::string& pod, const std::string& container) {
    MutexLock lock(mu_);
    auto running = running_.find(owner);
    if (running == running_.end()) return;
    std::erase_if(running->second, [&](const Run& run) { return run.pod == pod && run.container == container; });
    if (running->second.empty()) running_.erase(running);
  }
  // A Pod that is gone.
  void Forget(const std::string& owner, const std::string& pod) {
    MutexLock lock(mu_);
    auto pods = alone_.find(owner);
    if (pods == alone_.end()) return;
    pods->second.erase(pod);
    if (pods->second.empty()) alone_.erase(pods);
  }
  // Processes, by their group: which Deployment they are of.
  void Started(pid_t group, const std::string& owner) {
    MutexLock lock(mu_);
    owners_[group] = owner;
  }
  void Ended(pid_t group) {
    MutexLock lock(mu_);
    owners_.erase(group);
  }
  std::string OwnerOf(pid_t group) const {
    MutexLock lock(mu_);
    auto owner = owners_.find(group);
    return owner == owners_.end() ? "" : owner->second;
  }
  // As long as it has a Pod with a process that has to be alone.
  bool IsAlone(const std::string& owner) const {
    MutexLock lock(mu_);
    return alone_.contains(owner);
  }

 private:
  // A value.
  struct Run {
    std::string pod, container;
    bool alone = false;
  };
  mutable Mutex mu_;
  std::map<std::string, std::vector<Run>> running_ CAPI_GUARDED_BY(mu_);  // by owner
  std::map<pid_t, std::string> owners_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, std::set<std::string>> alone_ CAPI_GUARDED_BY(mu_);  // Pods by owner
};

// Thread-safe.
struct NodeParts {
  kube::Client& client;
  Programs& programs;
  const NodeOptions& options;
  Clock& clock;
  std::function<void()> wake;  // something has changed that others decide by
  ProgramHelp help{programs.cache().empty() ? "" : programs.cache() + "/help"};
  Runners runners{};
};

}  // namespace capi::local
