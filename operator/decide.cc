#include "operator/decide.h"

#include <algorithm>

#include "api/release.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

bool HandsOffWanted(const Observation& o) {
  return o.provider.annotations.contains(std::string(api::kAnnotationPaused));
}

bool HasStale(const kube::Inventory& inventory) {
  return std::any_of(inventory.entries().begin(), inventory.entries().end(),
                     [](const auto& entry) { return entry.second.stale; });
}

}  // namespace

Step Decide(const Observation& o) {
  if (HandsOffWanted(o)) return HandsOff{};
  if (o.provider.deleting) {
    if (!o.provider.has_finalizer) return Steady{};
    // An inventory that can't be read is never taken for an empty one.
    if (auto hold = StatusIsReadable(o)) return *hold;
    return Remove{};
  }
  if (!o.provider.has_finalizer) return AddFinalizer{};
  for (const Rule& rule : PreflightRules()) {
    if (auto hold = rule.check(o)) return *hold;
  }
  std::string inputs = InputsDigest(o);
  if (inputs.empty() || inputs != o.provider.status.applied) return Install{inputs};
  if (!o.fleet.missing.empty()) return Install{inputs};
  if (HasStale(o.inventory) && o.fleet.ready()) return Prune{};
  return Steady{};
}

const StoredRelease* WantedRelease(const Observation& o) {
  const StoredRelease* best = nullptr;
  for (const auto& release : o.releases) {
    if (!o.provider.spec.version.empty()) {
      if (api::SameVersion(release.version_text, o.provider.spec.version)) return &release;
    } else if (release.version && o.provider.spec.fetch_config && o.provider.spec.fetch_config->selector) {
      auto rank = [](const StoredRelease& r) { return std::pair(r.version->prerelease.empty(), *r.version); };
      if (best == nullptr || rank(*best) < rank(release)) best = &release;
    }
  }
  return best;
}

std::string InputsDigest(const Observation& o) {
  const StoredRelease* release = WantedRelease(o);
  if (release == nullptr || !release->version || o.provider.spec.version.empty()) return "";
  return InputsDigest(o, *release->version, release->stamp);
}

std::string InputsDigest(const Observation& o, const api::Version& version, std::string_view release_stamp) {
  auto annotation = o.provider.annotations.find(std::string(api::kAnnotationReconcileAt));
  std::string text =
      Join(std::vector<std::string>{"1", o.provider.uid, o.spec_digest, version.ToString(), std::string(release_stamp),
                                    o.config_secret ? o.config_secret->stamp : "",
                                    o.additional_manifests ? o.additional_manifests->stamp : "", o.environment,
                                    annotation == o.provider.annotations.end() ? "" : annotation->second},
           "\n");
  return Sha256Hex(text).substr(0, 32);
}

}  // namespace capi::ops
