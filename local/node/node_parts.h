// What all Pods of a node share.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "local/node/node.h"
#include "local/node/program_help.h"

namespace capi::local {

// Which Deployments have processes now, and of which of them one alone may run: those whose election isn't held.
// Thread-safe.
class Runners {
 public:
  // False where a process of another Pod of `owner` runs, and one alone may (that, or `alone`). End() after a true.
  bool Begin(const std::string& owner, const std::string& pod, bool alone) {
    MutexLock lock(mu_);
    if (owner.empty()) return true;
    if (alone) alone_.insert(owner);
    auto& running = running_[owner];
    bool others = running.size() > 1 || (running.size() == 1 && !running.contains(pod));
    if (alone_.contains(owner) && others) return false;
    ++running[pod];
    return true;
  }
  void End(const std::string& owner, const std::string& pod) {
    MutexLock lock(mu_);
    auto running = running_.find(owner);
    if (running == running_.end() || --running->second[pod] > 0) return;
    running->second.erase(pod);
    if (running->second.empty()) running_.erase(running);
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
  bool IsAlone(const std::string& owner) const {
    MutexLock lock(mu_);
    return alone_.contains(owner);
  }

 private:
  mutable Mutex mu_;
  std::map<std::string, std::map<std::string, int>> running_ CAPI_GUARDED_BY(mu_);  // by owner and Pod
  std::map<pid_t, std::string> owners_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> alone_ CAPI_GUARDED_BY(mu_);
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
