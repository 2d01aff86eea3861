// What a provider's spec refers to: its Secret, its manifests, its releases.
#include <algorithm>

#include "api/reasons.h"
#include "api/stored_release.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"
#include "operator/decide/rules.h"
#include "operator/observe/observe.h"

namespace capi::ops {
namespace {

using Purpose = Watches::Purpose;

// A selector that asks for one of the release labels finds nothing outside of the one watch that all providers share.
bool AsksForReleaseLabel(const Json& selector) {
  const Json* labels = Find(selector, {"matchLabels"});
  return labels != nullptr && labels->is_object() && labels->contains(std::string(api::kLabelReleaseName));
}

bool WaitsForKinds(const api::Provider& provider) {
  const auto* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  return ready != nullptr && ready->reason == api::reason::kMissingKinds;
}

}  // namespace

Result<std::optional<Referenced>> Observer::Find(const Context& ctx, const std::string& key, const char* kind,
                                                 const std::optional<api::ObjectRef>& ref) {
  if (!ref) return std::optional<Referenced>();
  const std::string field = "metadata.name=" + ref->name;
  const auto found =
      TRY(watches_.Select(ctx, {Purpose::kReferenced, kube::Builtin(kind), ref->ns, "", field, true}, key));
  Referenced out{*ref, !found.empty(), ""};
  if (out.exists) out.stamp = found.front()->uid() + "/" + found.front()->resource_version();
  return std::optional<Referenced>(out);
}

Result<std::vector<StoredRelease>> Observer::Releases(const Context& ctx, const std::string& key,
                                                      const api::Provider& provider) {
  std::optional<kube::LabelSelector> selector;
  Watches::Key watch{Purpose::kReleases, kube::Builtin("ConfigMap"), "", std::string(api::kLabelReleaseName), "", true};
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && fetch->selector) {
    selector = TRY(kube::LabelSelector::FromJson(*fetch->selector));
    if (!AsksForReleaseLabel(*fetch->selector)) {
      watch.ns = provider.id.ns;
      watch.label_selector = selector->ToString();
    }
  } else {
    // Also a release that somebody put there by hand, without the label that says who did: its name would be taken.
    auto labels = api::ReleaseLabels(provider.id);
    labels.erase(std::string(api::kLabelManagedBy));
    selector = TRY(kube::LabelSelector::Parse(api::SelectorOf(labels)));
  }
  std::vector<kube::ObjectPtr> maps;
  if (watch.ns.empty()) {
    auto informer = TRY(watches_.Need(ctx, watch, key, kube::DropManagedFields));
    maps = informer->List(provider.id.ns);
  } else {
    maps = TRY(watches_.Select(ctx, watch, key));
  }
  auto awaited = just_stored_.Awaited(key);
  std::vector<StoredRelease> releases;
  for (const auto& map : maps) {
    const Json* labels = capi::Find(map->json(), {"metadata", "labels"});
    if (selector->Matches(labels == nullptr ? Json() : *labels)) {
      releases.push_back(api::ReadStoredRelease(*map));
    }
  }
  if (!awaited) return releases;
  std::erase_if(releases, [&](const StoredRelease& r) { return r.name == awaited->name; });
  releases.push_back(*std::move(awaited));
  return releases;
}

void Observer::Remember(const std::string& key, const StoredRelease& stored) { just_stored_.Put(key, stored); }

Status Observer::ObserveInputs(const Context& ctx, const std::string& key, Observation& o) {
  if (o.provider.deleting && !GuardsDeletion(o)) return Ok();
  // T1: what may not be named is neither read nor watched.
  auto may_look = [&](const std::optional<api::ObjectRef>& ref) {
    bool own = ref && ref->ns == o.provider.id.ns;
    return own || o.refused_references.empty() ? ref : std::nullopt;
  };
  o.config_secret = TRY(Find(ctx, key, "Secret", may_look(o.provider.spec.config_secret)));
  if (const auto& fetch = o.provider.spec.fetch_config) {
    const auto& secret = fetch->git ? fetch->git->secret_ref : fetch->secret_ref;
    o.source_secret = TRY(Find(ctx, key, "Secret", may_look(secret)));
    if (fetch->verify) o.keys_secret = TRY(Find(ctx, key, "Secret", may_look(fetch->verify->secret_ref)));
  }
  if (const std::string& name = o.provider.spec.service_account; !name.empty()) {
    const api::ObjectRef ref{name, o.provider.id.ns};
    o.service_account =
        IsDns1123Subdomain(name) ? TRY(Find(ctx, key, "ServiceAccount", ref)) : Referenced{ref, false, ""};
  }
  o.additional_manifests = TRY(Find(ctx, key, "ConfigMap", may_look(o.provider.spec.additional_manifests)));
  o.releases = TRY(Releases(ctx, key, o.provider));
  if (WaitsForKinds(o.provider)) TRY(WatchAllCrds(ctx, key));
  return Ok();
}

}  // namespace capi::ops
