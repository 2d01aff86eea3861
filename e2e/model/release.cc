#include "e2e/model/release.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::e2e::model {
namespace {

constexpr const char* kComponents = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.@NAME@.model.example.org}
spec:
  group: "@NAME@.model.example.org"
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  scope: Namespaced
  versions:
@VERSIONS@---
apiVersion: v1
kind: ConfigMap
metadata: {name: @NAME@-config, namespace: @NS@}
data: {version: "@VERSION@", revision: "@REVISION@", value: "${VALUE}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: @NAME@-@PARITY@, namespace: @NS@}
data: {version: "@VERSION@"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: model-@NAME@-role}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: ["@VERSION@"], verbs: [get]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: @NAME@-manager, namespace: @NS@}
spec:
  replicas: 1
  selector: {matchLabels: {model: @NAME@}}
  template:
    metadata: {labels: {model: @NAME@, contract: @CONTRACT@}}
    spec: {containers: [{name: manager, image: "registry.example/@NAME@:@VERSION@", args: [--leader-elect]}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: model-@NAME@-hook, annotations: {cert-manager.io/inject-ca-from: @NS@/@NAME@-cert}}
webhooks:
- name: things.@NAME@.model.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: @NAME@, namespace: @NS@, path: "/@VERSION@"}}
  rules: [{apiGroups: [nobody.example.org], apiVersions: [v1], resources: [nothing], operations: [CREATE]}]
)";

std::string CrdVersions(const Release& release) {
  std::string text;
  for (const std::string& version : release.crd_versions) {
    text += fmt::format(
        "  - {{name: {}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, "
        "x-kubernetes-preserve-unknown-fields: true}}}}}}\n",
        version, version == release.storage);
  }
  return text;
}

const char* Parity(int version) { return version % 2 == 0 ? "even" : "odd"; }

std::string Want(std::string_view what, const std::string& wanted, const std::string& seen) {
  return wanted == seen ? "" : fmt::format("{} is \"{}\", not \"{}\"", what, seen, wanted);
}

