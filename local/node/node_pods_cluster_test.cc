// What Pods of the node have of each other, on a real API server, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/files.h"
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
  // Of each manager: "ready", or the beginning of why not.
  const auto managers = [&] {
    std::multiset<std::string> all;
    for (const kube::Object& pod : List("Pod")) {
      const Json* statuses = Find(pod.json(), {"status", "containerStatuses"});
      if (statuses == nullptr || statuses->empty()) continue;
      const Json& one = (*statuses)[0];
      const bool runs = GetBool(one, {"ready"});
      all.insert(runs ? "ready" : GetString(one, {"state", "waiting", "message"}).substr(0, 45));
    }
    return all;
  };
  // Without this wait for the other one's word it would be seen only on the way to two.
  const std::multiset<std::string> expected = {"one process of its Deployment runs at a time ", "ready"};
  EXPECT_TRUE(Eventually([&] { return managers() == expected; }, kLong)) << Dump();
  EXPECT_TRUE(Eventually(
      [&] {
        return GetInt(Deployment().json(), {"status", "readyReplicas"}) == 1;
      },
      kLong))
      << Dump();
}

// G4, G7: init containers run one after the other; one that fails is started again, and the others wait for it.
TEST_F(NodeOnServer, RunsInitContainersFirst) {
  StartNode();
  const std::string order = folder_.path() + "/order";
  const auto init = [&](const std::string& name, const std::string& script) {
    return "\n      - {name: " + name + ", image: sh, args: ['-c', '" + script + "']}";
  };
  const std::string first = "echo first >> " + order + "; test $(wc -l < " + order + ") -gt 1";
  Apply("image: sh\n        args: ['-c', 'echo main >> " + order + "; exec tail -f /dev/null']", "replicas: 1",
        "initContainers:" + init("first", first) + init("second", "echo second >> " + order));
  AwaitHealthy();
  EXPECT_EQ(*ReadFile(order), "first\nfirst\nsecond\nmain\n");
  const Json status = List("Pod").at(0).json()["status"]["initContainerStatuses"];
  ASSERT_EQ(status.size(), 2u);
  EXPECT_EQ(GetInt(status[0], {"restartCount"}), 1);
  for (const Json& one : status) {
    EXPECT_TRUE(GetBool(one, {"ready"}));
    EXPECT_EQ(GetInt(one, {"state", "terminated", "exitCode"}, -1), 0);
  }
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
