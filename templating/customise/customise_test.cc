// What goes beyond the reference: its defects mended, and our own fields.
#include "templating/customise/customise.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/yaml/yaml.h"

namespace capi::templating {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<kube::Object> Manager(std::string_view args) {
  Json json = ParseYaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: capx-controller-manager}
spec:
  selector: {matchLabels: {app: capx}}
  template:
    metadata: {labels: {app: capx}}
    spec:
      initContainers: [{name: setup, image: a.b/setup:1}]
      containers:
      - {name: proxy, image: a.b/proxy:1}
      - {name: manager, image: a.b/manager:1}
)")
                  .value();
  json["spec"]["template"]["spec"]["containers"][1]["args"] = Split(args, ' ');
  std::vector<kube::Object> out;
  out.emplace_back(std::move(json));
  return out;
}

api::ProviderSpec Spec(std::string_view yaml) { return api::ParseSpec(ParseYaml(yaml).value(), "ns").value(); }

std::string ManagerArgs(std::string_view args, std::string_view spec, const KnownManager* known = nullptr) {
  auto objects = Manager(args);
  std::vector<std::string> warnings;
  auto done = Customise(objects, Spec(spec), known, warnings);
  if (!done.ok()) return done.error().message;
  return Join(objects[0].json()["spec"]["template"]["spec"]["containers"][1]["args"].get<std::vector<std::string>>(),
              " ");
}

// I9a: the release's own args are the evidence for what a flag is called.
TEST(CustomiseManager, TakesTheFlagThatThisManagerHas) {
  struct Case {
    std::string_view before, spec, after;
  };
  const Case cases[] = {
      {"--metrics-bind-address=:1", "{manager: {metrics: {bindAddress: ':2'}}}", "--metrics-bind-address=:2"},
      {"--metrics-addr=:1", "{manager: {metrics: {diagnosticsAddress: ':2'}}}", "--metrics-addr=:2"},
      {"--diagnostics-address=:1", "{manager: {metrics: {bindAddress: ':2'}}}", "--diagnostics-address=:2"},
      {"--health-probe-bind-address=:1", "{manager: {health: {healthProbeBindAddress: ':2'}}}",
       "--health-probe-bind-address=:2"},
      {"--enable-leader-election", "{manager: {leaderElection: {leaderElect: false}}}",
       "--enable-leader-election=false"},
      {"-v=1", "{manager: {verbosity: 4}}", "--v=4"},
      {"--verbosity 1", "{manager: {verbosity: 4}}", "--verbosity=4"},
      {"--zap-log-level=info", "{manager: {verbosity: 4}}", "--zap-log-level=4"},
      {"--zap-log-level=2", "{manager: {verbosity: 0}}", "--zap-log-level=info"},
      {"--zap-log-level info", "{manager: {debug: true}}", "--zap-log-level=5 --profiler-address=localhost:6060"},
      {"--insecure-diagnostics=true", "{manager: {metrics: {insecureDiagnostics: false}}}",
       "--insecure-diagnostics=false"},
      {"--x", "{manager: {metrics: {insecureDiagnostics: false}}}", "--x"},
      {"--feature-gates A=true,B=false", "{manager: {featureGates: {B: true}}}", "--feature-gates=A=true,B=true"},
      {"--concurrency=1", "{manager: {maxConcurrentReconciles: 7}}", "--concurrency=7"},
      {"--x=1", "{manager: {maxConcurrentReconciles: 7}}", "--x=1 --max-concurrent-reconciles=7"},
      {"--a-concurrency=1 --b-concurrency=1", "{manager: {maxConcurrentReconciles: 7}}",
       "--a-concurrency=7 --b-concurrency=7"},
  };
  for (const auto& c : cases) EXPECT_EQ(ManagerArgs(c.before, c.spec), c.after) << c.spec;
}

