#include "lifecycle/labelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/run_all.h"
#include "base/strings.h"
#include "kube/client/status_error.h"
#include "lifecycle/in_use.h"

namespace capi::lifecycle {
namespace {

constexpr size_t kParallel = 8;
constexpr size_t kMostNames = 5;

bool Has(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::set<kube::GroupKind> KindsOf(const std::vector<kube::Object>& crds) {
  std::set<kube::GroupKind> out;
  for (const kube::Object& crd : crds) {
    out.insert({GetString(crd.json(), {"spec", "group"}), GetString(crd.json(), {"spec", "names", "kind"})});
  }
  return out;
}

// Each kind once, at the version that the server prefers.
std::vector<kube::Resource> Deletable(std::vector<kube::Resource> all, std::set<kube::GroupKind> seen) {
  std::vector<kube::Resource> out;
  for (kube::Resource& resource : all) {
    if (!Has(resource.verbs, "list") || !Has(resource.verbs, "delete")) continue;
    if (seen.insert({resource.group, resource.kind}).second) out.push_back(std::move(resource));
  }
  return out;
}

// CRDs with any provider's labels: a list of their objects may need a webhook, which may be down.
Result<std::vector<kube::Object>> ProvidersCrds(const Context& ctx, kube::Client& client) {
  auto list = client.List(ctx, kube::Builtin("CustomResourceDefinition"), "",
                          {.label_selector = fmt::format("{}=,{}", api::kLabelClusterctl, api::kLabelProvider)});
  if (!list.ok()) return list.error().With("failed to list CustomResourceDefinitions");
  return std::move(list->items);
}

// Their objects, read where no conversion is needed. Of CRDs whose objects can't be read `unread` tells, each in words.
Result<std::vector<kube::Object>> ListOfCrds(const Context& ctx, kube::Client& client,
                                             const std::vector<kube::Object>& crds, const std::string& ns,
                                             const std::string& selector, std::vector<std::string>& unread) {
  std::vector<Result<ReadObjects>> answers(crds.size(), ReadObjects{});
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < crds.size(); ++i) {
    tasks.push_back([&, i] { answers[i] = ListReadable(client, ctx, crds[i], {.label_selector = selector}, ns); });
  }
  RunAll(kParallel, tasks);
  TRY(ctx.Check());
  std::vector<kube::Object> out;
  for (size_t i = 0; i < crds.size(); ++i) {
    if (!answers[i].ok()) {
      unread.push_back(fmt::format("objects of {}: {}", crds[i].name(), answers[i].error().message));
      continue;
    }
    for (kube::Object& object : answers[i]->items) out.push_back(std::move(object));
  }
  return out;
}

// Of each kind those in `ns` (in all, where it is ""), or without a namespace.
Result<std::vector<kube::Object>> ListAll(const Context& ctx, kube::Client& client,
                                          const std::vector<kube::Resource>& resources, const std::string& ns,
                                          const std::string& selector, bool metadata_only = true) {
  std::vector<Result<kube::ObjectList>> answers(resources.size(), kube::ObjectList{});
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < resources.size(); ++i) {
    tasks.push_back([&, i] {
      answers[i] = client.List(ctx, resources[i], resources[i].namespaced ? ns : "",
                               {.label_selector = selector, .metadata_only = metadata_only});
    });
  }
  RunAll(kParallel, tasks);
  std::vector<kube::Object> out;
  for (size_t i = 0; i < resources.size(); ++i) {
    // A kind that went meanwhile has no objects; one that can't be listed after all has none that could be found.
    bool none = !answers[i].ok() && (answers[i].code() == Code::kNotFound || answers[i].code() == Code::kUnsupported);
    if (none) continue;
    if (!answers[i].ok()) {
      return answers[i].error().With(
          fmt::format("failed to look for objects of kind {} ({})", resources[i].kind, resources[i].api_version()));
    }
    for (kube::Object& object : answers[i]->items) out.push_back(std::move(object));
  }
  return out;
}

}  // namespace

