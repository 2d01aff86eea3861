#include "operator/act/update_checks.h"

#include <algorithm>
#include <utility>

#include "base/caught.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

// What a look reads of it: not its inventory, nor the others.
Observation ToLookAt(const Observation& o) {
  Observation out;
  out.provider = o.provider;
  out.provider.status.inventory = {};
  out.source = o.source;
  out.releases = o.releases;
  out.config_secret = o.config_secret;
  out.source_secret = o.source_secret;
  out.keys_secret = o.keys_secret;
  return out;
}

// Who is looked at first. ConfigMaps take no time. A source that didn't answer lately may take the two minutes of T13
// again, and so may all that are like it.
int RankOf(const Observation& o) {
  if (HasSelector(o)) return 0;
  return LookFailed(o.provider.status) ? 2 : 1;
}

}  // namespace

void UpdateChecks::Ask(const Observation& o) {
  if (!o.provider.status.update_check) return;
  const std::string key = o.provider.id.Key();
  MutexLock lock(mu_);
  auto found = found_.find(key);
  if (looking_ == key || (found != found_.end() && IsUntold(found->second, o.provider.status))) return;
  auto mine = std::find_if(line_.begin(), line_.end(),
                           [&](const Observation& one) { return one.provider.id == o.provider.id; });
  if (mine != line_.end() && RankOf(*mine) == RankOf(o)) {
    *mine = ToLookAt(o);
    return;
  }
  if (mine != line_.end()) line_.erase(mine);
  auto behind =
      std::find_if(line_.begin(), line_.end(), [&](const Observation& one) { return RankOf(one) > RankOf(o); });
  line_.insert(behind, ToLookAt(o));
  changed_.notify_all();
}

std::optional<UpdatesFound> UpdateChecks::FoundFor(const api::Provider& provider) {
  MutexLock lock(mu_);
  auto found = found_.find(provider.id.Key());
  if (found == found_.end()) return std::nullopt;
  if (IsUntold(found->second, provider.status)) return found->second;
  found_.erase(found);
  return std::nullopt;
}

void UpdateChecks::Forget(const std::string& key) {
  MutexLock lock(mu_);
  found_.erase(key);
  std::erase_if(line_, [&](const Observation& one) { return one.provider.id.Key() == key; });
  if (looking_ == key) forgotten_ = true;
}

std::optional<Observation> UpdateChecks::Next(const Context& ctx) {
  MutexLock lock(mu_);
  looking_.clear();
  forgotten_ = false;
  needs_.clock.WaitUntil(changed_, mu_, ctx.stop, MonoTime::max(), [this] {
    mu_.AssertHeld();
    return !line_.empty();
  });
  if (line_.empty()) return std::nullopt;
  Observation next = std::move(line_.front());
  line_.pop_front();
  looking_ = next.provider.id.Key();
  return next;
}

void UpdateChecks::Run(const Context& ctx) {
  while (!ctx.stop.stop_requested()) {
    auto next = Next(ctx);
    if (!next || ctx.stop.stop_requested()) continue;
    const std::string key = next->provider.id.Key();
    if (needs_.may_look(key)) {
      Look(ctx, *next);
    } else {
      End(key, std::nullopt);
    }
  }
}

// The log has no words of the source's: who they are told to hides what is secret of them first (I7).
void UpdateChecks::Look(const Context& ctx, const Observation& o) {
  const std::string key = o.provider.id.Key();
  Result<std::vector<api::AvailableUpgrade>> looked = std::vector<api::AvailableUpgrade>();
  auto thrown = Caught([&] { looked = needs_.look(ctx, o); });
  if (ctx.stop.stop_requested()) return;
  if (thrown) looked = Error{Code::kInternal, "the look for newer versions met a bug: " + *thrown, {}};
  UpdatesFound found{
      .source = o.provider.status.update_check->source, .time = needs_.clock.Now(), .newer = {}, .error = {}};
  if (looked.ok()) {
    found.newer = *std::move(looked);
    ctx.log.Debug("looked for newer versions", {{"provider", key}, {"newer", found.newer.size()}});
  } else {
    found.error = looked.error();
    ctx.log.Info("can't look for newer versions", {{"provider", key}, {"code", CodeName(found.error->code)}});
  }
  End(key, std::move(found));
}

void UpdateChecks::End(const std::string& key, std::optional<UpdatesFound> found) {
  {
    MutexLock lock(mu_);
    looking_.clear();  // who is woken may ask again at once
    if (!std::exchange(forgotten_, false) && found) found_[key] = *std::move(found);
  }
  needs_.wake(key);  // also where nothing was found: nobody was heard who asked meanwhile
}

}  // namespace capi::ops
