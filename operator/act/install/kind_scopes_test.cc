// I8: the cluster is asked which kinds have no namespace, but never in a render, and only its answer counts.
#include "operator/act/install/kind_scopes.h"

#include <gtest/gtest.h>

#include "operator/act/install/materials.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

const kube::GroupKind kPool{"x.example", "Pool"}, kThing{"x.example", "Thing"}, kOther{"x.example", "Other"};
constexpr std::string_view kGroups = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},
  "versions":[{"version":"v1","resources":[
  {"resource":"pools","responseKind":{"kind":"Pool"},"scope":"Cluster","verbs":["get"]},
  {"resource":"things","responseKind":{"kind":"Thing"},"scope":"Namespaced","verbs":["get"]}]}]}]})";

// A cluster with these kinds, or one that doesn't answer.
struct Cluster {
  bool away = false;
  int asked = 0;
  FakeClock clock;
  kube::RestMapper mapper{[this](const Context&, std::string_view path, std::string_view) -> Result<std::string> {
                            ++asked;
                            if (away) return Error{Code::kUnavailable, "connection refused", {}};
                            return path == "/apis" ? std::string(kGroups)
                                                   : std::string(R"({"kind":"APIGroupDiscoveryList","items":[]})");
                          },
                          clock};
};

TEST(KindScopes, AreAskedForAfterTheRender) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper);
  auto lookup = scopes.Lookup();
  EXPECT_EQ(lookup({"", "Secret"}), false);
  EXPECT_TRUE(scopes.settled());
  EXPECT_EQ(lookup(kThing), std::nullopt);
  EXPECT_EQ(lookup(kOther), std::nullopt);
  EXPECT_EQ(cluster.asked, 0) << "nothing is asked in a render";
  EXPECT_FALSE(scopes.settled());
  EXPECT_EQ(*scopes.Settle({}), true) << "it was right to take them for kinds with a namespace";
  EXPECT_TRUE(scopes.settled());

  EXPECT_EQ(KindScopes(cluster.mapper).Lookup()(kPool), true) << "what is known needs no question";
}

TEST(KindScopes, AKindWithoutANamespaceIsRenderedAgain) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper);
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
  KindScopes scopes(cluster.mapper);
  EXPECT_EQ(scopes.Lookup()(kPool), std::nullopt);
  auto settled = scopes.Settle({});
  ASSERT_FALSE(settled.ok());
  EXPECT_EQ(settled.code(), Code::kUnavailable);
  EXPECT_FALSE(scopes.settled()) << "it is still to be asked for";
}

// The whole of it: what a render makes of a kind before and after the cluster has said what it is.
TEST(KindScopes, DecideTheIdentityOfAnObject) {
  Cluster cluster;
  KindScopes scopes(cluster.mapper);
  api::Release release;
  release.version = *api::Version::Parse("v1.12.0");
  release.components = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: p, namespace: n}\n";
  auto id = [&] {
    RenderInputs inputs;
    inputs.cluster_scoped = scopes.Lookup();
    return RenderManifests(testing::Observed(), release, std::move(inputs), {}).manifests.at(0).id;
  };
  EXPECT_EQ(id().ns, "aws-system");
  ASSERT_EQ(*scopes.Settle({}), false);
  EXPECT_EQ(id().ns, "");
}

}  // namespace
}  // namespace capi::ops
