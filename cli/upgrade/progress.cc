#include "cli/upgrade/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "api/moves/upgrade_policy.h"
#include "api/reasons.h"
#include "api/version.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "cli/frame/printable.h"
#include "kube/cache/informer.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNames = 10;
constexpr Millis kLook{250};
constexpr size_t kLongest = 300;  // bytes of a message in one line

// The provider objects of some kinds, kept current by watches. Thread-safe.
class WatchedProviders {
 public:
  WatchedProviders(const Context& ctx, kube::Client& client, const std::set<api::ProviderType>& types) {
    for (api::ProviderType type : types) {
      auto changed = [this](const kube::ObjectPtr& was, const kube::ObjectPtr& is) { Changed(was, is); };
      informers_.push_back(
          std::make_unique<kube::Informer>(client, api::ResourceOf(type), kube::InformerOptions{}, std::move(changed)));
    }
    for (auto& informer : informers_) {
      threads_.emplace_back(
          [&ctx, informer = informer.get()](std::stop_token stop) { informer->Run(ctx.WithStop(std::move(stop))); });
    }
  }

  // Waits for a change after number `seen`, until `end` or a stop; the number of the last one.
  std::uint64_t Next(const Context& ctx, std::uint64_t seen, MonoTime end) {
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(news_, mu_, ctx.stop, end, [&]() CAPI_REQUIRES(mu_) { return changes_ != seen; });
    return changes_;
  }

  // Nothing where it isn't there, or wasn't seen yet.
  std::optional<api::Provider> Get(const api::ProviderId& id) {
    MutexLock lock(mu_);
    auto found = providers_.find(id);
    return found == providers_.end() ? std::nullopt : std::optional(found->second);
  }
  // Why one of the kinds can't be watched; nothing where all can, or where that isn't known yet.
  std::optional<Error> Refusal() const {
    for (const auto& informer : informers_) {
      if (auto refusal = informer->refusal()) return refusal->With("watching " + informer->resource().plural);
    }
    return std::nullopt;
  }
  bool Synced() const {
    for (const auto& informer : informers_) {
      if (!informer->Synced()) return false;
    }
    return true;
  }

 private:
  void Changed(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
    MutexLock lock(mu_);
    if (is != nullptr) {
      api::Provider provider = ReadProviderObject(*is).provider;
      providers_[provider.id] = std::move(provider);
    } else if (was != nullptr) {
      providers_.erase(api::ParseProviderMeta(*was).id);
    }
    ++changes_;
    news_.notify_all();
  }

  Mutex mu_;
  std::condition_variable_any news_;
  std::uint64_t changes_ CAPI_GUARDED_BY(mu_) = 0;
  std::map<api::ProviderId, api::Provider> providers_ CAPI_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<kube::Informer>> informers_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

bool Reached(UpgradeStage stage, UpgradeStage wanted) {
  return stage == UpgradeStage::kReady || (stage == UpgradeStage::kInstalled && wanted == UpgradeStage::kInstalled);
}

// What is known of those that are waited for. Thread-compatible.
class Wait {
 public:
  Wait(const std::vector<AwaitedUpgrade>& awaited, UpgradeStage wanted, Notes& notes)
      : awaited_(awaited), wanted_(wanted), notes_(notes) {}

  // One look; how many have come there.
  Result<size_t> Look(WatchedProviders& watched) {
    open_.clear();
    for (const AwaitedUpgrade& one : awaited_) {
      auto provider = watched.Get(one.id);
      if (!provider) {
        if (watched.Synced()) return Error{Code::kFailedPrecondition, fmt::format("{} is gone", Describe(one.id)), {}};
        open_.push_back(Describe(one.id));
        continue;
      }
      UpgradeStage stage = StageOf(*provider, one);
      std::string told = TellStatus(*provider);
      bool says_of_it = provider->status.observed_generation >= one.generation;
      if (says_of_it && told_[one.id] != told) {
        notes_.Pass(Printable(fmt::format("{}: {}\n", Describe(one.id), told)));
        told_[one.id] = told;
      }
      if (stage == UpgradeStage::kRefused) {
        return Error{Code::kFailedPrecondition,
                     fmt::format("{} doesn't come to {}: {}", Describe(one.id), one.version, told),
                     {}};
      }
      if (!Reached(stage, wanted_)) open_.push_back(fmt::format("{} ({})", Describe(one.id), told));
    }
    return awaited_.size() - open_.size();
  }
  const std::vector<std::string>& open() const { return open_; }

