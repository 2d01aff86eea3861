// `clusterctl move` while something else happens: another move, an edit, a controller that hasn't seen the pause yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/testing/length.h"
#include "cli/move/claim.h"
#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kBlock[] = "clusterctl.cluster.x-k8s.io/block-move";

class Races : public Moves {
 protected:
  // `second` is run as a whole before the write number `at` of `first`, whatever cluster that is of: one of them
  // succeeds. Whether it came to that.
  bool RunWithin(int at, const std::function<Outcome()>& first, const std::function<Outcome()>& second) {
    std::atomic<int> writes = 0;
    std::optional<Outcome> other;
    for (FakeCluster* cluster : {&a_, &b_}) {
      cluster->OnWrite([&](const std::string&, const std::string&) {
        if (writes++ == at) other = second();
      });
    }
    Outcome one = first();
    for (FakeCluster* cluster : {&a_, &b_}) cluster->OnWrite({});
    if (other) EXPECT_TRUE(one.code == 0 || other->code == 0) << one.err << "\n" << other->err;
    if (one.code != 0 && other) ++refused_;
    return other.has_value();
  }

  // Whether the Cluster one is there, and isn't paused.
  static bool Lives(FakeCluster& cluster) {
    auto one = cluster.Find("Cluster", "team", "one");
    return one && !IsPaused(kube::Object(*one));
  }
  static void Resume(FakeCluster& cluster) {
    Json one = *cluster.Find("Cluster", "team", "one");
    one["spec"].erase("paused");
    cluster.Put(one);
  }

  // With `second` within a move, or one back, before its first write, and so on in steps of so many until it has no
  // more.
  void ExpectThatOneGoesOn(int step, bool back, const std::function<Outcome()>& second) {
    for (int at = 0;; at += step) {
      SCOPED_TRACE(at);
      if (back) ExpectThatItGoesThere();
      const bool came = RunWithin(
          at, [&] { return back ? Back() : There(); }, second);
      EXPECT_FALSE(Lives(a_) && Lives(b_));
      MakeReady(a_);
      MakeReady(b_);
      if (!back) ExpectThatItGoesThere();
      ExpectThatItGoesBack();
      if (HasFailure()) return;
      if (came) continue;
      EXPECT_GT(at, 30);
      EXPECT_GT(refused_, 0);
      return;
    }
  }

  void ExpectThatItGoesThere() {
    Outcome there = There();
    ASSERT_EQ(there.code, 0) << there.err;
    ExpectMoved();
    MakeReady(b_);
  }
  void ExpectThatItGoesBack() {
    Outcome back = Back();
    ASSERT_EQ(back.code, 0) << back.err;
    ASSERT_EQ(Essences(a_), before_);
    MakeReady(a_);
  }
  // Whatever a run left: no Cluster lives in both; another one completes it, and it can be taken back.
  void ExpectThatItGoesOn() {
    EXPECT_FALSE(Lives(a_) && Lives(b_));
    MakeReady(a_);
    MakeReady(b_);
    ExpectThatItGoesThere();
    ExpectThatItGoesBack();
  }

  int refused_ = 0;
};

// L17: a move back while one is under way, begun before any of its writes: no object is deleted in both clusters.
TEST_F(Races, LoseNothingToAMoveBack) {
  ExpectThatOneGoesOn(ByLength(3, 1, 1), /*back=*/false, [&] { return Back(); });
}

// L17: the same.
TEST_F(Races, LoseNothingToTheSameMove) {
  ExpectThatOneGoesOn(ByLength(7, 3, 3), /*back=*/false, [&] { return There(); });
}

// L17: a move that is complete, repeated while one goes back, resumes nothing of that one's. A copy that is made when
// it has ended already may be left, paused: the way back goes on with it.
TEST_F(Races, LoseNothingToACompleteMoveRepeated) {
  ExpectThatOneGoesOn(ByLength(7, 1, 1), /*back=*/true, [&] { return There(); });
}

