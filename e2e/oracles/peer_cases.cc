#include "e2e/oracles/peer_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"

namespace capi::e2e {
namespace {

constexpr std::string_view kName = "ipam-in-cluster";
constexpr auto kType = api::ProviderType::kIpam;
const char* const kVersion = "v1.0.3";

// A core that is there at once, for the sake of which others install.
constexpr const char* kCoreMetadata = R"(apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 1, minor: 12, contract: v1beta2}]
)";
constexpr const char* kCoreComponents = R"(
apiVersion: v1
kind: Namespace
metadata: {name: capi-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capi-controller-manager, namespace: capi-system}
spec:
  selector: {matchLabels: {app: core}}
  template:
    metadata: {labels: {app: core}}
    spec: {containers: [{name: manager, image: "registry.example.com/core:v1"}]}
)";

// Kinds that the cases' objects have.
const kube::GroupKind kKinds[] = {
    {"", "ConfigMap"},
    {"", "Secret"},
    {"", "Service"},
    {"", "ServiceAccount"},
    {"apps", "Deployment"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"rbac.authorization.k8s.io", "Role"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"cert-manager.io", "Certificate"},
    {"cert-manager.io", "Issuer"},
    {"cert-manager.io", "ClusterIssuer"},
    {"example.com", "Thing"},
};

// The release, except for one case without its CRDs, which all cases would share.
std::string Components(bool whole) {
  static const auto documents = ParseYamlStream(GetRelease(kName, kVersion).Components()).value();
  std::string out;
  for (const YamlDocument& document : documents) {
    bool crd = GetString(document.value, {"kind"}) == "CustomResourceDefinition";
    if (whole || !crd) out += "---\n" + ToJsonText(document.value) + "\n";
  }
  return out;
}

PeerCase ReadCase(const Json& entry, size_t number) {
  PeerCase c;
  c.number = number;
  c.field = GetString(entry, {"field"});
  c.spec = entry.value("spec", Json::object());
  c.manifests = GetString(entry, {"manifests"});
  if (const Json* secret = Find(entry, {"secret"})) c.secret = secret->get<std::map<std::string, std::string>>();
  c.unordered = entry.value("unordered", false);
  c.whole = entry.value("whole", false);
  const Json* differs = Find(entry, {"differs"});
  c.differs = differs != nullptr;
  if (!c.differs) return c;
  c.rule = GetString(*differs, {"rule"});
  c.why = GetString(*differs, {"why"});
  c.reason = GetString(*differs, {"reason"});
  c.change = differs->value("change", Json::object());
  return c;
}

// As the API server has it, without what it or a controller adds.
Json Cleaned(Json object, bool unordered) {
  object.erase("status");
  Json& metadata = object["metadata"];
  for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    metadata.erase(key);
  }
  if (Json* owners = Find(metadata, {"ownerReferences"})) {
    Json kinds = Json::array();
    for (const Json& owner : *owners) kinds.push_back(GetString(owner, {"kind"}));
    *owners = kinds;
  }
  if (object["kind"] == "Service") {
    object["spec"].erase("clusterIP");
    object["spec"].erase("clusterIPs");
  }
  if (unordered && object["kind"] == "Deployment") {
    for (Json& container : object["spec"]["template"]["spec"]["containers"]) {
      if (container.contains("args")) std::sort(container["args"].begin(), container["args"].end());
    }
  }
  return object;
}

// All objects of all providers, by their label.
std::map<std::string, std::vector<kube::Object>> Applied(Cluster& cluster) {
  std::map<std::string, std::vector<kube::Object>> out;
  for (const kube::GroupKind& kind : kKinds) {
    auto resource = cluster.client().mapper().For(cluster.ctx(), kind, "");
    if (!resource.ok()) continue;
    auto list =
        cluster.client().List(cluster.ctx(), *resource, "", {.label_selector = std::string(api::kLabelProvider)});
    EXPECT_TRUE(list.ok()) << list.error().message;
    for (kube::Object& object : list->items) {
      object.json()["kind"] = kind.kind;
      out[object.label(api::kLabelProvider)].push_back(std::move(object));
    }
  }
  return out;
}

// Installed, or the reason why it isn't and won't be; "" while nothing is decided.
std::string Verdict(const Seen& seen) {
  if (!seen.exists || seen.provider.status.observed_generation < seen.provider.generation) return "";
  if (seen.Status("ProviderInstalled") == "True" || seen.Reason("ProviderInstalled") == "WorkloadsNotReady") {
    return "installed";
  }
  for (const char* condition : {"PreflightCheckPassed", "ProviderInstalled"}) {
    bool waits = seen.Reason(condition) == "WaitingForCoreProviderReady";
    if (seen.Status(condition) == "False" && !waits) return seen.Reason(condition);
  }
  return "";
}

}  // namespace

std::string PeerCase::name() const { return fmt::format("in-cluster-{:03}", number); }
std::string PeerCase::ns() const { return fmt::format("capi-ipam-{}-system", name()); }

std::string PeerCase::Own(std::string text) const { return ReplaceAll(std::move(text), kName, "ipam-" + name()); }
std::string PeerCase::Neutral(std::string text) const { return ReplaceAll(std::move(text), "ipam-" + name(), kName); }

std::string PeerCase::input() const {
  return Sha256Hex(ToJsonText(Json{{"spec", spec}, {"manifests", manifests}, {"secret", secret}}) + Components(whole))
      .substr(0, 16);
}

