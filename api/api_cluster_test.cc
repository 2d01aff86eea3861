// The CRDs on a real API server: what they accept, refuse, keep and print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/types.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "kube/testing/control_plane.h"

namespace capi::api {
namespace {

using testing::HasSubstr;

bool Established(kube::Client& client, const ProviderKind& kind) {
  auto crd = client.Get({}, kube::Builtin("CustomResourceDefinition"), "",
                        std::string(kind.plural) + "." + std::string(kGroup));
  if (!crd.ok()) return false;
  for (const Json& condition : crd->json()["status"]["conditions"]) {
    if (condition["type"] == "Established") return condition["status"] == "True";
  }
  return false;
}

class Crds : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    client_ = kube::ControlPlane::Shared(false).NewClient().release();
    const std::vector<std::string> files = ListDir("manifests/crds").value();
    for (const std::string& file : files) {
      if (!file.ends_with(".yaml")) continue;  // kustomize's
      kube::ApplyYaml(*client_, ReadFile("manifests/crds/" + file).value());
    }
    for (const ProviderKind& kind : kProviderKinds) {
      ASSERT_TRUE(kube::Eventually([&] { return Established(*client_, kind); })) << kind.kind;
    }
    // A new kind is served a moment after it is established.
    for (const ProviderKind& kind : kProviderKinds) {
      ASSERT_TRUE(kube::Eventually([&] { return client_->List({}, ResourceOf(kind.type), "").ok(); })) << kind.kind;
    }
  }
  static void TearDownTestSuite() { delete client_; }

  static kube::Object Infrastructure(const std::string& name, const Json& spec, std::string_view version = kVersion) {
    return kube::Object(Json{{"apiVersion", std::string(kGroup) + "/" + std::string(version)},
                             {"kind", "InfrastructureProvider"},
                             {"metadata", {{"name", name}, {"namespace", "default"}}},
                             {"spec", spec}});
  }
  static const kube::Resource& resource() {
    static const kube::Resource r = ResourceOf(ProviderType::kInfrastructure);
    return r;
  }
  static Result<kube::Object> Create(const std::string& name, std::string_view spec, bool dry_run = true) {
    kube::WriteOptions options;
    options.dry_run = dry_run;
    return client_->Create({}, resource(), Infrastructure(name, ParseYaml(spec).value()), options);
  }
  // No webhook is served here: what the schema lets in can't be converted.
  static Result<kube::Object> CreateOld(std::string_view spec) {
    kube::Resource old = resource();
    old.version = kOldVersion;
    kube::WriteOptions options;
    options.dry_run = true;
    return client_->Create({}, old, Infrastructure("old", ParseYaml(spec).value(), kOldVersion), options);
  }

  static kube::Client* client_;
};

kube::Client* Crds::client_ = nullptr;

TEST_F(Crds, HaveStructuralSchemas) {
  for (const ProviderKind& kind : kProviderKinds) {
    auto crd = client_->Get({}, kube::Builtin("CustomResourceDefinition"), "",
                            std::string(kind.plural) + "." + std::string(kGroup));
    ASSERT_TRUE(crd.ok());
    for (const Json& condition : crd->json()["status"]["conditions"]) {
      EXPECT_NE(condition["type"], "NonStructuralSchema") << kind.kind << condition["message"];
      EXPECT_EQ(condition["status"], "True") << kind.kind << condition;
    }
  }
}

// The API server takes the webhooks' configurations; nobody installs them here, where no webhook is served.
TEST_F(Crds, WebhookConfigurationsAreValid) {
  auto documents = ParseYamlStream(ReadFile("manifests/base/webhooks.yaml").value());
  ASSERT_TRUE(documents.ok()) << documents.error().message;
  ASSERT_EQ(documents->size(), 2u);
  kube::WriteOptions options;
  options.dry_run = options.strict = true;
  for (const auto& [document, line, offset] : *documents) {
    const std::string kind = document["kind"].get<std::string>();
    auto created = client_->Create({}, kube::Builtin(kind), kube::Object(document), options);
    EXPECT_TRUE(created.ok()) << kind << ": " << created.error().message;
  }
}

