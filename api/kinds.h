// The seven kinds of providers and their names everywhere they have one.
#pragma once

#include <array>
#include <compare>
#include <string>
#include <string_view>

#include "kube/meta/resource.h"

namespace capi::api {

inline constexpr std::string_view kGroup = "operator.cluster.x-k8s.io";
inline constexpr std::string_view kVersion = "v1alpha2";
inline constexpr std::string_view kOldVersion = "v1alpha1";  // served for four kinds, converted by our webhook

enum class ProviderType { kCore, kBootstrap, kControlPlane, kInfrastructure, kIpam, kRuntimeExtension, kAddon };

struct ProviderKind {
  ProviderType type;
  std::string_view kind;          // "InfrastructureProvider"
  std::string_view plural;        // "infrastructureproviders"
  std::string_view short_name;    // "caip"
  std::string_view type_name;     // "infrastructure": in names of ConfigMaps and label provider.cluster.x-k8s.io/type
  std::string_view label_prefix;  // "infrastructure-": before the name in label cluster.x-k8s.io/provider
  std::string_view components_file;  // "infrastructure-components.yaml"
};

// In clusterctl's order.
inline constexpr std::array<ProviderKind, 7> kProviderKinds = {{
    {ProviderType::kCore, "CoreProvider", "coreproviders", "cacp", "core", "", "core-components.yaml"},
    {ProviderType::kBootstrap, "BootstrapProvider", "bootstrapproviders", "cabp", "bootstrap", "bootstrap-",
     "bootstrap-components.yaml"},
    {ProviderType::kControlPlane, "ControlPlaneProvider", "controlplaneproviders", "cacpp", "control-plane",
     "control-plane-", "control-plane-components.yaml"},
    {ProviderType::kInfrastructure, "InfrastructureProvider", "infrastructureproviders", "caip", "infrastructure",
     "infrastructure-", "infrastructure-components.yaml"},
    {ProviderType::kIpam, "IPAMProvider", "ipamproviders", "caipamp", "ipam", "ipam-", "ipam-components.yaml"},
    {ProviderType::kRuntimeExtension, "RuntimeExtensionProvider", "runtimeextensionproviders", "carep",
     "runtimeextension", "runtime-extension-", "runtime-extension-components.yaml"},
    {ProviderType::kAddon, "AddonProvider", "addonproviders", "caap", "addon", "addon-", "addon-components.yaml"},
}};

const ProviderKind& KindOf(ProviderType type);
const ProviderKind* KindByName(std::string_view kind);  // "CoreProvider"; null for any other
kube::Resource ResourceOf(ProviderType type);

// "infrastructure-aws": value of label cluster.x-k8s.io/provider, clusterctl's ManifestLabel.
std::string ManifestLabel(ProviderType type, std::string_view name);

// One provider object. Ordered by type, name, namespace.
struct ProviderId {
  ProviderType type = ProviderType::kCore;
  std::string ns, name;
  std::strong_ordering operator<=>(const ProviderId& other) const;
  bool operator==(const ProviderId&) const = default;
  std::string ToString() const;                     // "InfrastructureProvider/aws", with the namespace left out
  std::string Key() const;                          // "InfrastructureProvider/capa-system/aws"
  static ProviderId FromKey(std::string_view key);  // an empty id for what is no key
};

// Names that other tools know too.
inline constexpr std::string_view kFinalizer = "provider.cluster.x-k8s.io";
inline constexpr std::string_view kLabelProvider = "cluster.x-k8s.io/provider";
inline constexpr std::string_view kLabelClusterctl = "clusterctl.cluster.x-k8s.io";
inline constexpr std::string_view kLabelReleaseVersion = "provider.cluster.x-k8s.io/version";
inline constexpr std::string_view kLabelReleaseType = "provider.cluster.x-k8s.io/type";
inline constexpr std::string_view kLabelReleaseName = "provider.cluster.x-k8s.io/name";
inline constexpr std::string_view kLabelReleaseSource = "provider.cluster.x-k8s.io/source";
inline constexpr std::string_view kLabelManagedBy = "managed-by.operator.cluster.x-k8s.io";
inline constexpr std::string_view kAnnotationCompressed = "provider.cluster.x-k8s.io/compressed";
inline constexpr std::string_view kAnnotationPaused = "cluster.x-k8s.io/paused";
inline constexpr std::string_view kAnnotationReconcileAt = "operator.cluster.x-k8s.io/reconcile-at";
inline constexpr std::string_view kAnnotationForceDelete = "operator.cluster.x-k8s.io/force-delete";
inline constexpr std::string_view kAnnotationDeleteCrds = "operator.cluster.x-k8s.io/delete-crds";
inline constexpr std::string_view kAnnotationAllowDowngrade = "operator.cluster.x-k8s.io/allow-downgrade";
inline constexpr std::string_view kAnnotationAllowedReferences = "operator.cluster.x-k8s.io/allowed-references";
inline constexpr std::string_view kAnnotationOriginalReplicas = "operator.cluster.x-k8s.io/original-replicas";
// Of a ClusterRole: the API server adds its rules to those of the operator (manifests/base/rbac/providers.yaml).
inline constexpr std::string_view kLabelAggregateToManager = "operator.cluster.x-k8s.io/aggregate-to-manager";
inline constexpr std::string_view kFieldManager = "capi-operator";

}  // namespace capi::api