std::string SelectorOf(const api::ProviderId& id) {
  return fmt::format("{}=,{}={}", api::kLabelClusterctl, api::kLabelProvider, api::ManifestLabel(id.type, id.name));
}

Result<std::vector<kube::Object>> ListCrds(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  auto list = client.List(ctx, kube::Builtin("CustomResourceDefinition"), "", {.label_selector = SelectorOf(id)});
  if (!list.ok()) return list.error().With("failed to list CustomResourceDefinitions");
  return std::move(list->items);
}

Result<LabelledObjects> ListLabelled(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  auto crds = TRY(ProvidersCrds(ctx, client));
  std::set<std::string> away;
  auto resources = Deletable(TRY(client.mapper().All(ctx, &away)), KindsOf(crds));
  std::erase_if(resources, [&](const kube::Resource& resource) { return away.contains(resource.group); });
  std::erase_if(crds, [label = api::ManifestLabel(id.type, id.name)](const kube::Object& crd) {
    return crd.label(api::kLabelProvider) == label;
  });
  LabelledObjects out;
  for (const std::string& group : away) out.unread.push_back(kube::GroupIsAway("objects of group " + group).message);
  out.items = TRY(ListAll(ctx, client, resources, id.ns, SelectorOf(id)));
  for (kube::Object& object : TRY(ListOfCrds(ctx, client, crds, id.ns, SelectorOf(id), out.unread)))
    out.items.push_back(std::move(object));
  return out;
}

Result<std::vector<kube::Object>> ListInNamespace(const Context& ctx, kube::Client& client, const std::string& ns) {
  std::set<std::string> away;
  auto all = TRY(client.mapper().All(ctx, &away));
  if (!away.empty())
    return kube::GroupIsAway(JoinNames(std::vector<std::string>(away.begin(), away.end()), kMostNames));
  auto crds = TRY(ProvidersCrds(ctx, client));
  auto resources = Deletable(std::move(all), KindsOf(crds));
  std::erase_if(resources, [](const kube::Resource& resource) { return !resource.namespaced; });
  std::erase_if(crds, [](const kube::Object& crd) { return GetString(crd.json(), {"spec", "scope"}) != "Namespaced"; });
  auto out = TRY(ListAll(ctx, client, resources, ns, ""));
  std::vector<std::string> unread;
  for (kube::Object& object : TRY(ListOfCrds(ctx, client, crds, ns, "", unread))) out.push_back(std::move(object));
  if (!unread.empty()) return Error{Code::kUnavailable, JoinNames(unread, kMostNames), {}};
  return out;
}

Result<std::vector<kube::Object>> ListBuiltIn(const Context& ctx, kube::Client& client, const std::string& selector) {
  auto crds = client.List(ctx, kube::Builtin("CustomResourceDefinition"), "", {.metadata_only = true});
  if (!crds.ok()) return crds.error().With("failed to list CustomResourceDefinitions");
  std::set<std::string> of_crds, away;
  for (const kube::Object& crd : crds->items) of_crds.insert(crd.name().substr(crd.name().find('.') + 1));
  auto resources = Deletable(TRY(client.mapper().All(ctx, &away)), {});
  std::erase_if(resources, [&](const auto& one) { return of_crds.contains(one.group) || away.contains(one.group); });
  // Of an object that the server has under two groups the one that manifests name counts.
  std::stable_partition(resources.begin(), resources.end(), [](const kube::Resource& one) {
    return kube::FindBuiltin({one.group, one.kind}) != nullptr;
  });
  auto out = TRY(ListAll(ctx, client, resources, "", selector, false));
  std::set<std::string> uids;
  std::erase_if(out, [&](const kube::Object& one) { return !one.uid().empty() && !uids.insert(one.uid()).second; });
  return out;
}

}  // namespace capi::lifecycle
