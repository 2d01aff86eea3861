#include "e2e/small_release.h"

#include "base/strings.h"

namespace capi::e2e {
namespace {

constexpr const char* kComponents = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.NAME.example.org
  labels: {cluster.x-k8s.io/v1beta1: v1}
spec:
  group: NAME.example.org
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: STORAGE1, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
SECOND
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: small-manager, namespace: small-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-manager-role}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: small-CONFIG, namespace: small-system}
data: {version: "VERSION"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: small-controller-manager, namespace: small-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: small}}
  template:
    metadata: {labels: {app: small}}
    spec: {containers: [{name: manager, image: "registry.example/small:VERSION"}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME-webhooks}
webhooks:
- name: things.NAME.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: small, namespace: small-system, path: /validate-VERSION}}
  rules: [{apiGroups: [NAME.example.org], apiVersions: [v1], resources: [things], operations: [CREATE]}]
)";

constexpr const char* kSecondVersion =
    "  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
    "x-kubernetes-preserve-unknown-fields: true}}}";

}  // namespace

std::string SmallCoreComponents(const std::string& name, const std::string& version) {
  bool first = version == "v1.0.0";
  std::string text = kComponents;
  text = ReplaceAll(text, "SECOND\n", first ? "" : std::string(kSecondVersion) + "\n");
  text = ReplaceAll(text, "STORAGE1", first ? "true" : "false");
  text = ReplaceAll(text, "CONFIG", first ? "settings" : "options");
  text = ReplaceAll(text, "NAME", name);
  return ReplaceAll(text, "VERSION", version);
}

void StoreSmallCore(Cluster& cluster, const std::string& ns, const std::string& name, const std::string& version) {
  cluster.StoreConfigMap(ns, "core-cluster-api-" + version,
                         {{"provider.cluster.x-k8s.io/type", "core"},
                          {"provider.cluster.x-k8s.io/name", "cluster-api"},
                          {"provider.cluster.x-k8s.io/version", version}},
                         {{"metadata",
                           "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                           "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 1, minor: 1, contract: v1beta1}\n"},
                          {"components", SmallCoreComponents(name, version)}});
}

}  // namespace capi::e2e
