#include "kube/meta/resource.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::kube {
namespace {

// Names are free of '/' and '%' but, for RBAC kinds, of little else.
std::string EscapeSegment(std::string_view text) { return PercentEscape(text, ":@!$&'()*+,;="); }

// As the members of Resource.
struct Row {
  std::string_view group, version, plural, kind;
  bool namespaced;
  std::string_view subresources;  // "scale status"
};

constexpr bool kNamespaced = true, kCluster = false;
constexpr Row kRows[] = {
    {"", "v1", "namespaces", "Namespace", kCluster, "status"},
    {"", "v1", "nodes", "Node", kCluster, "status"},
    {"", "v1", "secrets", "Secret", kNamespaced, ""},
    {"", "v1", "configmaps", "ConfigMap", kNamespaced, ""},
    {"", "v1", "services", "Service", kNamespaced, "status"},
    {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced, "token"},
    {"", "v1", "events", "Event", kNamespaced, ""},
    {"", "v1", "endpoints", "Endpoints", kNamespaced, ""},
    {"", "v1", "pods", "Pod", kNamespaced, "eviction log status"},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kNamespaced, "status"},
    {"apps", "v1", "deployments", "Deployment", kNamespaced, "scale status"},
    {"apps", "v1", "statefulsets", "StatefulSet", kNamespaced, "scale status"},
    {"apps", "v1", "daemonsets", "DaemonSet", kNamespaced, "status"},
    {"apps", "v1", "replicasets", "ReplicaSet", kNamespaced, "scale status"},
    {"batch", "v1", "jobs", "Job", kNamespaced, "status"},
    {"batch", "v1", "cronjobs", "CronJob", kNamespaced, "status"},
    {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced, ""},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", kNamespaced, "status"},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kNamespaced, ""},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", kNamespaced, "status"},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kNamespaced, "status"},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", kNamespaced, ""},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kNamespaced, ""},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", kCluster, ""},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", kCluster, ""},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", kCluster,
     ""},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
     kCluster, ""},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", kCluster, "status"},
    {"apiregistration.k8s.io", "v1", "apiservices", "APIService", kCluster, "status"},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster, ""},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster, ""},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster, ""},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", kCluster, ""},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", kCluster, ""},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", kCluster, ""},
};

// A row whose columns are swapped would be a path that no server has.
constexpr bool ColumnsAreInOrder() {
  for (const Row& row : kRows) {
    bool version = row.version.front() == 'v' && row.version.size() == 2;
    bool plural = row.plural.front() >= 'a' && row.plural.front() <= 'z';
    bool kind = row.kind.front() >= 'A' && row.kind.front() <= 'Z';
    if (!version || !plural || !kind) return false;
  }
  return true;
}
static_assert(ColumnsAreInOrder());

Resource ToResource(const Row& row) {
  return {.group = std::string(row.group),
          .version = std::string(row.version),
          .plural = std::string(row.plural),
          .kind = std::string(row.kind),
          .namespaced = row.namespaced,
          .verbs = {},
          .subresources = Split(row.subresources, ' ')};
}

const std::vector<Resource>& Builtins() {
  static const std::vector<Resource> table = [] {
    std::vector<Resource> all;
    for (const Row& row : kRows) all.push_back(ToResource(row));
    return all;
  }();
  return table;
}

}  // namespace

std::string Resource::Path(std::string_view ns, std::string_view name, std::string_view subresource) const {
  std::string out = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (namespaced && !ns.empty()) out += "/namespaces/" + EscapeSegment(ns);
  out += "/" + plural;
  if (!name.empty()) out += "/" + EscapeSegment(name);
  if (!subresource.empty()) out += "/" + std::string(subresource);
  return out;
}

const Resource& Builtin(std::string_view kind) {
  for (const Resource& r : Builtins()) {
    if (r.kind == kind) return r;
  }
  fmt::print(stderr, "no built-in kind {}\n", kind);
  std::abort();
}

const Resource* FindBuiltin(const GroupKind& kind) {
  for (const Resource& r : Builtins()) {
    if (r.kind == kind.kind && r.group == kind.group) return &r;
  }
  return nullptr;
}

}  // namespace capi::kube
