#include <fmt/core.h>

#include <algorithm>

#include "api/moves/version_moves.h"
#include "api/reasons.h"
#include "api/release.h"
#include "api/validate/validate.h"
#include "base/strings.h"
#include "operator/decide/adoption.h"
#include "operator/decide/decide.h"
#include "operator/decide/precedence.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

Hold Preflight(std::string_view why, std::string message, Retry retry = Retry::kOnChange) {
  return Hold{std::string(condition::kPreflightCheckPassed), std::string(why), std::move(message), retry};
}

// X5: nothing can be created in a Namespace that is going; the provider goes with it.
std::optional<Hold> NamespaceStays(const Observation& o) {
  if (!o.namespace_going) return std::nullopt;
  return Preflight(reason::kNamespaceTerminating,
                   fmt::format("Namespace {} is being deleted, and this provider with it: nothing is restored or "
                               "changed any more",
                               o.provider.id.ns),
                   Retry::kWaiting);
}

// F2: a spec that can't be read says where.
std::optional<Hold> SpecIsReadable(const Observation& o) {
  if (!o.spec_error) return std::nullopt;
  return Preflight(reason::kInvalidSpec, o.spec_error->message);
}

// I5, I1, I2: what can be judged from the spec alone, field by field.
std::optional<Hold> SpecIsValid(const Observation& o) {
  auto errors = api::Validate(o.provider, o.known_provider);
  if (errors.empty()) return std::nullopt;
  std::vector<std::string> messages;
  for (const auto& e : errors) messages.push_back(e.ToString());
  return Preflight(errors.front().reason, Join(messages, "; "));
}

// T1: whoever may write a provider would have any Secret of the cluster read.
std::optional<Hold> ReferencesStayInTheNamespace(const Observation& o) {
  if (o.refused_references.empty()) return std::nullopt;
  std::vector<std::string> fields;
  for (const auto& reference : o.refused_references) {
    fields.push_back(
        fmt::format("{}: Forbidden: {} is another namespace than the provider's own", reference.path, reference.ns));
  }
  return Preflight(reason::kCrossNamespaceReference,
                   fmt::format("{}; put what it names into namespace {}, have somebody who may read it write the "
                               "reference while the operator's webhooks run, or let the operator run with "
                               "--allow-cross-namespace-references",
                               Join(fields, "; "), o.provider.id.ns));
}

// I5: one object of a kind and name in all namespaces; the older one goes on.
std::optional<Hold> OneProviderPerName(const Observation& o) {
  const api::ProviderId& me = o.provider.id;
  for (const auto& sibling : o.siblings) {
    const api::Provider& other = *sibling;
    bool same = other.id.type == me.type && (other.id.name == me.name || me.type == api::ProviderType::kCore);
    if (!same || !GoesBefore(other, o.provider)) continue;
    std::string message =
        me.type == api::ProviderType::kCore
            ? fmt::format(
                  "CoreProvider already exists in the cluster. Only one is allowed: {}/{} is older; delete one "
                  "of the two",
                  other.id.ns, other.id.name)
            : fmt::format(
                  "There is already a {0} with name {1} in the cluster: {0} {2}/{1} is older. Only one is allowed; "
                  "delete one of the two",
                  api::KindOf(me.type).kind, me.name, other.id.ns);
    return Preflight(reason::kMoreThanOneExists, message, Retry::kWaiting);
  }
  return std::nullopt;
}

// I5: the config Secret exists. It may come later (F1): its watch wakes this provider.
std::optional<Hold> SecretExists(const Observation& o) {
  if (!o.config_secret || o.config_secret->exists) return std::nullopt;
  if (o.former && o.config_secret->ref.ns == o.provider.id.ns) return std::nullopt;  // A2: it is made
  return Preflight(reason::kSecretNotFound,
                   fmt::format("Secret {}/{} (spec.configSecret) doesn't exist: create it, this provider then goes on",
                               o.config_secret->ref.ns, o.config_secret->ref.name),
                   Retry::kWaiting);
}

// T14: its watch, too, wakes this provider.
std::optional<Hold> KeysExist(const Observation& o) {
  if (!o.keys_secret || o.keys_secret->exists) return std::nullopt;
  return Preflight(reason::kSecretNotFound,
                   fmt::format("Secret {}/{} (spec.fetchConfig.verify.secretRef) doesn't exist: create it with the "
                               "public keys, this provider then goes on",
                               o.keys_secret->ref.ns, o.keys_secret->ref.name),
                   Retry::kWaiting);
}

// T14: with --require-verified.
std::optional<Hold> SaysHowItIsVerified(const Observation& o) {
  const auto& fetch = o.provider.spec.fetch_config;
  if (!o.verification_required || (fetch && (fetch->verify || !fetch->digest.empty()))) return std::nullopt;
  return Preflight(reason::kVerificationRequired,
                   "spec.fetchConfig.verify: Required value: this operator runs with --require-verified; name a Secret "
                   "with the public keys of whoever signs the releases, or set spec.fetchConfig.digest to the digest "
                   "of the components file");
}

std::optional<Hold> AdditionalManifestsExist(const Observation& o) {
  if (!o.additional_manifests || o.additional_manifests->exists) return std::nullopt;
  return Preflight(
      reason::kAdditionalManifestsNotFound,
      fmt::format("ConfigMap {}/{} (spec.additionalManifests) doesn't exist: create it, this provider then "
                  "goes on",
                  o.additional_manifests->ref.ns, o.additional_manifests->ref.name),
      Retry::kWaiting);
}

