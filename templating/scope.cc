#include "templating/scope.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kube/meta/kind.h"

namespace capi::templating {
namespace {

struct Row {
  std::string_view group;
  std::string_view kind;
};

// Built-in kinds, and well-known ones, that have no namespace.
constexpr Row kClusterScoped[] = {
    {"", "ComponentStatus"},
    {"", "Namespace"},
    {"", "Node"},
    {"", "PersistentVolume"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"cert-manager.io", "ClusterIssuer"},
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"extensions", "PodSecurityPolicy"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
    {"gateway.networking.k8s.io", "GatewayClass"},
    {"internal.apiserver.k8s.io", "StorageVersion"},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"node.k8s.io", "RuntimeClass"},
    {"policy", "PodSecurityPolicy"},
    {"policy.networking.k8s.io", "AdminNetworkPolicy"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "ResourceSlice"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"security.openshift.io", "SecurityContextConstraints"},
    {"storage.k8s.io", "CSIDriver"},
    {"storage.k8s.io", "CSINode"},
    {"storage.k8s.io", "StorageClass"},
    {"storage.k8s.io", "VolumeAttachment"},
    {"storage.k8s.io", "VolumeAttributesClass"},
    {"storagemigration.k8s.io", "StorageVersionMigration"},
    {"trust.cert-manager.io", "Bundle"},
};

}  // namespace

Scopes::Scopes(const std::vector<kube::Object>& objects, ScopeLookup lookup) : lookup_(std::move(lookup)) {
  for (const kube::Object& object : objects) {
    if (!IsCrd(object)) continue;
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
  return (lookup_ ? lookup_(kind) : std::nullopt).value_or(false);
}

}  // namespace capi::templating
