// What Pods of the node have of each other, on a real API server, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "local/node/node_testing.h"

namespace capi::local {
namespace {

using kube::Builtin;
using kube::Eventually;

constexpr Seconds kLong{60};

// G5: of two that may not run both one does, whatever runs beside each.
TEST_F(NodeOnServer, RunsOneOfTwoAloneBesideTheirProxies) {
  StartNode();
  Apply(Manager("--leader-elect") + "\n      - {name: proxy, image: sh, args: ['-c', 'exec tail -f /dev/null']}",
        "replicas: 2");
  EXPECT_TRUE(Eventually(
      [&] {
        return GetInt(Deployment().json(), {"status", "readyReplicas"}) == 1;
      },
      kLong))
      << Dump();
}

// G4: a Pod that comes in the place of one with its name has files of its own.
TEST_F(NodeOnServer, KeepsTheFilesOfAPodThatIsReplaced) {
  StartNode();
  const auto apply = [&](const std::string& value) {
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: " + ns_ +
                                  "}, spec: {nodeName: local, serviceAccountName: default, containers: [{name: "
                                  "manager, image: manager, env: [{name: "
                                  "VALUE, value: " +
                                  value + "}]}]}}");
  };
  const auto runs = [&] { return Find(Container(), {"state", "running"}) != nullptr; };
  apply("former");
  ASSERT_TRUE(Eventually(runs, kLong)) << Dump();
  (void)client_->Raw({}, "DELETE", Builtin("Pod").Path(ns_, "p"), R"({"gracePeriodSeconds": 0})", "application/json");
  apply("next");
  ASSERT_TRUE(Eventually([&] { return runs() && !ProcessesWith("VALUE=next").empty(); }, kLong)) << Dump();
  EXPECT_TRUE(Eventually([&] { return ProcessesWith("VALUE=former").empty(); }));
  for (const std::string& kept :
       {node_->options().volumes + "/" + ns_ + "_p/kubeconfig", node_->options().folder + "/" + ns_ + "_p/home"})
    EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
}

}  // namespace
}  // namespace capi::local
