#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::string_view kEverything = R"(
version: 1.2.3
paused: true
manager:
  syncPeriod: 10m
  leaderElection: {leaderElect: true, leaseDuration: 1m0s, renewDeadline: 40s, retryPeriod: 5s, resourceLock: leases,
                   resourceName: lease, resourceNamespace: ns}
  cacheNamespace: watched
  gracefulShutDown: 30s
  controller: {groupKindConcurrency: {Machine.cluster.x-k8s.io: 5}, cacheSyncTimeout: 120000000000, recoverPanic: true}
  metrics: {bindAddress: ":8080", diagnosticsAddress: ":8443", insecureDiagnostics: true}
  health: {healthProbeBindAddress: ":9440", readinessEndpointName: readyz, livenessEndpointName: healthz}
  webhook: {port: 9443, host: h, certDir: /certs}
  profilerAddress: localhost:6060
  maxConcurrentReconciles: 10
  verbosity: 0
  featureGates: {MachinePool: true, ClusterTopology: false}
  additionalArgs: {--alsologtostderr: "true"}
  debug: true
deployment:
  replicas: 0
  nodeSelector: {a: b}
  tolerations: []
  affinity: {nodeAffinity: {}}
  containers:
  - {name: manager, imageUrl: "example.com/m:v1", args: {--x: "1"}, env: [{name: A, value: b}],
     resources: {limits: {cpu: 1}}, command: []}
  initContainers: [{name: init}]
  serviceAccountName: sa
  imagePullSecrets: [{name: pull}]
  labels: {l: "1"}
  annotations: {an: "2"}
  priorityClassName: system-cluster-critical
  topologySpreadConstraints: [{maxSkew: 1}]
  securityContext: {runAsNonRoot: true}
  strategy: {type: Recreate}
additionalDeployments:
  other: {manager: {verbosity: 3}, deployment: {replicas: 2}}
configSecret: {name: s}
additionalManifests: {name: m, namespace: elsewhere}
serviceAccountName: applier
fetchConfig:
  oci: registry.example.com/p
  url: https://example.com
  selector: {matchLabels: {a: b}}
  git: {url: https://example.com/r.git, path: releases, secretRef: {name: g}}
  secretRef: {name: f}
  digest: sha256:00
  verify: {provider: cosign, secretRef: {name: keys}}
manifestPatches: ["a: b"]
patches: [{patch: "[]", target: {group: apps, version: v1, kind: Deployment, name: "n", namespace: o, labelSelector: a=b}}]
rollout: {timeout: 1h0m5s, onFailure: Rollback}
upgradePolicy: {type: Minor, window: {start: "22:30", duration: 2h, days: [Sat, Sun]}}
)";

Result<ProviderSpec> Parse(std::string_view yaml) {
  auto json = ParseYaml(yaml);
  EXPECT_TRUE(json.ok()) << json.error().message;
  return ParseSpec(*json, "capi-system");
}

