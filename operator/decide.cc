#include "operator/decide.h"

#include <algorithm>

#include "api/release.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/contract_rules.h"
#include "operator/crd_stages.h"
#include "operator/pause.h"
#include "operator/rollout.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

bool HandsOffWanted(const Observation& o) {
  return o.provider.annotations.contains(std::string(api::kAnnotationPaused));
}

std::optional<Hold> FirstHold(const Observation& o, std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    if (auto hold = rule.check(o)) return hold;
  }
  return std::nullopt;
}

// D1, but for what a fight is about (D2), and not while the provider is at zero (P2) or its Namespace is going (X5).
std::vector<Drift> ToRestore(const Observation& o) {
  std::vector<Drift> drifts;
  if (AppliesAtZero(o) || o.namespace_going || o.inventory_error || o.spec_error) return drifts;
  for (const Drift& drift : o.fleet.drifts) {
    if (drift.wait == Millis(0)) drifts.push_back(drift);
  }
  return drifts;
}

// Also while a change is under way: then the render at hand is of that change, and what of it was sent already counts.
bool CanRestore(const Observation& o) {
  return !o.rendered.empty() && (o.provider.status.applied.empty() || o.rendered == o.provider.status.applied);
}

// A rollout that is waited for, or that failed, is kept as it was applied (D1).
Step WithDrifts(Step step, std::vector<Drift> drifts) {
  if (Await* wait = std::get_if<Await>(&step)) {
    wait->drifts = std::move(drifts);
  } else if (Hold* hold = std::get_if<Hold>(&step); hold != nullptr && !drifts.empty()) {
    return Restore{std::move(drifts), std::move(*hold)};
  }
  return step;
}

// P1, C5. Before everything that could stop the pass: it must work where no render is possible.
std::optional<Step> DecidePause(const Observation& o) {
  if (o.spec_error) return std::nullopt;  // whether it is to be paused isn't known
  if (o.former) return std::nullopt;      // nor is it ours to scale (A2)
  if (o.provider.spec.paused) {
    auto running = ToScaleDown(o);
    return running.empty() ? std::nullopt : std::optional<Step>(Scale{running, false});
  }
  auto paused = ToScaleUp(o);
  // Also where nothing is to be scaled: its workloads were deleted meanwhile.
  bool says = SaysPaused(o.provider.status);
  // Whose status is lost has no contract that it could be judged by (C5): it is installed at zero first.
  if ((paused.empty() && !says) || o.left_behind || StaysAtZero(o)) return std::nullopt;
  if (says || !o.provider.status.applied.empty()) return Unpause{};
  return Scale{paused, true};
}

// At zero against its declaration: what is left to do is done, and then it says so.
Step AtRest(const Observation& o) {
  if (!o.provider.spec.paused && !ToScaleUp(o).empty()) {
    if (auto hold = StaysAtZero(o)) return *hold;
  }
  return Steady{};
}

// X1 to X3. While it is needed, by clusters or to migrate what it leaves behind, it runs as declared: at zero, neither
// would ever end.
std::optional<Step> BeforeRemoval(const Observation& o) {
  if (!GuardsDeletion(o)) return std::nullopt;
  std::optional<Hold> hold = FirstHold(o, DeletionRules());
  if (!hold && o.fleet.unmigrated.empty()) return std::nullopt;
  if (auto step = DecidePause(o)) return step;
  return hold ? Step(*hold) : Step(Migrate{});
}

}  // namespace

Step Decide(const Observation& o) {
  if (HandsOffWanted(o)) return HandsOff{};
  if (o.provider.deleting) {
    if (!o.provider.has_finalizer) return Steady{};
    // An inventory that can't be read is never taken for an empty one.
    if (auto hold = StatusIsReadable(o)) return *hold;
    // What wasn't taken over is another tool's: it stays as it was.
    if (o.former && o.inventory.size() == 0) return Remove{};
    if (o.inventory_lost || o.left_behind) return Rebuild{};
    if (auto step = BeforeRemoval(o)) return *step;
    return Remove{};
  }
  if (!o.provider.has_finalizer) return AddFinalizer{};
  if (auto hold = StatusIsReadable(o)) return *hold;
  if (auto step = DecidePause(o)) return *step;
  std::optional<Hold> hold = FirstHold(o, PreflightRules());
  std::vector<Drift> drifts = ToRestore(o);
  if (hold) {
    if (!drifts.empty() && CanRestore(o)) return Restore{std::move(drifts), std::move(hold)};
    return *hold;
  }
  if (o.former) return Adopt{};
  std::string inputs = InputsDigest(o);
  if (auto step = FollowRollout(o, inputs)) {
    return CanRestore(o) ? WithDrifts(std::move(*step), std::move(drifts)) : std::move(*step);
  }
  if (inputs.empty() || inputs != o.provider.status.applied) {
    if (!CanRestore(o)) drifts.clear();
    return Install{inputs, std::move(drifts)};
  }
  if (o.inventory_lost) return Install{inputs};
  if (!drifts.empty() && CanRestore(o)) return Restore{std::move(drifts), std::nullopt};
  if (!drifts.empty()) return Install{inputs};
  if (o.inventory.has_stale() && o.fleet.ready()) return Prune{};
  // At zero, nobody converts (P3). The status says first that there is something to do: what is told of only afterwards
  // is lost with one write that fails.
  bool migrates = !o.fleet.unmigrated.empty() && o.fleet.ready() && !AppliesAtZero(o);
  if (migrates && SaysUnmigrated(o.provider.status)) return Migrate{};
  return AtRest(o);
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
