#include "local/node/objects/not_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/encoding.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "kube/cache/informer.h"
#include "kube/meta/object_conditions.h"
#include "local/node/pod_status.h"
#include "local/node/workers.h"

namespace capi::local {
namespace {

constexpr Seconds kCallTime{10}, kRetry{2};
constexpr const char* kReason = "NotRunHere";
constexpr size_t kLongestPrefix = 200;  // of a Pod's name
constexpr const char* kKinds[] = {"StatefulSet", "DaemonSet", "Job"};

Status TellStatus(const Context& ctx, kube::Client& client, const kube::Object& workload, const kube::Object& pod) {
  std::string message = fmt::format("a {} isn't run by a local plane: it runs Deployments alone", workload.kind());
  Json status = {{"status", UnscheduledStatus(pod, kReason, message, ctx.clock->Now())}};
  TRY(client.Patch(ctx, kube::Builtin("Pod"), pod.ns(), pod.name(), kube::PatchType::kMerge, status,
                   {.subresource = "status"}));
  return Ok();
}

bool IsTold(const kube::Object& pod) {
  auto conditions = kube::Conditions(pod);
  const kube::Condition* scheduled = kube::FindCondition(conditions, "PodScheduled");
  return scheduled != nullptr && scheduled->reason == kReason;
}

bool IsOwnedBy(const kube::Object& pod, const std::string& uid) {
  const Json* owners = Find(pod.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const Json& one) { return GetString(one, {"uid"}) == uid; });
}

// Of a workload that had this one's kind and name before.
bool IsOfAFormerOne(const kube::Object& pod, const kube::Object& workload) {
  const Json* owners = Find(pod.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const Json& one) {
    return GetString(one, {"kind"}) == workload.kind() && GetString(one, {"name"}) == workload.name();
  });
}

Status Give(const Context& ctx, kube::Client& client, const kube::Object& workload) {
  kube::Object pod = PodThatIsNotRun(workload);
  auto made = client.Create(ctx, kube::Builtin("Pod"), pod);
  if (made.ok()) return TellStatus(ctx, client, workload, *made);
  if (made.code() != Code::kAlreadyExists) return made.error();
  // Of an earlier try or node, which may have ended before it wrote the status; or of one that had this name before.
  kube::Object there = TRY(client.Get(ctx, kube::Builtin("Pod"), pod.ns(), pod.name()));
  if (IsOwnedBy(there, workload.uid())) return IsTold(there) ? Ok() : TellStatus(ctx, client, workload, there);
  if (!IsOfAFormerOne(there, workload) && !IsTold(there)) {
    ctx.log.Warn("what isn't run here isn't told: its Pod's name is somebody else's",
                 {{"object", workload.kind() + " " + workload.ns() + "/" + workload.name()}, {"pod", there.name()}});
    return Ok();
  }
  TRY(client.Delete(ctx, kube::Builtin("Pod"), there.ns(), there.name(), {.uid = there.uid()}));
  return Error{Code::kUnavailable, "its Pod is still that of a former one", {}};
}

// Where nobody collects garbage. A Pod of that name may be somebody else's.
Status TakeBack(const Context& ctx, kube::Client& client, const kube::Object& workload) {
  const std::string name = PodThatIsNotRun(workload).name();
  auto there = client.Get(ctx, kube::Builtin("Pod"), workload.ns(), name);
  if (!there.ok()) return there.code() == Code::kNotFound ? Ok() : Status(there.error());
  // One that lost its owner, as by `kubectl delete --cascade=orphan`, has our word still.
  if (!IsOwnedBy(*there, workload.uid()) && !IsTold(*there)) return Ok();
  Status done = client.Delete(ctx, kube::Builtin("Pod"), workload.ns(), name, {.uid = there->uid()});
  return !done.ok() && done.code() == Code::kNotFound ? Ok() : done;
}