std::vector<PeerCase> ReadPeerCases() {
  Json entries = ParseYaml(ReadFile("e2e/peer/cases.yaml").value()).value();
  std::vector<PeerCase> cases;
  for (const Json& entry : entries) cases.push_back(ReadCase(entry, cases.size() + 1));
  return cases;
}

void InstallPeerCore(Cluster& cluster) {
  cluster.CreateNamespace("capi-system");
  std::map<std::string, std::string> labels = {{"provider.cluster.x-k8s.io/type", "core"},
                                               {"provider.cluster.x-k8s.io/name", "cluster-api"},
                                               {"provider.cluster.x-k8s.io/version", "v1.12.0"}};
  cluster.StoreConfigMap("capi-system", "core-cluster-api-v1.12.0", labels,
                         {{"metadata", kCoreMetadata}, {"components", kCoreComponents}});
  cluster.ApplyProvider(api::ProviderType::kCore, "capi-system", "cluster-api",
                        {{"version", "v1.12.0"}, {"fetchConfig", {{"selector", {{"matchLabels", labels}}}}}});
  // Until the core is Ready, since a later write of its Deployment may be what wakes the peer.
  Json available = {{"type", "Available"}, {"status", "True"}, {"reason", "Played"}, {"message", ""}};
  Json progressing = {
      {"type", "Progressing"}, {"status", "True"}, {"reason", "NewReplicaSetAvailable"}, {"message", ""}};
  bool ready = kube::Eventually(
      [&] {
        Json status = {{"status",
                        {{"observedGeneration", 1},
                         {"replicas", 1},
                         {"updatedReplicas", 1},
                         {"readyReplicas", 1},
                         {"availableReplicas", 1},
                         {"conditions", Json::array({available, progressing})}}}};
        (void)cluster.client()
            .Patch(cluster.ctx(), kube::Builtin("Deployment"), "capi-system", "capi-controller-manager",
                   kube::PatchType::kMerge, status, {.field_manager = "test", .subresource = "status"})
            .ok();
        return cluster.See(api::ProviderType::kCore, "capi-system", "cluster-api").Status("Ready") == "True";
      },
      Seconds(60), Millis(200));
  ASSERT_TRUE(ready) << cluster.See(api::ProviderType::kCore, "capi-system", "cluster-api").Describe();
}

void Install(Cluster& cluster, const PeerCase& c) {
  cluster.CreateNamespace(c.ns());
  std::map<std::string, std::string> labels = {{"provider.cluster.x-k8s.io/type", "ipam"},
                                               {"provider.cluster.x-k8s.io/name", c.name()},
                                               {"provider.cluster.x-k8s.io/version", kVersion}};
  cluster.StoreConfigMap(
      c.ns(), fmt::format("ipam-{}-{}", c.name(), kVersion), labels,
      {{"metadata", GetRelease(kName, kVersion).Text("metadata.yaml")}, {"components", c.Own(Components(c.whole))}});
  Json spec = {{"version", kVersion}, {"fetchConfig", {{"selector", {{"matchLabels", labels}}}}}};
  spec.merge_patch(ParseJson(c.Own(ToJsonText(c.spec))).value());
  if (!c.manifests.empty()) {
    cluster.StoreConfigMap(c.ns(), "more", {}, {{"manifests", c.Own(c.manifests)}});
    spec["additionalManifests"] = {{"name", "more"}, {"namespace", c.ns()}};
  }
  if (!c.secret.empty()) {
    std::map<std::string, std::string> values;
    for (const auto& [key, value] : c.secret) values[key] = c.Own(value);
    cluster.StoreSecret(c.ns(), "variables", values);
    spec["configSecret"] = {{"name", "variables"}, {"namespace", c.ns()}};
  }
  cluster.ApplyProvider(kType, c.ns(), c.name(), spec);
}

Outcomes AwaitOutcomes(Cluster& cluster, const std::vector<PeerCase>& cases, Millis timeout) {
  std::map<std::string, std::string> verdicts;
  kube::Eventually(
      [&] {
        auto providers = cluster.client().List(cluster.ctx(), api::ResourceOf(kType), "");
        if (!providers.ok()) return false;
        std::map<std::string, Seen> seen;
        for (const kube::Object& object : providers->items)
          seen[object.name()] = {true, api::ParseProviderMeta(object)};
        for (const PeerCase& c : cases) {
          std::string& verdict = verdicts[c.field];
          if (verdict.empty()) verdict = Verdict(seen[c.name()]);
        }
        return std::none_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.second.empty(); });
      },
      timeout, Millis(500));
  auto applied = Applied(cluster);
  Outcomes outcomes;
  for (const PeerCase& c : cases) {
    const std::string& verdict = verdicts[c.field];
    EXPECT_NE(verdict, "") << c.field << ": " << cluster.See(kType, c.ns(), c.name()).Describe();
    if (verdict != "installed") {
      outcomes[c.field] = {{"reason", verdict}};
      continue;
    }
    Json objects = Json::object();
    for (kube::Object& object : applied["ipam-" + c.name()]) {
      Json neutral = ParseJson(c.Neutral(ToJsonText(Cleaned(object.json(), c.unordered)))).value();
      std::string key = fmt::format("{} {}", object.kind(), GetString(neutral, {"metadata", "name"}));
      objects[key] = std::move(neutral);
    }
    outcomes[c.field] = {{"objects", std::move(objects)}};
  }
  return outcomes;
}

}  // namespace capi::e2e
