#include "cli/move/providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/release_maps.h"
#include "cli/move/discover.h"
#include "cli/move/transfer.h"
#include "kube/meta/label_selector.h"
#include "kube/meta/object_conditions.h"

namespace capi::cli::move {
namespace {

constexpr Millis kPause(1'000);
constexpr int kTries = 300;
// Of copies of what people made: what clusterctl makes by its own name belongs to the provider, and goes with it.
constexpr char kCopied[] = "clusterctl-move";

Result<std::vector<kube::Object>> ProvidersOf(const Context& ctx, kube::Client& cluster) {
  std::vector<kube::Object> out;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    TRY(EachObject(ctx, cluster, api::ResourceOf(kind.type), "", {},
                   [&](const kube::Object& object) { out.push_back(object); }));
  }
  return out;
}

using Key = std::pair<std::string, std::string>;

Key KeyOf(const kube::Object& provider) { return {provider.kind(), provider.name()}; }

std::string Named(const kube::Object& object) {
  return fmt::format("{} {}/{}", object.kind(), object.ns(), object.name());
}

// A new one, unless there is one of its name.
Status CreateWhereMissing(const Context& ctx, kube::Client& target, const kube::Resource& resource,
                          const kube::Object& object, const std::string& field_manager = "") {
  auto made = target.Create(ctx, resource, object, {.field_manager = field_manager, .metadata_only = true});
  if (made.ok() || made.code() == Code::kAlreadyExists) return Ok();
  if (made.code() == Code::kNotFound && resource.group == api::kGroup) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("failed to create {} in the target, which has no such kind: install the operator there",
                             Named(object)),
                 {}};
  }
  return made.error().With(fmt::format("failed to create {} in the target", Named(object)));
}

Status CopyReference(const Context& ctx, kube::Client& source, kube::Client& target,
                     const ProviderReference& reference) {
  auto object = source.Get(ctx, kube::Builtin(reference.kind), reference.ns, reference.name);
  if (!object.ok() && object.code() == Code::kNotFound)
    return Ok();  // the target's operator tells of it, as the source's
  if (!object.ok()) return object.error();
  TRY(MakeNamespace(ctx, target, reference.ns));
  return CreateWhereMissing(ctx, target, kube::Builtin(reference.kind), ProviderCopy(*object), kCopied);
}

// Releases that lie in ConfigMaps.
Status CopySelected(const Context& ctx, kube::Client& source, kube::Client& target, const kube::Object& provider) {
  const Json* selector = Find(provider.json(), {"spec", "fetchConfig", "selector"});
  if (selector == nullptr || !selector->is_object()) return Ok();
  auto wanted = TRY_WITH(kube::LabelSelector::FromJson(*selector), Named(provider));
  std::set<std::string> releases;
  TRY(EachObject(ctx, source, kube::Builtin("ConfigMap"), provider.ns(),
                 {.label_selector = wanted.ToString(), .metadata_only = true},
                 [&](const kube::Object& object) { releases.insert(object.name()); }));
  std::vector<std::string> names;  // further parts, which no selector finds, before the first, which says what they are
  TRY(EachObject(ctx, source, kube::Builtin("ConfigMap"), provider.ns(),
                 {.label_selector = std::string(api::kLabelPartOf), .metadata_only = true},
                 [&](const kube::Object& object) {
                   if (releases.contains(object.label(api::kLabelPartOf))) names.push_back(object.name());
                 }));
  names.insert(names.end(), releases.begin(), releases.end());
  for (const std::string& name : names) TRY(CopyReference(ctx, source, target, {"ConfigMap", provider.ns(), name}));
  return Ok();
}

Status CopyProvider(const Context& ctx, kube::Client& source, kube::Client& target, const kube::Object& provider) {
  TRY(MakeNamespace(ctx, target, provider.ns()));
  for (const ProviderReference& reference : ReferencesOf(provider))
    TRY_WITH(CopyReference(ctx, source, target, reference), Named(provider));
  TRY(CopySelected(ctx, source, target, provider));
  const api::ProviderKind* kind = api::KindByName(provider.kind());
  return CreateWhereMissing(ctx, target, api::ResourceOf(kind->type), ProviderCopy(provider));
}

