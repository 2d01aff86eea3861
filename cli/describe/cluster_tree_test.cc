#include "cli/describe/cluster_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/describe/cluster_json.h"
#include "cli/describe/cluster_testing.h"

namespace capi::cli::describe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Reference kControlPlane = {"c.x", "Kcp", "kcp"};

// A cluster with a control plane of one machine, and a deployment with a machine for each of `ready`.
struct Parts {
  ClusterParts parts;
  FakeExternals externals;
  TreeOptions options;

  explicit Parts(const std::vector<const char*>& ready = {}) {
    parts.cluster.object = Obj("Cluster", "c");
    parts.cluster.infrastructure = {"i.x", "Infra", "i"};
    parts.cluster.control_plane = kControlPlane;
    externals.objects[parts.cluster.infrastructure] = Obj("Infra", "i");
    externals.control_planes[kControlPlane] = {Obj("Kcp", "kcp"), {"i.x", "InfraTemplate", "t"}};
    parts.machines.push_back(MachineOf("", "cp-0", {Con("Ready", "True")}));
    parts.machines.back().of_control_plane = true;
    parts.deployments.push_back(MakerOf("MachineDeployment", "md"));
    parts.sets.push_back(MakerOf("MachineSet", "ms", "md"));
    for (const char* status : ready)
      parts.machines.push_back(MachineOf("ms", "m" + std::to_string(parts.machines.size()), {Con("Ready", status)}));
  }
  ClusterNode Build() { return BuildClusterTree(parts, options, externals); }
  std::string Outlined() { return Outline(Build()); }
};

// L15.
TEST(ClusterTree, MachinesInTheSameStateAreOneLine) {
  Parts world({"True", "False", "True", "True"});
  EXPECT_EQ(world.Outlined(),
            "Cluster/c\n"
            "  ClusterInfrastructure Infra/i\n"
            "  ControlPlane Kcp/kcp\n"
            "    Machine/cp-0\n"
            "  Workers\n"
            "    MachineDeployment/md\n"
            "      3 Machines...\n"
            "      Machine/m2\n");
  world.options.grouping = false;
  EXPECT_EQ(world.Outlined(),
            "Cluster/c\n"
            "  ClusterInfrastructure Infra/i\n"
            "  ControlPlane Kcp/kcp\n"
            "    Machine/cp-0\n"
            "  Workers\n"
            "    MachineDeployment/md\n"
            "      Machine/m1\n"
            "      Machine/m2\n"
            "      Machine/m3\n"
            "      Machine/m4\n");
}

TEST(ClusterTree, AGroupHasTheCountsOfItsMembersAndIsAsOldAsTheFirst) {
  Parts world;
  auto add = [&](const char* name, const char* since) {
    world.parts.machines.push_back(MachineOf(
        "ms", name, {Con("Ready", "True", "R", "words", since), Con("Available", "True"), Con("UpToDate", "False")}));
  };
  add("z", "2026-01-05T00:00:00Z");
  add("b", "2026-01-03T00:00:00Z");
  add("a", "2026-01-04T00:00:00Z");
  ClusterNode root = world.Build();
  const ClusterNode& group = *root.children[2]->children[0]->children[0];
  EXPECT_EQ(group.node_kind, NodeKind::kGroup);
  EXPECT_THAT(group.items, ElementsAre("a", "b", "z"));
  EXPECT_EQ(group.object.counts, (Counts{.current = {}, .desired = {}, .available = 3, .ready = 3, .up_to_date = 0}));
  const Condition* ready = FindCondition(group.object.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->since, ParseTime("2026-01-03T00:00:00Z").value());
  EXPECT_EQ(ready->message, "");
}