// L17: who takes over from a run that has created something doesn't resume the Clusters.
TEST_F(Races, KeepPausedWhatAnotherRunHasBegun) {
  Before(b_, Is("POST", "/namespaces"), [&] {
    b_.OnWrite([&](const std::string& method, const std::string& target) {
      if (method == "POST" && target.find("/machinedeployments") != target.npos) allowance_.Set(0);
    });
    EXPECT_EQ(There().code, 1);
    b_.OnWrite({});
    allowance_.Set(-1);
    Before(a_, Is("PATCH", "/clusters/one"), [&] {
      fleet_.Add("Machine", "late", "one-md")["spec"]["clusterName"] = "one";
      fleet_.Made();
    });
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("objects came, or changed, while the Clusters were being paused"));
  EXPECT_THAT(got.err, HasSubstr("The Clusters stay paused. The same command again goes on"));
  EXPECT_TRUE(b_.Find("Cluster", "team", "one"));
  EXPECT_FALSE(Lives(a_));
}

// L17: nothing is deleted below a Cluster that lives.
TEST_F(Races, DeleteNothingOfAClusterThatWasResumed) {
  Before(b_, Is("POST", "/machines"), [&] { Resume(a_); });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("nothing was deleted in the source: not all of the source is paused: Cluster team/one "
                                 "was resumed, or another move has paused it. The Clusters stay paused"));
  EXPECT_TRUE(a_.Find("Machine", "team", "one-m"));
  EXPECT_FALSE(Lives(b_));
  ExpectThatItGoesOn();
}

// L17: a run that was taken over while it paused Clusters leaves them, and says of them that another one goes on,
// whether it knows of that when it fails or not.
TEST_F(Races, LeaveClustersToTheOneThatTookOver) {
  for (const bool knows : {true, false}) {
    SCOPED_TRACE(knows);
    Before(a_, Is("PATCH", "/clusters/one"), [&] {
      TakeOver(a_);
      fleet_.Add(knows ? "Template" : "Machine", "late", "one-md")["spec"]["clusterName"] = "one";
      fleet_.Made();
    });
    Outcome got = There();
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("goes on in this one's place. Wait for its end"));
    EXPECT_THAT(got.err, Not(HasSubstr("the same command again")));
    EXPECT_FALSE(Lives(a_));
    a_.OnWrite({});
    a_.Remove(knows ? "Template" : "Machine", "team", "late");
    ExpectThatItGoesOn();
  }
}

// L17: nor does a run resume what another one, that took over, counts on.
TEST_F(Races, ResumeNothingForOneThatTookOver) {
  b_.OnRead([&](const std::string& target) {
    if (target.find("/clusters/one") != target.npos) TakeOver(a_);
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("another move of the namespace team was begun meanwhile"));
  EXPECT_TRUE(b_.Find("Cluster", "team", "one"));
  EXPECT_FALSE(Lives(b_));
  b_.OnRead({});
  ExpectThatItGoesOn();
}

// L17: after a moment, in which whoever resumes it, or makes objects, may come to see the pause.
TEST_F(Races, PauseAgainWhatIsResumedBeforeItIsCopied) {
  std::chrono::steady_clock::time_point resumed;
  Json machine = *a_.Find("Machine", "team", "one-m");
  Json blocked = machine;
  blocked["metadata"]["annotations"][kBlock] = "";
  a_.Put(blocked);
  a_.OnRead([&](const std::string& target) {
    if (target.find("/machines/one-m") == target.npos) return;
    a_.OnRead({});
    a_.Put(machine);
    Resume(a_);
    resumed = std::chrono::steady_clock::now();
    Before(a_, Is("PATCH", "/clusters/one"),
           [&] { EXPECT_GE(std::chrono::steady_clock::now() - resumed, std::chrono::milliseconds(500)); });
  });
  Before(b_, Is("POST", "/clusterclasses"), [&] { EXPECT_FALSE(Lives(a_)); });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: of two that take the namespace at once, one goes on: the first cluster says which.
TEST_F(Races, EndOneOfTwoAlone) {
  Before(b_, Is("POST", "/clusterclasses"), [&] { TakeOver(b_); });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: where a run could mark but one cluster, that one decides.
TEST_F(Races, EndWhereTheOnlyMarkIsAnothers) {
  a_.Forbid("PATCH", "configmaps");
  Before(b_, Is("POST", "/clusterclasses"), [&] { TakeOver(b_); });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("goes on in this one's place"));
  EXPECT_TRUE(b_.Find("ConfigMap", "team", std::string(kClaimName)));
}

// L17: a move between other clusters counts in either one.
TEST_F(Races, EndWhereAMoveToAThirdClusterGoesOn) {
  for (auto [cluster, group] : {std::pair(&a_, "/clusterclasses"), {&b_, "/clusters"}}) {
    Before(b_, Is("POST", group), [&, cluster = cluster] {
      Json claim = *cluster->Find("ConfigMap", "team", std::string(kClaimName));
      claim["data"] = {{"run", "another"}, {"from", "c"}, {"to", "d"}};
      cluster->Put(claim);
    });
    Outcome got = There();
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(
        got.err,
        HasSubstr("goes on in this one's place. Wait for its end. If Clusters are paused then, move them again\n"));
    EXPECT_TRUE(cluster->Find("ConfigMap", "team", std::string(kClaimName)));
  }
}

// L17: who may not mark the namespace moves as before, and hears of it.
TEST_F(Races, NeedNoPermissionForTheirMark) {
  b_.Forbid("DELETE", "configmaps");
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: the ConfigMap team/move.operator.cluster.x-k8s.io, the mark of this move, "
                                 "could not be removed"));
  EXPECT_TRUE(b_.Find("ConfigMap", "team", std::string(kClaimName)));
  MakeReady(b_);
  a_.Forbid("PATCH", "configmaps");
  got = Back();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("moves of it at the same time aren't noticed"));
  EXPECT_EQ(Essences(a_), before_);
}

