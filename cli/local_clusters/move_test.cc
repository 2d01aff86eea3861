// `local move` between two clusters in memory: what it keeps, and that nobody is told that a Cluster is there which
// isn't.
#include <gmock/gmock.h>

#include "cli/move/move_testing.h"

namespace capi::cli::local_clusters {
namespace {

using move::Fleet;
using testing::HasSubstr;
using testing::Not;

class LocalMoves : public move::Moves {
 protected:
  Outcome Move(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"local", "move"});
    flags.insert(flags.end(), {"--kubeconfig", folder_ / "a", "--to-kubeconfig", folder_ / "b"});
    return Clusterctl(flags, {{"HOME", folder_.path()}});
  }
  // A folder with this Cluster.
  std::string Manifests(const std::string& folder, const std::string& metadata) {
    folder_.Put(folder + "/01_cluster.yaml",
                "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: " + metadata + "}");
    return folder_ / folder;
  }
};

// G15: before anything moves.
TEST_F(LocalMoves, AClusterOfAnotherNamespaceIsTold) {
  const std::string manifests = Manifests("m", "{name: one, namespace: team}");
  allowance_.Set(-1);
  Outcome got = Move({"-n", "default", "--manifests", manifests});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Cluster one is of namespace team, and what moves is namespace default"));
  EXPECT_THAT(got.err, HasSubstr("-n team"));
  EXPECT_EQ(allowance_.taken(), 0);
}

// G15: the plane, which people take away next, is told to be kept.
TEST_F(LocalMoves, NothingThatMovesIsAnError) {
  Outcome got = Move({"-n", "default"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the target has no Cluster in namespace default: keep the plane"));
  EXPECT_THAT(got.out, Not(HasSubstr("kept")));
  EXPECT_TRUE(a_.Find("Cluster", "team", "one").has_value());
}

// G15: another Cluster of the target's namespace is none of those that move.
TEST_F(LocalMoves, TheClustersThatMovedAreLookedFor) {
  Fleet(b_).Make("Cluster", "stranger");
  // Somebody takes one away as soon as it is there.
  b_.OnRead([&](const std::string& target) {
    if (target.find("/namespaces/team/clusters?") != target.npos && !a_.Find("Cluster", "team", "one"))
      b_.Remove("Cluster", "team", "one");
  });
  Outcome got = Move({"-n", "team"});
  b_.OnRead({});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the target has no Cluster one in namespace team: keep the plane"));
}

// G15: with what `local apply` has written back, and without what an earlier, larger folder has left.
TEST_F(LocalMoves, ManifestsAreKept) {
  const std::string manifests = Manifests("m", "{name: one, namespace: team}");
  folder_.Put("m/applied/01_cluster.yaml",
              "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: one, namespace: team, uid: u}}");
  folder_.Put("m/00_secret.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hidden}}");
  for (const char* earlier : {"local-manifests.one", "local-manifests-2.one"}) Fleet(b_).Make("ConfigMap", earlier);
  Outcome got = Move({"-n", "team", "--manifests", manifests});
  ASSERT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("The manifests are kept in ConfigMap team/local-manifests.one"));
  auto map = b_.Find("ConfigMap", "team", "local-manifests.one");
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(GetString(*map, {"metadata", "labels", "operator.cluster.x-k8s.io/local-manifests"}), "true");
  EXPECT_THAT(GetString(*map, {"data", "01_cluster.yaml"}), HasSubstr("name: one"));
  EXPECT_THAT(GetString(*map, {"data", "applied.01_cluster.yaml"}), HasSubstr("uid: u"));
  EXPECT_THAT(map->dump(), Not(HasSubstr("hidden")));
  EXPECT_FALSE(b_.Find("ConfigMap", "team", "local-manifests-2.one").has_value());
}

// G15: what is kept is what was looked at before anything moved.
TEST_F(LocalMoves, AFileThatIsEditedMeanwhileChangesNothing) {
  const std::string manifests = Manifests("m", "{name: one, namespace: team}");
  Fleet(b_).Make("ConfigMap", "local-manifests.one");
  b_.OnRead([&](const std::string&) { folder_.Put("m/01_cluster.yaml", "kind: ["); });
  Outcome got = Move({"-n", "team", "--manifests", manifests});
  b_.OnRead({});
  ASSERT_EQ(got.code, 0) << got.err;
  auto map = b_.Find("ConfigMap", "team", "local-manifests.one");
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(GetString(*map, {"data", "01_cluster.yaml"}), HasSubstr("name: one"));
}

// G15: before anything moves.
TEST_F(LocalMoves, AFileThatWouldTakeTheKeyOfAnotherIsTold) {
  const std::string manifests = Manifests("m", "{name: one, namespace: team}");
  folder_.Put("m/applied.01_cluster.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}");
  allowance_.Set(-1);
  Outcome got = Move({"-n", "team", "--manifests", manifests});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("m/applied.01_cluster.yaml can't be kept"));
  EXPECT_EQ(allowance_.taken(), 0);
}

// G14: who was asked about the Clusters of one management cluster, with --all, hasn't said yes to another one's.
TEST_F(LocalMoves, AllThatIsDestroyedIsOfTheClusterThatWasLookedAt) {
  a_.Remove("Cluster", "team", "two");  // which is paused
  a_.OnRead([&](const std::string& target) {
    if (target.find("/clusters?") != target.npos) folder_.Put("a", b_.Kubeconfig());
  });
  Fleet(b_).MakeCluster("one", false);
  Outcome got =
      Clusterctl({"local", "destroy", "--all", "--yes", "-n", "team", "--timeout", "1s", "--kubeconfig", folder_ / "a"},
                 {{"HOME", folder_.path()}});
  a_.OnRead({});
  EXPECT_THAT(got.err, HasSubstr("Cluster team/one is not gone after"));
  EXPECT_TRUE(Find(*a_.Find("Cluster", "team", "one"), {"metadata", "deletionTimestamp"}) != nullptr);
  EXPECT_TRUE(Find(*b_.Find("Cluster", "team", "one"), {"metadata", "deletionTimestamp"}) == nullptr);
}

// G15: manifests of a Cluster that isn't there aren't kept beside those that are.
TEST_F(LocalMoves, ManifestsOfAnotherClusterAreNotKept) {
  Outcome got = Move({"-n", "team", "--manifests", Manifests("m", "{name: three, namespace: team}")});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the target has no Cluster three in namespace team"));
  EXPECT_FALSE(b_.Find("ConfigMap", "team", "local-manifests.three").has_value());
  // A second run goes on: nothing is left to move, and what has moved is there.
  got = Move({"-n", "team"});
  EXPECT_EQ(got.code, 0) << got.err;
}

}  // namespace
}  // namespace capi::cli::local_clusters
