// `clusterctl move`, the mark of the run that has a namespace, and what is deleted, and made again, meanwhile.
#include "cli/move/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;

using Claims = Moves;

// L17: what a run that was taken over created too late is deleted for want of its owner, which its finalizer hinders.
TEST_F(Claims, TakeWhatCameTooLateFromTheGarbageCollector) {
  Fleet(b_).Make("Namespace", "team", "", "");
  Json late = *a_.Find("Machine", "team", "one-m");
  late["metadata"].erase("uid");
  late["metadata"]["deletionTimestamp"] = "t";
  const Json gone = late["metadata"]["ownerReferences"];
  Fleet(b_).Make("ConfigMap", "foreign");
  auto as_now = [&](const char* kind, const char* name) {
    Json owner = gone[0];
    owner.update({{"kind", kind}, {"name", name}, {"uid", b_.Find(kind, "team", name)->at("metadata").at("uid")}});
    return owner;
  };
  auto refuse = [&](const char* whose, const Json& owners, const char* of = "one-m") {
    SCOPED_TRACE(whose);
    late["metadata"]["ownerReferences"] = owners;
    late["spec"]["of"] = of;
    b_.Put(late);
    Outcome got = There();
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("is being deleted there; wait for its end"));
  };
  refuse("of nobody, before anything is changed", Json::array());
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  refuse("of an owner that doesn't move", Json::array({as_now("ConfigMap", "foreign")}));
  Json there = gone;
  there[0]["uid"] = b_.Find("MachineDeployment", "team", "one-md")->at("metadata").at("uid");
  refuse("of the one that is there now", there);
  refuse("of one that is gone and one that isn't", Json::array({gone[0], as_now("ConfigMap", "foreign")}));
  Json of_another_group = gone;
  of_another_group[0]["apiVersion"] = "y/v1";
  refuse("of one of another kind", of_another_group);
  refuse("no copy", gone, "else");
  b_.Remove("ConfigMap", "team", "foreign");
  late["metadata"]["ownerReferences"] = gone;
  late["spec"]["of"] = "one-m";
  b_.Put(late);
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: nobody's deletion is undone, also where the move had made what somebody deletes.
TEST_F(Claims, WaitForTheEndOfWhatSomebodyDeletes) {
  CutAt(a_, "PATCH", "/machines/", [&] { return There(); });
  Json secret = *b_.Find("Secret", "team", "one-kubeconfig");
  secret["metadata"]["deletionTimestamp"] = "t";
  secret["metadata"]["finalizers"] = {"example.com/mine"};
  b_.Put(secret);
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to create Secret team/one-kubeconfig in the target: one of its name is being "
                                 "deleted there; wait for its end"));
  EXPECT_EQ(b_.Find("Secret", "team", "one-kubeconfig").value_or(Json())["metadata"]["finalizers"],
            secret["metadata"]["finalizers"]);
  b_.Remove("Secret", "team", "one-kubeconfig");
  got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: what a move back had begun to delete is taken, also where no Cluster tells of that move. Another one that is
// made in its place is joined.
TEST_F(Claims, TakeWhatAMoveBackWasDeleting) {
  Json& alone = fleet_.Add("Template", "alone");
  alone["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move"] = "";
  alone["metadata"]["finalizers"] = {"example.com/mine"};
  fleet_.Made();
  before_ = Essences(a_);
  Json another = *a_.Find("Template", "team", "alone");
  another["metadata"].erase("uid");
  another["metadata"]["finalizers"] = {"example.com/another"};
  auto is_going = [&] { return b_.Find("Template", "team", "alone")->at("metadata").contains("deletionTimestamp"); };
  ASSERT_EQ(There().code, 0);
  for (const bool replaced : {false, true}) {
    SCOPED_TRACE(replaced);
    MakeReady(b_);
    b_.OnWrite([&](const std::string& method, const std::string& target) {
      if (method == "PATCH" && target.find("/templates/alone") != target.npos && is_going()) allowance_.Set(0);
    });
    ASSERT_EQ(Back().code, 1);
    b_.OnWrite({});
    allowance_.Set(-1);
    ASSERT_TRUE(is_going());
    MakeReady(a_);
    if (replaced) Before(b_, Is("PATCH", "/templates/alone"), [&] { b_.Put(another); });
    Outcome got = There();
    EXPECT_EQ(got.code, 0) << got.err;
    if (!replaced) ExpectMoved();
  }
  EXPECT_EQ(b_.Find("Template", "team", "alone")->at("metadata").at("finalizers"),
            Json({"example.com/another", "example.com/mine"}));
}