// I9a: then what is known of Cluster API's own managers, by provider and version.
TEST(CustomiseManager, AKnownManagerTellsWhatTheReleaseDoesNot) {
  struct Case {
    api::ProviderType type;
    std::string_view name, version, spec, after;
  };
  const auto core = api::ProviderType::kCore, infra = api::ProviderType::kInfrastructure;
  const Case cases[] = {
      {core, "cluster-api", "v1.12.1", "{manager: {metrics: {bindAddress: ':2'}}}", "--x --diagnostics-address=:2"},
      {core, "cluster-api", "v1.10.4", "{manager: {metrics: {bindAddress: ':2'}}}", "--x --diagnostics-address=:2"},
      {core, "cluster-api", "v1.1.5", "{manager: {metrics: {diagnosticsAddress: ':2'}}}", "--x --metrics-bind-addr=:2"},
      {api::ProviderType::kBootstrap, "kubeadm", "v1.13.0", "{manager: {maxConcurrentReconciles: 7}}",
       "--x --kubeadmconfig-concurrency=7"},
      {api::ProviderType::kControlPlane, "kubeadm", "v0.4.2",
       "{manager: {maxConcurrentReconciles: 7, controller: {groupKindConcurrency: {KubeadmControlPlane: 3}}}}",
       "--x --kubeadmcontrolplane-concurrency=3 --max-concurrent-reconciles=7"},
      {infra, "docker", "v1.12.0", "{manager: {maxConcurrentReconciles: 7}}", "--x --concurrency=7"},
      {infra, "docker", "v1.12.0", "{manager: {featureGates: {RuntimeSDK: true}}}",
       "--x --feature-gates=RuntimeSDK=true"},
      // Of a version that isn't known nothing is refused.
      {infra, "docker", "v1.99.0", "{manager: {featureGates: {Newer: true}}}", "--x --feature-gates=Newer=true"},
      {core, "cluster-api", "v1.99.0", "{manager: {webhook: {host: h}}}", "--x --webhook-host=h"},
      {core, "cluster-api", "v1.12.1+mine", "{manager: {health: {livenessEndpointName: alive}, webhook: {host: h}}}",
       "--x --webhook-host=h"},
      {infra, "docker", "v1.12.0", "{manager: {health: {readinessEndpointName: healthz}, controller: {}}}", "--x"},
      {infra, "docker", "v1.12.0", "{manager: {leaderElection: {leaderElect: true, resourceLock: leases}}}",
       "--x --leader-elect=true"},
      // Nothing is known of versions before v1alpha4's, nor of other providers.
      {core, "cluster-api", "v0.3.23", "{manager: {metrics: {bindAddress: ':2'}}}", "--x --metrics-bind-addr=:2"},
      {infra, "aws", "v2.0.2", "{manager: {metrics: {bindAddress: ':2'}}}", "--x --metrics-bind-addr=:2"},
  };
  for (const auto& c : cases) {
    auto known = FindKnownManager(c.type, c.name, api::Version::Parse(c.version).value());
    bool refused = c.spec.find("maxConcurrentReconciles: 7, controller") != std::string_view::npos;
    auto args = ManagerArgs("--x", c.spec, known ? &*known : nullptr);
    if (refused) {
      EXPECT_THAT(args, HasSubstr("spec.manager.maxConcurrentReconciles: the manager of control-plane-kubeadm"));
    } else {
      EXPECT_EQ(args, c.after) << c.spec;
    }
  }
}

