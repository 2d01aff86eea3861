// What stands in the way of a deletion (behaviour.md X2 to X5).
#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/strings.h"
#include "lifecycle/plan/removal.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"
#include "operator/decide/rules.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

constexpr size_t kNamed = 5;

Hold NotDeleted(std::string_view why, std::string message, Retry retry = Retry::kWaiting) {
  return Hold{std::string(condition::kReady), std::string(why), std::move(message), retry};
}

std::string Override() {
  return fmt::format("annotation {}: \"true\" deletes it all the same", api::kAnnotationForceDelete);
}

// What has to be done first where it doesn't run, for the sake of `what`.
std::string RunAgain(const Observation& o, std::string_view what) {
  if (o.provider.spec.paused) return fmt::format("set spec.paused to false, for {}; ", what);
  auto hold = AppliesAtZero(o) ? StaysAtZero(o) : std::nullopt;
  return hold ? fmt::format("it has to run again, for {}: {}; ", what, hold->message) : "";
}

// X3: everything else depends on the core.
std::optional<Hold> CoreGoesLast(const Observation& o) {
  if (o.provider.id.type != api::ProviderType::kCore) return std::nullopt;
  std::vector<std::string> others;
  for (const auto& sibling : o.siblings) {
    // A second core object was refused (I5) and depends on nothing.
    if (sibling->id.type != api::ProviderType::kCore) others.push_back(sibling->id.ToString());
  }
  if (others.empty() && o.unlisted.empty()) return std::nullopt;
  if (others.empty()) {
    return NotDeleted(reason::kDeletionBlocked,
                      fmt::format("other providers need the core, and whether there are any of these kinds can't be "
                                  "told: {}; let the operator list them; {}",
                                  JoinNames(o.unlisted, kNamed), Override()),
                      Retry::kBackoff);
  }
  return NotDeleted(
      reason::kDeletionBlocked,
      fmt::format("other providers need the core: {}; delete these first, this goes on by itself then; {}",
                  JoinNames(others, kNamed), Override()));
}

// X2, and X3 as far as Clusters go: they are objects of the core's CRDs.
std::optional<Hold> NotInUse(const Observation& o) {
  if (o.users_error) {
    // The reason is also what the next pass knows a begun removal by.
    std::string_view why = RemovalBegan(o) ? reason::kDeletionFailed : reason::kInUse;
    Hold hold =
        ServerHold(condition::kReady, why, o.users_error->With("can't tell whether clusters use this provider"));
    hold.message += "; " + Override();
    return hold;
  }
  if (o.users.empty()) return std::nullopt;
  bool core = o.provider.id.type == api::ProviderType::kCore;
  return NotDeleted(
      core ? reason::kDeletionBlocked : reason::kInUse,
      fmt::format("workload clusters use it: {}; delete the clusters first, this goes on by itself then; {}{}",
                  lifecycle::UsersInWords(o.users), RunAgain(o, "they can't go without it"), Override()));
}

std::vector<std::string> Names(const std::vector<CrdState>& crds) {
  std::vector<std::string> names;
  for (const CrdState& crd : crds) names.push_back(crd.name);
  return names;
}

constexpr Rule kDeletion[] = {{"X3.core-last", CoreGoesLast}, {"X2.in-use", NotInUse}};

}  // namespace

bool RemovalBegan(const Observation& o) {
  const auto* ready = kube::FindCondition(o.provider.status.conditions, condition::kReady);
  return ready != nullptr && (ready->reason == reason::kDeleting || ready->reason == reason::kDeletionFailed);
}

bool GuardsDeletion(const Observation& o) {
  auto it = o.provider.annotations.find(std::string(api::kAnnotationForceDelete));
  bool forced = it != o.provider.annotations.end() && it->second == "true";
  return o.provider.deleting && o.provider.has_finalizer && !forced && !o.namespace_going && !IsHandsOff(o.provider);
}

std::optional<Hold> MigrationHold(const Observation& o) {
  if (o.fleet.unmigrated.empty()) return std::nullopt;
  const CrdState* failed = nullptr;
  size_t objects = 0;
  for (const CrdState& crd : o.fleet.unmigrated) {
    objects += crd.migration.objects;
    if (crd.migration.error && failed == nullptr) failed = &crd;
  }
  const std::string what = fmt::format(
      "objects of {} may be stored at older versions; without this provider nobody could read or delete them",
      JoinNames(Names(o.fleet.unmigrated), kNamed));
  if (failed == nullptr) {
    return NotDeleted(reason::kMigratingStorage,
                      fmt::format("{}, so they are brought to the version that is stored now first: {} so far; {}",
                                  what, objects, Override()));
  }
  // While it is tried again, its end is the event.
  Hold hold =
      NotDeleted(reason::kStorageMigrationFailed,
                 fmt::format("{}, and they could not be brought to the version that is stored now: {}; {}{}", what,
                             failed->migration.error->message, RunAgain(o, "it has to convert them"), Override()),
                 failed->migration.next ? Retry::kAt : Retry::kWaiting);
  hold.after = failed->migration.next;
  return hold;
}

Hold UnreadHold(const Observation& o, const std::vector<std::string>& unread) {
  // Without a status it can't be unpaused, and its own webhook may be the one that is missing.
  std::vector<std::string> at_zero;
  for (const kube::ObjectId& id : ToScaleUp(o)) at_zero.push_back(id.ToString());
  std::string scale =
      at_zero.empty() ? "" : fmt::format("scale {} up by hand if it is what reads them; ", JoinNames(at_zero, kNamed));
  return NotDeleted(reason::kDeletionBlocked,
                    fmt::format("its status was lost, and whether objects of it are among these kinds can't be told "
                                "now: {}; {}{}, but for these kinds",
                                JoinNames(unread, kNamed), scale, Override()),
                    Retry::kPolled);
}

std::span<const Rule> DeletionRules() { return kDeletion; }

}  // namespace capi::ops
