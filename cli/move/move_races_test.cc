// `clusterctl move` while something else happens: another move, an edit, a controller that hasn't seen the pause yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "cli/move/claim.h"
#include "cli/move/move_testing.h"
#include "cli/move/record.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;

constexpr char kBlock[] = "clusterctl.cluster.x-k8s.io/block-move";

class Races : public Moves {
 protected:
  // Does `what` once, before the first write for which `is_it` holds, of a request to `cluster`.
  void Before(FakeCluster& cluster, std::function<bool(const std::string& method, const std::string& target)> is_it,
              std::function<void()> what) {
    auto done = std::make_shared<std::atomic<bool>>(false);
    cluster.OnWrite([=](const std::string& method, const std::string& target) {
      if (is_it(method, target) && !done->exchange(true)) what();
    });
  }
  static auto Is(std::string method, std::string part) {
    return [=](const std::string& m, const std::string& target) {
      return m == method && target.find(part) != target.npos;
    };
  }

  // `other` is run as a whole before the write number `at` of what goes there, whatever cluster that is of. Whether it
  // came to that.
  bool RunWithin(int at, const std::function<Outcome()>& other) {
    std::atomic<int> writes = 0;
    std::atomic<bool> ran = false;
    for (FakeCluster* cluster : {&a_, &b_}) {
      cluster->OnWrite([&](const std::string&, const std::string&) {
        if (writes++ != at) return;
        ran = true;
        other();
      });
    }
    There();
    for (FakeCluster* cluster : {&a_, &b_}) cluster->OnWrite({});
    return ran;
  }

  // Whatever two runs left: another one completes it, and it can be taken back.
  void ExpectThatItGoesOn() {
    MakeReady(a_);
    MakeReady(b_);
    Outcome again = There();
    ASSERT_EQ(again.code, 0) << again.err;
    ExpectMoved();
    MakeReady(b_);
    Outcome back = Back();
    ASSERT_EQ(back.code, 0) << back.err;
    ASSERT_EQ(Essences(a_), before_);
    MakeReady(a_);
  }
};

// L17: a move back while one is under way, begun before any of its writes: no object is deleted in both clusters.
TEST_F(Races, LoseNothingToAMoveBack) {
  for (int at = 0;; ++at) {
    SCOPED_TRACE(at);
    const bool came = RunWithin(at, [&] { return Back(); });
    ExpectThatItGoesOn();
    if (HasFailure()) return;
    if (came) continue;
    EXPECT_GT(at, 30);
    return;
  }
}

// L17.
TEST_F(Races, LoseNothingToTheSameMove) {
  for (int at = 0;; at += 3) {
    SCOPED_TRACE(at);
    const bool came = RunWithin(at, [&] { return There(); });
    ExpectThatItGoesOn();
    if (HasFailure()) return;
    if (came) continue;
    EXPECT_GT(at, 30);
    return;
  }
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
  EXPECT_THAT(got.err, HasSubstr("another move of the namespace team was begun meanwhile, and goes on in this one's "
                                 "place"));
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
  EXPECT_THAT(got.err, HasSubstr("objects came while the Clusters were being paused"));
  EXPECT_THAT(got.err, HasSubstr("is still provisioning the node"));
  a_.Remove("Machine", "team", "late");
  EXPECT_EQ(Essences(a_), before_);
  EXPECT_FALSE(b_.Find("Cluster", "team", "one"));
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