// I9a: an unknown flag ends the process.
TEST(CustomiseManager, AFieldThatAKnownManagerHasNoFlagForIsRefusedWithItsPath) {
  struct Case {
    std::string_view spec, field;
  };
  const Case cases[] = {
      {"{webhook: {host: 127.0.0.1}}", "webhook.host"},
      {"{leaderElection: {leaderElect: true, resourceName: a, resourceNamespace: b}}", "leaderElection.resourceName"},
      {"{leaderElection: {leaderElect: true, resourceLock: configmaps}}", "leaderElection.resourceLock"},
      {"{controller: {groupKindConcurrency: {KubeadmConfig: 1}}}",
       "controller.groupKindConcurrency[\"KubeadmConfig\"]"},
      {"{controller: {cacheSyncTimeout: 1}}", "controller.cacheSyncTimeout"},
      {"{controller: {recoverPanic: false}}", "controller.recoverPanic"},
      {"{gracefulShutDown: 1m}", "gracefulShutDown"},
      {"{featureGates: {NoSuchGate: false}}", "featureGates[\"NoSuchGate\"]"},
      {"{health: {livenessEndpointName: mostly}}", "health.livenessEndpointName"},
      {"{health: {readinessEndpointName: readyish}}", "health.readinessEndpointName"},
  };
  auto known = FindKnownManager(api::ProviderType::kCore, "cluster-api", api::Version::Parse("v1.12.1").value());
  ASSERT_TRUE(known.has_value());
  for (const auto& c : cases) {
    EXPECT_THAT(ManagerArgs("--x", fmt::format("{{manager: {}}}", c.spec), &*known),
                testing::StartsWith(fmt::format("spec.manager.{}: the manager of cluster-api", c.field)));
  }
  // The release's own argument is better evidence than the table, and all refusals are named at once.
  EXPECT_EQ(ManagerArgs("--webhook-host=a", "{manager: {webhook: {host: b}}}", &*known), "--webhook-host=b");
  EXPECT_THAT(ManagerArgs("--x", "{manager: {webhook: {host: b}, gracefulShutDown: 1s}}", &*known),
              AllOf(HasSubstr("spec.manager.webhook.host: "), HasSubstr("; spec.manager.gracefulShutDown: ")));
}

// I9a: outside of what is known, what the nearest version lacks is said.
TEST(CustomiseManager, OfAnUnknownVersionWhatMayBeMissingIsAWarning) {
  auto known = FindKnownManager(api::ProviderType::kCore, "cluster-api", api::Version::Parse("v1.99.0").value());
  ASSERT_TRUE(known.has_value());
  const std::string may = fmt::format("may end the manager: that of cluster-api {} ", known->Source());
  struct Case {
    std::string_view spec;
    std::string warning;
  };
  const Case cases[] = {
      {"{webhook: {host: h}}", "spec.manager.webhook.host " + may + "has no flag for it"},
      {"{featureGates: {Newer: true}}", "spec.manager.featureGates[\"Newer\"] " + may + "has no such feature gate"},
      {"{health: {readinessEndpointName: fit}}", "spec.manager.health.readinessEndpointName " + may + "answers at"},
      {"{gracefulShutDown: 1m}", "spec.manager.gracefulShutDown has no effect"},
  };
  for (const auto& c : cases) {
    auto objects = Manager("--x");
    std::vector<std::string> warnings;
    ASSERT_TRUE(Customise(objects, Spec(fmt::format("{{manager: {}}}", c.spec)), &*known, warnings).ok());
    EXPECT_THAT(warnings, ElementsAre(testing::StartsWith(c.warning)));
  }
}

// What no manager has a flag for is said, not dropped; so is what is ignored on purpose (I9).
TEST(CustomiseManager, FieldsWithoutEffectBecomeWarnings) {
  struct Case {
    std::string_view spec, warning;
  };
  const Case cases[] = {
      {"{gracefulShutDown: 1m}", "spec.manager.gracefulShutDown has no effect"},
      {"{controller: {recoverPanic: true}}", "spec.manager.controller.recoverPanic has no effect"},
      {"{leaderElection: {leaderElect: true, resourceName: a}}", "spec.manager.leaderElection names a lease by half"},
  };
  for (const auto& c : cases) {
    auto objects = Manager("--x");
    std::vector<std::string> warnings;
    ASSERT_TRUE(Customise(objects, Spec(fmt::format("{{manager: {}}}", c.spec)), nullptr, warnings).ok());
    EXPECT_THAT(warnings, ElementsAre(testing::StartsWith(std::string(c.warning))));
  }
}