// L17: an edit of what a move back finds in its place isn't undone by the copy.
TEST_F(Races, KeepAnEditOfTheOriginal) {
  Before(a_, Is("PATCH", "/machines/"), [&] { allowance_.Set(0); });
  ASSERT_EQ(There().code, 1);
  allowance_.Set(-1);
  Json secret = *a_.Find("Secret", "team", "two-kubeconfig");
  secret["data"] = {{"value", "ZWRpdGVk"}};
  a_.Put(secret);
  // Nor where that is interrupted, too.
  Before(b_, Is("PATCH", "/machines/"), [&] { allowance_.Set(0); });
  ASSERT_EQ(Back().code, 1);
  allowance_.Set(-1);
  MakeReady(b_);
  Outcome back = Back();
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_THAT(back.err, HasSubstr("Secret team/two-kubeconfig differs at data in the target, which has the original"));
  EXPECT_EQ(a_.Find("Secret", "team", "two-kubeconfig")->at("data"), secret["data"]);
  EXPECT_FALSE(b_.Find("Secret", "team", "two-kubeconfig"));
  EXPECT_TRUE(Lives(a_));
}

// L17: what vanishes in the target is created once more.
TEST_F(Races, CreateAgainWhatVanishes) {
  for (const char* method : {"PATCH", "PUT"}) {
    SCOPED_TRACE(method);
    CutAt(a_, "PATCH", "/machines/", [&] { return There(); });
    Json secret = *a_.Find("Secret", "team", "one-kubeconfig");
    if (method == std::string("PUT")) secret["data"]["value"] = "ZWRpdGVk";
    a_.Put(secret);
    Before(b_, Is(method, "/secrets/one-kubeconfig"), [&] { b_.Remove("Secret", "team", "one-kubeconfig"); });
    Outcome got = There();
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(b_.Find("Secret", "team", "one-kubeconfig").value_or(Json())["data"], secret["data"]);
    EXPECT_FALSE(a_.Find("Secret", "team", "one-kubeconfig"));
    b_.OnWrite({});
    MakeReady(b_);
    ASSERT_EQ(Back().code, 0);
    MakeReady(a_);
  }
}

