#include "operator/decide/install_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

Hold Refused(std::string_view why, std::string message, Retry retry = Retry::kOnChange) {
  return Hold{std::string(condition::kProviderInstalled), std::string(why), std::move(message), retry};
}

// T2: before anything is made of the release: of one that somebody has changed, nothing else that is wrong with it
// matters. It is a source's, and no event tells when the right one is there (T6).
std::optional<Hold> HasWantedDigest(const Observation&, const Candidate& c) {
  const Status wanted = CheckDigest(c);
  if (wanted.ok()) return std::nullopt;
  return Refused(reason::kVerificationFailed, wanted.error().message, Retry::kRefused);
}

// F2: its metadata is what the rules after it go by.
std::optional<Hold> MetadataIsReadable(const Observation&, const Candidate& c) {
  if (!c.metadata_error) return std::nullopt;
  return NotInstalled(reason::kInvalidMetadata, *c.metadata_error);
}

// I5: its metadata lists the version's series.
std::optional<Hold> HasSeries(const Observation& o, const Candidate& c) {
  if (c.metadata.ContractOf(c.version)) return std::nullopt;
  std::vector<std::string> series;
  for (const auto& s : c.metadata.series) series.push_back(fmt::format("{}.{}", s.major, s.minor));
  return Refused(reason::kCAPIVersionIncompatibility,
                 fmt::format("invalid provider metadata: version {} for the provider {} does not match any release "
                             "series; its metadata.yaml lists {}",
                             c.version.ToString(), o.provider.id.name, JoinNames(series, 20)));
}

// I5: with a contract that this operator knows.
std::optional<Hold> HasKnownContract(const Observation& o, const Candidate& c) {
  auto contract = c.metadata.ContractOf(c.version);
  if (!contract || api::KnownContract(*contract)) return std::nullopt;
  return Refused(
      reason::kCAPIVersionIncompatibility,
      fmt::format("{} {} has contract {}, which this operator doesn't know (it knows {}): upgrade the "
                  "operator or choose another version",
                  o.provider.id.ToString(), c.version.ToString(), *contract, JoinNames(api::KnownContracts(), 9)));
}

// T8: whose an object of another namespace is, nobody is told who may not see it there.
bool MayBeTold(const Observation& o, const Candidate& c, const kube::ObjectId& id) {
  return c.sight == Sight::kGiven || o.provider.spec.service_account.empty() || id.ns.empty() ||
         id.ns == o.provider.id.ns;
}

// T8, I5: they stay whose they are, and nobody is told whose.
Hold MayBeAnothers(const Observation& o, const std::vector<std::string>& taken) {
  return Refused(reason::kObjectOwnedByAnotherProvider,
                 fmt::format("{} may be another provider's: it isn't known whether ServiceAccount {}/{} "
                             "(spec.serviceAccountName) may read what is there (where reviews are refused, let it "
                             "create SelfSubjectRulesReviews and SelfSubjectAccessReviews); or leave these objects out",
                             JoinNames(taken, 3), o.provider.id.ns, o.provider.spec.service_account),
                 Retry::kRefused);
}

// I5: none of its objects is another provider's.
std::optional<Hold> OwnsItsObjects(const Observation& o, const Candidate& c) {
  const std::set<kube::ObjectId> ours(c.objects.begin(), c.objects.end());
  const kube::IdHashes hashes = kube::HashesOf(c.objects);
  std::vector<std::string> out_of_sight;
  for (const auto& sibling : o.siblings) {
    if (!sibling->status.inventory.MayListOneOf(hashes)) continue;
    auto inventory = kube::Inventory::Parse(sibling->status.inventory);
    if (!inventory.ok()) continue;
    std::vector<std::string> taken;
    for (const auto& [id, entry] : inventory->entries()) {
      if (ours.contains(id)) (MayBeTold(o, c, id) ? taken : out_of_sight).push_back(id.ToString());
    }
    if (taken.empty()) continue;
    return Refused(
        reason::kObjectOwnedByAnotherProvider,
        fmt::format("{} belongs to {} (namespace {}), which installed {}: two providers can't own one object; "
                    "delete one provider, or put this one into a namespace of its own if the object is namespaced",
                    JoinNames(taken, 3), sibling->id.ToString(), sibling->id.ns, taken.size() == 1 ? "it" : "them"),
        Retry::kWaiting);
  }
  if (c.sight != Sight::kUnknown || out_of_sight.empty()) return std::nullopt;
  return MayBeAnothers(o, out_of_sight);
}