// An object written for the peer is accepted unchanged, also where it can't be reconciled: that becomes a condition.
TEST_F(Crds, AcceptWhatThePeerStores) {
  constexpr std::string_view kSpecs[] = {
      "{}",
      "{version: one}",
      "{version: '', fetchConfig: {url: ''}}",
      "{fetchConfig: {oci: 'http://localhost:5000/x:v1'}}",
      "{fetchConfig: {selector: {}}}",
      "{fetchConfig: {selector: {matchExpressions: [{key: a, operator: Like, values: [b]}]}}}",
      "{configSecret: {name: Not_A_Name, namespace: other}}",
      "{manager: {}}",
      "{manager: {verbosity: 0, maxConcurrentReconciles: 1, syncPeriod: never, webhook: {port: -1}}}",
      R"({manager: {leaderElection: {leaderElect: true, leaseDuration: 1m, renewDeadline: 1m, retryPeriod: 1m,
          resourceLock: a, resourceName: b, resourceNamespace: c}}})",
      R"({manager: {additionalArgs: {--x: '1'}, featureGates: {A: true},
          controller: {groupKindConcurrency: {K: 3}, cacheSyncTimeout: 120000000000}}})",
      "{deployment: {replicas: 0, tolerations: [], nodeSelector: {}, imagePullSecrets: [{}]}}",
      R"({deployment: {containers: [{name: manager, args: {--y: ''}, command: [], env: [{name: A, value: b},
          {name: A, value: c}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}],
          resources: {limits: {cpu: 1, memory: 128Mi}, requests: {cpu: 100m}}}]}})",
      R"({deployment: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:
          [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}}})",
      R"({deployment: {tolerations: [{key: a, operator: Exists, effect: NoSchedule},
          {key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]}})",
      "{additionalDeployments: {other: {manager: {verbosity: 2}, deployment: {replicas: 2}}}}",
      "{manifestPatches: ['a: b: c', '']}",
      "{patches: [{patch: '[]', target: {kind: Deployment, labelSelector: 'a=b=c'}}, {}]}",
      "{unknown: {field: 1}}",
  };
  for (std::string_view spec : kSpecs) {
    auto created = Create("peer", spec);
    EXPECT_TRUE(created.ok()) << spec << "\n" << (created.ok() ? "" : created.error().message);
  }
}

// What is refused at both versions, with words of the message. v1alpha1 has `image` for `imageUrl`.
constexpr std::pair<std::string_view, std::string_view> kOnlyFail[] = {
    {"{fetchConfig: {}}", "Must specify one and only one of {oci, url, selector, git}"},
    {"{fetchConfig: {url: a, oci: b}}", "Must specify one and only one of {oci, url, selector, git}"},
    {"{fetchConfig: {url: a, git: {url: b}}}", "Must specify one and only one of {oci, url, selector, git}"},
    {"{patches: [{patch: '{}'}], manifestPatches: [a]}", "Cannot set both 'patches' and 'manifestPatches'"},
    {"{manager: {verbosity: -1}}", "spec.manager.verbosity"},
    {"{manager: {maxConcurrentReconciles: 0}}", "spec.manager.maxConcurrentReconciles"},
    {"{manager: {verbosity: high}}", "spec.manager.verbosity"},
    {"{deployment: {replicas: -1}}", "spec.deployment.replicas"},
    {"{deployment: {containers: [{imageUrl: a}]}}", "spec.deployment.containers[0].name"},
    {"{deployment: {containers: [{name: a, resources: {limits: {cpu: lots}}}]}}",
     "spec.deployment.containers[0].resources.limits.cpu"},
    {"{fetchConfig: {url: a, digest: 'md5:1'}}", "spec.fetchConfig.digest"},
    {"{fetchConfig: {url: a, verify: {provider: gpg, secretRef: {name: k}}}}", "spec.fetchConfig.verify.provider"},
    {"{rollout: {onFailure: Retry}}", "spec.rollout.onFailure"},
    // Of our own fields: what the Deployment would be refused for.
    {"{fetchConfig: {url: a, secretRef: {name: ''}}}", "spec.fetchConfig.secretRef.name"},
    {"{fetchConfig: {git: {url: ''}}}", "spec.fetchConfig.git.url"},
    {"{fetchConfig: {git: {url: a, secretRef: {name: ''}}}}", "spec.fetchConfig.git.secretRef.name"},
    {"{fetchConfig: {url: a, verify: {provider: cosign, secretRef: {name: ''}}}}",
     "spec.fetchConfig.verify.secretRef.name"},
    {"{deployment: {strategy: {type: Replace}}}", "spec.deployment.strategy.type"},
    {"{deployment: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}",
     "rollingUpdate can't be set with type Recreate"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}}",
     "spec.deployment.topologySpreadConstraints[0].maxSkew"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: '', whenUnsatisfiable: DoNotSchedule}]}}",
     "spec.deployment.topologySpreadConstraints[0].topologyKey"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never}]}}",
     "spec.deployment.topologySpreadConstraints[0].whenUnsatisfiable"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule,"
     " labelSelector: {matchExpressions: [{key: a, operator: Like}]}}]}}",
     "spec.deployment.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway,"
     " minDomains: 2}]}}",
     "minDomains is for whenUnsatisfiable: DoNotSchedule alone"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule,"
     " minDomains: 0}]}}",
     "spec.deployment.topologySpreadConstraints[0].minDomains"},
    {"{deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule,"
     " nodeAffinityPolicy: Maybe}]}}",
     "spec.deployment.topologySpreadConstraints[0].nodeAffinityPolicy"},
    {"{additionalDeployments: {other: {deployment: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a,"
     " whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Maybe}]}}}}",
     "spec.additionalDeployments.other.deployment.topologySpreadConstraints[0].nodeTaintsPolicy"},
    {"{rollout: {timeout: ten}}", "spec.rollout.timeout"},
};