// L17: what the target had, equal, before the move, gets the change, and keeps what it has beyond.
TEST_F(Races, TakeAChangeToWhatTheTargetHad) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  Json& has = there.Add("Secret", "two-kubeconfig", "docker");
  has["data"]["more"] = "eA==";
  has["metadata"]["managedFields"] = {{{"manager", "of the target"}}};
  has["metadata"]["finalizers"] = {"example.com/mine"};
  there.Made();
  const Json owners = a_.Find("Machine", "team", "two-m")->at("metadata").at("ownerReferences");
  Before(a_, Is("PATCH", "/secrets/two-kubeconfig"), [&] {
    Json secret = *a_.Find("Secret", "team", "two-kubeconfig");
    secret["data"]["value"] = "ZWRpdGVk";
    secret["metadata"]["managedFields"] = {{{"manager", "of the source"}}};
    secret["metadata"]["finalizers"] = {"example.com/source"};
    secret["metadata"]["ownerReferences"] = owners;
    a_.Put(secret);
  });
  // It has no Cluster above it in the target, as long as that isn't there: it is joined.
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  const Json both = *b_.Find("Secret", "team", "two-kubeconfig");
  EXPECT_EQ(both["data"], Json({{"more", "eA=="}, {"value", "ZWRpdGVk"}}));
  EXPECT_EQ(both["metadata"]["managedFields"], Json({{{"manager", "of the target"}}}));
  EXPECT_EQ(both["metadata"]["finalizers"], Json({"example.com/mine", "example.com/source"}));
  EXPECT_EQ(both["metadata"]["ownerReferences"].size(), 2);
}

// L17: a refusal says that Clusters are paused.
TEST_F(Races, SayThatClustersStayPaused) {
  fleet_.Add("Template", "alone")["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move"] = "";
  fleet_.Made();
  Before(a_, Is("DELETE", ""), [&] { allowance_.Set(0); });
  ASSERT_EQ(There().code, 1);
  allowance_.Set(-1);
  Json alone = *a_.Find("Template", "team", "alone");
  alone["spec"]["of"] = "edited";
  a_.Put(alone);
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Template team/alone differs at spec.of. The Clusters stay paused"));
}

