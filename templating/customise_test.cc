// What goes beyond the reference: its defects mended, and our own fields.
#include "templating/customise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/yaml.h"

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

std::string ManagerArgs(std::string_view args, std::string_view spec) {
  auto objects = Manager(args);
  std::vector<std::string> warnings;
  auto done = Customise(objects, Spec(spec), warnings);
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
      {"--feature-gates A=true,B=false", "{manager: {featureGates: {B: true}}}", "--feature-gates=A=true,B=true"},
      {"--concurrency=1", "{manager: {maxConcurrentReconciles: 7}}", "--concurrency=7"},
      {"--x=1", "{manager: {maxConcurrentReconciles: 7}}", "--x=1 --max-concurrent-reconciles=7"},
      {"--a-concurrency=1 --b-concurrency=1", "{manager: {maxConcurrentReconciles: 7}}",
       "--a-concurrency=7 --b-concurrency=7"},
  };
  for (const auto& c : cases) EXPECT_EQ(ManagerArgs(c.before, c.spec), c.after) << c.spec;
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

// I9: namespace args are ignored unless cacheNamespace asks for one.
TEST(CustomiseManager, OnlyCacheNamespaceLimitsTheManager) {
  EXPECT_EQ(ManagerArgs("--x", "{deployment: {containers: [{name: manager, args: {'--namespace': ns1}}]}}"), "--x");
  EXPECT_EQ(ManagerArgs("--x", "{manager: {additionalArgs: {'--namespace': ns1}}}"), "--x");
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
                        warnings);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  const Json& spec = objects[0].json()["spec"];
  const Json& pod = spec["template"]["spec"];
  EXPECT_EQ(spec["strategy"], Json({{"type", "Recreate"}}));
  EXPECT_EQ(spec["template"]["metadata"],
            Json({{"labels", {{"app", "capx"}, {"team", "a"}}}, {"annotations", {{"note", "b"}}}}));
  EXPECT_EQ(pod["priorityClassName"], "system-cluster-critical");
  EXPECT_EQ(pod["securityContext"], Json({{"runAsNonRoot", true}}));
  EXPECT_EQ(pod["topologySpreadConstraints"].size(), 1u);
  EXPECT_EQ(pod["initContainers"][0]["image"], "m.io/setup:2");
  EXPECT_EQ(pod["initContainers"][0]["args"], Json::array({"--fast=yes"}));
}

TEST(CustomiseDeployment, RefusalsNameTheField) {
  struct Case {
    std::string_view spec, message;
  };
  const Case cases[] = {
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
  ASSERT_TRUE(Customise(objects, Spec("{additionalDeployments: {nope: {manager: {verbosity: 3}}}}"), warnings).ok());
  ASSERT_TRUE(
      Customise(objects, Spec("{deployment: {containers: [{name: manager, args: {'--namespace': ns1}}]}}"), warnings)
          .ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("spec.additionalDeployments[\"nope\"] has no effect"),
                                    HasSubstr("spec.deployment.containers[0].args[\"--namespace\"] is ignored")));
}

}  // namespace
}  // namespace capi::templating
