#include "operator/act/install/newest_versions.h"

#include <algorithm>

#include "api/moves/wanted_contracts.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/upgrades/updates.h"
#include "releases/release_store.h"

namespace capi::ops {
namespace {

constexpr Seconds kFolderIsFresh{60};

std::string BasisOf(const Observation& o) {
  std::string basis;
  if (const auto& fetch = o.provider.spec.fetch_config) {
    basis = fetch->url + "\n" + fetch->oci + "\n" + (fetch->selector ? ToJsonText(*fetch->selector) : "");
    if (fetch->git) basis += "\n" + fetch->git->url + "\n" + fetch->git->path;
  }
  for (const std::string& contract : WantedContracts(o)) basis += "\n" + contract;
  return basis;
}

// nullopt: that can't be told now.
std::optional<std::string> NewestIn(const Context& ctx, fetch::Repository& repository, const Observation& o) {
  auto newest = fetch::NewestFitting(ctx, repository, WantedContracts(o));
  if (newest.ok()) return *newest ? (*newest)->ToString() : "";
  if (newest.code() == Code::kNotFound) return "";
  ctx.log.Debug("can't tell the newest version", {{"in", repository.Describe()}, {"error", newest.error().message}});
  return std::nullopt;
}

// The newest of the selected ones is installed, and fits: nobody has to read it again. So a restart asks for nothing.
bool RunsTheNewest(const Observation& o) {
  const auto& status = o.provider.status;
  if (VersionPending(o.provider)) return false;  // the contract may be that of what is to come
  auto installed = api::Version::Parse(status.installed_version);
  auto wanted = WantedContracts(o);
  if (!installed.ok() || !installed->prerelease.empty()) return false;
  if (std::find(wanted.begin(), wanted.end(), status.contract) == wanted.end()) return false;
  auto is_newer = [&](const StoredRelease& one) {
    return one.version && one.version->prerelease.empty() && *one.version > *installed;
  };
  auto is_it = [&](const StoredRelease& one) { return one.version == *installed; };
  return std::any_of(o.releases.begin(), o.releases.end(), is_it) &&
         std::none_of(o.releases.begin(), o.releases.end(), is_newer);
}

// What was picked once is old news where something newer is installed.
bool IsOlder(const std::string& known, const std::string& installed) {
  auto a = api::Version::Parse(known), b = api::Version::Parse(installed);
  return a.ok() && b.ok() && *a < *b;
}

// Of those that the last look for newer versions found (U12) the newest that nothing has to come before; nullopt where
// none came to something.
std::optional<std::string> NewestTold(const api::ProviderStatus& status) {
  if (!status.update_check || status.update_check->time.empty()) return std::nullopt;
  const auto& told = status.available_upgrades;
  if (told.empty() && LookFailed(status)) return std::nullopt;
  auto newest = std::find_if(told.rbegin(), told.rend(), [](const auto& one) { return one.needs.empty(); });
  return newest == told.rend() ? status.installed_version : newest->version;
}

}  // namespace

std::vector<std::string> WantedContracts(const Observation& o) {
  return api::ContractsFor(o.provider.id.type, o.core ? std::optional(o.core->status.contract) : std::nullopt);
}

void NewestVersions::Picked(const Observation& o, const api::Version& version) {
  Put(o, {.basis = BasisOf(o), .version = version.ToString(), .found = {}});
}

std::string NewestVersions::Of(const Context& ctx, const Observation& o) {
  const auto& fetch = o.provider.spec.fetch_config;
  return fetch && fetch->selector ? OfSelected(ctx, o) : OfSource(ctx, o);
}

std::string NewestVersions::OfSelected(const Context& ctx, const Observation& o) {
  std::string basis = BasisOf(o);
  for (const StoredRelease& release : o.releases) basis += "\n" + release.stamp;
  if (auto known = Get(o, basis)) return known->version;
  if (o.releases.empty()) return "";
  if (RunsTheNewest(o)) return o.provider.status.installed_version;
  auto repository = releases::StoredRepository(client_, o.provider, o.releases, "the selected ConfigMaps");
  auto newest = NewestIn(ctx, *repository, o);
  if (newest) Put(o, {.basis = basis, .version = *newest, .found = {}});
  return newest.value_or("");
}

std::string NewestVersions::OfSource(const Context& ctx, const Observation& o) {
  auto known = Get(o, BasisOf(o));
  auto repository = sources_.Open(o.provider, {});
  if (!repository.ok()) return "";
  if (!(*repository)->IsLocal()) {
    if (auto told = NewestTold(o.provider.status)) return *told;
    return known && !IsOlder(known->version, o.provider.status.installed_version) ? known->version : "";
  }
  const MonoTime now = ctx.clock->Monotonic();
  if (known && now - known->found < kFolderIsFresh) return known->version;
  const std::string newest = NewestIn(ctx, **repository, o).value_or("");
  Put(o, {.basis = BasisOf(o), .version = newest, .found = now});
  return newest;
}

std::optional<NewestVersions::Known> NewestVersions::Get(const Observation& o, const std::string& basis) {
  MutexLock lock(mu_);
  auto it = known_.find(o.provider.id.Key());
  return it != known_.end() && it->second.basis == basis ? std::optional(it->second) : std::nullopt;
}

void NewestVersions::Put(const Observation& o, Known known) {
  MutexLock lock(mu_);
  known_[o.provider.id.Key()] = std::move(known);
}

void NewestVersions::Forget(const std::string& provider) {
  MutexLock lock(mu_);
  known_.erase(provider);
}

}  // namespace capi::ops