// I9a: the times that a field leaves out are the release's, or the manager's own.
TEST(CustomiseManager, TimesOfAnElectionFitTogether) {
  struct Case {
    std::string_view args, times, wrong;  // "" where they fit
  };
  const Case cases[] = {
      {"--x", "leaseDuration: 30s", ""},
      {"--x", "renewDeadline: 20s", "leaseDuration (15s) must be greater than renewDeadline (20s)"},
      {"--leader-elect-lease-duration=1m", "renewDeadline: 20s", ""},
      {"--x", "leaseDuration: 10s", "leaseDuration (10s) must be greater than renewDeadline (10s)"},
      {"--leader-elect-renew-deadline=5s", "leaseDuration: 10s", ""},
      {"--x", "retryPeriod: 9s", "1.2 times retryPeriod (9s)"},
      {"--leader-elect-retry-period 30s", "leaseDuration: 40s, renewDeadline: 35s", "1.2 times retryPeriod (30s)"},
      {"--leader-elect-retry-period=often", "renewDeadline: 20s", ""},
      {"--x", "leaseDuration: 10400ms, renewDeadline: 9600ms", "(10s) must be greater than renewDeadline (10s)"},
      {"--leader-elect-lease-duration=1s", "resourceLock: leases", ""},
      {"--x", "renewDeadline: 20s}, additionalArgs: {'--leader-elect-lease-duration': 60s", ""},
  };
  auto known = FindKnownManager(api::ProviderType::kCore, "cluster-api", api::Version::Parse("v1.12.1").value());
  ASSERT_TRUE(known.has_value());
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} {}", c.args, c.times));
    auto objects = Manager(c.args);
    std::vector<std::string> warnings;
    const auto spec = fmt::format("{{manager: {{leaderElection: {{leaderElect: true, {}}}}}}}", c.times);
    ASSERT_TRUE(Customise(objects, Spec(spec), nullptr, warnings).ok());
    EXPECT_EQ(warnings.empty(), c.wrong.empty());
    const std::string args = ManagerArgs(c.args, spec, &*known);
    EXPECT_EQ(args.starts_with("spec.manager.leaderElection: "), !c.wrong.empty()) << args;
    if (!c.wrong.empty()) {
      EXPECT_THAT(args, HasSubstr(std::string(c.wrong)));
      objects = Manager(c.args);
      EXPECT_EQ(Customise(objects, Spec(spec), &*known, warnings).code(), Code::kUnsupported) << "I9a has one reason";
    }
  }
  EXPECT_THAT(ManagerArgs("--x",
                          "{manager: {gracefulShutDown: 1s, leaderElection: {leaderElect: true, "
                          "renewDeadline: 20s}}}",
                          &*known),
              testing::StartsWith("spec.manager.gracefulShutDown: "))
      << "what it has no flag for comes first";
}

// I9: manager fields win over container args, but for the more specific concurrency flags.
TEST(CustomiseManager, SpecificConcurrencyWins) {
  EXPECT_EQ(ManagerArgs("--a-concurrency=1 --b-concurrency=1 --c-concurrency=1",
                        "{manager: {maxConcurrentReconciles: 7, controller: {groupKindConcurrency: {C: 3}}}, "
                        "deployment: {containers: [{name: manager, args: {'--a-concurrency': '2'}}]}}"),
            "--a-concurrency=2 --b-concurrency=7 --c-concurrency=3");
  EXPECT_EQ(ManagerArgs("--v=1",
                        "{manager: {verbosity: 6}, deployment: {containers: [{name: manager, args: {'--v': '3'}}]}}"),
            "--v=6");
}

TEST(CustomiseManager, DebugSetsVerbosityAndProfiler) {
  EXPECT_EQ(ManagerArgs("--v=0 --x", "{manager: {debug: true, verbosity: 2, profilerAddress: ':1'}}"),
            "--v=5 --x --profiler-address=localhost:6060");
}

