#include "cli/cert_manager/upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "api/kinds.h"
#include "api/version.h"
#include "cli/cert_manager/labels.h"
#include "kube/apply/apply.h"
#include "kube/apply/preview.h"
#include "kube/meta/kind.h"
#include "lifecycle/labelled.h"
#include "lifecycle/plan/removal.h"
#include "lifecycle/storage_migration.h"
#include "lifecycle/try_upgrade.h"

namespace capi::cli {
namespace {

constexpr std::string_view kHelm = "meta.helm.sh/release-name", kVersionLabel = "app.kubernetes.io/version";

// clusterctl's own label says whether it installed it; nobody else's is looked at.
Result<bool> IsInstalledHere(const Context& ctx, kube::Client& client) {
  auto crd = client.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", std::string(kCertManagerCrds[0]),
                        {.metadata_only = true});
  if (!crd.ok() && crd.code() == Code::kNotFound) return false;
  if (!crd.ok()) return crd.error();
  return crd->has_label(kLabelCore);
}

// clusterctl's label stays where another tool takes its objects over, and its own version beside the label of a newer
// one. That is left alone where it is newer than `desired`, too: there is nothing to upgrade. "" where none has.
std::string TakenOverBy(const std::vector<kube::Object>& installed, const std::string& desired) {
  auto wanted = api::Version::ParseTolerant(desired);
  for (const kube::Object& object : installed) {
    if (!kube::IsDeployment(object)) continue;
    if (object.has_annotation(kHelm)) return fmt::format("it is Helm's release {}", object.annotation(kHelm));
    const std::string runs = object.label(kVersionLabel);
    auto version = api::Version::ParseTolerant(runs);
    auto noted = api::Version::ParseTolerant(object.annotation(kCertManagerVersionAnnotation));
    const bool others = version.ok() && (!noted.ok() || *version > *noted);
    if (others && wanted.ok() && *version > *wanted)
      return fmt::format("{} runs, which is newer than the {} of the configuration", runs, desired);
  }
  return "";
}

// A labelled copy elsewhere (a backup that was restored, say) isn't cert-manager's own.
void DropCopies(std::vector<kube::Object>& installed, const std::vector<kube::Object>& objects) {
  std::set<std::string> namespaces = {"", "cert-manager", "kube-system"};
  for (const kube::Object& object : objects) namespaces.insert(object.ns());
  std::erase_if(installed, [&](const kube::Object& one) { return !namespaces.contains(one.ns()); });
}

std::vector<kube::Object> CrdsOf(const std::vector<kube::Object>& objects) {
  std::vector<kube::Object> out;
  std::copy_if(objects.begin(), objects.end(), std::back_inserter(out),
               [](const auto& one) { return kube::IsCrd(one); });
  return out;
}

std::vector<kube::Manifest> ManifestsOf(const std::vector<kube::Object>& objects) {
  std::vector<kube::Manifest> out;
  for (const kube::Object& object : objects) out.push_back(kube::ToManifest(object));
  return out;
}

// What Cluster API's clusterctl wrote with plain updates becomes ours, so that what the new version leaves out goes.
Status TakeOverAll(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests) {
  kube::PreviewOptions options{.field_manager = std::string(kCertManagerWriter),
                               .former = kube::WroteLabel(kLabelCore),
                               .owner_group = std::string(api::kGroup)};
  return kube::TakeOverAll(client, ctx, manifests, options);
}

Status Migrate(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests) {
  const lifecycle::CrdStates live = TRY(lifecycle::LiveCrds(ctx, client, manifests));
  lifecycle::StorageMigration migration(client, kCertManagerWriter);
  for (const std::string& crd : TRY(lifecycle::ToMigrate(manifests, live))) {
    lifecycle::MigrationCursor cursor;
    TRY_WITH(migration.Migrate(ctx, crd, cursor), crd);
  }
  return Ok();
}

// What the new version no longer has.
Status Prune(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& installed,
             const std::vector<kube::Manifest>& manifests) {
  std::vector<kube::ObjectId> released;
  for (const kube::Manifest& manifest : manifests) released.push_back(manifest.id);
  auto keep = [](const kube::Object& live) -> std::string {
    return live.has_label(kLabelCore) ? "" : "somebody took clusterctl's label away";
  };
  std::vector<kube::Change> changes;
  return kube::Applier(client, {}).Delete(ctx, lifecycle::NotReleased(installed, released), keep, changes);
}

}  // namespace

