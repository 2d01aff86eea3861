#include "templating/known_managers.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "templating/args.h"

namespace capi::templating {
namespace {

// Contract v1alpha4, and v1beta1 until the diagnostics endpoint.
constexpr std::string_view kPlainMetrics =
    "feature-gates health-addr leader-elect leader-elect-lease-duration leader-elect-renew-deadline "
    "leader-elect-retry-period metrics-bind-addr namespace profiler-address sync-period v webhook-cert-dir "
    "webhook-port";
// v1beta1 with both.
constexpr std::string_view kBothMetrics =
    "diagnostics-address feature-gates health-addr insecure-diagnostics leader-elect leader-elect-lease-duration "
    "leader-elect-renew-deadline leader-elect-retry-period metrics-bind-addr namespace profiler-address sync-period v "
    "webhook-cert-dir webhook-port";
// v1beta1 and v1beta2 without the deprecated one.
constexpr std::string_view kDiagnostics =
    "diagnostics-address feature-gates health-addr insecure-diagnostics leader-elect leader-elect-lease-duration "
    "leader-elect-renew-deadline leader-elect-retry-period namespace profiler-address sync-period v webhook-cert-dir "
    "webhook-port";
constexpr std::string_view kDockerV1_1 =
    "concurrency feature-gates health-addr leader-elect metrics-bind-addr profiler-address sync-period v "
    "webhook-cert-dir webhook-port";
constexpr std::string_view kDockerV1_8 =
    "concurrency diagnostics-address feature-gates health-addr insecure-diagnostics leader-elect "
    "leader-elect-lease-duration leader-elect-renew-deadline leader-elect-retry-period metrics-bind-addr namespace "
    "profiler-address sync-period v webhook-cert-dir webhook-port";
constexpr std::string_view kDockerV1_12 =
    "concurrency diagnostics-address feature-gates health-addr insecure-diagnostics leader-elect "
    "leader-elect-lease-duration leader-elect-renew-deadline leader-elect-retry-period namespace profiler-address "
    "sync-period v webhook-cert-dir webhook-port";

constexpr std::string_view kCoreV0_4 =
    "cluster clusterresourceset clustertopology machine machinedeployment machinehealthcheck machinepool machineset";
constexpr std::string_view kCoreV1_1 =
    "cluster clusterclass clusterresourceset clustertopology machine machinedeployment machinehealthcheck machinepool "
    "machineset";
constexpr std::string_view kCoreV1_8 =
    "cluster clusterclass clusterresourceset clustertopology extensionconfig machine machinedeployment "
    "machinehealthcheck machinepool machineset";

// All four are built from one list.
constexpr std::string_view kGatesV1_12 =
    "AllAlpha AllBeta ClusterTopology InPlaceUpdates KubeadmBootstrapFormatIgnition MachinePool "
    "MachineSetPreflightChecks MachineTaintPropagation MachineWaitForVolumeDetachConsiderVolumeAttachments "
    "PriorityQueue ReconcilerRateLimiting RuntimeSDK";

// v1.12 is what `<manager> --help` of v1.12.1 prints, which a test compares; older rows are the flags that the sources
// of v0.4.2, v1.1.5, v1.8.0 and v1.10.4 register. For one provider the newest first.
constexpr KnownManager kManagers[] = {
    {"cluster-api", 1, 12, kDiagnostics, kCoreV1_8, kGatesV1_12},
    {"cluster-api", 1, 10, kDiagnostics, kCoreV1_8, ""},
    {"cluster-api", 1, 8, kBothMetrics, kCoreV1_8, ""},
    {"cluster-api", 1, 1, kPlainMetrics, kCoreV1_1, ""},
    {"cluster-api", 0, 4, kPlainMetrics, kCoreV0_4, ""},
    {"bootstrap-kubeadm", 1, 12, kDiagnostics, "kubeadmconfig", kGatesV1_12},
    {"bootstrap-kubeadm", 1, 10, kDiagnostics, "kubeadmconfig", ""},
    {"bootstrap-kubeadm", 1, 8, kBothMetrics, "kubeadmconfig", ""},
    {"bootstrap-kubeadm", 0, 4, kPlainMetrics, "kubeadmconfig", ""},
    {"control-plane-kubeadm", 1, 12, kDiagnostics, "kubeadmcontrolplane", kGatesV1_12},
    {"control-plane-kubeadm", 1, 10, kDiagnostics, "kubeadmcontrolplane", ""},
    {"control-plane-kubeadm", 1, 8, kBothMetrics, "kubeadmcontrolplane", ""},
    {"control-plane-kubeadm", 0, 4, kPlainMetrics, "kubeadmcontrolplane", ""},
    {"infrastructure-docker", 1, 12, kDockerV1_12, "", kGatesV1_12},
    {"infrastructure-docker", 1, 8, kDockerV1_8, "", ""},
    {"infrastructure-docker", 1, 1, kDockerV1_1, "", ""},
};

constexpr std::string_view kConcurrency = "-concurrency";

bool Contains(std::string_view list, std::string_view item) {
  auto items = Items(list);
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

bool KnownManager::HasFlag(std::string_view flag) const {
  flag = FlagName(flag);
  if (Contains(flags, flag)) return true;
  return flag.ends_with(kConcurrency) && Contains(controllers, flag.substr(0, flag.size() - kConcurrency.size()));
}

bool KnownManager::LacksGate(std::string_view gate) const {
  return !feature_gates.empty() && !Contains(feature_gates, gate);
}

std::optional<KnownManager> FindKnownManager(api::ProviderType type, std::string_view name,
                                             const api::Version& version) {
  std::string provider = api::ManifestLabel(type, name);
  auto found = std::find_if(std::begin(kManagers), std::end(kManagers), [&](const KnownManager& row) {
    return row.provider == provider &&
           (version.major > row.major || (version.major == row.major && version.minor >= row.minor));
  });
  if (found == std::end(kManagers)) return std::nullopt;
  KnownManager row = *found;
  if (version.major != row.major || version.minor != row.minor) row.feature_gates = "";
  return row;
}

std::vector<std::string> Items(std::string_view list) {
  return list.empty() ? std::vector<std::string>{} : Split(list, ' ');
}

}  // namespace capi::templating
