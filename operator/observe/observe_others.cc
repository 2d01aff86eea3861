// What a pass looks at that no status tells: of providers that have lost theirs, or were never taken over.
#include <algorithm>

#include "operator/decide/precedence.h"
#include "operator/observe/observe.h"

namespace capi::ops {
namespace {

constexpr const char* kWorkloads[] = {"Deployment", "DaemonSet", "StatefulSet"};

// A duplicate that was refused (I5) has the same label, and another Namespace.
std::string LabelIn(const std::string& ns, const std::string& label) { return ns + "/" + label; }

bool SameName(const api::ProviderId& a, const api::ProviderId& b) { return a.type == b.type && a.name == b.name; }

}  // namespace

Result<std::set<std::string>> Observer::Running(const Context& ctx, const std::string& key) {
  std::set<std::string> running;
  for (const char* kind : kWorkloads) {
    for (const auto& object : TRY(Workloads(ctx, key, kind))->List()) {
      running.insert(LabelIn(object->ns(), object->label(api::kLabelProvider)));
    }
  }
  return running;
}

Status Observer::ObserveSiblings(const Context& ctx, const std::string& key, Observation& o) {
  o.core = nullptr;
  o.siblings.clear();
  o.unjudged.clear();
  o.unlisted = unlisted_();
  for (const auto& other : cache_.All()) {
    const api::Provider& provider = *other->provider;
    bool core = provider.id.type == api::ProviderType::kCore;
    if (core && (!o.core || GoesBefore(provider, *o.core))) o.core = other->provider;
    if (provider.id != o.provider.id) o.siblings.push_back(other->provider);
  }
  std::optional<std::set<std::string>> running;
  for (const auto& sibling : o.siblings) {
    const api::ProviderId& id = sibling->id;
    if (!sibling->status.contract.empty()) continue;
    if (!running) running = TRY(Running(ctx, key));
    if (running->contains(LabelIn(id.ns, api::ManifestLabel(id.type, id.name)))) o.unjudged.insert(id);
  }
  return Ok();
}

Result<kube::Inventory> Observer::LeftBehind(const Context& ctx, const std::string& key, const Observation& o) {
  kube::Inventory left;
  const api::ProviderId& id = o.provider.id;
  for (const auto& sibling : o.siblings) {
    // A duplicate that was refused (I5): what has these labels is the other one's.
    if (SameName(sibling->id, id)) return left;
  }
  std::string label = api::ManifestLabel(id.type, id.name);
  std::vector<const char*> kinds(std::begin(kWorkloads), std::end(kWorkloads));
  // CRDs that stay from an earlier life say nothing of what runs (X1), and its workloads are all in its Namespace (I8).
  if (o.provider.deleting) kinds.push_back("CustomResourceDefinition");
  for (const char* kind : kinds) {
    const kube::Resource& resource = kube::Builtin(kind);
    auto informer = resource.namespaced ? TRY(Workloads(ctx, key, kind)) : TRY(Crds(ctx, key));
    for (const auto& object : informer->List()) {
      std::string fields = TraceOf(*object).fields;
      if (object->label(api::kLabelProvider) != label || fields.empty()) continue;
      if (resource.namespaced && object->ns() != id.ns) continue;
      left.Put({resource.group, resource.kind, object->ns(), object->name()}, {resource.version, "", fields, false});
    }
  }
  return left;
}

}  // namespace capi::ops
