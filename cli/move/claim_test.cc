// `clusterctl move` and the mark of the run that has a namespace.
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
  // It is that of somebody else: of nobody, of an owner that doesn't move, of the one that is there now.
  for (const char* kind : {"", "ConfigMap", "MachineDeployment"}) {
    SCOPED_TRACE(kind);
    Json owners = *kind ? gone : Json::array();
    auto owner = *kind ? b_.Find(kind, "team", kind == std::string("ConfigMap") ? "foreign" : "one-md") : std::nullopt;
    if (owner) owners[0].update({{"name", (*owner)["metadata"]["name"]}, {"uid", (*owner)["metadata"]["uid"]}});
    EXPECT_EQ(owner.has_value(), *kind != '\0');
    late["metadata"]["ownerReferences"] = std::move(owners);
    b_.Put(late);
    EXPECT_THAT(There().err, HasSubstr("one of its name is being deleted there; wait for its end"));
  }
  b_.Remove("ConfigMap", "team", "foreign");
  late["metadata"]["ownerReferences"] = gone;
  b_.Put(late);
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
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