TEST(ClusterTree, WhatDiffersInOneOfItsConditionsIsNoPartOfAGroup) {
  const std::vector<Condition> base = {Con("Ready", "True"), Con("Available", "True"), Con("UpToDate", "True")};
  struct Case {
    std::vector<Condition> other;
    bool grouped;
  };
  const Case cases[] = {
      {base, true},
      {{Con("Ready", "True", "R", "another message"), base[1], base[2]}, true},
      {{Con("Ready", "False"), base[1], base[2]}, false},
      {{Con("Ready", "True", "Other"), base[1], base[2]}, false},
      {{base[0], Con("Available", "Unknown"), base[2]}, false},
      {{base[0], base[1], Con("UpToDate", "False")}, false},
      {{base[0], base[1]}, false},
      {{}, false},
  };
  for (const Case& c : cases) {
    Parts world;
    world.parts.machines.push_back(MachineOf("ms", "a", base));
    world.parts.machines.push_back(MachineOf("ms", "b", c.other));
    ClusterNode root = world.Build();
    EXPECT_EQ(root.children[2]->children[0]->children.size(), c.grouped ? 1U : 2U);
  }
}

// L15: by Ready alone, with its severity.
TEST(ClusterTree, OfTheOldContractReadyAloneDecides) {
  Parts world;
  world.options.style = ConditionStyle::kV1Beta1;
  Condition error = Con("Ready", "False"), warning = error;
  error.severity = "Error";
  warning.severity = "Warning";
  world.parts.machines.push_back(MachineOf("ms", "a", {error, Con("Available", "True")}));
  world.parts.machines.push_back(MachineOf("ms", "b", {warning}));
  world.parts.machines.push_back(MachineOf("ms", "c", {error}));
  ClusterNode root = world.Build();
  const auto& below = root.children[2]->children[0]->children;
  ASSERT_EQ(below.size(), 2U);
  EXPECT_THAT(below[0]->items, ElementsAre("a", "c"));
}

// L15: and what is in a group is never asked for.
TEST(ClusterTree, WhatEchoesItsMachineIsLeftOut) {
  struct Case {
    std::vector<Condition> machine, infra;
    bool shown;
  };
  const Case cases[] = {
      {{Con("Ready", "True")}, {Con("Ready", "True", "Else")}, false},
      {{Con("Ready", "False")}, {Con("Ready", "True")}, false},
      {{Con("Ready", "False")}, {Con("Ready", "False")}, false},
      {{}, {}, false},
      {{Con("Ready", "False")}, {Con("Ready", "False", "Else")}, true},
      {{Con("Ready", "True")}, {}, true},
      {{}, {Con("Ready", "Unknown")}, true},
  };
  for (bool echo : {false, true}) {
    for (const Case& c : cases) {
      Parts world;
      world.options.echo = echo;
      MachineObject machine = MachineOf("ms", "a", c.machine);
      machine.infrastructure = {"i.x", "InfraMachine", "ia"};
      machine.bootstrap = {"b.x", "Config", "none"};
      world.externals.objects[machine.infrastructure] = Obj("InfraMachine", "ia", c.infra);
      world.parts.machines.push_back(machine);
      ClusterNode root = world.Build();
      EXPECT_EQ(root.children[2]->children[0]->children[0]->children.size(), echo || c.shown ? 1U : 0U);
    }
  }
  Parts world;
  for (const char* name : {"a", "b", "c"}) {
    world.parts.machines.push_back(MachineOf("ms", name, {Con("Ready", "False")}));
    world.parts.machines.back().infrastructure = {"i.x", "InfraMachine", std::string("i-") + name};
    world.externals.objects[world.parts.machines.back().infrastructure] = Obj("InfraMachine", "x");
  }
  EXPECT_THAT(world.Build().children[2]->children[0]->children[0]->children, IsEmpty());
  EXPECT_THAT(world.externals.asked, ElementsAre("i", "i-a"));
}

TEST(ClusterTree, MoreIsShownOnRequest) {
  Parts world({"True", "True"});
  world.options.machine_sets = world.options.templates = world.options.resource_sets = true;
  world.parts.resource_sets = {"two", "one", "two"};
  world.parts.deployments[0].bootstrap = {"b.x", "ConfigTemplate", "ct"};
  world.parts.deployments[0].infrastructure = {"i.x", "InfraTemplate", "it"};
  EXPECT_EQ(world.Outlined(),
            "Cluster/c\n"
            "  ClusterInfrastructure Infra/i\n"
            "  ClusterResourceSets\n"
            "    ClusterResourceSet/one\n"
            "    ClusterResourceSet/two\n"
            "  ControlPlane Kcp/kcp\n"
            "    Templates Templates\n"
            "      MachineInfrastructureTemplate InfraTemplate/t\n"
            "    Machine/cp-0\n"
            "  Workers\n"
            "    MachineDeployment/md\n"
            "      Templates Templates\n"
            "        BootstrapConfigTemplate ConfigTemplate/ct\n"
            "        MachineInfrastructureTemplate InfraTemplate/it\n"
            "      MachineSet/ms\n"
            "        2 Machines...\n");
}