// What came or went, by kind and name, until it has been told. Thread-safe.
class Untold {
 public:
  struct Change {
    std::string kind;
    kube::ObjectPtr was, is;
  };
  void Add(Change change) {
    MutexLock lock(mu_);
    const kube::Object& object = change.is != nullptr ? *change.is : *change.was;
    changes_[change.kind + " " + object.ns() + "/" + object.name()] = std::move(change);
    wake_.notify_all();
  }
  // One that failed: later ones of the same name count more.
  void Return(const std::string& key, Change change) {
    MutexLock lock(mu_);
    changes_.try_emplace(key, std::move(change));
  }
  std::map<std::string, Change> Take(const Context& ctx) {
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(wake_, mu_, ctx.stop, MonoTime::max(), [&] {
      mu_.AssertHeld();
      return !changes_.empty();
    });
    return std::exchange(changes_, {});
  }

 private:
  Mutex mu_;
  std::condition_variable_any wake_;
  std::map<std::string, Change> changes_ CAPI_GUARDED_BY(mu_);
};

Status Tell(const Context& ctx, kube::Client& client, const Untold::Change& change) {
  Context soon = ctx.WithTimeout(kCallTime);
  kube::Object workload = change.is != nullptr ? *change.is : *change.was;
  workload.json()["kind"] = change.kind;  // of lists the items may have none
  workload.json()["apiVersion"] = kube::Builtin(change.kind).api_version();
  if (change.is == nullptr) return TakeBack(soon, client, workload);
  return change.is->deleting() ? Ok() : Give(soon, client, workload);
}

// Until a stop: what can't be told now is told later.
void TellAll(const Context& ctx, kube::Client& client, Untold& untold) {
  while (!ctx.stop.stop_requested()) {
    bool all = true;
    for (const auto& [key, change] : untold.Take(ctx)) {
      Status done = Tell(ctx, client, change);
      if (done.ok() || ctx.stop.stop_requested()) continue;
      ctx.log.Warn("what isn't run here isn't told yet", {{"object", key}, {"error", done.error().message}});
      untold.Return(key, change);
      all = false;
    }
    if (!all) ctx.clock->Sleep(ctx.stop, kRetry);
  }
}

// Of a long name what tells it from others that begin alike.
std::string PodName(const kube::Object& workload) {
  std::string begin = workload.name();
  if (begin.size() > kLongestPrefix) {
    begin.resize(kLongestPrefix);
    begin.erase(begin.find_last_not_of(".-") + 1);
    begin += "-" + Sha256Hex(workload.name()).substr(0, 8);
  }
  return fmt::format("{}-{}-not-run", begin, ToLower(workload.kind()));
}

Json NamesAndImages(const Json& pod) {
  Json all = Json::array();
  const Json* containers = Find(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return all;
  for (const Json& one : *containers)
    all.push_back({{"name", GetString(one, {"name"})}, {"image", GetString(one, {"image"})}});
  return all;
}

}  // namespace

kube::Object PodThatIsNotRun(const kube::Object& workload) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  const Json* pods = Find(workload.json(), {"spec", "template"});
  if (pods != nullptr && pods->is_object()) pod.update(*pods);
  // What a template has may be no Pod by itself: a StatefulSet's volumes are claims beside it.
  pod["spec"] = {{"containers", NamesAndImages(pod)}};
  Json& metadata = Ensure(pod, {"metadata"});
  metadata.erase("creationTimestamp");
  metadata["name"] = PodName(workload);
  metadata["namespace"] = workload.ns();
  metadata["ownerReferences"] = Json::array({{{"apiVersion", workload.api_version()},
                                              {"kind", workload.kind()},
                                              {"name", workload.name()},
                                              {"uid", workload.uid()},
                                              {"controller", true}}});
  return kube::Object(std::move(pod));
}

void KeepNotRun(const Context& ctx, kube::Client& client) {
  Untold untold;
  std::list<kube::Informer> informers;
  Workers workers(ctx);
  for (const char* kind : kKinds) {
    kube::Informer& informer =
        informers.emplace_back(client, kube::Builtin(kind), kube::InformerOptions{.transform = kube::DropManagedFields},
                               [&untold, kind](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
                                 if (was == nullptr || is == nullptr) untold.Add({kind, was, is});
                               });
    workers.Add([&informer, own = workers.ctx()] { informer.Run(own); });
  }
  TellAll(workers.ctx(), client, untold);
  if (auto failed = workers.Failed()) throw std::runtime_error(*failed);
}

}  // namespace capi::local
