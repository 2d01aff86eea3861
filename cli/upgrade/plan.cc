#include "cli/upgrade/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "cli/cert_manager/upgrade.h"
#include "cli/frame/structured.h"
#include "cli/frame/table.h"
#include "cli/operator_manifests/installation.h"
#include "cli/upgrade/known_versions.h"

namespace capi::cli {
namespace {

// As clusterctl's own tables.
constexpr size_t kGap = 3, kMinWidth = 10;

bool HasUpgrade(const UpgradePlan& plan) {
  return std::any_of(plan.items.begin(), plan.items.end(), [](const PlanItem& item) { return item.next.has_value(); });
}

std::string NextOf(const PlanItem& item) {
  if (item.next) return item.next->ToString();
  return item.unknown ? "Unknown" : "Already up to date";
}

std::string WhatToDo(const UpgradePlan& plan) {
  const bool unknown = std::any_of(plan.items.begin(), plan.items.end(), [](const auto& item) { return item.unknown; });
  if (!HasUpgrade(plan)) return unknown ? "" : "You are already up to date!\n";
  if (plan.contract == kContract) {
    return fmt::format(
        "You can now apply the upgrade by executing the following command:\n\n"
        "clusterctl upgrade apply --contract {}\n",
        plan.contract);
  }
  return fmt::format("The current version of clusterctl could not upgrade to {} contract (only {} supported).\n",
                     plan.contract, kContract);
}

std::string AsText(const UpgradePlan& plan) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "NAMESPACE", "TYPE", "CURRENT VERSION", "NEXT VERSION"}};
  for (const PlanItem& item : plan.items) {
    const InstalledProvider& one = item.provider;
    rows.push_back({api::ManifestLabel(one.type, one.name), one.ns, std::string(api::KindOf(one.type).kind),
                    one.version, NextOf(item)});
  }
  return fmt::format("\nLatest release available for the {} Cluster API contract version:\n\n{}\n{}\n", plan.contract,
                     FormatTable(rows, kGap, kMinWidth), WhatToDo(plan));
}

Json AsJson(const UpgradePlan& plan) {
  Json providers = Json::array();
  for (const PlanItem& item : plan.items) {
    const InstalledProvider& one = item.provider;
    providers.push_back({{"name", api::ManifestLabel(one.type, one.name)},
                         {"namespace", one.ns},
                         {"type", api::KindOf(one.type).kind},
                         {"currentVersion", one.version},
                         {"nextVersion", item.next ? item.next->ToString() : ""},
                         {"known", !item.unknown}});
  }
  return {{"contract", plan.contract},
          {"supported", plan.contract == kContract},
          {"upgradeAvailable", HasUpgrade(plan)},
          {"providers", providers}};
}

// Before the tables, as clusterctl tells of cert-manager; "" where there is nothing to tell.
std::string AsText(const InstalledOperator& found) {
  std::string name = fmt::format("capi-operator {}/{}", found.ns, found.name);
  if (!found.version) return fmt::format("{} has a version that can't be told\n", name);
  const std::string theirs = found.version->ToString();
  if (*found.version < OwnVersion()) {
    return fmt::format("{} will be upgraded from \"{}\" to \"{}\" by: clusterctl upgrade operator\n", name, theirs,
                       kProjectVersion);
  }
  if (OwnVersion() < *found.version)
    return fmt::format("{} has version {}, and this clusterctl is {}\n", name, theirs, kProjectVersion);
  return fmt::format("{} is already up to date\n", name);
}

Json AsJson(const std::optional<InstalledOperator>& found) {
  if (!found) return Json();
  return {{"namespace", found->ns},
          {"name", found->name},
          {"currentVersion", found->version ? found->version->ToString() : ""},
          {"nextVersion", kProjectVersion},
          {"available", found->available}};
}

Json AsJson(const std::optional<CertManagerUpgrade>& cert_manager) {
  if (!cert_manager) return Json();
  return {{"currentVersion", cert_manager->decision.from},
          {"nextVersion", cert_manager->settings.version},
          {"upgradeAvailable", cert_manager->decision.upgrade}};
}

// clusterctl's order: by the names of types.
void Sort(std::vector<UpgradePlan>& plans) {
  auto key = [](const PlanItem& item) {
    return std::tuple(api::KindOf(item.provider.type).kind, item.provider.name, item.provider.ns);
  };
  for (UpgradePlan& plan : plans) {
    std::sort(plan.items.begin(), plan.items.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  }
}

// Those of the operator; none where it isn't installed.
Result<std::vector<ProviderObject>> Objects(const Context& ctx, ManagementCluster& cluster) {
  auto objects = AllProviders(ctx, cluster, "");
  if (!objects.ok() && objects.code() == Code::kFailedPrecondition) return std::vector<ProviderObject>();
  return objects;
}

// nullopt where there is nothing to say of it, or, with a warning, where that can't be told.
std::optional<CertManagerUpgrade> PlanCertManager(const Context& ctx, const Config& config, kube::Client& client,
                                                  Notes& notes) {
  auto found = FindCertManager(ctx, config, client, notes);
  Status told = found.ok() ? Ok() : Status(found.error());
  if (found.ok() && *found) {
    const std::string& gone = (*found)->gone;
    told = gone.empty() ? DecideUpgrade(ctx, config, **found, notes) : Error{Code::kNotFound, gone, {}};
  }
  if (told.ok()) return *std::move(found);
  notes.Warn("whether cert-manager is up to date can't be told: " + told.error().message);
  return std::nullopt;
}

Answer AnswerOf(const std::optional<CertManagerUpgrade>& cert_manager, const std::optional<InstalledOperator>& its,
                const std::vector<UpgradePlan>& plans) {
  Answer out{.table = {},
             .facts = {{"certManager", AsJson(cert_manager)}, {"operator", AsJson(its)}, {"plans", Json::array()}}};
  if (cert_manager) out.table += AsText(*cert_manager) + "\n";
  if (its) out.table += AsText(*its) + "\n";
  for (const UpgradePlan& plan : plans) {
    out.table += AsText(plan);
    out.facts["plans"].push_back(AsJson(plan));
    for (const PlanItem& item : plan.items) {
      out.names.push_back(fmt::format("provider.clusterctl.cluster.x-k8s.io/{}",
                                      api::ManifestLabel(item.provider.type, item.provider.name)));
    }
  }
  return out;
}

}  // namespace

Status PrintUpgradePlan(const Context& ctx, const GlobalOptions& global, const UpgradePlanOptions& options,
                        World& world) {
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto installed = TRY(cluster.Providers(ctx));
  if (installed.empty()) TRY(cluster.CheckContract(ctx, AlsoAllowed::kOlderContract));
  const auto cert_manager = PlanCertManager(ctx, config, cluster.client(), notes);
  auto found = FindOperator(ctx, cluster.client());
  if (!found.ok()) notes.Warn(found.error().message);
  auto candidates = LookUpVersions(ctx, config, cluster, installed, TRY(Objects(ctx, cluster)), notes);
  auto plans = TRY(MakePlans(candidates));
  Sort(plans);
  for (const UpgradeCandidate& candidate : candidates) {
    if (!candidate.error) continue;
    notes.Warn(
        fmt::format("{}: its versions can't be told: {}", InstanceName(candidate.provider), candidate.error->message));
  }
  std::optional<InstalledOperator> its = found.ok() ? *found : std::nullopt;
  world.out << Format(format, AnswerOf(cert_manager, its, plans));
  return Ok();
}

}  // namespace capi::cli