// I15: also with the webhooks off.
TEST_F(Crds, RefuseWhatCanOnlyFail) {
  auto refused = [](const Result<kube::Object>& created, std::string_view spec, std::string_view message) {
    ASSERT_FALSE(created.ok()) << spec;
    EXPECT_EQ(created.code(), Code::kInvalidArgument) << spec << "\n" << created.error().message;
    EXPECT_THAT(created.error().message, HasSubstr(std::string(message)));
  };
  for (const auto& [spec, message] : kOnlyFail) {
    refused(Create("refused", spec), spec, message);
    refused(CreateOld(ReplaceAll(std::string(spec), "imageUrl", "image")), spec, message);
  }
  refused(Create("refused", "{configSecret: {namespace: a}}"), "configSecret", "spec.configSecret.name");
  refused(Create("refused", "{deployment: {containers: [{name: a, imageUrl: i, image: {tag: b}}]}}"), "both images",
          "Cannot set both 'image' and 'imageUrl'");
}

// I15: what only v1alpha1 can say.
TEST_F(Crds, RefuseWhatCanOnlyFailOfTheOldVersionAlone) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{manager: {metricsAddress: ':1', metrics: {bindAddress: ':2'}}}",
       "metricsAddress and metrics.bindAddress are the same field: set one of them"},
      {"{additionalDeployments: {other: {manager: {metricsAddress: ':1', metrics: {bindAddress: ':2'}}}}}",
       "metricsAddress and metrics.bindAddress are the same field: set one of them"},
      {"{manager: {metricsAddress: 8080}}", "spec.manager.metricsAddress"},
      {"{manager: {syncPeriod: true}}", "spec.manager.syncPeriod"},
      {"{manager: {syncPeriod: 1.5}}", "spec.manager.syncPeriod"},
      {"{manager: {leaderElection: {leaseDuration: [15]}}}", "spec.manager.leaderElection.leaseDuration"},
      {"{manager: {additionalArgs: [a]}}", "spec.manager.additionalArgs"},
      {"{deployment: {containers: [{name: a, args: [b]}]}}", "spec.deployment.containers[0].args"},
      {"{secretName: [a]}", "spec.secretName"},
      {"{secretNamespace: {}}", "spec.secretNamespace"},
  };
  for (const auto& [spec, message] : cases) {
    auto created = CreateOld(spec);
    ASSERT_FALSE(created.ok()) << spec;
    EXPECT_EQ(created.code(), Code::kInvalidArgument) << spec << "\n" << created.error().message;
    EXPECT_THAT(created.error().message, HasSubstr(std::string(message)));
  }
}

constexpr std::string_view kEveryField = R"(
version: v1.2.3
paused: true
manager: {verbosity: 2, debug: true, leaderElection: {leaderElect: true}, metrics: {insecureDiagnostics: false}}
deployment:
  affinity: {podAntiAffinity: {someNewField: {deep: [1, two]}}}
  containers: [{name: manager, imageUrl: i, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]
  initContainers: [{name: init, resources: {limits: {memory: 1Gi}}}]
  labels: {l: "1"}
  annotations: {an: "2"}
  priorityClassName: p
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
                               labelSelector: {matchLabels: {a: b}}}]
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
configSecret: {name: s, namespace: other}
additionalManifests: {name: m}
serviceAccountName: applier
fetchConfig:
  git: {url: "https://example.com/r.git", path: releases, secretRef: {name: g}}
  secretRef: {name: f}
  digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
  verify: {provider: cosign, secretRef: {name: keys}}
