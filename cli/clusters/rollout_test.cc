#include "cli/clusters/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace capi::cli {
namespace {

using enum RolloutAction;
using enum RolloutKind;

// L8.
TEST(RolloutTargets, AreReadAsClusterctlReadsThem) {
  struct Case {
    std::vector<std::string> resources;
    std::vector<RolloutTarget> want;
    std::string error;
  };
  const Case cases[] = {
      {{"machinedeployment/a"}, {{kMachineDeployment, "a"}}, ""},
      {{"MachineDeployments/A", "md/b.c"}, {{kMachineDeployment, "a"}, {kMachineDeployment, "b.c"}}, ""},
      {{"kubeadmcontrolplane/a", "kcp/b", "kubeadmcontrolplanes/a"},
       {{kKubeadmControlPlane, "a"}, {kKubeadmControlPlane, "b"}},
       ""},
      {{}, {}, "required resource not specified"},
      {{"machinedeployment"}, {}, "arguments must be in resource/name format (e.g. machinedeployment/md-1)"},
      {{"md/a", "b"}, {}, "arguments must be in resource/name format (e.g. machinedeployment/md-1)"},
      {{"/a"}, {}, "arguments in resource/name form must have a single resource and name, not \"/a\""},
      {{"md/"}, {}, "arguments in resource/name form must have a single resource and name, not \"md/\""},
      {{"md/a/b"}, {}, "arguments in resource/name form must have a single resource and name, not \"md/a/b\""},
      {{"Pod/a"}, {}, "Invalid resource type \"pod\", valid values are [machinedeployment kubeadmcontrolplane]"},
      {{"md/a_b"}, {}, "\"md/a_b\": \"a_b\" is no name of an object"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.resources));
    auto got = ParseRolloutTargets(c.resources);
    ASSERT_EQ(got.ok(), c.error.empty());
    if (got.ok()) {
      EXPECT_EQ(*got, c.want);
    } else {
      EXPECT_EQ(got.code(), Code::kInvalidArgument);
      EXPECT_EQ(got.error().message, c.error);
    }
  }
}

constexpr char kPausedKcp[] = R"({"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}})";

// L8. 2026-01-02T03:04:05Z is now.
TEST(RolloutPatch, OfEachState) {
  struct Case {
    RolloutAction action;
    RolloutKind kind;
    std::string object, patch, error;
  };
  const std::string restart = R"({"spec":{"rollout":{"after":"2026-01-02T03:04:05Z"}}})";
  const Case cases[] = {
      {kRestart, kMachineDeployment, "{}", restart, ""},
      {kRestart, kKubeadmControlPlane, R"({"spec":{"paused":true}})", restart, ""},
      {kRestart, kMachineDeployment, R"({"spec":{"rollout":{"after":"2026-01-02T03:04:05Z"}}})", restart, ""},
      {kRestart, kMachineDeployment, R"({"spec":{"paused":true}})", "",
       "can't restart paused MachineDeployment (run rollout resume first): machinedeployment/x"},
      {kRestart, kKubeadmControlPlane, kPausedKcp, "",
       "can't restart paused KubeadmControlPlane (run rollout resume first): kubeadmcontrolplane/x"},
      {kRestart, kMachineDeployment, R"({"spec":{"rollout":{"after":"2026-01-02T03:04:06Z"}}})", "",
       "can't update MachineDeployment (remove 'spec.rollout.after' first): machinedeployment/x: it is to be restarted "
       "at 2026-01-02T03:04:06Z"},
      {kPause, kMachineDeployment, R"({"spec":{"paused":false}})", R"({"spec":{"paused":true}})", ""},
      {kPause, kMachineDeployment, R"({"spec":{"paused":true}})", "",
       "MachineDeployment is already paused: machinedeployment/x"},
      {kPause, kKubeadmControlPlane, "{}", R"({"metadata":{"annotations":{"cluster.x-k8s.io/paused":"true"}}})", ""},
      {kPause, kKubeadmControlPlane, kPausedKcp, "", "KubeadmControlPlane is already paused: kubeadmcontrolplane/x"},
      {kResume, kMachineDeployment, R"({"spec":{"paused":true}})", R"({"spec":{"paused":false}})", ""},
      {kResume, kMachineDeployment, "{}", "", "MachineDeployment is not currently paused: machinedeployment/x"},
      {kResume, kKubeadmControlPlane, kPausedKcp, R"({"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}})",
       ""},
      {kResume, kKubeadmControlPlane, "{}", "", "KubeadmControlPlane is not currently paused: kubeadmcontrolplane/x"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.patch + c.error);
    kube::Object object(ParseJson(c.object).value());
    auto got = RolloutPatch(c.action, {c.kind, "x"}, object, ParseTime("2026-01-02T03:04:05Z").value());
    ASSERT_EQ(got.ok(), c.error.empty());
    if (got.ok()) {
      EXPECT_EQ(*got, ParseJson(c.patch).value());
    } else {
      EXPECT_EQ(got.code(), Code::kFailedPrecondition);
      EXPECT_EQ(got.error().message, c.error);
    }
  }
}

TEST(Rollout, BadArgumentsAreToldBeforeAnyClusterIsLookedFor) {
  Outcome outcome = Clusterctl({"alpha", "rollout", "restart", "pod/a"}, {{"HOME", "/nowhere"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::StartsWith("Error: Invalid resource type \"pod\""));
}

}  // namespace
}  // namespace capi::cli
