#include "lifecycle/in_use.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::lifecycle {
namespace {

kube::Object Of(std::string_view json) { return kube::Object(*ParseJson(json)); }

// X2, by label, kind and owners.
TEST(InUse, BelongsToAClusterByLabelKindOrOwner) {
  kube::Object set = Of(R"({"apiVersion":"x.cluster.x-k8s.io/v1","kind":"Set","metadata":{"name":"set","uid":"set",
    "ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Cluster","name":"c","uid":"c"}]}})");
  kube::Object free = Of(R"({"apiVersion":"x.cluster.x-k8s.io/v1","kind":"Set","metadata":{"name":"f","uid":"free"}})");
  // Owned by one another, which no real objects are.
  kube::Object ring = Of(R"({"apiVersion":"x/v1","kind":"R","metadata":{"name":"r","uid":"ring",
    "ownerReferences":[{"apiVersion":"x/v1","kind":"R","name":"r","uid":"ring"}]}})");
  ByUid known = {{"set", &set}, {"free", &free}, {"ring", &ring}};
  struct Case {
    std::string name, object;
    bool belongs;
  };
  const Case cases[] = {
      {"a Cluster", R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"name":"a"}})", true},
      {"a Cluster of another group", R"({"apiVersion":"x/v1","kind":"Cluster","metadata":{"name":"a"}})", false},
      {"a label",
       R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a","labels":{"cluster.x-k8s.io/cluster-name":"c"}}})",
       true},
      {"an owner that is a Machine", R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a",
        "ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","name":"m","uid":"m"}]}})",
       true},
      {"an owner that belongs to one", R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a",
        "ownerReferences":[{"apiVersion":"x/v1","kind":"Set","name":"set","uid":"set"}]}})",
       true},
      {"an owner that doesn't", R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a",
        "ownerReferences":[{"apiVersion":"x/v1","kind":"Set","name":"f","uid":"free"}]}})",
       false},
      {"an owner that is a ClusterClass", R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a",
        "ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"ClusterClass","name":"m","uid":"m"}]}})",
       false},
      {"owners in a ring", R"({"apiVersion":"x/v1","kind":"R","metadata":{"name":"r","uid":"ring",
        "ownerReferences":[{"apiVersion":"x/v1","kind":"R","name":"r","uid":"ring"}]}})",
       false},
      {"nothing of all that", R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a"}})", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    kube::Object object = Of(c.object);
    EXPECT_EQ(BelongsToCluster(object, known), c.belongs);
    SlimToOwners(object);
    EXPECT_EQ(BelongsToCluster(object, known), c.belongs) << "what a watch keeps is enough";
    EXPECT_EQ(Find(object.json(), {"metadata", "namespace"}), nullptr) << "it has none";
  }
}

// X2: the message names it.
TEST(InUse, WhatAWatchKeepsHasAName) {
  kube::Object object = Of(R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a","namespace":"n"},"spec":{}})");
  SlimToOwners(object);
  EXPECT_EQ(NameOf(object), "A n/a");
  EXPECT_EQ(Find(object.json(), {"spec"}), nullptr);
}

TEST(InUse, ACrdThatSaysNothingCantBeRead) {
  for (const char* crd : {R"({"metadata":{"name":"as.x"},"spec":{}})", R"({"spec":{"versions":{}}})",
                          R"({"spec":{"versions":[{"name":"v1","served":true}]}})",
                          R"({"spec":{"versions":[{"name":"v1","served":true}]},"status":{"storedVersions":{}}})"}) {
    EXPECT_FALSE(ReadableResources(Of(crd)).ok()) << crd;
  }
}

// P3: a list at a version that isn't stored needs a conversion, which nobody may serve.
TEST(InUse, ReadsAtAStoredVersion) {
  struct Case {
    std::string versions, stored, want;
  };
  const Case cases[] = {
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":true,"storage":true}])", R"(["v1","v2"])",
       "v2 v1"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":true,"storage":true}])", R"(["v2"])",
       "v2"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":false,"storage":true}])", R"(["v1","v2"])",
       "v1"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":false,"storage":true}])", R"(["v2"])", ""},
  };
  for (const auto& c : cases) {
    kube::Object crd = Of(R"({"metadata":{"name":"as.x"},"spec":{"group":"x","scope":"Cluster",
      "names":{"kind":"A","plural":"as"},"versions":)" +
                          c.versions + R"(},"status":{"storedVersions":)" + c.stored + "}}");
    auto resources = ReadableResources(crd);
    ASSERT_EQ(resources.ok(), !c.want.empty());
    if (!resources.ok()) {
      EXPECT_EQ(resources.code(), Code::kUnavailable);
      continue;
    }
    std::vector<std::string> versions;
    for (const auto& resource : *resources) {
      versions.push_back(resource.version);
      EXPECT_EQ(resource.plural, "as");
      EXPECT_FALSE(resource.namespaced);
    }
    EXPECT_EQ(Join(versions, " "), c.want);
  }
}

}  // namespace
}  // namespace capi::lifecycle
