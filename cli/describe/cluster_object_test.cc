#include "cli/describe/cluster_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli::describe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum ConditionStyle;

kube::Object Parse(std::string_view json) { return kube::Object(ParseJson(json).value()); }

std::vector<std::string> Types(const std::vector<Condition>& conditions) {
  std::vector<std::string> out;
  for (const Condition& condition : conditions) out.push_back(condition.type);
  return out;
}

// L15.
TEST(ClusterObject, ACluster) {
  Cluster got = ReadCluster(Parse(R"({
    "apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
    "metadata":{"name":"c","namespace":"n","deletionTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"paused":true,"infrastructureRef":{"apiGroup":"i.x","kind":"DockerCluster","name":"i"},
            "controlPlaneRef":{"apiGroup":"c.x","kind":"Kcp","name":"k"}},
    "status":{"controlPlane":{"replicas":1,"desiredReplicas":3,"readyReplicas":1},
              "workers":{"desiredReplicas":5,"readyReplicas":2,"upToDateReplicas":0},
              "conditions":[{"type":"Available","status":"True","reason":"R","message":"m",
                             "lastTransitionTime":"2026-01-02T03:04:05Z"}, 7],
              "deprecated":{"v1beta1":{"conditions":[{"type":"Ready","status":"False","severity":"Error"}]}}}})"),
                            kV1Beta2);
  EXPECT_EQ(got.object.kind, "Cluster");
  EXPECT_EQ(got.object.ns, "n");
  EXPECT_TRUE(got.object.deleting);
  EXPECT_TRUE(got.object.paused);
  EXPECT_EQ(got.infrastructure, (Reference{"i.x", "DockerCluster", "i"}));
  EXPECT_EQ(got.control_plane, (Reference{"c.x", "Kcp", "k"}));
  EXPECT_EQ(got.object.counts, (Counts{.current = 1, .desired = 8, .available = {}, .ready = 3, .up_to_date = 0}));
  ASSERT_EQ(got.object.conditions.size(), 1U);
  EXPECT_EQ(got.object.conditions[0].since, ParseTime("2026-01-02T03:04:05Z").value());
  EXPECT_THAT(Types(ReadCluster(Parse("{}"), kV1Beta2).object.conditions), IsEmpty());
  EXPECT_EQ(ReadCluster(Parse("{}"), kV1Beta2).object.counts, Counts());
  EXPECT_TRUE(ReadCluster(Parse("{}"), kV1Beta2).infrastructure.empty());
}

TEST(ClusterObject, ConditionsOfTheOldContractStandApart) {
  const char* json = R"({"status":{"conditions":[{"type":"Available","status":"True"}],
      "deprecated":{"v1beta1":{"conditions":[{"type":"Ready","status":"False","severity":"Error"}]}}}})";
  EXPECT_THAT(Types(ReadMachine(Parse(json), kV1Beta2).object.conditions), ElementsAre("Available"));
  MachineObject old = ReadMachine(Parse(json), kV1Beta1);
  EXPECT_THAT(Types(old.object.conditions), ElementsAre("Ready"));
  EXPECT_EQ(old.object.conditions[0].severity, "Error");
}

TEST(ClusterObject, AMachineCountsAsOne) {
  MachineObject got = ReadMachine(Parse(R"({"kind":"Machine","metadata":{"name":"m",
      "labels":{"cluster.x-k8s.io/control-plane":""},
      "ownerReferences":[{"apiVersion":"x/v1","kind":"A","name":"a"},
                         {"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineSet","name":"s","controller":true}]},
      "spec":{"bootstrap":{"configRef":{"apiGroup":"b.x","kind":"B","name":"b"}}},
      "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"UpToDate","status":"False"}]}})"),
                                  kV1Beta2);
  EXPECT_TRUE(got.of_control_plane);
  EXPECT_EQ(got.object.controller, (Reference{"cluster.x-k8s.io", "MachineSet", "s"}));
  EXPECT_EQ(got.bootstrap, (Reference{"b.x", "B", "b"}));
  EXPECT_EQ(got.object.counts, (Counts{.current = 1, .desired = {}, .available = 0, .ready = 1, .up_to_date = 0}));
}