// I4: everyone waits until the core's CRDs are Established, not until its pods run.
std::optional<Hold> CoreFirst(const Observation& o) {
  if (o.provider.id.type == api::ProviderType::kCore) return std::nullopt;
  if (!o.core) {
    return Preflight(reason::kWaitingForCoreProviderReady,
                     "Waiting for the CoreProvider to be installed: there is no CoreProvider object; create one named "
                     "cluster-api",
                     Retry::kWaiting);
  }
  if (o.core_crds_established && !o.core->status.contract.empty()) return std::nullopt;
  return Preflight(reason::kWaitingForCoreProviderReady,
                   fmt::format("Waiting for the CoreProvider to be installed: the CRDs of {}/{} aren't established",
                               o.core->id.ns, o.core->id.name),
                   Retry::kWaiting);
}

// It was allowed then: what is half-way goes on, also back, though the annotation has been taken away meanwhile.
bool HasBegun(const Observation& o, const api::Version& wanted) {
  if (o.provider.status.history.empty()) return false;
  const api::HistoryEntry& last = o.provider.status.history.front();
  if (!api::SameVersion(last.version, wanted.ToString())) return false;
  const bool back = last.outcome == api::outcome::kRollingBack || last.outcome == api::outcome::kRolledBack;
  return back ? RolloutOf(o.provider.status, InputsDigest(o)) != nullptr
              : !last.outcome.empty() && last.outcome != api::outcome::kSucceeded;
}

// What runs is newer. Where a policy has led to what is wanted, the annotation would lead to spec.version instead
// (U13).
std::string NoDowngradeTo(const Observation& o, const api::Version& installed, const api::Version& wanted) {
  const std::string what = fmt::format("Downgrade is not supported for provider {}: {} is installed",
                                       o.provider.id.name, installed.ToString());
  const std::string_view allow = api::kAnnotationAllowDowngrade;
  if (!o.declared_version.empty() && !api::SameVersion(o.declared_version, wanted.ToString())) {
    return fmt::format(
        "{0}, and {1} is to run, which spec.upgradePolicy had come to; write {1} into spec.version, and "
        "annotation {2}: \"true\" allows it",
        what, wanted.ToString(), allow);
  }
  return fmt::format("{}{}, spec.version is {}; annotation {}: \"true\" allows it", what,
                     o.provider.status.installed_version.empty() ? " (its status is lost)" : "", wanted.ToString(),
                     allow);
}

// U6: the peer's rule, patch downgrades are allowed.
std::optional<Hold> NoDowngrade(const Observation& o) {
  auto wanted = api::Version::Parse(o.provider.spec.version);
  const std::string& known = o.provider.status.installed_version;
  auto installed = api::Version::Parse(known.empty() ? o.lost_version : known);
  if (!wanted.ok() || !installed.ok()) return std::nullopt;
  if (!api::IsDowngrade(*installed, *wanted) || HasBegun(o, *wanted)) return std::nullopt;
  auto allowed = o.provider.annotations.find(std::string(api::kAnnotationAllowDowngrade));
  if (allowed != o.provider.annotations.end() && allowed->second == "true") return std::nullopt;
  return Preflight(reason::kUnsupportedProviderDowngradeReason, NoDowngradeTo(o, *installed, *wanted));
}

constexpr Rule kPreflight[] = {
    {"X5.namespace", NamespaceStays},
    {"F2.spec", SpecIsReadable},
    {"I5.spec", SpecIsValid},
    {"T1.references", ReferencesStayInTheNamespace},
    {"T14.required", SaysHowItIsVerified},
    {"I5.unique", OneProviderPerName},
    {"U6.downgrade", NoDowngrade},
    {"I4.core-first", CoreFirst},
    {"C7.skip", SkipsMinorVersions},
    {"I5.secret", SecretExists},
    {"T14.keys", KeysExist},
    {"I5.manifests", AdditionalManifestsExist},
    {"A1a.namespace", InstalledElsewhere},
};

}  // namespace

std::optional<Hold> StatusIsReadable(const Observation& o) {
  if (!o.inventory_error) return std::nullopt;
  return Preflight(
      reason::kInvalidInventory,
      fmt::format("{}: nothing is changed while it is unreadable; restore status.inventory, or remove it to "
                  "have it rebuilt",
                  o.inventory_error->message));
}

std::optional<Hold> NamesServiceAccount(const Observation& o) {
  if (!o.service_account_required || !o.provider.spec.service_account.empty()) return std::nullopt;
  const bool nothing_there = o.inventory.size() == 0 && !o.inventory_lost && !o.left_behind;
  if (o.provider.deleting && nothing_there) return std::nullopt;
  if (auto hold = SpecIsReadable(o)) return hold;
  return Preflight(reason::kServiceAccountRequired,
                   "spec.serviceAccountName: Required value: this operator runs with --require-service-account, and "
                   "installs, changes and removes nothing in its own name; name a ServiceAccount of this namespace "
                   "that has the rights which the release needs");
}

// It may come later: its watch wakes this provider. A removal goes on with what its bindings still give.
std::optional<Hold> ServiceAccountExists(const Observation& o) {
  if (o.provider.deleting || o.namespace_going || !o.service_account || o.service_account->exists) return std::nullopt;
  if (auto hold = SpecIsValid(o)) return hold;  // it may be no name at all
  return Preflight(reason::kServiceAccountNotFound,
                   fmt::format("ServiceAccount {}/{} (spec.serviceAccountName) doesn't exist: create it, with the "
                               "rights that the release needs; this provider then goes on",
                               o.service_account->ref.ns, o.service_account->ref.name),
                   Retry::kWaiting);
}

std::span<const Rule> PreflightRules() { return kPreflight; }

}  // namespace capi::ops