// I8, A1: what is applied has each object once. The render has seen to that, but for the entry in clusterctl's
// inventory, which the operator adds.
std::optional<Hold> HasEachObjectOnce(const Observation&, const Candidate& c) {
  std::set<kube::ObjectId> seen;
  for (const kube::ObjectId& id : c.objects) {
    if (seen.insert(id).second) continue;
    return Refused(reason::kDuplicateObjects,
                   id.ToString() + ": the release has what the operator writes into clusterctl's inventory");
  }
  return std::nullopt;
}

// I13: the cluster has all kinds of its objects.
std::optional<Hold> ClusterHasItsKinds(const Observation&, const Candidate& c) {
  if (c.missing_kinds.empty()) return std::nullopt;
  bool cert_manager = false;
  for (const auto& kind : c.missing_kinds) cert_manager = cert_manager || kind.find("cert-manager.io") != kind.npos;
  std::string help =
      cert_manager ? "install cert-manager (https://cert-manager.io/docs/installation)" : "install what provides them";
  return Hold{std::string(condition::kPreflightCheckPassed), std::string(reason::kMissingKinds),
              fmt::format("the release uses kinds that the cluster doesn't have: {}; {}; this provider then goes on",
                          JoinNames(c.missing_kinds, 10), help),
              Retry::kWaiting};
}

// T3, T8: who applies it may do so.
std::optional<Hold> MayBeApplied(const Observation& o, const Candidate& c) {
  if (c.lacking.rights.empty()) return std::nullopt;
  return MissingRightsHold(o.provider.id, c.lacking);
}

// U3: no CRD loses a version at which objects are stored, where these can't be brought to another one that stays.
std::optional<Hold> KeepsStoredVersions(const Observation& o, const Candidate& c) {
  if (c.lost_versions.empty()) return std::nullopt;
  const LostVersion& lost = c.lost_versions.front();
  MigrationProgress none;
  if (!lost.migratable || AppliesAtZero(o) || c.rollback) {
    return StoredVersionsHold(o, lost, c.version.ToString(), none);
  }
  if (o.fleet.ready()) return std::nullopt;
  none.error = Error{Code::kUnavailable, "its workloads aren't healthy", {}};
  return StoredVersionsHold(o, lost, c.version.ToString(), none);
}

using enum InstallRule::Stage;

// In this order. Names are those of docs/behaviour.md.
constexpr InstallRule kRules[] = {
    {"T2.digest", kComponents, HasWantedDigest},

    {"F2.metadata", kMetadata, MetadataIsReadable},

    {"I5.series", kRelease, HasSeries},
    {"I5.contract", kRelease, HasKnownContract},

    {"C1.core", kContract, CoreAccepts},
    {"C4.core-first", kContract, CoreComesFirst},
    {"C2.order", kContract, ComesInOrder},
    {"C6.no-contract", kContract, AllSayTheirContract},
    {"C3.pause", kContract, AllArePaused},
    {"C3.sight", kContract, AllCanBeSeen},

    {"I8.once", kObjects, HasEachObjectOnce},
    {"I5.owners", kObjects, OwnsItsObjects},
    {"I13.kinds", kKinds, ClusterHasItsKinds},
    {"T3.rights", kRights, MayBeApplied},
    {"U3.stored-versions", kStoredVersions, KeepsStoredVersions},
};

}  // namespace

Status CheckDigest(const Candidate& c) {
  if (c.wanted_digest.empty() || c.wanted_digest == c.digest) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the components of {} have digest {}, {} {}: nothing is applied", c.source, c.digest,
                           c.rollback ? "those that were applied before had" : "spec.fetchConfig.digest asks for",
                           c.wanted_digest),
               {}};
}

std::span<const InstallRule> InstallRules() { return kRules; }

std::optional<Hold> CheckInstall(InstallRule::Stage stage, const Observation& o, const Candidate& candidate) {
  for (const InstallRule& rule : kRules) {
    if (rule.stage != stage) continue;
    if (auto hold = rule.check(o, candidate)) return hold;
  }
  return std::nullopt;
}

}  // namespace capi::ops