std::string First(std::initializer_list<std::string> differences) {
  for (const std::string& difference : differences) {
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string CrdDiffers(const Member& m, const Json& live) {
  std::vector<std::string> wanted, seen;
  const Release& release = ReleaseOf(m.crd);
  for (const std::string& v : release.crd_versions) wanted.push_back(v + (v == release.storage ? "*" : ""));
  for (const Json& v : live.at("spec").at("versions"))
    seen.push_back(v.at("name").get<std::string>() + (GetBool(v, {"storage"}) ? "*" : ""));
  std::sort(wanted.begin(), wanted.end());
  std::sort(seen.begin(), seen.end());
  std::vector<std::string> stored;
  if (const Json* list = Find(live, {"status", "storedVersions"})) stored = list->get<std::vector<std::string>>();
  std::sort(stored.begin(), stored.end());
  return First({Want("versions", Join(wanted, ","), Join(seen, ",")),
                Want("storedVersions", Join(std::vector<std::string>(m.stored.begin(), m.stored.end()), ","),
                     Join(stored, ","))});
}

std::string DeploymentDiffers(int who, const Member& m, const Json& live) {
  const Json& container = live.at("spec").at("template").at("spec").at("containers").at(0);
  const Content& c = *m.applied;
  std::string image = c.image > 0 ? fmt::format("registry.example/other:{}", c.image)
                                  : fmt::format("registry.example/{}:{}", NameOf(who), ReleaseOf(c.version).version);
  std::vector<std::string> args = {"--leader-elect"};
  if (c.verbosity > 0) args.push_back(fmt::format("--v={}", c.verbosity + 1));
  int replicas = m.at_zero ? 0 : m.scaled > 0 ? m.scaled : 1;
  const Json* former = Find(live, {"metadata", "annotations", "operator.cluster.x-k8s.io/original-replicas"});
  bool runs = m.why.empty() && !m.hands_off && m.exists;
  auto available = GetInt(live, {"status", "availableReplicas"});
  return First({Want("image", image, GetString(container, {"image"})),
                Want("args", Join(args, " "), Join(container.at("args").get<std::vector<std::string>>(), " ")),
                Want("replicas", std::to_string(replicas), std::to_string(GetInt(live, {"spec", "replicas"}, -1))),
                Want("original-replicas", m.at_zero ? "noted" : "none", former != nullptr ? "noted" : "none"),
                runs && available < 1 ? std::string("Ready, but no pod of it is available") : ""});
}

std::string ConfigDiffers(const Content& c, const Json& live) {
  auto data = [&](std::string_view key) { return GetString(live, {"data", key}); };
  return First({Want("version", ReleaseOf(c.version).version, data("version")),
                Want("revision", std::to_string(c.revision), data("revision")),
                Want("value", std::to_string(c.value), data("value")),
                Want("patched", c.patch > 0 ? std::to_string(c.patch) : "", data("patched"))});
}

std::string HookDiffers(const Member& m, const Json& live) {
  const Json& client = live.at("webhooks").at(0).at("clientConfig");
  return First({Want("path", "/" + ReleaseOf(m.applied->version).version, GetString(client, {"service", "path"})),
                m.bundle && GetString(client, {"caBundle"}).empty() ? std::string("the CA bundle is gone") : ""});
}

}  // namespace

const Names& NamesOf(int who) {
  static const Names names[] = {
      {api::ProviderType::kCore, "model-core", "cluster-api", "core", "cluster-api"},
      {api::ProviderType::kBootstrap, "model-boot", "boot", "boot", "bootstrap-boot"},
      {api::ProviderType::kInfrastructure, "model-infra", "infra", "infra", "infrastructure-infra"},
  };
  return names[who];
}

std::string Metadata() {
  std::string text = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n";
  std::set<std::string> series;
  for (int version = 0; version < kReleases; ++version) {
    const Release& release = ReleaseOf(version);
    std::string minor = Split(release.version, '.')[1];
    if (series.insert(minor).second) {
      text += fmt::format("- {{major: 1, minor: {}, contract: {}}}\n", minor, release.contract);
    }
  }
  return text;
}

std::string Components(int who, int version, int revision) {
  if (revision == kBrokenRelease) return "apiVersion: v1\nkind: [unclosed\n---\n";
  const Release& release = ReleaseOf(version);
  std::string text = kComponents;
  text = ReplaceAll(text, "@VERSIONS@", CrdVersions(release));
  text = ReplaceAll(text, "@NAME@", NamesOf(who).own);
  text = ReplaceAll(text, "@NS@", NamesOf(who).ns);
  text = ReplaceAll(text, "@VERSION@", release.version);
  text = ReplaceAll(text, "@REVISION@", std::to_string(revision));
  text = ReplaceAll(text, "@CONTRACT@", release.contract);
  return ReplaceAll(text, "@PARITY@", Parity(version));
}

Json SpecOf(int who, const Spec& spec) {
  Json json = {{"version", ReleaseOf(spec.version).version},
               {"paused", spec.paused},
               {"configSecret", {{"name", "variables"}}},
               {"fetchConfig", {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", NameOf(who)}}}}}}},
               {"deployment", nullptr},
               {"manager", nullptr},
               {"patches", nullptr}};
  if (spec.image > 0) {
    std::string image = fmt::format("registry.example/other:{}", spec.image);
    json["deployment"] = {{"containers", Json::array({{{"name", "manager"}, {"imageUrl", image}}})}};
  }
  if (spec.verbosity > 0) json["manager"] = {{"verbosity", spec.verbosity + 1}};
  if (spec.patch != 0) {
    std::string patch =
        spec.patch == kBadPatch ? "data: [unclosed" : fmt::format("data: {{patched: \"{}\"}}", spec.patch);
    Json target = {{"kind", "ConfigMap"}, {"name", std::string(NameOf(who)) + "-config"}};
    json["patches"] = Json::array({{{"patch", patch}, {"target", target}}});
  }
  return json;
}

kube::ObjectId IdOf(int who, Part part, int version) {
  const Names& names = NamesOf(who);
  switch (part) {
    case Part::kCrd:
      return {"apiextensions.k8s.io", "CustomResourceDefinition", "", "things." + names.own + ".model.example.org"};
    case Part::kConfig: return {"", "ConfigMap", names.ns, names.own + "-config"};
    case Part::kOnly: return {"", "ConfigMap", names.ns, names.own + "-" + Parity(version)};
    case Part::kRole: return {"rbac.authorization.k8s.io", "ClusterRole", "", "model-" + names.own + "-role"};
    case Part::kHook:
      return {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "model-" + names.own + "-hook"};
    case Part::kDeployment: return {"apps", "Deployment", names.ns, names.own + "-manager"};
  }
  return {};
}

kube::ObjectId IdOf(int who, Place place) {
  return place == Place::kConfig ? IdOf(who, Part::kConfig, 0) : IdOf(who, Part::kOnly, place == Place::kEven ? 0 : 1);
}

const kube::Resource& ResourceOf(Part part) { return kube::Builtin(IdOf(kCore, part, 0).kind); }

kube::Resource ThingOf(int who, const std::string& version) {
  return {.group = NamesOf(who).own + ".model.example.org",
          .version = version,
          .plural = "things",
          .kind = "Thing",
          .namespaced = true};
}

std::string Differs(int who, Part part, const Member& m, const kube::Object& live) {
  std::string head = live.id().ToString() + ": ";
  auto with = [&](const std::string& difference) { return difference.empty() ? "" : head + difference; };
  if (m.marks.contains(part) && live.annotation("mine") != "stays") return head + "somebody's annotation is gone";
  if (part == Part::kCrd) {
    if (auto difference = CrdDiffers(m, live.json()); !difference.empty() || !m.applied) return with(difference);
  }
  if (live.label("cluster.x-k8s.io/provider") != NamesOf(who).label) return head + "the provider's label is gone";
  if (!live.has_label(kLabelOurs) || !live.label(kLabelOurs).empty()) return head + "our label isn't as it was";
  switch (part) {
    case Part::kConfig: return with(ConfigDiffers(*m.applied, live.json()));
    case Part::kOnly:
      return with(Want("version", ReleaseOf(m.applied->version).version, GetString(live.json(), {"data", "version"})));
    case Part::kRole: {
      auto names = live.json().at("rules").at(0).at("resourceNames").get<std::vector<std::string>>();
      return with(Want("rules", ReleaseOf(m.applied->version).version, Join(names, ",")));
    }
    case Part::kHook: return with(HookDiffers(m, live.json()));
    case Part::kDeployment: return with(DeploymentDiffers(who, m, live.json()));
    default: return "";
  }
}

}  // namespace capi::e2e::model