// L17: the one that began last goes on, the other says so.
TEST_F(Races, EndWhereAnotherMoveGoesOn) {
  Before(a_, Is("DELETE", "/machines/one-m"), [&] {
    a_.OnWrite({});
    Outcome back = Back();
    EXPECT_EQ(back.code, 0) << back.err;
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("another move of the namespace team was begun meanwhile, and has ended in this one's "
                                 "place. If Clusters are paused, move them again\n"));
  EXPECT_EQ(Essences(a_), before_);
  EXPECT_EQ(b_.Find("ConfigMap", "team", std::string(kClaimName)), std::nullopt);
}

// L17: an object that the target has already is changed before the source's goes, so that who is about to delete it
// there finds it changed.
TEST_F(Races, TouchWhatTheTargetHas) {
  ASSERT_EQ(There().code, 0);
  MakeReady(b_);
  fleet_.Make("Secret", "one-kubeconfig");
  const std::string version = a_.Find("Secret", "team", "one-kubeconfig")->at("metadata").at("resourceVersion");
  Before(b_, Is("DELETE", ""), [&] {
    Json there = *a_.Find("Secret", "team", "one-kubeconfig");
    EXPECT_NE(there["metadata"]["resourceVersion"], version);
    EXPECT_FALSE(there["metadata"].value("annotations", Json::object()).contains(kRunAnnotation)) << there;
  });
  Outcome back = Back();
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(Essences(a_), before_);
}

// L17: what is changed between its copy and its deletion is copied again.
TEST_F(Races, KeepAnEditOfTheLastMoment) {
  for (const char* method : {"PATCH", "DELETE"}) {
    SCOPED_TRACE(method);
    Before(a_, Is(method, "/secrets/two-kubeconfig"), [&] {
      Json secret = *a_.Find("Secret", "team", "two-kubeconfig");
      secret["data"] = {{"another", "ZWRpdGVk"}};
      a_.Put(secret);
    });
    Outcome got = There();
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(b_.Find("Secret", "team", "two-kubeconfig")->at("data"), Json({{"another", "ZWRpdGVk"}}));
    EXPECT_EQ(a_.Find("Secret", "team", "two-kubeconfig"), std::nullopt);
    a_.OnWrite({});
    Json secret = *b_.Find("Secret", "team", "two-kubeconfig");
    secret["data"] = {{"value", Base64Encode("two-kubeconfig")}};
    b_.Put(secret);
    MakeReady(b_);
    ASSERT_EQ(Back().code, 0);
    ASSERT_EQ(Essences(a_), before_);
    MakeReady(a_);
  }
}

// L17: a status that changes is no edit.
TEST_F(Races, DoNotMindAStatus) {
  Before(a_, Is("PATCH", "/machines/one-m"), [&] {
    Json machine = *a_.Find("Machine", "team", "one-m");
    machine["status"]["phase"] = "Paused";
    a_.Put(machine);
  });
  std::atomic<int> writes = 0;
  b_.OnWrite([&](const std::string&, const std::string& target) {
    if (target.find("/machines/one-m") != target.npos) ++writes;
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(writes, 0);
  ExpectMoved();
}

// L17: nothing is stranded in the source by a finalizer that came late.
TEST_F(Races, RemoveAFinalizerOfTheLastMoment) {
  Before(a_, Is("DELETE", "/secrets/one-kubeconfig"), [&] {
    Json secret = *a_.Find("Secret", "team", "one-kubeconfig");
    secret["metadata"]["finalizers"] = {"example.com/late"};
    a_.Put(secret);
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(a_.Find("Secret", "team", "one-kubeconfig"), std::nullopt);
  EXPECT_EQ(b_.Find("Secret", "team", "one-kubeconfig")->at("metadata").at("finalizers"), Json({"example.com/late"}));
}

// L17: what has no finalizers is gone when it is deleted: whatever is made in its place then is another's.
TEST_F(Races, TouchNothingThatIsGone) {
  std::atomic<int> patches = 0;
  a_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "PATCH" && target.find("/secrets/two-kubeconfig") != target.npos) ++patches;
  });
  ASSERT_EQ(There().code, 0);
  EXPECT_EQ(patches, 1);
}

// L17: a controller that hasn't seen the pause yet makes an object, which isn't ready to move at once. It moves too.
TEST_F(Races, TakeWhatComesWhileClustersArePaused) {
  Before(a_, Is("PATCH", "/clusters/one"), [&] {
    fleet_.Add("Template", "late", "one")["metadata"]["annotations"] = {{kBlock, ""}};
    fleet_.Made();
  });
  a_.OnRead([&](const std::string& target) {
    if (target.find("/templates/late") == target.npos) return;
    Json late = *a_.Find("Template", "team", "late");
    late["metadata"].erase("annotations");
    a_.Put(late);
  });
  Before(b_, Is("POST", "/clusterclasses"),
         [&] { EXPECT_FALSE(a_.Find("Template", "team", "late")->at("metadata").contains("annotations")); });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(b_.Find("Template", "team", "late"));
  EXPECT_FALSE(a_.Find("Template", "team", "late"));
}

// L17.
TEST_F(Races, ResumeWhereWhatComesIsNotReady) {
  Before(a_, Is("PATCH", "/clusters/one"), [&] {
    fleet_.Add("Machine", "late", "one-md")["spec"]["clusterName"] = "one";
    fleet_.Made();
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("objects came, or changed, while the Clusters were being paused"));
  EXPECT_THAT(got.err, HasSubstr("is still provisioning the node"));
  a_.Remove("Machine", "team", "late");
  EXPECT_EQ(Essences(a_), before_);
  EXPECT_FALSE(b_.Find("Cluster", "team", "one"));
}

// L17: what a run that was taken over copies at the last moment never becomes ready, being paused.
TEST_F(Races, TakeBackWhatIsCopiedAtTheLastMoment) {
  CutAt(b_, "POST", "/machines", [&] { return There(); });
  Before(b_, Is("PATCH", "/clusters/one"), [&] {
    for (FakeCluster* cluster : {&a_, &b_}) {
      Json three = *cluster->Find("Cluster", "team", "one");
      three["metadata"]["name"] = "three";
      three["metadata"].erase("uid");
      cluster->Put(three);
    }
  });
  Outcome back = Back();
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_FALSE(b_.Find("Cluster", "team", "three"));
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "three"))));
}

// L17: what comes later still isn't left to go with its owner.
TEST_F(Races, DeleteNothingWhereSomethingCameMeanwhile) {
  Before(b_, Is("POST", "/machines"), [&] { fleet_.Make("Template", "late", "one"); });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Template team/late came while objects were being copied. The Clusters stay paused"));
  EXPECT_TRUE(a_.Find("Machine", "team", "one-m"));
  got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(b_.Find("Template", "team", "late"));
  EXPECT_FALSE(a_.Find("Template", "team", "late"));
}

}  // namespace
}  // namespace capi::cli::move
