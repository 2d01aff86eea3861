#include "advice/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::advice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Warnings(std::string_view spec, std::string_view annotations = "{}") {
  auto provider = api::ParseProvider(kube::Object(
      Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
           {"kind", "InfrastructureProvider"},
           {"metadata", {{"name", "aws"}, {"namespace", "ns"}, {"annotations", ParseYaml(annotations).value()}}},
           {"spec", ParseYaml(spec).value()}}));
  EXPECT_TRUE(provider.ok()) << provider.error().message;
  return provider.ok() ? AdmissionWarnings(*provider) : std::vector<std::string>{"unreadable"};
}

// One row for each warning, and beside it what is no reason for one.
TEST(AdmissionWarnings, Table) {
  struct Case {
    std::string_view spec, warning;  // what it begins with; "" for none
    std::string_view annotations = "{}";
  };
  const Case cases[] = {
      {"{}", ""},
      {"{version: v1.2.3, deployment: {replicas: 1}, manager: {verbosity: 2}}", ""},
      {"{deployment: {replicas: 0}}", "spec.deployment.replicas: 0 stops the manager"},
      {"{deployment: {replicas: 3}, manager: {leaderElection: {leaderElect: false}}}",
       "spec.manager.leaderElection.leaderElect: false with 3 replicas"},
      {"{deployment: {replicas: 1}, manager: {leaderElection: {leaderElect: false}}}", ""},
      {"{deployment: {replicas: 3}, manager: {leaderElection: {leaderElect: true}}}", ""},
      {"{deployment: {replicas: 3}, manager: {leaderElection: {}}}", ""},
      {"{manager: {debug: true}}", "spec.manager.debug: true logs much"},
      {"{manager: {metrics: {insecureDiagnostics: true}}}", "spec.manager.metrics.insecureDiagnostics: true shows"},
      {"{manager: {metrics: {insecureDiagnostics: false}}}", ""},
      {"{manager: {metrics: {bindAddress: ':8080'}}}", "spec.manager.metrics.bindAddress: is deprecated"},
      {"{manager: {metrics: {diagnosticsAddress: ':8443'}}}", ""},
      {"{deployment: {containers: [{name: a}, {name: manager, args: {--namespace: ns}}]}}",
       "spec.deployment.containers[1].args[--namespace]: is ignored; set manager.cacheNamespace"},
      {"{deployment: {containers: [{name: manager, args: {--name: ns}}]}}", ""},
      {"{version: 1.2.3}", "spec.version: 1.2.3 is taken as v1.2.3"},
      {"{version: one}", ""},
      {"{version: v1.2.3, fetchConfig: {url: 'https://github.com/o/r/releases/v1.0.0/a.yaml'}}",
       "spec.fetchConfig.url: names v1.0.0, but spec.version v1.2.3 takes precedence"},
      {"{version: v1.2.3, fetchConfig: {url: 'https://github.com/o/r/releases/v1.2.3/a.yaml'}}", ""},
      {"{version: v1.2.3, fetchConfig: {url: 'https://code.test/api/v4/projects/1/packages/generic/p/v1.0.0/a.yaml'}}",
       "spec.fetchConfig.url: names v1.0.0, but spec.version v1.2.3 takes precedence"},
      {"{version: v1.2.3, fetchConfig: {url: 'https://code.test/api/v4/projects/1/packages/generic/p/latest/a.yaml'}}",
       ""},
      {"{version: v1.2.3, fetchConfig: {url: 'https://files.test/aws/v1.0.0/a.yaml'}}",
       "spec.fetchConfig.url: names v1.0.0, but spec.version v1.2.3 takes precedence"},
      {"{version: v1.2.3, fetchConfig: {url: 'https://files.test/aws/1.2.3/a.yaml'}}", ""},
      {"{version: v1.2.3, fetchConfig: {url: 'https://github.com/o/r/releases/latest/a.yaml'}}", ""},
      {"{fetchConfig: {url: 'https://github.com/o/r/releases/v1.0.0/a.yaml'}}", ""},
      {"{}", "metadata.annotations[operator.cluster.x-k8s.io/force-delete]: ",
       "{operator.cluster.x-k8s.io/force-delete: 'true'}"},
      {"{}", "", "{operator.cluster.x-k8s.io/force-delete: 'false'}"},
      {"{}", "metadata.annotations[operator.cluster.x-k8s.io/allow-downgrade]: ",
       "{operator.cluster.x-k8s.io/allow-downgrade: 'true'}"},
      {"{additionalDeployments: {other: {deployment: {replicas: 0}}}}",
       "spec.additionalDeployments[other].deployment.replicas: 0"},
      {"{additionalDeployments: {other: {manager: {debug: true}}}}",
       "spec.additionalDeployments[other].manager.debug: true"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    auto warnings = Warnings(c.spec, c.annotations);
    if (c.warning.empty()) {
      EXPECT_THAT(warnings, IsEmpty());
    } else {
      EXPECT_THAT(warnings, ElementsAre(StartsWith(std::string(c.warning))));
    }
  }
}

// Of a Provider whose policy has installed v1.12.1.
TEST(AdmissionWarnings, AnOlderVersionThanAPolicyHasInstalled_U13) {
  auto warnings = [](const char* version, std::map<std::string, std::string> annotations) {
    api::Provider provider;
    provider.spec.version = version;
    provider.spec.upgrade_policy.type = api::UpgradeType::kPatch;
    provider.annotations = std::move(annotations);
    provider.status.installed_version = "v1.12.1";
    provider.status.history = {{"v1.12.1", "v1beta2", ""}};
    provider.status.history[0].instead_of = "v1.12.0";
    return AdmissionWarnings(provider);
  };
  EXPECT_THAT(warnings("v1.12.0", {}),
              ElementsAre(StartsWith("spec.version: v1.12.1 stays, to which spec.upgradePolicy has led; to go back to "
                                     "v1.12.0, set spec.upgradePolicy.type to None")));
  // What is to be done for it, and no more.
  for (bool paused : {false, true}) {
    for (auto type : {api::UpgradeType::kNone, api::UpgradeType::kPatch}) {
      api::Provider provider;
      provider.spec.version = "v1.12.0";
      provider.spec.paused = paused;
      provider.spec.upgrade_policy.type = type;
      provider.status.history = {{"v1.12.1", "v1beta2", ""}};
      provider.status.history[0].instead_of = "v1.12.0";
      const auto warned = AdmissionWarnings(provider);
      ASSERT_EQ(warned.size(), 1u);
      EXPECT_EQ(warned[0].find("type to None") != std::string::npos, type == api::UpgradeType::kPatch);
      EXPECT_EQ(warned[0].find("not while spec.paused") != std::string::npos, paused);
      EXPECT_LE(warned[0].size(), 256u);
    }
  }
  api::Provider was, is;
  was.spec.version = is.spec.version = "v1.12.0";
  is.status.history = {{"v1.12.1", "v1beta2", ""}};
  is.status.history[0].instead_of = "v1.12.0";
  EXPECT_THAT(AdmissionWarnings(is, &was), IsEmpty()) << "it was so before this write";
  was.spec.version = "v1.12.1";
  EXPECT_EQ(AdmissionWarnings(is, &was).size(), 1u);
  EXPECT_THAT(warnings("v1.12.1", {}), IsEmpty());
  EXPECT_THAT(warnings("v1.12.2", {}), IsEmpty());
  EXPECT_THAT(warnings("v1.12.0", {{std::string(api::kAnnotationAllowDowngrade), "true"}}),
              testing::Not(testing::Contains(testing::HasSubstr("stays"))));
}

// The API server cuts what is longer.
TEST(AdmissionWarnings, AreShortAndFew) {
  std::string many = "{additionalDeployments: {";
  for (int i = 0; i < 500; ++i) many += "d" + std::to_string(i) + ": {deployment: {replicas: 0}}, ";
  auto warnings = Warnings(many + "}}");
  ASSERT_EQ(warnings.size(), 21u);
  EXPECT_EQ(warnings.back(), "spec: 480 more warnings like these");
  for (const std::string& warning : Warnings(
           "{version: 1.2.3, fetchConfig: {url: 'https://github.com/o/r/releases/v1.0.0/a.yaml'}, deployment: "
           "{replicas: 2, containers: [{name: a, args: {namespace: b}}]}, manager: {debug: true, leaderElection: "
           "{leaderElect: false}, metrics: {bindAddress: a, insecureDiagnostics: true}}}",
           "{operator.cluster.x-k8s.io/force-delete: 'true', operator.cluster.x-k8s.io/allow-downgrade: 'true'}")) {
    EXPECT_LE(warning.size(), 256u) << warning;
  }
}

}  // namespace
}  // namespace capi::advice