 private:
  const std::vector<AwaitedUpgrade>& awaited_;
  const UpgradeStage wanted_;
  Notes& notes_;
  std::map<api::ProviderId, std::string> told_;
  std::vector<std::string> open_;
};

// Not what was said before the write, with the same generation.
bool IsRefused(const api::ProviderStatus& status, const AwaitedUpgrade& awaited) {
  const kube::Condition* stalled = kube::FindCondition(status.conditions, api::condition::kStalled);
  if (stalled == nullptr || stalled->status != "True") return false;
  if (!awaited.before || awaited.before->observed_generation < awaited.generation) return true;
  const kube::Condition* former = kube::FindCondition(awaited.before->conditions, api::condition::kStalled);
  return former == nullptr || *former != *stalled;
}

// U13: it had come up, since a policy has begun something newer from there. What is waited for may be what the policy
// had come to before: spec.version names another one then.
bool HasGoneOn(const api::Provider& provider, const AwaitedUpgrade& awaited) {
  const api::ProviderStatus& status = provider.status;
  if (status.history.empty() || awaited.version.empty()) return false;
  const api::HistoryEntry& last = status.history.front();
  const bool had_come_up =
      std::any_of(status.history.begin() + 1, status.history.end(), [&](const api::HistoryEntry& entry) {
        const bool good = entry.outcome.empty() || entry.outcome == api::outcome::kSucceeded;
        return good && api::SameVersion(entry.version, awaited.version);
      });
  if (last.instead_of.empty() || !(had_come_up || api::SameVersion(last.instead_of, awaited.version))) return false;
  return !api::SameVersion(api::VersionToRun(awaited.version, status, provider.annotations), awaited.version);
}

}  // namespace

UpgradeStage StageOf(const api::Provider& provider, const AwaitedUpgrade& awaited) {
  const api::ProviderStatus& status = provider.status;
  if (status.observed_generation < awaited.generation) return UpgradeStage::kPending;
  if (HasGoneOn(provider, awaited)) return UpgradeStage::kReady;
  if (IsRefused(status, awaited)) return UpgradeStage::kRefused;
  bool is_there = awaited.version.empty() || api::SameVersion(status.installed_version, awaited.version);
  if (!is_there) return UpgradeStage::kPending;
  if (kube::IsTrue(status.conditions, api::condition::kReady)) return UpgradeStage::kReady;
  return IsUnderWay(status) ? UpgradeStage::kPending : UpgradeStage::kInstalled;
}

bool IsUnderWay(const api::ProviderStatus& status) {
  if (status.history.empty()) return false;
  const std::string& outcome = status.history.front().outcome;
  return !outcome.empty() && outcome != api::outcome::kSucceeded && outcome != api::outcome::kRolledBack;
}

std::string TellStatus(const api::Provider& provider) {
  const api::ProviderStatus& status = provider.status;
  const std::string installed = status.installed_version.empty() ? "not installed" : status.installed_version;
  const kube::Condition* ready = kube::FindCondition(status.conditions, api::condition::kReady);
  if (ready == nullptr) return installed;
  if (ready->status == "True") return installed + ", ready";
  return fmt::format("{}, {}: {}", installed, ready->reason, Shorten(ready->message, kLongest));
}

Status AwaitUpgrades(const Context& ctx, kube::Client& client, const std::vector<AwaitedUpgrade>& awaited,
                     UpgradeStage wanted, Seconds timeout, Notes& notes) {
  std::set<api::ProviderType> types;
  for (const AwaitedUpgrade& one : awaited) types.insert(one.id.type);
  WatchedProviders watched(ctx, client, types);
  Wait wait(awaited, wanted, notes);
  MonoTime end = ctx.clock->Monotonic() + timeout;
  size_t reached = 0;
  for (std::uint64_t seen = 0;;) {
    size_t now = TRY(wait.Look(watched));
    if (now == awaited.size()) return Ok();
    if (now > reached) end = ctx.clock->Monotonic() + timeout;
    reached = std::max(reached, now);
    if (ctx.clock->Monotonic() >= end) {
      return Error{Code::kDeadlineExceeded,
                   fmt::format("not within {} s: {}", timeout.count(), JoinNames(wait.open(), kMostNames)),
                   {}};
    }
    // A refusal is no change.
    seen = watched.Next(ctx, seen, watched.Synced() ? end : std::min(end, ctx.clock->Monotonic() + kLook));
    TRY(ctx.Check());
    if (auto refusal = watched.Refusal()) return *refusal;
  }
}

}  // namespace capi::cli
