#include "advice/warnings.h"

#include <fmt/format.h>

#include "api/moves/upgrade_policy.h"
#include "api/validate/folder_url.h"
#include "api/version.h"
#include "fetch/url.h"
#include "templating/customise/args.h"

namespace capi::advice {
namespace {

constexpr size_t kMost = 20;

using Warnings = std::vector<std::string>;

// spec, or one entry of spec.additionalDeployments. The parts are null where they aren't given.
struct Part {
  std::string path;
  const api::ManagerSpec* manager;
  const api::DeploymentSpec* deployment;
};

void ZeroReplicas(const Part& part, Warnings& out) {
  if (part.deployment == nullptr || part.deployment->replicas != 0) return;
  out.push_back(part.path +
                ".deployment.replicas: 0 stops the manager, and nothing says so; set spec.paused to true "
                "instead, which the status shows");
}

void ReplicasWithoutElection(const Part& part, Warnings& out) {
  int replicas = part.deployment == nullptr ? 0 : part.deployment->replicas.value_or(0);
  if (replicas < 2 || part.manager == nullptr || !part.manager->leader_election) return;
  if (part.manager->leader_election->leader_elect != false) return;
  out.push_back(
      fmt::format("{}.manager.leaderElection.leaderElect: false with {} replicas lets all of them write at "
                  "once; set it to true, or deployment.replicas to 1",
                  part.path, replicas));
}

void Debug(const Part& part, Warnings& out) {
  if (part.manager == nullptr || !part.manager->debug) return;
  out.push_back(part.path +
                ".manager.debug: true logs much, and the other fields of manager can't change meanwhile; "
                "set it to false when you are done");
}

void InsecureDiagnostics(const Part& part, Warnings& out) {
  if (part.manager == nullptr || !part.manager->insecure_diagnostics.value_or(false)) return;
  out.push_back(part.path +
                ".manager.metrics.insecureDiagnostics: true shows metrics, logs' levels and profiles to "
                "whoever reaches the pod; leave it out, and give readers a token that may get /metrics");
}

void PlainMetrics(const Part& part, Warnings& out) {
  if (part.manager == nullptr || part.manager->metrics_bind_address.empty()) return;
  out.push_back(part.path + ".manager.metrics.bindAddress: is deprecated; set manager.metrics.diagnosticsAddress");
}

void NamespaceArguments(const Part& part, Warnings& out) {
  if (part.deployment == nullptr) return;
  const auto& containers = part.deployment->containers;
  for (size_t i = 0; i < containers.size(); ++i) {
    for (const auto& [arg, value] : containers[i].args) {
      if (!templating::IsNamespaceFlag(arg)) continue;
      out.push_back(fmt::format("{}.deployment.containers[{}].args[{}]: is ignored; set manager.cacheNamespace",
                                part.path, i, arg));
    }
  }
}

void VersionWithoutV(const api::Provider& p, Warnings& out) {
  auto version = api::Version::Parse(p.spec.version);
  if (!version.ok() || p.spec.version.starts_with('v')) return;
  out.push_back(fmt::format("spec.version: {} is taken as {}; write it like that, as releases are named",
                            p.spec.version, version->ToString()));
}

// behaviour.md U13: who writes an older version is told. That it is older is what a policy is for.
void OlderThanWhatAPolicyHasInstalled(const api::Provider& p, const api::Provider* old, Warnings& out) {
  if (old != nullptr && old->spec.version == p.spec.version) return;
  const std::string runs = api::VersionToRun(p.spec.version, p.status, p.annotations);
  if (runs == p.spec.version) return;
  const bool is_over = p.spec.upgrade_policy.type == api::UpgradeType::kNone;
  out.push_back(
      fmt::format("spec.version: {} stays, to which spec.upgradePolicy has led; to go back to {}, set {}"
                  "annotation {} to \"true\" until that version runs{}",
                  runs, p.spec.version, is_over ? "" : "spec.upgradePolicy.type to None, then ",
                  api::kAnnotationAllowDowngrade, p.spec.paused ? " (not while spec.paused is true)" : ""));
}

void UrlOfAnotherVersion(const api::Provider& p, Warnings& out) {
  if (!p.spec.fetch_config || p.spec.version.empty()) return;
  auto github = fetch::ParseGitHubUrl(p.spec.fetch_config->url);
  auto gitlab = fetch::ParseGitLabUrl(p.spec.fetch_config->url);
  auto folder = api::ParseHttpFolderUrl(p.spec.fetch_config->url);
  const std::string named = github.ok()   ? github->version
                            : gitlab.ok() ? gitlab->version
                            : folder.ok() ? folder->version
                                          : "latest";
  if (named == "latest" || api::SameVersion(named, p.spec.version)) return;
  out.push_back(
      fmt::format("spec.fetchConfig.url: names {}, but spec.version {} takes precedence; write latest in "
                  "its place",
                  named, p.spec.version));
}

void AnnotationsLeftOn(const api::Provider& p, Warnings& out) {
  struct Left {
    std::string_view annotation, meaning;
  };
  constexpr Left kLeft[] = {
      {api::kAnnotationForceDelete,
       "a deletion will not wait for workload clusters that use this provider; remove it "
       "unless you are about to delete it"},
      {api::kAnnotationAllowDowngrade, "any older spec.version will be installed; remove it after the downgrade"},
  };
  for (const Left& left : kLeft) {
    auto found = p.annotations.find(std::string(left.annotation));
    if (found == p.annotations.end() || found->second != "true") continue;
    out.push_back(fmt::format("metadata.annotations[{}]: {}", left.annotation, left.meaning));
  }
}

constexpr void (*kOfEachPart[])(const Part&, Warnings&) = {
    ZeroReplicas, ReplicasWithoutElection, Debug, InsecureDiagnostics, PlainMetrics, NamespaceArguments};
constexpr void (*kOfTheWhole[])(const api::Provider&, Warnings&) = {VersionWithoutV, UrlOfAnotherVersion,
                                                                    AnnotationsLeftOn};

template <typename T>
const T* OrNull(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

}  // namespace

std::vector<std::string> AdmissionWarnings(const api::Provider& p, const api::Provider* old) {
  std::vector<Part> parts = {{"spec", OrNull(p.spec.manager), OrNull(p.spec.deployment)}};
  for (const auto& [name, part] : p.spec.additional_deployments) {
    parts.push_back(
        {fmt::format("spec.additionalDeployments[{}]", name), OrNull(part.manager), OrNull(part.deployment)});
  }
  Warnings out;
  for (const auto& find : kOfTheWhole) find(p, out);
  OlderThanWhatAPolicyHasInstalled(p, old, out);
  for (const Part& part : parts) {
    for (const auto& find : kOfEachPart) find(part, out);
  }
  if (out.size() <= kMost) return out;
  const size_t more = out.size() - kMost;
  out.resize(kMost);
  out.push_back(fmt::format("spec: {} more warnings like these", more));
  return out;
}

}  // namespace capi::advice
