#include "cli/local_clusters/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/yaml/yaml.h"
#include "cli/local_clusters/destroy.h"

namespace capi::cli::local_clusters {
namespace {

using testing::HasSubstr;

kube::Object Read(const std::string& kind, const std::string& more) {
  return kube::Object(ParseYaml("{apiVersion: cluster.x-k8s.io/v1beta2, kind: " + kind +
                                ", metadata: {name: a, namespace: 'n', generation: 1}, " + more + "}")
                          .value());
}

ClusterState StateOf(const std::string& cluster, std::vector<std::string> machines = {},
                     std::vector<std::string> others = {}) {
  ClusterState out{"n", "a", Read("Cluster", cluster), {}, {}};
  for (const std::string& one : machines) out.machines.push_back(Read("Machine", one));
  for (const std::string& one : others) out.others.push_back(Read("MachineDeployment", one));
  return out;
}

std::string Of(const Verdict& verdict) {
  if (!verdict.terminal.empty()) return "terminal: " + verdict.terminal;
  return verdict.done ? "done" : "waits: " + verdict.waits_for;
}

const std::string kDone = "status: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}";

// G11.
TEST(Progress, OfTheInfrastructure) {
  EXPECT_EQ(Of(JudgeInfrastructure(StateOf(kDone))), "done");
  EXPECT_EQ(Of(JudgeInfrastructure(StateOf("status: {conditions: [{type: InfrastructureReady, status: 'True'}]}"))),
            "done");
  EXPECT_EQ(Of(JudgeInfrastructure(StateOf("spec: {}"))), "waits: Cluster n/a: InfrastructureReady isn't reported yet");
  EXPECT_EQ(Of(JudgeInfrastructure(StateOf("status: {conditions: [{type: InfrastructureReady, status: 'False', reason: "
                                           "NotYet, message: no network}]}"))),
            "waits: Cluster n/a: InfrastructureReady is False: NotYet: no network");
}

TEST(Progress, OfMachines) {
  struct Case {
    std::string cluster;
    std::vector<std::string> machines, others;
    std::string want;
  };
  const std::string ready = "status: {initialization: {infrastructureProvisioned: true}}";
  const std::string with_plane = "spec: {controlPlaneRef: {name: x}}";
  const Case cases[] = {
      {"spec: {}", {}, {}, "done"},
      {with_plane, {ready}, {}, "waits: Cluster n/a: ControlPlaneInitialized isn't reported yet"},
      {"spec: {topology: {}}", {ready}, {}, "waits: Cluster n/a: ControlPlaneInitialized isn't reported yet"},
      {"spec: {topology: {}}, " + kDone, {ready}, {}, "waits: Cluster n/a: TopologyReconciled isn't reported yet"},
      {"spec: {topology: {}}, status: {initialization: {controlPlaneInitialized: true}, conditions: [{type: "
       "TopologyReconciled, status: 'True'}]}",
       {ready},
       {},
       "done"},
      {"spec: {}",
       {ready},
       {"spec: {replicas: 2}, status: {replicas: 2, observedGeneration: 0}"},
       "waits: MachineDeployment n/a: its controller hasn't seen its last change yet"},
      {with_plane + ", " + kDone, {ready}, {}, "done"},
      {"spec: {}", {ready, "status: {}"}, {}, "waits: Machine n/a: InfrastructureReady isn't reported yet"},
      {"spec: {}",
       {ready},
       {"spec: {replicas: 2}, status: {replicas: 1}"},
       "waits: MachineDeployment n/a: 1 of 2 machines are there"},
      {"spec: {}", {ready}, {"spec: {replicas: 0}"}, "waits: MachineDeployment n/a: 0 of 0 machines are there"},
      {"spec: {}", {ready}, {"spec: {replicas: 2}, status: {replicas: 2}"}, "done"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Of(JudgeMachines(StateOf(c.cluster, c.machines, c.others))), c.want) << c.cluster;
  ClusterState changed = StateOf(
      "spec: {topology: {}}, status: {initialization: {controlPlaneInitialized: true}, conditions: [{type: "
      "TopologyReconciled, status: 'True', observedGeneration: 1}]}");
  EXPECT_EQ(Of(JudgeMachines(changed)), "done");
  changed.cluster->json()["metadata"]["generation"] = 2;
  EXPECT_EQ(Of(JudgeMachines(changed)), "waits: Cluster n/a: its controller hasn't seen its last change yet");
}

// G11: what people have mended is given its time, and what machines say doesn't count before they are applied.
TEST(Progress, OlderFailures) {
  ClusterState state = StateOf(kDone, {"status: {failureReason: CreateError, failureMessage: no quota}"});
  state.machines[0].json()["metadata"]["uid"] = "u";
  EXPECT_EQ(Of(JudgeInfrastructure(state)), "done");
  EXPECT_EQ(Of(JudgeMachines(state)), "terminal: Machine n/a has failed: CreateError: no quota");
  EXPECT_EQ(FailedOf(state), std::vector<std::string>{"u"});
  state.makers.push_back(Read("MachineSet", "status: {failureReason: CreateError, failureMessage: no quota}"));
  EXPECT_EQ(Of(JudgeInfrastructure(state)), "done");
  state.makers[0] = Read("MachineSet", "spec: {replicas: 2}, status: {replicas: 1}");
  state.forgiven = {"u"};
  EXPECT_EQ(Of(JudgeMachines(state)), "waits: MachineSet n/a: 1 of 2 machines are there");
  state.makers.clear();
  EXPECT_EQ(Of(JudgeMachines(state)), "waits: Machine n/a has failed before: CreateError: no quota");
  state.machines[0].json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(Of(JudgeMachines(state)), "waits: Machine n/a: InfrastructureReady isn't reported yet");
}

// G11: what never becomes better by itself ends a stage at once.
TEST(Progress, TerminalFailures) {
  struct Case {
    ClusterState state;
    std::string want;
  };
  const std::string failed = "status: {failureReason: CreateError, failureMessage: no quota}";
  const std::string deprecated =
      "status: {deprecated: {v1beta1: {failureReason: CreateError, failureMessage: no quota}}}";
  ClusterState deleting = StateOf("spec: {}");
  deleting.cluster->json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  ClusterState replaced = StateOf("spec: {}", {failed});
  replaced.machines[0].json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const Case cases[] = {
      {StateOf("spec: {}"), ""},
      {StateOf(deprecated), "Cluster n/a has failed: CreateError: no quota"},
      {StateOf("spec: {}", {failed}), "Machine n/a has failed: CreateError: no quota"},
      {StateOf("spec: {}", {deprecated}), "Machine n/a has failed: CreateError: no quota"},
      {StateOf("spec: {}", {}, {failed}), "MachineDeployment n/a has failed: CreateError: no quota"},
      {StateOf("spec: {paused: true}"), "Cluster n/a is paused: nothing becomes of it until it is resumed"},
      {deleting, "Cluster n/a is being deleted"},
      {replaced, ""},
  };
  for (const Case& c : cases) EXPECT_EQ(TerminalOf(c.state), c.want);
  EXPECT_EQ(Of(JudgeInfrastructure({"n", "a", {}, {}, {}})), "terminal: Cluster n/a isn't there");
}

// G12.
TEST(Progress, OfACondition) {
  auto state = StateOf("status: {conditions: [{type: Available, status: 'False', reason: NotAvailable}]}");
  EXPECT_EQ(Of(JudgeCondition(state, {})), "waits: Cluster n/a: Available is False: NotAvailable");
  EXPECT_EQ(Of(JudgeCondition(state, {"Available", "False"})), "done");
  EXPECT_THAT(Of(JudgeCondition(StateOf("spec: {paused: true}"), {})), HasSubstr("terminal: "));
  // Of an older change: whatever it says, it isn't the answer.
  for (const auto& [observed, generation, want] : std::vector<std::tuple<int, int, std::string>>{
           {1, 2, "waits: Cluster n/a: its controller hasn't seen its last change yet"},
           {2, 2, "done"},
           {0, 2, "done"}}) {
    state = StateOf("spec: {}");
    state.cluster->json()["metadata"]["generation"] = generation;
    state.cluster->json()["status"]["conditions"] =
        Json::array({{{"type", "Available"}, {"status", "True"}, {"observedGeneration", observed}}});
    EXPECT_EQ(Of(JudgeCondition(state, {})), want) << observed;
  }
  EXPECT_EQ(ParseWantedCondition("Available")->status, "True");
  EXPECT_EQ(ParseWantedCondition("Paused=False")->status, "False");
  for (const char* bad : {"", "=True", "Available=yes", "Available="})
    EXPECT_FALSE(ParseWantedCondition(bad).ok()) << bad;
}

// G14.
TEST(Progress, WhatHangs) {
  EXPECT_EQ(HangsBy(Read("Cluster", "spec: {}")), "not being deleted yet");
  kube::Object object =
      Read("Cluster", "status: {conditions: [{type: Deleting, status: 'True', reason: WaitingForWorkers}]}");
  object.json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  object.json()["metadata"]["finalizers"] = {"a.b/c", "d"};
  EXPECT_EQ(HangsBy(object), "finalizers a.b/c, d; Deleting True: WaitingForWorkers");
}

}  // namespace
}  // namespace capi::cli::local_clusters
