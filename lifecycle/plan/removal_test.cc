// L23: what goes of a provider that no operator looks after.
#include "lifecycle/plan/removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/vectors.h"

namespace capi::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::ObjectId IdOf(const Json& object) {
  const std::pair<std::string_view, std::string_view> groups[] = {
      {"CustomResourceDefinition", "apiextensions.k8s.io"},
      {"Provider", "clusterctl.cluster.x-k8s.io"},
      {"MutatingWebhookConfiguration", "admissionregistration.k8s.io"},
      {"ClusterRole", "rbac.authorization.k8s.io"},
  };
  kube::ObjectId id{"", GetString(object, {"kind"}), GetString(object, {"namespace"}), GetString(object, {"name"})};
  for (const auto& [kind, group] : groups) {
    if (id.kind == kind) id.group = group;
  }
  return id;
}

TEST(ToRemove, Vectors) {
  RunVectors("delete.json", [](const Json& vectors, const Json& c) {
    std::vector<kube::ObjectId> labelled;
    for (const Json& object : vectors.at("world").at("objects")) {
      if (GetBool(object, {"labelled"})) labelled.push_back(IdOf(object));
    }
    RemovalScope scope{GetBool(c, {"include_crd"}), !GetBool(c, {"skip_inventory"})};
    const std::string ns = GetString(vectors, {"world", "namespace"});
    const bool with_namespace = GetBool(c, {"include_namespace"});
    std::vector<std::string> deleted;
    for (const kube::ObjectId& id : ToRemove(labelled, ns, scope)) {
      // Cluster API's leaves to the Namespace what is in it; here it has gone before, and the Namespace goes last.
      if (!with_namespace || id.ns.empty()) deleted.push_back(id.kind + "/" + id.name);
    }
    if (with_namespace) deleted.push_back("Namespace/" + ns);
    std::sort(deleted.begin(), deleted.end());
    EXPECT_EQ(Json(deleted), c.at("want_deleted"));
  });
}

const kube::ObjectId kRole{"rbac.authorization.k8s.io", "ClusterRole", "", "capi-manager-role"};
const kube::ObjectId kCrd{"apiextensions.k8s.io", "CustomResourceDefinition", "", "as.x"};
const kube::ObjectId kNs{"", "Namespace", "", "ns"};
const kube::ObjectId kOwn{"", "Service", "ns", "own"};
const kube::ObjectId kElsewhere{"", "Service", "other", "own"};
const kube::ObjectId kEntry{"clusterctl.cluster.x-k8s.io", "Provider", "ns", "infrastructure-a"};

// Cluster API's leaves those whose name doesn't begin with the namespace: all that there are of today's releases.
TEST(ToRemove, ClusterRolesGoByTheirLabelsAlone) {
  EXPECT_THAT(ToRemove({kRole, kElsewhere, kCrd, kNs}, "ns", {}), ElementsAre(kRole));
}

std::vector<kube::Object> Live(const std::vector<kube::ObjectId>& ids) {
  std::vector<kube::Object> out;
  for (const kube::ObjectId& id : ids) {
    Json metadata = {{"name", id.name}, {"uid", id.kind + id.ns + id.name}};
    if (!id.ns.empty()) metadata["namespace"] = id.ns;
    out.emplace_back(Json{{"apiVersion", id.group.empty() ? "v1" : id.group + "/v1"},
                          {"kind", id.kind},
                          {"metadata", std::move(metadata)}});
  }
  return out;
}

TEST(Leftovers, WhatTheNewReleaseHasNoMore) {
  EXPECT_THAT(Leftovers(Live({kRole, kCrd, kNs, kOwn, kElsewhere, kEntry}), {kOwn}, "ns"), ElementsAre(kRole));
  EXPECT_THAT(Leftovers(Live({kRole, kOwn}), {kOwn, kRole}, "ns"), IsEmpty());
  EXPECT_THAT(Leftovers(Live({}), {kOwn}, "ns"), IsEmpty());
}

// L23: the controllers copy a Service's labels. The Service that stays would have nobody behind it.
TEST(Leftovers, NothingThatKubernetesMakes) {
  const kube::ObjectId endpoints{"", "Endpoints", "ns", "own"};
  const kube::ObjectId slice{"discovery.k8s.io", "EndpointSlice", "ns", "own-a"};
  const kube::ObjectId namesake{"x.io", "Endpoints", "ns", "own"};
  EXPECT_THAT(Leftovers(Live({endpoints, slice, namesake, kOwn}), {kOwn}, "ns"), ElementsAre(namesake));
  EXPECT_THAT(ToRemove({endpoints, kOwn}, "ns", {}), ElementsAre(endpoints, kOwn)) << "the Service goes as well";
}

// L13, L23: whatever its namespace.
TEST(NotReleased, NoCrdsAndNoNamespaces) {
  EXPECT_THAT(NotReleased(Live({kCrd, kNs, kElsewhere, kRole}), {kRole}), ElementsAre(kElsewhere));
}

// U4, L23: OpenShift has what RBAC has under a group of its own, too.
TEST(Leftovers, NothingOfTheNewReleaseUnderAnotherGroup) {
  kube::ObjectId twin = kRole;
  twin.group = "authorization.openshift.io";
  EXPECT_THAT(Leftovers(Live({twin, kRole, kOwn}), {kRole}, "ns"), ElementsAre(kOwn));
  EXPECT_THAT(Leftovers(Live({twin, kRole}), {kOwn}, "ns"), ElementsAre(twin, kRole));
}

}  // namespace
}  // namespace capi::lifecycle