void ExpectManager(const ManagerSpec& m) {
  EXPECT_EQ(m.sync_period, Seconds(600));
  ASSERT_TRUE(m.leader_election);
  EXPECT_EQ(m.leader_election->leader_elect, true);
  EXPECT_EQ(m.leader_election->lease_duration, Seconds(60));
  EXPECT_EQ(m.leader_election->renew_deadline, Seconds(40));
  EXPECT_EQ(m.leader_election->retry_period, Seconds(5));
  EXPECT_EQ(m.leader_election->resource_lock, "leases");
  EXPECT_EQ(m.leader_election->resource_name, "lease");
  EXPECT_EQ(m.leader_election->resource_namespace, "ns");
  EXPECT_EQ(m.cache_namespace, "watched");
  EXPECT_EQ(m.graceful_shutdown, Seconds(30));
  EXPECT_THAT(m.group_kind_concurrency, ElementsAre(Pair("Machine.cluster.x-k8s.io", 5)));
  EXPECT_EQ(m.cache_sync_timeout_ns, 120'000'000'000);
  EXPECT_EQ(m.recover_panic, true);
  EXPECT_EQ(m.metrics_bind_address, ":8080");
  EXPECT_EQ(m.diagnostics_address, ":8443");
  EXPECT_EQ(m.insecure_diagnostics, true);
  EXPECT_EQ(m.health_probe_bind_address, ":9440");
  EXPECT_EQ(m.readiness_endpoint, "readyz");
  EXPECT_EQ(m.liveness_endpoint, "healthz");
  EXPECT_EQ(m.webhook_port, 9443);
  EXPECT_EQ(m.webhook_host, "h");
  EXPECT_EQ(m.webhook_cert_dir, "/certs");
  EXPECT_EQ(m.profiler_address, "localhost:6060");
  EXPECT_EQ(m.max_concurrent_reconciles, 10);
  EXPECT_EQ(m.verbosity, 0);
  EXPECT_THAT(m.feature_gates, ElementsAre(Pair("ClusterTopology", false), Pair("MachinePool", true)));
  EXPECT_THAT(m.additional_args, ElementsAre(Pair("--alsologtostderr", "true")));
  EXPECT_TRUE(m.debug);
}

void ExpectDeployment(const DeploymentSpec& d) {
  EXPECT_EQ(d.replicas, 0);
  EXPECT_EQ(d.node_selector, Json({{"a", "b"}}));
  EXPECT_EQ(d.tolerations, Json::array());
  EXPECT_EQ(d.affinity, (Json{{"nodeAffinity", Json::object()}}));
  ASSERT_EQ(d.containers.size(), 1u);
  EXPECT_EQ(d.containers[0].name, "manager");
  EXPECT_EQ(d.containers[0].image, "example.com/m:v1");
  EXPECT_THAT(d.containers[0].args, ElementsAre(Pair("--x", "1")));
  EXPECT_EQ((*d.containers[0].env)[0]["value"], "b");
  EXPECT_EQ((*d.containers[0].resources)["limits"]["cpu"], 1);
  EXPECT_EQ(d.containers[0].command, Json::array());
  ASSERT_EQ(d.init_containers.size(), 1u);
  EXPECT_EQ(d.init_containers[0].name, "init");
  EXPECT_FALSE(d.init_containers[0].command);
  EXPECT_EQ(d.service_account_name, "sa");
  EXPECT_EQ((*d.image_pull_secrets)[0]["name"], "pull");
  EXPECT_THAT(d.labels, ElementsAre(Pair("l", "1")));
  EXPECT_THAT(d.annotations, ElementsAre(Pair("an", "2")));
  EXPECT_EQ(d.priority_class_name, "system-cluster-critical");
  EXPECT_EQ((*d.topology_spread_constraints)[0]["maxSkew"], 1);
  EXPECT_EQ((*d.security_context)["runAsNonRoot"], true);
  EXPECT_EQ((*d.strategy)["type"], "Recreate");
}

TEST(ParseSpec, ReadsEveryField) {
  auto spec = Parse(kEverything);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->version, "1.2.3");  // I12: as written
  EXPECT_TRUE(spec->paused);
  ASSERT_TRUE(spec->manager && spec->deployment && spec->fetch_config);
  ExpectManager(*spec->manager);
  ExpectDeployment(*spec->deployment);
  EXPECT_EQ(spec->additional_deployments.at("other").manager->verbosity, 3);
  EXPECT_EQ(spec->additional_deployments.at("other").deployment->replicas, 2);
  const FetchConfig& fetch = *spec->fetch_config;
  EXPECT_EQ(fetch.oci, "registry.example.com/p");
  EXPECT_EQ(fetch.url, "https://example.com");
  EXPECT_EQ((*fetch.selector)["matchLabels"]["a"], "b");
  EXPECT_EQ(fetch.git->url, "https://example.com/r.git");
  EXPECT_EQ(fetch.git->path, "releases");
  EXPECT_EQ(fetch.digest, "sha256:00");
  EXPECT_EQ(fetch.verify->provider, "cosign");
  EXPECT_THAT(spec->manifest_patches, ElementsAre("a: b"));
  ASSERT_EQ(spec->patches.size(), 1u);
  EXPECT_EQ(spec->patches[0].patch, "[]");
  const PatchTarget& target = *spec->patches[0].target;
  EXPECT_THAT((std::vector<std::string>{target.group, target.version, target.kind, target.name, target.ns,
                                        target.label_selector}),
              ElementsAre("apps", "v1", "Deployment", "n", "o", "a=b"));
  EXPECT_EQ(spec->rollout.timeout, Seconds(3605));
  EXPECT_EQ(spec->rollout.on_failure, OnFailure::kRollback);
  EXPECT_EQ(spec->upgrade_policy.type, UpgradeType::kMinor);
  EXPECT_EQ(spec->upgrade_policy.window,
            (MaintenanceWindow{std::chrono::minutes(22 * 60 + 30), std::chrono::hours(2), {6, 0}}));
}

