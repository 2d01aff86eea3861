#include "templating/scope.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace capi::templating {
namespace {

struct Row {
  std::string_view group;
  std::string_view kind;
};

// Kinds without a namespace that a release may bring, beside those of kClusterctlKinds.
constexpr Row kClusterScoped[] = {
    {"", "ComponentStatus"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"apiregistration.k8s.io", "APIService"},
    {"cert-manager.io", "ClusterIssuer"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
    {"gateway.networking.k8s.io", "GatewayClass"},
    {"internal.apiserver.k8s.io", "StorageVersion"},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"policy.networking.k8s.io", "AdminNetworkPolicy"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "ResourceSlice"},
    {"security.openshift.io", "SecurityContextConstraints"},
    {"storage.k8s.io", "VolumeAttributesClass"},
    {"storagemigration.k8s.io", "StorageVersionMigration"},
    {"trust.cert-manager.io", "Bundle"},
};

// clusterctl's list. It knows no groups, so neither do we where nothing better is known.
constexpr std::string_view kClusterctlKinds[] = {
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
};

}  // namespace

Scopes::Scopes(const std::vector<kube::Object>& objects, ScopeLookup lookup) : lookup_(std::move(lookup)) {
  for (const kube::Object& object : objects) {
    if (object.kind() != "CustomResourceDefinition") continue;
    std::string scope = GetString(object.json(), {"spec", "scope"});
    if (scope.empty()) continue;
    kube::GroupKind kind{GetString(object.json(), {"spec", "group"}),
                         GetString(object.json(), {"spec", "names", "kind"})};
    from_crds_[kind] = scope == "Cluster";
  }
}

bool Scopes::IsClusterScoped(const kube::GroupKind& kind) const {
  if (auto found = from_crds_.find(kind); found != from_crds_.end()) return found->second;
  bool in_table = std::any_of(std::begin(kClusterScoped), std::end(kClusterScoped),
                              [&](const Row& row) { return row.group == kind.group && row.kind == kind.kind; });
  if (in_table) return true;
  auto known = lookup_ ? lookup_(kind) : std::nullopt;
  if (known) return *known;
  return std::find(std::begin(kClusterctlKinds), std::end(kClusterctlKinds), kind.kind) != std::end(kClusterctlKinds);
}

}  // namespace capi::templating
