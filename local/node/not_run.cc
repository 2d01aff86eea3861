#include "local/node/not_run.h"

#include <fmt/core.h>

#include <list>
#include <thread>

#include "kube/cache/informer.h"
#include "local/node/pod_status.h"

namespace capi::local {
namespace {

constexpr Seconds kCallTime{10};
constexpr const char* kKinds[] = {"StatefulSet", "DaemonSet", "Job"};

Status Give(const Context& ctx, kube::Client& client, const kube::Object& workload) {
  kube::Object pod = PodThatIsNotRun(workload);
  auto made = client.Create(ctx, kube::Builtin("Pod"), pod);
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made.error();
  if (!made.ok()) return Ok();
  std::string message = fmt::format("a {} isn't run by a local plane: it runs Deployments alone", workload.kind());
  Json status = {{"status", UnscheduledStatus(*made, "NotRunHere", message, ctx.clock->Now())}};
  TRY(client.Patch(ctx, kube::Builtin("Pod"), pod.ns(), pod.name(), kube::PatchType::kMerge, status,
                   {.subresource = "status"}));
  return Ok();
}

void Follow(const Context& ctx, kube::Client& client, const char* kind, const kube::ObjectPtr& was,
            const kube::ObjectPtr& is) {
  Context soon = ctx.WithTimeout(kCallTime);
  kube::Object workload = is != nullptr ? *is : *was;
  workload.json()["kind"] = kind;  // of lists the items may have none
  workload.json()["apiVersion"] = kube::Builtin(kind).api_version();
  Status done = Ok();
  if (is == nullptr) {
    // Where nobody collects garbage.
    done = client.Delete(soon, kube::Builtin("Pod"), workload.ns(), PodThatIsNotRun(workload).name());
    if (!done.ok() && done.code() == Code::kNotFound) return;
  } else if (!is->deleting()) {
    done = Give(soon, client, workload);
  }
  if (!done.ok() && !ctx.stop.stop_requested()) {
    ctx.log.Warn("what isn't run here isn't told",
                 {{"object", workload.id().ToString()}, {"error", done.error().message}});
  }
}

}  // namespace

kube::Object PodThatIsNotRun(const kube::Object& workload) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  const Json* pods = Find(workload.json(), {"spec", "template"});
  if (pods != nullptr && pods->is_object()) pod.update(*pods);
  Json& metadata = Ensure(pod, {"metadata"});
  metadata.erase("creationTimestamp");
  metadata["name"] = workload.name() + "-not-run";
  metadata["namespace"] = workload.ns();
  metadata["ownerReferences"] = Json::array({{{"apiVersion", workload.api_version()},
                                              {"kind", workload.kind()},
                                              {"name", workload.name()},
                                              {"uid", workload.uid()},
                                              {"controller", true}}});
  return kube::Object(std::move(pod));
}

void KeepNotRun(const Context& ctx, kube::Client& client) {
  std::list<kube::Informer> informers;
  std::list<std::thread> threads;
  for (const char* kind : kKinds) {
    kube::Informer& informer =
        informers.emplace_back(client, kube::Builtin(kind), kube::InformerOptions{.transform = kube::DropManagedFields},
                               [&client, ctx, kind](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
                                 if (was == nullptr || is == nullptr) Follow(ctx, client, kind, was, is);
                               });
    threads.emplace_back([&informer, ctx] { informer.Run(ctx); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace capi::local