TEST(ParseSpec, ReferencesDefaultToTheOwnNamespace) {
  auto spec = Parse(kEverything);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->config_secret, (ObjectRef{"s", "capi-system"}));
  EXPECT_EQ(spec->additional_manifests, (ObjectRef{"m", "elsewhere"}));
  EXPECT_EQ(spec->service_account, "applier");
  EXPECT_EQ(spec->fetch_config->git->secret_ref, (ObjectRef{"g", "capi-system"}));
  EXPECT_EQ(spec->fetch_config->secret_ref, (ObjectRef{"f", "capi-system"}));
  EXPECT_EQ(spec->fetch_config->verify->secret_ref, (ObjectRef{"keys", "capi-system"}));
}

// I9: an unset field leaves the release's own value alone; an empty one clears it.
TEST(ParseSpec, UnsetIsNotEmpty) {
  auto spec = Parse("{manager: {}, deployment: {containers: [{name: c}]}, unknown: {field: 1}, version: null}");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->version, "");
  EXPECT_FALSE(spec->manager->verbosity);
  EXPECT_FALSE(spec->manager->sync_period);
  EXPECT_FALSE(spec->deployment->replicas);
  EXPECT_FALSE(spec->deployment->tolerations);
  EXPECT_FALSE(spec->deployment->containers[0].command);
  EXPECT_FALSE(spec->fetch_config);
  EXPECT_EQ(spec->rollout.timeout, Seconds(600));
  EXPECT_EQ(spec->rollout.on_failure, OnFailure::kHold);
  EXPECT_EQ(spec->upgrade_policy.type, UpgradeType::kNone);
  EXPECT_FALSE(spec->upgrade_policy.window);
  EXPECT_TRUE(ParseSpec(Json(), "ns").ok());
}