// I9: namespace args are ignored or refused; cacheNamespace alone asks for one, and for one only.
TEST(CustomiseManager, OnlyCacheNamespaceLimitsTheManager) {
  for (const char* flag : {"--namespace", "-namespace", "namespace", "--watch-namespace", "--namespace=ns1"}) {
    EXPECT_EQ(ManagerArgs(
                  "--x", fmt::format("{{deployment: {{containers: [{{name: manager, args: {{'{}': ns1}}}}]}}}}", flag)),
              "--x");
    for (const char* beside : {"", ", cacheNamespace: ns2"}) {
      EXPECT_EQ(ManagerArgs("--x", fmt::format("{{manager: {{additionalArgs: {{'{}': ns1}}{}}}}}", flag, beside)),
                fmt::format("spec.manager.additionalArgs[\"{}\"]: cacheNamespace is what limits the manager to a "
                            "namespace, set that instead",
                            flag));
    }
  }
  EXPECT_EQ(ManagerArgs("--x", "{manager: {cacheNamespace: ns1}}"), "--x --namespace=ns1");
  EXPECT_EQ(ManagerArgs("--namespace z", "{manager: {}}"), "--namespace z");
}

// api.md: the fields that the reference has no word for.
TEST(CustomiseDeployment, MoreOfThePod) {
  auto objects = Manager("--x");
  std::vector<std::string> warnings;
  auto done = Customise(objects, Spec(R"(
deployment:
  labels: {team: a}
  annotations: {note: b}
  priorityClassName: system-cluster-critical
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
  securityContext: {runAsNonRoot: true}
  strategy: {type: Recreate}
  initContainers: [{name: setup, imageUrl: "m.io/setup:2", args: {"--fast": "yes"}}]
)"),
                        nullptr, warnings);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  const Json& spec = objects[0].json()["spec"];
  const Json& pod = spec["template"]["spec"];
  EXPECT_EQ(spec["strategy"], Json({{"type", "Recreate"}}));
  EXPECT_EQ(spec["template"]["metadata"],
            Json({{"labels", {{"app", "capx"}, {"team", "a"}}}, {"annotations", {{"note", "b"}}}}));
  EXPECT_EQ(objects[0].label("team"), "a");
  EXPECT_EQ(objects[0].json()["metadata"]["annotations"], Json({{"note", "b"}}));
  EXPECT_EQ(pod["priorityClassName"], "system-cluster-critical");
  EXPECT_EQ(pod["securityContext"], Json({{"runAsNonRoot", true}}));
  EXPECT_EQ(pod["topologySpreadConstraints"].size(), 1u);
  EXPECT_EQ(pod["initContainers"][0]["image"], "m.io/setup:2");
  EXPECT_EQ(pod["initContainers"][0]["args"], Json::array({"--fast=yes"}));
}

// I9: parts of an image's name replace those of the release's; a digest stays where the image is the same one.
TEST(CustomiseDeployment, PartsOfTheImage) {
  struct Case {
    std::string_view release, parts, want;
  };
  const std::string digest = "@sha256:" + std::string(64, 'a'), digested = "r.io/a/b:v1" + digest;
  const std::string mirrored = "m.io:5000/x/b:v1" + digest;
  const Case cases[] = {
      {"r.io/a/b:v1", "{}", "r.io/a/b:v1"},
      {"r.io/a/b:v1", "{tag: v2}", "r.io/a/b:v2"},
      {"r.io/a/b:v1", "{name: c}", "r.io/a/c:v1"},
      {"r.io/a/b:v1", "{repository: 'm.io:5000/x'}", "m.io:5000/x/b:v1"},
      {"r.io/a/b:v1", "{repository: 'm.io/x/'}", "m.io/x/b:v1"},
      {"nginx:1", "{}", "nginx:1"},
      {"r.io/a/b:v1", "{repository: m.io, name: c, tag: v2}", "m.io/c:v2"},
      {digested, "{repository: 'm.io:5000/x'}", mirrored},
      {digested, "{tag: v2}", "r.io/a/b:v2"},
      {digested, "{name: c}", "r.io/a/c:v1"},
      {"nginx:1", "{tag: '2'}",
       "spec.deployment.containers[0].image: the release's image \"nginx:1\": repository name"},
      {"r.io/a/b:v1", "{tag: 'v 2'}", "spec.deployment.containers[0].image: \"r.io/a/b:v 2\": invalid reference"},
      {"r.io/a/b:v1", "{name: c/B}", "spec.deployment.containers[0].image: \"r.io/a/c/B:v1\": invalid reference"},
  };
  for (const auto& c : cases) {
    auto objects = Manager("--x");
    objects[0].json()["spec"]["template"]["spec"]["containers"][1]["image"] = c.release;
    std::vector<std::string> warnings;
    auto spec = Spec(fmt::format("{{deployment: {{containers: [{{name: manager, image: {}}}]}}}}", c.parts));
    auto done = Customise(objects, spec, nullptr, warnings);
    std::string got = done.ok() ? GetString(objects[0].json()["spec"]["template"]["spec"]["containers"][1], {"image"})
                                : done.error().message;
    EXPECT_THAT(got, testing::StartsWith(std::string(c.want))) << c.release << " " << c.parts;
  }
}

