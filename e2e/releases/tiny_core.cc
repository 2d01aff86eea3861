#include "e2e/releases/tiny_core.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace capi::e2e {
namespace {

std::string CrdVersions(const std::string& list) {
  std::string out;
  for (std::string name : Split(list, ',')) {
    bool storage = name.back() == '*';
    if (storage) name.pop_back();
    out += fmt::format(
        "  - {{name: {}, served: true, storage: {}, subresources: {{status: {{}}}}, schema: {{openAPIV3Schema: {{type: "
        "object, x-kubernetes-preserve-unknown-fields: true}}}}}}\n",
        name, storage);
  }
  return out;
}

constexpr char kComponents[] = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: smalls.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  names: {kind: Small, plural: smalls}
  scope: Namespaced
  versions:
@CRD_VERSIONS@---
apiVersion: v1
kind: ConfigMap
metadata: {name: small-config, namespace: capi-system}
data: {version: "@VERSION@", extra: "@EXTRA@"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: small-manager, namespace: capi-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: @APP@}}
  template:
    metadata: {labels: {app: @APP@}}
    spec:
      nodeSelector: {@NODE@}
      containers: [{name: manager, image: "registry.example/small:@VERSION@"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: small-webhook}
webhooks:
- name: small.example.com
  clientConfig: {service: {name: small, namespace: capi-system, path: "/@VERSION@"}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [nothing]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)";

}  // namespace

std::string TinyCore::Metadata() const {
  return "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
         "- {major: 1, minor: 0, contract: v1beta2}\n- {major: 1, minor: 1, contract: v1beta2}\n";
}

std::string TinyCore::Components() const {
  std::string text = ReplaceAll(kComponents, "@CRD_VERSIONS@", CrdVersions(crd_versions));
  text = ReplaceAll(text, "@VERSION@", version);
  text = ReplaceAll(text, "@EXTRA@", needs_variable ? "${NEW_VARIABLE}" : extra);
  text = ReplaceAll(text, "@APP@", app);
  return ReplaceAll(text, "@NODE@", can_run ? "" : "no-such: node");
}

void StoreTiny(Cluster& cluster, const std::string& ns, const TinyCore& release) {
  cluster.StoreConfigMap(
      ns, "small-" + release.version,
      {{"provider.cluster.x-k8s.io/name", "small"}, {"provider.cluster.x-k8s.io/version", release.version}},
      {{"metadata", release.Metadata()}, {"components", release.Components()}});
}

Json TinySource() { return {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", "small"}}}}}}; }

}  // namespace capi::e2e
