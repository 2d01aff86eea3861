#include "e2e/releases/small_release.h"

#include "base/strings.h"

namespace capi::e2e {
namespace {

constexpr const char* kComponents = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.NAME.example.org
  labels: {cluster.x-k8s.io/CONTRACT: v1}
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
metadata: {name: PREFIX-manager, namespace: small-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-manager-role}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: PREFIX-CONFIG, namespace: small-system}
data: {version: "VERSION", extra: "${EXTRA:=none}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: PREFIX-controller-manager, namespace: small-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: PREFIX}}
  template:
    metadata: {labels: {app: PREFIX}}
    spec:
      nodeSelector: {NODE}
      containers: [{name: manager, image: "registry.example/small:VERSION"}]
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

std::string Components(const Managed& provider, const SmallRelease& release) {
  bool first = release.version == "v1.0.0";
  std::string text = kComponents;
  text = ReplaceAll(text, "SECOND\n", first ? "" : std::string(kSecondVersion) + "\n");
  text = ReplaceAll(text, "STORAGE1", first ? "true" : "false");
  text = ReplaceAll(text, "CONFIG", first ? "settings" : "options");
  text = ReplaceAll(text, "CONTRACT", release.contract);
  text = ReplaceAll(text, "NODE", release.can_run ? "" : "no-such: node");
  bool core = provider.type == api::ProviderType::kCore;
  text = ReplaceAll(text, "PREFIX", core ? "small" : provider.name);
  text = ReplaceAll(text, "NAME", core ? provider.ns : provider.name + "." + provider.ns);
  return ReplaceAll(text, "VERSION", release.version);
}

std::map<std::string, std::string> Labels(const Managed& provider) {
  return {{"provider.cluster.x-k8s.io/type", std::string(api::KindOf(provider.type).type_name)},
          {"provider.cluster.x-k8s.io/name", provider.name}};
}

}  // namespace

void StoreSmall(Cluster& cluster, const Managed& provider, const SmallRelease& release) {
  std::string minor = Split(release.version, '.')[1];
  auto labels = Labels(provider);
  labels["provider.cluster.x-k8s.io/version"] = release.version;
  std::string name = labels["provider.cluster.x-k8s.io/type"] + "-" + provider.name + "-" + release.version;
  cluster.StoreConfigMap(provider.ns, name, labels,
                         {{"metadata",
                           "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                           "- {major: 1, minor: " +
                               minor + ", contract: " + release.contract + "}\n"},
                          {"components", Components(provider, release)}});
}

Json SmallSource(const Managed& provider) { return {{"selector", {{"matchLabels", Labels(provider)}}}}; }

}  // namespace capi::e2e
