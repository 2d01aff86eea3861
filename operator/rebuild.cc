#include "operator/rebuild.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/thread_pool.h"
#include "kube/apply/apply.h"

namespace capi::ops {
namespace {

constexpr size_t kParallel = 4;

bool CanBeListed(const kube::Resource& resource) {
  bool lists =
      resource.verbs.empty() || std::find(resource.verbs.begin(), resource.verbs.end(), "list") != resource.verbs.end();
  return lists && resource.kind != "Event" && resource.plural.find('/') == std::string::npos;
}

// One version of each kind, the preferred one: they come first.
std::vector<kube::Resource> Kinds(std::vector<kube::Resource> all) {
  std::set<kube::GroupKind> seen;
  std::vector<kube::Resource> kinds;
  for (kube::Resource& resource : all) {
    if (CanBeListed(resource) && seen.insert({resource.group, resource.kind}).second)
      kinds.push_back(std::move(resource));
  }
  return kinds;
}

bool MayBeLeftOut(const Error& error) {
  return error.code == Code::kNotFound || error.code == Code::kUnsupported || error.code == Code::kPermissionDenied;
}

}  // namespace

Result<kube::Inventory> RebuildInventory(const Context& ctx, kube::Client& client, const Observation& o) {
  const api::ProviderId& id = o.provider.id;
  std::vector<kube::Inventory> others;
  for (const auto& sibling : o.siblings) {
    others.push_back(TRY_WITH(kube::Inventory::Parse(sibling->status.inventory), sibling->id.ToString()));
  }
  auto kinds = Kinds(TRY(client.mapper().All(ctx)));
  std::string selector =
      fmt::format("{}={},{}", api::kLabelProvider, api::ManifestLabel(id.type, id.name), api::kLabelClusterctl);
  std::vector<std::optional<Result<kube::ObjectList>>> answers(kinds.size());
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < kinds.size(); ++i) {
    tasks.push_back(
        [&, i] { answers[i] = client.List(ctx, kinds[i], "", {.label_selector = selector, .metadata_only = true}); });
  }
  ThreadPool(kParallel, kParallel).RunAll(std::move(tasks));
  kube::Inventory inventory;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto& answer = *answers[i];
    if (!answer.ok() && MayBeLeftOut(answer.error())) continue;
    if (!answer.ok()) return answer.error().With(kinds[i].plural);
    for (const kube::Object& object : answer->items) {
      std::string fields = kube::FieldsHash(object, api::kFieldManager);
      if (fields.empty()) continue;  // somebody else's with our labels
      kube::ObjectId found{kinds[i].group, kinds[i].kind, object.ns(), object.name()};
      if (std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.Contains(found); })) continue;
      inventory.Put(found, {kinds[i].version, "", fields, false});
    }
  }
  return inventory;
}

}  // namespace capi::ops
