// I8: the cluster is asked which kinds have no namespace, but never in a render, and only its answer counts.
#include "lifecycle/kind_scopes.h"

#include <gtest/gtest.h>

#include "operator/act/install/installation.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using lifecycle::KindScopes;

const kube::GroupKind kPool{"x.example", "Pool"}, kThing{"x.example", "Thing"}, kOther{"x.example", "Other"};
constexpr std::string_view kGroups = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},
  "versions":[{"version":"v1","resources":[
  {"resource":"pools","responseKind":{"kind":"Pool"},"scope":"Cluster","verbs":["get"]},
  {"resource":"things","responseKind":{"kind":"Thing"},"scope":"Namespaced","verbs":["get"]}]}]}]})";

// A cluster with these kinds, or one that doesn't answer.
struct Cluster {
  bool away = false;
  std::string groups{kGroups};
  int asked = 0;
  FakeClock clock;
  kube::Inventory applied;
  kube::RestMapper mapper{[this](const Context&, std::string_view path, std::string_view) -> Result<std::string> {
                            ++asked;
                            if (away) return Error{Code::kUnavailable, "connection refused", {}};
                            return path == "/apis" ? groups
                                                   : std::string(R"({"kind":"APIGroupDiscoveryList","items":[]})");
                          },
                          clock};
};

TEST(KindScopes, AreAskedForAfterTheRender) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper, cluster.applied);
  auto lookup = scopes.Lookup();
  EXPECT_EQ(lookup({"", "Secret"}), false);
  EXPECT_TRUE(scopes.settled());
  EXPECT_EQ(lookup(kThing), std::nullopt);
  EXPECT_EQ(lookup(kOther), std::nullopt);
  EXPECT_EQ(cluster.asked, 0) << "nothing is asked in a render";
  EXPECT_FALSE(scopes.settled());
  EXPECT_EQ(*scopes.Settle({}), true) << "it was right to take them for kinds with a namespace";
  EXPECT_TRUE(scopes.settled());

  EXPECT_EQ(KindScopes(cluster.mapper, cluster.applied).Lookup()(kPool), true) << "what is known needs no question";
}

TEST(KindScopes, AKindWithoutANamespaceIsRenderedAgain) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper, cluster.applied);
  EXPECT_EQ(scopes.Lookup()(kPool), std::nullopt);
  EXPECT_EQ(*scopes.Settle({}), false);
  cluster.mapper.Invalidate();
  EXPECT_EQ(scopes.Lookup()(kPool), true) << "what was said counts until the end of this installation";
  EXPECT_TRUE(scopes.settled());
}

// A server that is away says nothing: an object would get another identity, and the live one be pruned.
TEST(KindScopes, NoAnswerIsNone) {
  Cluster cluster;
  cluster.away = true;
  KindScopes scopes(cluster.mapper, cluster.applied);
  EXPECT_EQ(scopes.Lookup()(kPool), std::nullopt);
  auto settled = scopes.Settle({});
  ASSERT_FALSE(settled.ok());
  EXPECT_EQ(settled.code(), Code::kUnavailable);
  EXPECT_FALSE(scopes.settled()) << "it is still to be asked for";
}

// What a render makes of a Pool, whose scope the release doesn't say.
kube::ObjectId IdOfPool(KindScopes& scopes) {
  api::Release release;
  release.version = *api::Version::Parse("v1.12.0");
  release.components = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: p, namespace: n}\n";
  RenderInputs inputs;
  inputs.cluster_scoped = scopes.Lookup();
  return RenderManifests(testing::Observed(), release, std::move(inputs), {}).manifests.at(0).id;
}

// The whole of it: what a render makes of a kind before and after the cluster has said what it is.
TEST(KindScopes, DecideTheIdentityOfAnObject) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper, cluster.applied);
  EXPECT_EQ(IdOfPool(scopes).ns, "aws-system");
  ASSERT_EQ(*scopes.Settle({}), false);
  EXPECT_EQ(IdOfPool(scopes).ns, "");
}

// D1: while the CRD of what is applied is away, its objects keep the identity by which the inventory knows them:
// restored from another one, they would be taken for what the release no longer has.
TEST(KindScopes, AKindThatIsGoneIsWhatItWas) {
  struct Case {
    std::vector<kube::ObjectId> applied;
    std::string ns;
  };
  const kube::ObjectId pool{"x.example", "Pool", "", "p"}, namespaced{"x.example", "Pool", "aws-system", "p"},
      another{"y.example", "Pool", "", "p"};
  const Case cases[] = {{{pool}, ""}, {{namespaced}, "aws-system"}, {{another}, "aws-system"}, {{}, "aws-system"}};
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.groups = R"({"kind":"APIGroupDiscoveryList","items":[]})";
    for (const auto& id : c.applied) cluster.applied.Put(id, {"v1", "hash", "fields"});
    KindScopes scopes(cluster.mapper, cluster.applied);
    IdOfPool(scopes);
    ASSERT_EQ(*scopes.Settle({}), !c.ns.empty());
    EXPECT_EQ(IdOfPool(scopes).ns, c.ns);
    EXPECT_TRUE(scopes.settled());
  }
  Cluster cluster;
  cluster.applied.Put(namespaced, {"v1", "hash", "fields"});
  KindScopes scopes(cluster.mapper, cluster.applied);
  IdOfPool(scopes);
  EXPECT_EQ(*scopes.Settle({}), false) << "what the cluster says comes first";
}

}  // namespace
}  // namespace capi::ops
