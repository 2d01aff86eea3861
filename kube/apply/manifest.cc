#include "kube/apply/manifest.h"

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "kube/meta/kind.h"

namespace capi::kube {
namespace {

constexpr std::string_view kWorkloadKinds[] = {"Deployment", "StatefulSet", "DaemonSet",  "Job",
                                               "CronJob",    "Pod",         "ReplicaSet", "ReplicationController"};
constexpr std::string_view kWorkloadGroups[] = {"", "apps", "batch"};
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kAggregation = "apiregistration.k8s.io";
constexpr std::string_view kInventory = "clusterctl.cluster.x-k8s.io";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

template <typename Range>
bool In(const Range& range, std::string_view value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

bool IsWebhookConfiguration(const GroupKind& kind) {
  return kind.group == kAdmission &&
         (kind.kind == "ValidatingWebhookConfiguration" || kind.kind == "MutatingWebhookConfiguration");
}

bool IsPlaceholder(const Json& bundle) {
  if (!bundle.is_string()) return bundle.is_null();
  auto pem = Base64Decode(bundle.get_ref<const std::string&>());
  return !pem.ok() || pem->find("-----BEGIN CERTIFICATE-----") == std::string::npos;
}

// With one of these cert-manager fills the bundles in; to claim them as well would be a fight.
bool HasInjector(const Object& object) {
  return object.has_annotation("cert-manager.io/inject-ca-from") ||
         object.has_annotation("cert-manager.io/inject-ca-from-secret") ||
         object.has_annotation("cert-manager.io/inject-apiserver-ca");
}

void DropIn(Json* holder, bool injected) {
  if (holder == nullptr || !holder->is_object()) return;
  auto bundle = holder->find("caBundle");
  if (bundle != holder->end() && (injected || IsPlaceholder(*bundle))) holder->erase(bundle);
}

// The rules of an aggregated role are its controller's, which overwrites whatever else is there.
void DropAggregatedRules(Object& object) {
  Json& json = object.json();
  if (json.is_object() && object.kind() == "ClusterRole" && Find(json, {"aggregationRule"}) != nullptr)
    json.erase("rules");
}

void DescribeCrd(const Json& crd, Manifest& manifest) {
  manifest.crd_group = GetString(crd, {"spec", "group"});
  manifest.crd_kind = GetString(crd, {"spec", "names", "kind"});
  manifest.crd_plural = GetString(crd, {"spec", "names", "plural"});
  manifest.crd_namespaced = GetString(crd, {"spec", "scope"}) == "Namespaced";
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return;
  for (const Json& version : *versions) {
    manifest.crd_all.push_back(GetString(version, {"name"}));
    if (GetBool(version, {"storage"})) manifest.crd_storage = manifest.crd_all.back();
    if (!GetBool(version, {"served"})) continue;
    auto& list = manifest.crd_versions;
    list.insert(GetBool(version, {"storage"}) ? list.begin() : list.end(), GetString(version, {"name"}));
  }
}

}  // namespace

void DropPlaceholderCaBundles(Object& object) {
  Json& json = object.json();
  GroupKind kind = object.id().group_kind();
  bool injected = HasInjector(object);
  if (IsCrd(kind)) {
    DropIn(Find(json, {"spec", "conversion", "webhook", "clientConfig"}), injected);
    DropIn(Find(json, {"spec", "conversion", "webhookClientConfig"}), injected);  // v1beta1
  } else if (kind.group == kAggregation && kind.kind == "APIService") {
    DropIn(Find(json, {"spec"}), injected);
  } else if (IsWebhookConfiguration(kind)) {
    Json* webhooks = Find(json, {"webhooks"});
    if (webhooks == nullptr || !webhooks->is_array()) return;
    for (Json& webhook : *webhooks) DropIn(Find(webhook, {"clientConfig"}), injected);
  }
}

std::string TextHash(std::string_view text) { return Sha256Hex(text).substr(0, 16); }

Manifest ToManifest(Object object) {
  DropPlaceholderCaBundles(object);
  DropAggregatedRules(object);
  Manifest manifest;
  manifest.id = object.id();
  manifest.api_version = object.api_version();
  if (IsCrd(manifest.id)) DescribeCrd(object.json(), manifest);
  manifest.text = ToJsonText(object.json());
  manifest.hash = TextHash(manifest.text);
  return manifest;
}

Stage StageOf(const GroupKind& kind) {
  if (IsCrd(kind)) return Stage::kCrds;
  if (kind.group == kInventory) return Stage::kRecord;
  if (IsWebhookConfiguration(kind) || (kind.group == kAggregation && kind.kind == "APIService")) {
    return Stage::kWebhooks;
  }
  return In(kWorkloadGroups, kind.group) && In(kWorkloadKinds, kind.kind) ? Stage::kWorkloads : Stage::kBase;
}

int WaveOf(const GroupKind& kind) {
  int first = static_cast<int>(StageOf(kind)) * 10;
  if (StageOf(kind) != Stage::kBase || kind == GroupKind{"", "Namespace"}) return first;
  bool binding = kind.group == kRbac && (kind.kind == "RoleBinding" || kind.kind == "ClusterRoleBinding");
  return binding ? first + 2 : first + 1;
}

}  // namespace capi::kube