Result<std::optional<CertManagerUpgrade>> FindCertManager(const Context& ctx, const Config& config,
                                                          kube::Client& client, Notes& notes) {
  const char* what = "failed to look for cert-manager";
  CertManagerUpgrade out;
  out.settings = TRY(ReadCertManagerSettings(config, notes));
  if (out.settings.external || !TRY_WITH(IsInstalledHere(ctx, client), what))
    return std::optional<CertManagerUpgrade>();
  out.installed = TRY_WITH(lifecycle::ListBuiltIn(ctx, client, CertManagerSelector()), what);
  if (std::none_of(out.installed.begin(), out.installed.end(), kube::IsDeployment)) {
    if (!TRY_WITH(HasNoDeployment(ctx, client), what)) return std::optional<CertManagerUpgrade>();  // somebody else's
    out.gone = "cert-manager, which clusterctl installed, has no Deployment: clusterctl init installs it again";
    return std::optional(std::move(out));
  }
  const std::string why = TakenOverBy(out.installed, out.settings.version);
  if (why.empty()) return std::optional(std::move(out));
  notes.Warn("cert-manager stays as it is, though clusterctl installed it once: " + why);
  return std::optional<CertManagerUpgrade>();
}

Status DecideUpgrade(const Context& ctx, const Config& config, CertManagerUpgrade& upgrade, Notes& notes) {
  upgrade.objects = TRY(FetchCertManager(ctx, config, upgrade.settings, notes));
  DropCopies(upgrade.installed, upgrade.objects);
  upgrade.decision = TRY(DecideCertManager(upgrade.settings.version, upgrade.installed, upgrade.objects));
  const std::vector<kube::Object> crds = CrdsOf(upgrade.installed);
  if (std::any_of(crds.begin(), crds.end(), IsInstalling)) upgrade.decision.upgrade = true;
  if (!upgrade.decision.upgrade) return Ok();
  return CheckNoOlder({CertManagerState::kBrokenOff, crds}, upgrade.settings, upgrade.objects);
}

std::string AsText(const CertManagerUpgrade& upgrade) {
  if (!upgrade.decision.upgrade) return "Cert-Manager is already up to date\n";
  return fmt::format("Cert-Manager will be upgraded from \"{}\" to \"{}\"\n", upgrade.decision.from,
                     upgrade.settings.version);
}

Status CheckUpgrade(const Context& ctx, kube::Client& client, const CertManagerUpgrade& upgrade) {
  const char* what = "cert-manager can't be upgraded";
  TRY_WITH(lifecycle::TryUpgrade(ctx, client, ManifestsOf(upgrade.objects), kCertManagerWriter), what);
  return Ok();
}

Status UpgradeCertManager(const Context& ctx, kube::Client& client, CertManagerUpgrade upgrade, Notes& notes) {
  const char* what = "failed to upgrade cert-manager";
  const std::vector<kube::Manifest> manifests = ManifestsOf(upgrade.objects);
  TRY_WITH(Migrate(ctx, client, manifests), what);
  TRY_WITH(TakeOverAll(ctx, client, manifests), what);
  TRY(ApplyCertManager(ctx, client, std::move(upgrade.objects), upgrade.settings, notes));
  TRY(AwaitCertManager(ctx, client, upgrade.settings, true, notes));
  TRY_WITH(Prune(ctx, client, upgrade.installed, manifests), what);
  TRY_WITH(EndInstalling(ctx, client), what);
  return Ok();
}

}  // namespace capi::cli