TEST(CustomiseDeployment, RefusalsNameTheField) {
  struct Case {
    std::string_view spec, message;
  };
  const Case cases[] = {
      {"{deployment: {labels: {cluster.x-k8s.io/provider: x}}}", "this label is the operator's own"},
      {"{deployment: {labels: {app: other}}}", "spec.deployment.labels[\"app\"]: the selector of deployment"},
      {"{deployment: {containers: [{name: manager}, {name: nope}]}}",
       "spec.deployment.containers[1]: cannot find container \"nope\" in deployment \"capx-controller-manager\""},
      {"{deployment: {initContainers: [{name: manager}]}}",
       "spec.deployment.initContainers[0]: cannot find init container \"manager\""},
      {"{manager: {additionalArgs: {'--x': '1'}}}", "spec.manager.additionalArgs: failed to customize"},
  };
  for (const auto& c : cases) EXPECT_THAT(ManagerArgs("--x", c.spec), HasSubstr(c.message));
}

TEST(Customise, EntriesWithoutEffectBecomeWarnings) {
  auto objects = Manager("--x");
  std::vector<std::string> warnings;
  ASSERT_TRUE(
      Customise(objects, Spec("{additionalDeployments: {nope: {manager: {verbosity: 3}}}}"), nullptr, warnings).ok());
  ASSERT_TRUE(Customise(objects, Spec("{deployment: {containers: [{name: manager, args: {'--namespace': ns1}}]}}"),
                        nullptr, warnings)
                  .ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("spec.additionalDeployments[\"nope\"] has no effect"),
                                    HasSubstr("spec.deployment.containers[0].args[\"--namespace\"] is ignored")));
}

// I9: the release's own Deployment, or the only one, has the spec's; others have those of their names.
TEST(DeploymentSpecOf, FindsWhatTheSpecSaysOfADeployment) {
  const api::ProviderSpec spec = Spec(
      "{deployment: {replicas: 2}, additionalDeployments: {web: {deployment: {replicas: 3}}, bare: {manager: "
      "{verbosity: 1}}}}");
  struct Case {
    std::string_view name;
    bool only_one;
    int replicas;  // 0 where the spec says nothing of it
  };
  const Case cases[] = {
      {"capx-controller-manager", false, 2},
      {"web", true, 2},
      {"web", false, 3},
      {"bare", false, 0},
      {"none", false, 0},
  };
  for (const Case& c : cases) {
    const api::DeploymentSpec* found = DeploymentSpecOf(spec, std::string(c.name), c.only_one);
    ASSERT_EQ(found != nullptr, c.replicas > 0) << c.name;
    if (found != nullptr) EXPECT_EQ(found->replicas, c.replicas) << c.name;
  }
}

}  // namespace
}  // namespace capi::templating