// L17: an object is only deleted as it was copied: one that is made in its place keeps its finalizers.
TEST_F(Claims, LeaveWhatIsMadeInThePlaceOfWhatTheyDelete) {
  Json another = *a_.Find("Machine", "team", "one-m");
  another["metadata"].erase("uid");
  another["metadata"]["finalizers"] = {"example.com/another"};
  a_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method != "PATCH" || target.find("/machines/one-m") == target.npos) return;
    if (a_.Find("Machine", "team", "one-m")->at("metadata").contains("deletionTimestamp")) a_.Put(another);
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to delete Machine team/one-m from the source: it was deleted and made again"));
  EXPECT_EQ(a_.Find("Machine", "team", "one-m").value_or(Json())["metadata"]["finalizers"],
            another["metadata"]["finalizers"]);
}

// L17: who is taken over may pause a Cluster when the other run has ended already, and says what to do then.
TEST_F(Claims, SayThatTheOneThatTookOverHasEnded) {
  std::atomic<bool> done = false;
  a_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method != "PATCH" || target.find("/clusters/one") == target.npos || done.exchange(true)) return;
    Outcome back = Back();
    EXPECT_EQ(back.code, 0) << back.err;
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("has ended in this one's place. If Clusters are paused, move them again\n"));
  EXPECT_TRUE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: the mark goes with the move that wrote it, also where that was taken over by one that may not write everywhere.
// It leaves that one's, and tells nobody to delete it.
TEST_F(Claims, GoWithTheMoveThatWasTakenOver) {
  auto mark = [&](FakeCluster& cluster) { return cluster.Find("ConfigMap", "team", std::string(kClaimName)); };
  for (const bool both : {false, true}) {
    SCOPED_TRACE(both);
    Before(b_, Is("POST", both ? "/machines" : "/clusterclasses"), [&] {
      TakeOver(a_);
      if (both) TakeOver(b_);
    });
    EXPECT_THAT(There().err, HasSubstr("goes on in this one's place"));
    EXPECT_TRUE(mark(a_));
    EXPECT_EQ(mark(b_).has_value(), both);
  }
  Before(b_, Is("PATCH", "/machines/"), [&] { TakeOver(a_); });
  b_.Forbid("DELETE", "configmaps");
  Outcome got = There();
  EXPECT_THAT(got.err, HasSubstr("goes on in this one's place"));
  EXPECT_THAT(got.err, testing::Not(HasSubstr("could not be removed")));
}

// L17: also where one cluster lacks the namespace, who may not write the mark in the other one hears of it; and who
// can't resume all, what to do.
TEST_F(Claims, ThatAreDeniedAreToldWhereANamespaceIsGone) {
  Outcome got{};
  auto there = [&] { return got = There(); };
  CutAt(b_, "PATCH", "/clusters/one", there);
  for (const Json& object : a_.All())
    if (GetString(object, {"metadata", "namespace"}) == "team")
      a_.Remove(object["kind"], "team", object["metadata"]["name"]);
  a_.Remove("Namespace", "", "team");
  b_.Forbid("PATCH", "configmaps");
  CutAt(b_, "PATCH", "/clusters/one", there);
  EXPECT_THAT(got.err,
              HasSubstr("all objects are in the target, but not all were resumed. Run the same command again"));
  got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("moves of it at the same time aren't noticed"));
  EXPECT_FALSE(IsPaused(kube::Object(*b_.Find("Cluster", "team", "one"))));
}

}  // namespace
}  // namespace capi::cli::move