TEST(ClusterTree, PoolsAndOrphans) {
  Parts world;
  world.parts.pools.push_back(MakerOf("MachinePool", "mp"));
  world.parts.pools[0].infrastructure = {"i.x", "InfraPool", "ip"};
  world.externals.objects[world.parts.pools[0].infrastructure] = Obj("InfraPool", "ip", {Con("Ready", "False")});
  for (const char* name : {"p1", "p2"}) {
    world.parts.machines.push_back(MachineOf("", name, {Con("Ready", "True")}));
    world.parts.machines.back().object.controller = {"cluster.x-k8s.io", "MachinePool", "mp"};
  }
  for (const char* name : {"lone-b", "lone-a"}) world.parts.machines.push_back(MachineOf("", name, {}));
  EXPECT_EQ(world.Outlined(),
            "Cluster/c\n"
            "  ClusterInfrastructure Infra/i\n"
            "  ControlPlane Kcp/kcp\n"
            "    Machine/cp-0\n"
            "  Workers\n"
            "    MachineDeployment/md\n"
            "    MachinePool/mp\n"
            "      2 Machines...\n"
            "      MachinePoolInfrastructure InfraPool/ip\n"
            "    Other\n"
            "      Machine/lone-a\n"
            "      Machine/lone-b\n");
}

// L15: machines whose control plane is gone are shown all the same.
TEST(ClusterTree, WithoutAControlPlane) {
  Parts world;
  world.parts.deployments.clear();
  world.externals.control_planes.clear();
  EXPECT_EQ(world.Outlined(),
            "Cluster/c\n"
            "  ClusterInfrastructure Infra/i\n"
            "  Workers\n"
            "    Other\n"
            "      Machine/cp-0\n");
  world.parts.machines.clear();
  world.externals.objects.clear();
  EXPECT_EQ(world.Outlined(), "Cluster/c\n");
}

TEST(ClusterTree, WhatIsDeletedComesFirst) {
  Parts world({"True", "False"});
  world.parts.machines[2].object.deleting = true;
  EXPECT_EQ(Outline(*world.Build().children[2]),
            "Workers\n"
            "  MachineDeployment/md\n"
            "    Machine/m2\n"
            "    Machine/m1\n");
}

// L15: for programs.
TEST(ClusterTree, AsJson) {
  Parts world({"True", "True"});
  world.parts.cluster.object.paused = true;
  Json got = ClusterTreeJson(world.Build());
  EXPECT_EQ(got["kind"], "Cluster");
  EXPECT_EQ(got["paused"], true);
  EXPECT_EQ(got["children"][0]["role"], "ClusterInfrastructure");
  EXPECT_EQ(got["children"][2]["virtual"], true);
  const Json& group = got["children"][2]["children"][0]["children"][0];
  EXPECT_EQ(group["group"], Json({"m1", "m2"}));
  EXPECT_EQ(group["replicas"], Json({{"available", 0}, {"ready", 2}, {"upToDate", 0}}));
  EXPECT_EQ(group["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
}

// L1: those in groups too, but nothing that is no object.
TEST(ClusterTree, AsNames) {
  Parts world({"True", "True"});
  world.parts.cluster.object.api_version = "cluster.x-k8s.io/v1beta2";
  auto names = ClusterTreeNames(world.Build());
  EXPECT_THAT(names, testing::Contains("cluster.cluster.x-k8s.io/" + world.parts.cluster.object.name));
  EXPECT_THAT(names, testing::IsSupersetOf({"machine/m1", "machine/m2"}));
  EXPECT_THAT(names, testing::Each(testing::Not(testing::EndsWith("/Workers"))));
}

}  // namespace
}  // namespace capi::cli::describe
