#include "cli/frame/provider_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/moves/upgrade_policy.h"
#include "api/text.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNames = 20;

Error NoneIsMeant(std::string_view text, const std::string& ns, const std::vector<ProviderObject>& all) {
  std::vector<std::string> names;
  for (const ProviderObject& one : all) names.push_back(Describe(one.provider.id));
  return {Code::kNotFound,
          fmt::format("there is no provider {}{}; there {}: {}", api::GoQuote(text),
                      ns.empty() ? "" : fmt::format(" in namespace {}", api::GoQuote(ns)),
                      names.size() == 1 ? "is" : "are", names.empty() ? "none" : JoinNames(names, kMostNames)),
          {}};
}

}  // namespace

ProviderObject ReadProviderObject(const kube::Object& object) {
  auto provider = api::ParseProvider(object);
  const std::string declared = GetString(object.json(), {"spec", "version"});
  if (!provider.ok()) return {api::ParseProviderMeta(object), declared, provider.error(), declared};
  std::string wanted = api::VersionToRun(declared, provider->status, provider->annotations);
  return {*std::move(provider), std::move(wanted), std::nullopt, declared};
}

bool IsHeld(const api::Provider& provider) {
  return provider.deleting || provider.spec.paused ||
         provider.annotations.contains(std::string(api::kAnnotationPaused));
}

Result<std::vector<ProviderObject>> AllProviders(const Context& ctx, ManagementCluster& cluster,
                                                 const std::string& ns) {
  std::vector<ProviderObject> out;
  bool served = false;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    auto list = cluster.client().List(ctx, api::ResourceOf(kind.type), ns);
    if (!list.ok() && list.code() == Code::kNotFound) continue;
    if (!list.ok()) return list.error().With(fmt::format("failed to list {}.{}", kind.plural, api::kGroup));
    served = true;
    for (const kube::Object& object : list->items) out.push_back(ReadProviderObject(object));
  }
  if (!served) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("the cluster has no kinds of {}: is capi-operator installed there? A provider that "
                             "clusterctl installed is in `kubectl get providers.clusterctl.cluster.x-k8s.io -A`",
                             api::kGroup),
                 {}};
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.provider.id < b.provider.id; });
  return out;
}

std::string Describe(const api::ProviderId& id) {
  return fmt::format("{} {}/{}", api::KindOf(id.type).kind, id.ns, id.name);
}

bool IsMeant(std::string_view text, const api::ProviderId& id) {
  size_t slash = text.find('/');
  if (slash == text.npos) return text == id.name || text == api::ManifestLabel(id.type, id.name);
  const api::ProviderKind& info = api::KindOf(id.type);
  std::string kind = ToLower(text.substr(0, slash));
  return text.substr(slash + 1) == id.name &&
         (kind == ToLower(info.kind) || kind == info.plural || kind == info.short_name);
}

Result<std::vector<ProviderObject>> FindProviders(const Context& ctx, ManagementCluster& cluster, std::string_view text,
                                                  const std::string& ns) {
  std::vector<ProviderObject> all = TRY(AllProviders(ctx, cluster, ns));
  std::vector<ProviderObject> out;
  for (const ProviderObject& one : all) {
    if (IsMeant(text, one.provider.id)) out.push_back(one);
  }
  if (out.empty()) return NoneIsMeant(text, ns, all);
  return out;
}

Result<std::string> OneProviderName(const std::vector<std::string>& names) {
  if (names.size() == 1 && !names[0].empty()) return names[0];
  return Error{Code::kInvalidArgument, "name one provider: aws, infrastructure-aws or infrastructureprovider/aws", {}};
}

std::string KubectlName(const api::ProviderId& id) {
  return fmt::format("{}.{}/{}", ToLower(api::KindOf(id.type).kind), api::kGroup, id.name);
}

}  // namespace capi::cli