// L15: providers are on their way from one form of conditions to the other.
TEST(ClusterObject, ConditionsOfAProviderAreFoundWhereTheyAre) {
  struct Case {
    const char* status;
    std::vector<std::string> types;
  };
  const Case cases[] = {
      {R"({"conditions":[{"type":"Ready","status":"True"}]})", {"Ready"}},
      {R"({"conditions":[{"type":"Old","status":"True"}],"v1beta2":{"conditions":[{"type":"New","status":"True"}]}})",
       {"New"}},
      {R"({"v1beta2":{"conditions":[]},"conditions":[{"type":"Old","status":"True"}]})", {}},
      {R"({"v1beta2":{"conditions":"none"},"conditions":[{"type":"Old","status":"True"}]})", {"Old"}},
      {R"({"conditions":[{"type":"Ready","status":"True"},{"type":"","status":"True"}]})", {}},
      {R"({"conditions":[{"type":"Ready","status":"Maybe"}]})", {}},
      {R"({"conditions":[{"type":"Ready","status":"True","message":7}]})", {}},
      {R"({"conditions":["what",{"type":"Ready","status":"True"}]})", {"Ready"}},
      {R"({})", {}},
  };
  for (const Case& c : cases) {
    std::string json = R"({"status":)" + std::string(c.status) + "}";
    EXPECT_EQ(Types(ReadExternal(Parse(json), kV1Beta2).conditions), c.types) << c.status;
  }
  const char* bare = R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})";
  EXPECT_EQ(ReadExternal(Parse(bare), kV1Beta2).conditions[0].reason, "NoReasonReported");
  EXPECT_EQ(ReadExternal(Parse(bare), kV1Beta1).conditions[0].reason, "");
  const char* severe = R"({"status":{"conditions":[{"type":"Ready","status":"False","severity":"Info"}]}})";
  EXPECT_EQ(ReadExternal(Parse(severe), kV1Beta2).conditions[0].severity, "") << "it makes no difference to others";
  EXPECT_EQ(ReadExternal(Parse(severe), kV1Beta1).conditions[0].severity, "Info");
}

TEST(ClusterObject, AControlPlaneByItsContract) {
  kube::Object object = Parse(R"({"spec":{"replicas":3,"machineTemplate":{
        "infrastructureRef":{"apiVersion":"i.x/v1","kind":"Old","name":"o","namespace":"n"},
        "spec":{"infrastructureRef":{"apiGroup":"i.x","kind":"New","name":"t"}}}},
      "status":{"replicas":2,"readyReplicas":1,"updatedReplicas":9,"upToDateReplicas":2}})");
  EXPECT_EQ(ReadControlPlane(object, kV1Beta2, "v1beta2").counts,
            (Counts{.current = 2, .desired = 3, .available = {}, .ready = 1, .up_to_date = 2}));
  EXPECT_EQ(ReadControlPlane(object, kV1Beta2, "v1beta1").counts.up_to_date, 9);
  EXPECT_EQ(ControlPlaneTemplate(object, "v1beta2"), (Reference{"i.x", "New", "t"}));
  EXPECT_EQ(ControlPlaneTemplate(object, "v1beta1"), (Reference{"i.x", "Old", "o"}));
  EXPECT_TRUE(ControlPlaneTemplate(Parse("{}"), "v1beta1").empty());
  EXPECT_TRUE(ControlPlaneTemplate(Parse("{}"), "v1beta2").empty());
}

TEST(ClusterObject, ResourceSetsOfABinding) {
  EXPECT_THAT(BoundResourceSets(Parse(R"({"spec":{"bindings":[{"clusterResourceSetName":"b"},
                                                              {"clusterResourceSetName":"a"}]}})")),
              ElementsAre("b", "a"));
  EXPECT_THAT(BoundResourceSets(Parse("{}")), IsEmpty());
}

}  // namespace
}  // namespace capi::cli::describe