// F1, F2: what can't be used is named by its path.
TEST(ParseSpec, WrongValuesAreNamedByPath) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"[]", "spec: must be an object, not a list"},
      {"{version: 1}", "spec.version: must be a string, not a number"},
      {"{paused: 'yes'}", "spec.paused: must be a boolean, not a string"},
      {"{manager: {verbosity: '1'}}", "spec.manager.verbosity: must be a whole number, not a string"},
      {"{manager: {verbosity: 1.5}}", "spec.manager.verbosity: must be a whole number"},
      {"{manager: {webhook: {port: 9999999999}}}", "spec.manager.webhook.port: must fit into 32 bits"},
      {"{manager: {controller: {cacheSyncTimeout: 18446744073709551615}}}",
       "spec.manager.controller.cacheSyncTimeout: is too large"},
      {"{manager: {syncPeriod: 10}}",
       "spec.manager.syncPeriod: must be a duration like \"10m\" or \"1h0m0s\", not a number"},
      {"{manager: {syncPeriod: ten}}", "spec.manager.syncPeriod: time: invalid duration \"ten\""},
      {"{manager: {featureGates: {A: 'true'}}}", "spec.manager.featureGates[A]: must be a boolean, not a string"},
      {"{manager: {featureGates: []}}", "spec.manager.featureGates: must be an object, not a list"},
      {"{deployment: {containers: {}}}", "spec.deployment.containers: must be a list, not an object"},
      {"{deployment: {containers: [null]}}", "spec.deployment.containers[0]: must be an object, not null"},
      {"{deployment: {containers: [{name: a}, {args: {--x: 1}}]}}",
       "spec.deployment.containers[1].args[--x]: must be a string, not a number"},
      {"{deployment: {containers: [{env: [{value: x}]}]}}", "spec.deployment.containers[0].env[0].name: is missing"},
      {"{deployment: {containers: [{env: [x]}]}}",
       "spec.deployment.containers[0].env[0]: must be an object, not a string"},
      {"{deployment: {containers: [{command: [1]}]}}",
       "spec.deployment.containers[0].command[0]: must be a string, not a number"},
      {"{deployment: {nodeSelector: {a: 1}}}", "spec.deployment.nodeSelector[a]: must be a string, not a number"},
      {"{deployment: {tolerations: [1]}}", "spec.deployment.tolerations[0]: must be an object, not a number"},
      {"{additionalDeployments: {x: {deployment: {replicas: many}}}}",
       "spec.additionalDeployments[x].deployment.replicas: must be a whole number, not a string"},
      {"{configSecret: name}", "spec.configSecret: must be an object, not a string"},
      {"{fetchConfig: {selector: {matchExpressions: [{key: a, operator: Like}]}}}",
       "spec.fetchConfig.selector.matchExpressions[0].operator: \"Like\" is not In, NotIn, Exists or DoesNotExist"},
      {"{fetchConfig: {verify: {secretRef: {name: []}}}}",
       "spec.fetchConfig.verify.secretRef.name: must be a string, not a list"},
      {"{manifestPatches: [a, {}]}", "spec.manifestPatches[1]: must be a string, not an object"},
      {"{patches: [{target: {kind: 1}}]}", "spec.patches[0].target.kind: must be a string, not a number"},
      {"{rollout: {onFailure: Retry}}", "spec.rollout.onFailure: must be Hold or Rollback"},
      {"{upgradePolicy: {type: Major}}", "spec.upgradePolicy.type: must be None, Patch or Minor"},
      {"{upgradePolicy: {}}", "spec.upgradePolicy.type: must be None, Patch or Minor"},
      {"{upgradePolicy: {type: Patch, window: {duration: 2h}}}",
       "spec.upgradePolicy.window.start: must be a time of day in UTC, from 00:00 to 23:59"},
      {"{upgradePolicy: {type: Patch, window: {start: '24:00', duration: 2h}}}",
       "spec.upgradePolicy.window.start: must be a time of day in UTC, from 00:00 to 23:59"},
      {"{upgradePolicy: {type: Patch, window: {start: '02:00'}}}",
       "spec.upgradePolicy.window.duration: must be more than 0 and at most 24h"},
      {"{upgradePolicy: {type: Patch, window: {start: '02:00', duration: 25h}}}",
       "spec.upgradePolicy.window.duration: must be more than 0 and at most 24h"},
      {"{upgradePolicy: {type: Patch, window: {start: '02:00', duration: 2h, days: [Sat, Sunday]}}}",
       "spec.upgradePolicy.window.days[1]: must be one of Mon, Tue, Wed, Thu, Fri, Sat, Sun"},
      {"{rollout: {timeout: 10}}", "spec.rollout.timeout: must be a duration like \"10m\" or \"1h0m0s\", not a number"},
  };
  for (const auto& [yaml, message] : cases) {
    auto spec = Parse(yaml);
    ASSERT_FALSE(spec.ok()) << yaml;
    EXPECT_EQ(spec.code(), Code::kInvalidArgument);
    EXPECT_EQ(spec.error().message, message);
  }
}

}  // namespace
}  // namespace capi::api