Status AwaitReady(const Context& ctx, kube::Client& target, const kube::Object& provider) {
  const kube::Resource resource = api::ResourceOf(api::KindByName(provider.kind())->type);
  std::string why = "no operator has looked at it yet";
  for (int tries = 0; tries < kTries; ++tries) {
    kube::Object object = TRY(target.Get(ctx, resource, provider.ns(), provider.name()));
    const std::vector<kube::Condition> conditions = kube::Conditions(object);
    if (kube::IsTrue(conditions, "Ready")) return Ok();
    if (const kube::Condition* ready = kube::FindCondition(conditions, "Ready"))
      why = fmt::format("{}: {}", ready->reason, ready->message);
    if (!ctx.clock->Sleep(ctx.stop, kPause)) return ctx.Check();
  }
  return Error{
      Code::kFailedPrecondition,
      fmt::format("{} isn't Ready in the target after five minutes: {}. Mend that there, and run the same command "
                  "again",
                  Named(provider), why),
      {}};
}

}  // namespace

kube::Object ProviderCopy(const kube::Object& provider) {
  kube::Object out = provider;
  out.json().erase("status");
  Json metadata = {{"name", provider.name()}, {"namespace", provider.ns()}};
  if (const Json* labels = Find(provider.json(), {"metadata", "labels"})) metadata["labels"] = *labels;
  if (const Json* annotations = Find(provider.json(), {"metadata", "annotations"}); annotations != nullptr) {
    for (const auto& [key, value] : annotations->items()) {
      const bool reads = key == api::kAnnotationParts || key == api::kAnnotationPartsDigest;  // how to read a release
      if (reads || !key.starts_with(fmt::format("{}/", api::kGroup))) metadata["annotations"][key] = value;
    }
  }
  out.json()["metadata"] = std::move(metadata);
  return out;
}

std::vector<ProviderReference> ReferencesOf(const kube::Object& provider) {
  std::vector<ProviderReference> out;
  auto add = [&](const char* kind, JsonPath path) {
    const Json* reference = Find(provider.json(), path);
    if (reference == nullptr) return;
    std::string name = GetString(*reference, {"name"}), ns = GetString(*reference, {"namespace"});
    if (!name.empty()) out.push_back({kind, ns.empty() ? provider.ns() : ns, name});
  };
  add("Secret", {"spec", "configSecret"});
  add("ConfigMap", {"spec", "additionalManifests"});
  add("Secret", {"spec", "fetchConfig", "secretRef"});
  add("Secret", {"spec", "fetchConfig", "git", "secretRef"});
  add("Secret", {"spec", "fetchConfig", "verify", "secretRef"});
  return out;
}

Status EraseIncluded(const Context& ctx, kube::Client& source, kube::Client& target,
                     std::vector<InstalledProvider>& providers) {
  std::set<Key> objects;
  for (kube::Client* cluster : {&source, &target}) {
    for (const kube::Object& object : TRY(ProvidersOf(ctx, *cluster))) objects.insert(KeyOf(object));
  }
  std::erase_if(providers, [&](const InstalledProvider& provider) {
    return objects.contains({std::string(api::KindOf(provider.type).kind), provider.name});
  });
  return Ok();
}

Status IncludeProviders(const Context& ctx, kube::Client& source, kube::Client& target, Progress& progress) {
  std::map<Key, kube::Object> there;
  for (const kube::Object& object : TRY(ProvidersOf(ctx, target))) there.emplace(KeyOf(object), object);
  std::vector<kube::Object> wanted = TRY(ProvidersOf(ctx, source));
  if (wanted.empty()) progress.Warn("the source has no Provider objects of the operator");
  for (const kube::Object& provider : wanted) {
    if (!there.emplace(KeyOf(provider), provider).second) continue;
    progress.Say(0, "Creating", {{provider.kind(), provider.name()}, {"Namespace", provider.ns()}});
    TRY(CopyProvider(ctx, source, target, provider));
  }
  if (!wanted.empty()) progress.Say(0, "Waiting for providers to be available...");
  // Those that an interrupted run has created, too.
  for (const kube::Object& provider : wanted) TRY(AwaitReady(ctx, target, there.at(KeyOf(provider))));
  return Ok();
}

Status TellProviders(const Context& ctx, kube::Client& source, Progress& progress) {
  for (const kube::Object& provider : TRY(ProvidersOf(ctx, source)))
    progress.Say(0, "Creating where missing", {{provider.kind(), provider.name()}, {"Namespace", provider.ns()}});
  return Ok();
}

}  // namespace capi::cli::move