patches: [{patch: "{}", target: {group: apps, version: v1, kind: Deployment, name: "x", namespace: o,
                                 labelSelector: a=b}}]
rollout: {timeout: 1h0m5s, onFailure: Rollback}
)";

// Nothing that we know is pruned; and what is stored can be read.
TEST_F(Crds, KeepEveryField) {
  auto created = Create("everything", kEveryField);
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_EQ(created->json()["spec"], ParseYaml(kEveryField).value());
  auto provider = ParseProvider(*created);
  EXPECT_TRUE(provider.ok()) << provider.error().message;
}

TEST_F(Crds, DefaultVerbosityAsThePeerDoes) {
  auto created = Create("defaults", "{manager: {}}");
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(created->json()["spec"], Json({{"manager", {{"verbosity", 1}}}}));
}

TEST_F(Crds, KeepTheStatusThatIsWritten) {
  ASSERT_TRUE(Create("status", "{version: v1.0.0}", false).ok());
  ProviderStatus status;
  status.contract = "v1beta1";
  status.installed_version = "v1.0.0";
  status.observed_generation = 1;
  status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, "2026-01-02T03:04:05Z"}};
  status.inventory = Json::array({Json{{"kind", "Secret"}, {"name", "n"}, {"version", "v1"}, {"later", {1, 2}}}});
  status.applied = "sha256:aa";
  status.history = {
      {"v1.0.0", "v1beta1", "sha256:bb", "2026-01-02T03:04:05Z", "Failed", "2026-01-02T03:04:05Z", "x", "m"}};
  status.handled_reconcile_at = "now";
  status.source = "ConfigMap default/v1.0.0";

  kube::Object object = Infrastructure("status", Json::object());
  object.json().erase("spec");
  object.json()["status"] = StatusToJson(status);
  auto written = client_->Apply({}, resource(), object, {.field_manager = "capi-operator", .subresource = "status"});
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(ParseStatus(written->json()["status"]), status);
  EXPECT_EQ(written->json()["spec"]["version"], "v1.0.0");

  object.json()["status"]["conditions"][0]["reason"] = "two words";
  written = client_->Apply({}, resource(), object, {.field_manager = "capi-operator", .subresource = "status"});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("status.conditions[0].reason"));
}

// I9: with manager.debug the other manager fields can't change until it is off again.
TEST_F(Crds, DebugHoldsTheManagerFields) {
  ASSERT_TRUE(Create("debug", "{manager: {debug: true, featureGates: {A: true}}}", false).ok());
  auto patch = [&](std::string_view spec) {
    return client_->Patch({}, resource(), "default", "debug", kube::PatchType::kMerge,
                          {{"spec", ParseYaml(spec).value()}});
  };
  auto refused = patch("{manager: {verbosity: 3}}");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("manager can not change while debug is true"));
  EXPECT_TRUE(patch("{paused: true}").ok());
  EXPECT_TRUE(patch("{manager: {debug: false, verbosity: 3}}").ok());
}

TEST_F(Crds, MergeContainersByName) {
  auto apply = [&](const char* manager, std::string_view spec) {
    return client_->Apply({}, resource(), Infrastructure("merge", ParseYaml(spec).value()), {.field_manager = manager});
  };
  ASSERT_TRUE(apply("one", "{deployment: {containers: [{name: a, imageUrl: one}]}}").ok());
  auto merged = apply("two", "{deployment: {containers: [{name: b, imageUrl: two}]}}");
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(merged->json()["spec"]["deployment"]["containers"].size(), 2u);
}

TEST_F(Crds, PrintTheColumns) {
  auto text = client_->Raw({}, "GET", "/apis/operator.cluster.x-k8s.io/v1alpha2/infrastructureproviders", "", "",
                           "application/json;as=Table;v=v1;g=meta.k8s.io");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const Json table = ParseJson(*text).value();
  std::string columns;
  for (const Json& column : table["columnDefinitions"]) columns += column["name"].get<std::string>() + " ";
  EXPECT_EQ(columns, "Name Installed Desired Contract Ready Reason Age Message ");
}

}  // namespace
}  // namespace capi::api
