#include "cli/describe/cluster_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/describe/api_testing.h"

namespace capi::cli::describe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kCore = "/apis/cluster.x-k8s.io/v1beta2/namespaces/ns/";
const std::string kInfra = "/apis/i.x/v1beta2/namespaces/ns/inframachines";
const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

ClusterReader ReaderOf(FakeCluster& fake) {
  fake.selector = "labelSelector=cluster.x-k8s.io%2Fcluster-name%3Dc";
  return {Context{}, fake.client(), "ns", "c", ConditionStyle::kV1Beta2};
}

Json Named(std::string kind, std::string name) {
  return {{"kind", std::move(kind)}, {"metadata", {{"name", std::move(name)}, {"namespace", "ns"}}}};
}

void AddCluster(FakeCluster& fake) {
  fake.objects[kCore + "clusters/c"] = Named("Cluster", "c");
  for (const char* plural : {"machines", "machinedeployments", "machinesets", "machinepools"})
    fake.lists[kCore + plural] = {};
}

void AddKind(FakeCluster& fake) {
  Json crd = Named("PartialObjectMetadata", "inframachines.i.x");
  crd["metadata"]["labels"] = {{"cluster.x-k8s.io/v1beta2", "v1beta2"}};
  fake.objects[kCrds + "inframachines.i.x"] = crd;
}

Reference Infra(int number) { return {"i.x", "InfraMachine", fmt::format("i{}", number)}; }

// L15: few requests, and none for what there is nothing of.
TEST(ClusterReader, AsksForTheClusterAndWhatHasItsLabel) {
  FakeCluster fake;
  AddCluster(fake);
  fake.lists[kCore + "machines"] = {Named("Machine", "a"), Named("Machine", "b")};
  ClusterReader reader = ReaderOf(fake);
  auto parts = reader.Read(false);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_EQ(parts->machines.size(), 2U);
  EXPECT_EQ(parts->resource_sets, std::nullopt);
  EXPECT_THAT(fake.asked(), ElementsAre("c", "machines", "machinedeployments", "machinepools"));
  fake.Forget();
  fake.lists[kCore + "machinedeployments"] = {Named("MachineDeployment", "md")};
  fake.objects["/apis/addons.cluster.x-k8s.io/v1beta2/namespaces/ns/clusterresourcesetbindings/c"] =
      Json{{"spec", {{"bindings", {{{"clusterResourceSetName", "set"}}}}}}};
  parts = reader.Read(true);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_THAT(parts->resource_sets.value(), ElementsAre("set"));
  EXPECT_THAT(fake.asked(), ElementsAre("c", "machines", "machinedeployments", "machinesets", "machinepools", "c"));
}

TEST(ClusterReader, AsksForFewOneByOneAndForManyAtOnce) {
  FakeCluster fake;
  AddKind(fake);
  for (int i = 0; i < 3; ++i)
    fake.objects[fmt::format("{}/i{}", kInfra, i)] = Named("InfraMachine", fmt::format("i{}", i));
  for (int i = 3; i < 9; ++i) fake.lists[kInfra].push_back(Named("InfraMachine", fmt::format("i{}", i)));
  fake.objects[kInfra + "/i9"] = Named("InfraMachine", "i9");  // without the label
  ClusterReader reader = ReaderOf(fake);
  for (int i = 0; i < 10; ++i) {
    const ClusterObject* got = reader.Get(Infra(i));
    ASSERT_NE(got, nullptr) << i;
    EXPECT_EQ(got->name, fmt::format("i{}", i));
    EXPECT_EQ(reader.Get(Infra(i)), got);
  }
  EXPECT_THAT(fake.asked(), ElementsAre("inframachines.i.x", "i0", "i1", "i2", "inframachines", "i9"));
  EXPECT_THAT(reader.missing(), IsEmpty());
}

// L15: what is named and can't be had is told, once.
TEST(ClusterReader, WhatIsMissingIsLeftOutAndTold) {
  FakeCluster fake;
  AddKind(fake);
  ClusterReader reader = ReaderOf(fake);
  EXPECT_EQ(reader.Get(Infra(1)), nullptr);
  EXPECT_EQ(reader.Get(Infra(1)), nullptr);
  EXPECT_EQ(reader.Get({"other.x", "Kind", "o"}), nullptr);
  EXPECT_EQ(reader.Get({"other.x", "Kind", "p"}), nullptr);
  EXPECT_EQ(reader.GetControlPlane({"i.x", "InfraMachine", "../x"}), nullptr);
  EXPECT_EQ(reader.Get({"i.x/../..", "A", "o"}), nullptr);
  fake.failures[kInfra + "/i2"] = 403;
  EXPECT_EQ(reader.Get(Infra(2)), nullptr);
  EXPECT_TRUE(reader.status().ok());
  EXPECT_THAT(reader.missing(),
              ElementsAre("InfraMachine/i1 is left out: the server's words", "Kind/o is left out: the server's words",
                          "InfraMachine/../x is left out: \"../x\" is no name of an object",
                          HasSubstr("A/o is left out: \"as.i.x/../..\" is no name"),
                          "InfraMachine/i2 is left out: the server's words"));
  EXPECT_THAT(fake.asked(), ElementsAre("inframachines.i.x", "i1", "kinds.other.x", "i2"));
}

TEST(ClusterReader, ACrdWithoutAContractIsTold) {
  FakeCluster fake;
  fake.objects[kCrds + "inframachines.i.x"] = Named("PartialObjectMetadata", "inframachines.i.x");
  ClusterReader reader = ReaderOf(fake);
  EXPECT_EQ(reader.Get(Infra(1)), nullptr);
  EXPECT_THAT(reader.missing(), ElementsAre(HasSubstr("inframachines.i.x has no label that says")));
}

// L15: half a tree isn't passed off as a whole one.
TEST(ClusterReader, AFailureThatLeavesOpenWhatThereIsEndsIt) {
  FakeCluster fake;
  AddKind(fake);
  fake.failures[kInfra + "/i1"] = 500;
  ClusterReader reader = ReaderOf(fake);
  EXPECT_EQ(reader.Get(Infra(1)), nullptr);
  ASSERT_FALSE(reader.status().ok());
  EXPECT_EQ(reader.Get(Infra(2)), nullptr);
  EXPECT_THAT(fake.asked(), ElementsAre("inframachines.i.x", "i1"));

  AddCluster(fake);
  fake.failures[kCore + "machinepools"] = 403;
  auto parts = ReaderOf(fake).Read(false);
  ASSERT_FALSE(parts.ok());
  EXPECT_THAT(parts.error().message, HasSubstr("failed to list machinepools in namespace ns: the server's words"));
}

TEST(ClusterReader, NamesThatAreNoneAreNotAskedFor) {
  FakeCluster fake;
  kube::Config config;
  config.server = "http://127.0.0.1:1";
  auto client = kube::Client::Connect(config, {}).value();
  EXPECT_THAT(ClusterReader(Context{}, *client, "ns", "a/b", ConditionStyle::kV1Beta2).Read(false).error().message,
              HasSubstr("\"a/b\" is no name"));
  EXPECT_THAT(ClusterReader(Context{}, *client, "..", "a", ConditionStyle::kV1Beta2).Read(false).error().message,
              HasSubstr("\"..\" is no name"));
}

}  // namespace
}  // namespace capi::cli::describe
