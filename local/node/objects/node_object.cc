#include "local/node/objects/node_object.h"

#include <array>

#include "local/node/node.h"

namespace capi::local {
namespace {

constexpr Seconds kHeartbeat{10}, kRetry{1}, kCallTime{5};
constexpr int kBeatsOfOne = 10;
constexpr const char* kLeases = "kube-node-lease";

kube::Object NodeOf() {
  Json node = {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", kNodeName}}}};
  node["metadata"]["labels"] = {{"kubernetes.io/hostname", kNodeName}, {"kubernetes.io/os", "linux"}};
  return kube::Object(std::move(node));
}

Json StatusOf(WallTime since, WallTime now) {
  Json ready = {{"type", "Ready"}, {"status", "True"}, {"reason", "LocalPlane"}, {"message", "runs processes"}};
  ready["lastTransitionTime"] = FormatTime(since);
  ready["lastHeartbeatTime"] = FormatTime(now);
  Json status = {{"conditions", Json::array({ready})}};
  status["addresses"] = {{{"type", "InternalIP"}, {"address", "127.0.0.1"}},
                         {{"type", "Hostname"}, {"address", kNodeName}}};
  status["capacity"] = {{"pods", "110"}};
  status["allocatable"] = {{"pods", "110"}};
  return {{"status", std::move(status)}};
}

Status MakeNode(const Context& ctx, kube::Client& client, WallTime since) {
  auto made = client.Create(ctx, kube::Builtin("Node"), NodeOf());
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made.error();
  TRY(client.Patch(ctx, kube::Builtin("Node"), "", kNodeName, kube::PatchType::kMerge,
                   StatusOf(since, ctx.clock->Now()), {.subresource = "status"}));
  return Ok();
}

Status Renew(const Context& ctx, kube::Client& client) {
  Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", kNodeName}, {"namespace", kLeases}}}};
  lease["spec"] = {
      {"holderIdentity", kNodeName}, {"leaseDurationSeconds", 40}, {"renewTime", FormatMicroTime(ctx.clock->Now())}};
  TRY(client.Apply(ctx, kube::Builtin("Lease"), kube::Object(std::move(lease)), {.field_manager = "local-node"}));
  return Ok();
}

}  // namespace

void KeepNode(const Context& ctx, kube::Client& client) {
  const WallTime since = ctx.clock->Now();
  int left = 0;  // heartbeats until it is made, or told of, again: somebody may have deleted it
  do {
    Context soon = ctx.WithTimeout(kCallTime);
    Status done = left > 0 ? Ok() : MakeNode(soon, client, since);
    if (done.ok()) left = left > 0 ? left - 1 : kBeatsOfOne;
    if (done.ok()) done = Renew(soon, client);
    if (!done.ok() && !ctx.stop.stop_requested()) {
      ctx.log.Warn("the Node isn't kept", {{"error", done.error().message}});
    }
    if (!ctx.clock->Sleep(ctx.stop, done.ok() ? kHeartbeat : kRetry)) return;
  } while (true);
}

}  // namespace capi::local
