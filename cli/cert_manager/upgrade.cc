#include "cli/cert_manager/upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/kinds.h"
#include "cli/cert_manager/labels.h"
#include "kube/apply/apply.h"
#include "kube/apply/preview.h"
#include "kube/meta/kind.h"
#include "lifecycle/labelled.h"
#include "lifecycle/storage_migration.h"

namespace capi::cli {
namespace {

// clusterctl's own label says whether it installed it; nobody else's is looked at.
Result<bool> IsInstalledHere(const Context& ctx, kube::Client& client) {
  auto crd = client.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", std::string(kCertManagerCrds[0]),
                        {.metadata_only = true});
  if (!crd.ok() && crd.code() == Code::kNotFound) return false;
  if (!crd.ok()) return crd.error();
  return crd->has_label(kLabelCore);
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
  for (const kube::Manifest& manifest : manifests) {
    auto taken = kube::TakeOver(client, ctx, manifest.id, options);
    if (!taken.ok() && taken.code() != Code::kNotFound) return taken.error().With(manifest.id.ToString());
  }
  return Ok();
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

// What the new version no longer has. CRDs and Namespaces stay: users' objects are in them.
Status Prune(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& installed,
             const std::vector<kube::Manifest>& manifests) {
  std::set<kube::ObjectId> kept;
  for (const kube::Manifest& manifest : manifests) kept.insert(manifest.id);
  std::vector<kube::ObjectId> gone;
  for (const kube::Object& object : installed) {
    const bool generated = object.kind() == "Endpoints" || object.kind() == "EndpointSlice";
    if (generated || kube::IsCrd(object) || object.kind() == "Namespace" || kept.contains(object.id())) continue;
    gone.push_back(object.id());
  }
  auto keep = [](const kube::Object& live) -> std::string {
    return live.has_label(kLabelCore) ? "" : "somebody took clusterctl's label away";
  };
  std::vector<kube::Change> changes;
  return kube::Applier(client, {}).Delete(ctx, gone, keep, changes);
}

}  // namespace

Result<std::optional<CertManagerUpgrade>> PlanCertManagerUpgrade(const Context& ctx, const Config& config,
                                                                 kube::Client& client, Notes& notes) {
  const char* what = "failed to look for cert-manager";
  CertManagerUpgrade out;
  out.settings = TRY(ReadCertManagerSettings(config, notes));
  if (out.settings.external || !TRY_WITH(IsInstalledHere(ctx, client), what))
    return std::optional<CertManagerUpgrade>();
  out.installed = TRY_WITH(lifecycle::ListBuiltIn(ctx, client, CertManagerSelector()), what);
  // Somebody else's runs, over the kinds that clusterctl left; or none, which `init` installs again.
  if (std::none_of(out.installed.begin(), out.installed.end(), kube::IsDeployment))
    return std::optional<CertManagerUpgrade>();
  out.objects = TRY(FetchCertManager(ctx, config, out.settings, notes));
  out.decision = TRY(DecideCertManager(out.settings.version, out.installed, out.objects));
  return std::optional(std::move(out));
}

std::string AsText(const CertManagerUpgrade& upgrade) {
  if (!upgrade.decision.upgrade) return "Cert-Manager is already up to date\n";
  return fmt::format("Cert-Manager will be upgraded from \"{}\" to \"{}\"\n", upgrade.decision.from,
                     upgrade.settings.version);
}

Status UpgradeCertManager(const Context& ctx, kube::Client& client, CertManagerUpgrade upgrade, Notes& notes) {
  const char* what = "failed to upgrade cert-manager";
  const std::vector<kube::Manifest> manifests = ManifestsOf(upgrade.objects);
  TRY_WITH(Migrate(ctx, client, manifests), what);
  TRY_WITH(TakeOverAll(ctx, client, manifests), what);
  TRY(InstallCertManager(ctx, client, std::move(upgrade.objects), upgrade.settings, notes));
  TRY_WITH(Prune(ctx, client, upgrade.installed, manifests), what);
  return AwaitCertManager(ctx, client, upgrade.settings, notes);
}

}  // namespace capi::cli
