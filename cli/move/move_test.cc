// `clusterctl move` between clusters in memory: what it leaves, and that it goes on after an interruption at any write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/length.h"
#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;
using testing::Not;

// L17.
TEST_F(Moves, TakeAllThatBelongsToTheClusters) {
  Outcome got = There({"-v1"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(got.out, "");
  EXPECT_THAT(got.err,
              HasSubstr("Moving Cluster API objects Clusters=2\nMoving Cluster API objects ClusterClasses=1\n"));
  EXPECT_THAT(got.err, HasSubstr("Cluster team/two is paused, and stays so\n"));
  EXPECT_THAT(got.err, HasSubstr("Creating Machine=\"one-m\" Namespace=\"team\"\n"));
  EXPECT_THAT(got.err, HasSubstr("Deleting Machine=\"one-m\" Namespace=\"team\"\n"));
  EXPECT_THAT(got.err, Not(HasSubstr("foreign")));
  ExpectMoved();
}

// L17: an interruption at any write; the same command again completes it.
TEST_F(Moves, GoOnAfterAnInterruption) {
  for (int n = 0;; n += ByLength(2, 1, 1)) {
    SCOPED_TRACE(n);
    allowance_.Set(n);
    const bool whole = There().code == 0;
    allowance_.Set(-1);
    Outcome again = There();
    ASSERT_EQ(again.code, 0) << again.err;
    ExpectMoved();
    if (whole || HasFailure()) {
      EXPECT_GT(n, 30);
      return;
    }
    MakeReady(b_);
    Outcome back = Back();
    ASSERT_EQ(back.code, 0) << back.err;
    ASSERT_EQ(Essences(a_), before_);
    MakeReady(a_);
  }
}

// L17: so does a move into the other direction, which leaves all as it was before.
TEST_F(Moves, GoBackAfterAnInterruption) {
  for (int n = 0;; n += ByLength(2, 1, 1)) {
    SCOPED_TRACE(n);
    allowance_.Set(n);
    const bool whole = There().code == 0;
    allowance_.Set(-1);
    MakeReady(b_);
    Outcome back = Back();
    ASSERT_EQ(back.code, 0) << back.err;
    ASSERT_EQ(Essences(a_), before_);
    if (whole) {
      EXPECT_GT(n, 30);
      return;
    }
    MakeReady(a_);
  }
}

// L17: so does one after two of them, though Machines that were copied back have no status while a move holds them.
TEST_F(Moves, GoOnAfterTwoInterruptions) {
  const int step = ByLength(15, 5, 1);
  for (int n = step;; n += step) {
    allowance_.Set(n);
    if (There().code == 0) break;
    for (int m = step;; m += step) {
      SCOPED_TRACE(fmt::format("{}, {}", n, m));
      allowance_.Set(m);
      const bool whole = Back().code == 0;
      allowance_.Set(-1);
      MakeReady(a_);
      Outcome again = There();
      ASSERT_EQ(again.code, 0) << again.err;
      ExpectMoved();
      MakeReady(b_);
      Outcome back = Back();
      ASSERT_EQ(back.code, 0) << back.err;
      ASSERT_EQ(Essences(a_), before_);
      MakeReady(a_);
      if (whole) break;
      allowance_.Set(n);
      ASSERT_EQ(There().code, 1);
    }
  }
}

// L17: nothing is left paused though the namespace, which a move had emptied, was deleted since: the run that resumes.
TEST_F(Moves, ResumeWhereTheNamespaceIsGone) {
  auto expect = [&](FakeCluster& from, FakeCluster& to, const std::function<Outcome()>& move) {
    CutAt(to, "PATCH", "/clusters/one", move);
    for (const Json& object : from.All())
      if (GetString(object, {"metadata", "namespace"}) == "team")
        from.Remove(object["kind"], "team", object["metadata"]["name"]);
    from.Remove("Namespace", "", "team");
    Outcome got = move();
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_THAT(got.err, HasSubstr("The move had been interrupted"));
    EXPECT_FALSE(IsPaused(kube::Object(*to.Find("Cluster", "team", "one"))));
    EXPECT_FALSE(to.Find("ConfigMap", "team", "move.operator.cluster.x-k8s.io"));
  };
  expect(a_, b_, [&] { return There(); });
  MakeReady(b_);
  expect(b_, a_, [&] { return Back(); });
}

// L17: before anything is changed.
TEST_F(Moves, RefuseWhatIsInTheWay) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  there.Add("Secret", "one-kubeconfig")["data"] = {{"value", "c2VjcmV0"}};
  there.Made();
  allowance_.Set(-1);
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err,
              HasSubstr("the target cluster has objects that are in the way. Delete them there, or make them equal: "
                        "Secret team/one-kubeconfig differs at data\n"));
  EXPECT_EQ(allowance_.taken(), 0);
  // An equal one is no hindrance, where it can be compared.
  there.Add("Secret", "one-kubeconfig");
  there.Made();
  a_.OnRead([&](const std::string& target) {
    if (target.find("/secrets/one-kubeconfig") == target.npos) return;
    a_.OnRead({});
    Json another = *a_.Find("Secret", "team", "one-kubeconfig");
    another["metadata"].erase("uid");
    a_.Put(another);
  });
  EXPECT_THAT(There().err, HasSubstr("Secret team/one-kubeconfig can't be compared; run the same command again: it was "
                                     "deleted and made again meanwhile\n"));
  got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17.
TEST_F(Moves, RefuseAClusterThatLivesInTheTarget) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  there.Add("Cluster", "one")["spec"] = a_.Find("Cluster", "team", "one")->at("spec");
  there.Made();
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Cluster team/one is there already, and isn't paused"));
}

// L17: an equal object of the target keeps what it has beyond the source's, and gets the source's owners and
// finalizers.
TEST_F(Moves, TakeNothingFromWhatTheTargetHas) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  there.Make("ConfigMap", "owner");
  Json& secret = there.Add("Secret", "one-kubeconfig", "owner");
  secret["data"]["more"] = "eA==";
  secret["metadata"]["finalizers"] = {"example.com/mine", "example.com/both"};
  there.Made();
  Json source = *a_.Find("Secret", "team", "one-kubeconfig");
  source["metadata"]["finalizers"] = {"example.com/both", "example.com/source"};
  source["metadata"]["ownerReferences"] = {
      {{"kind", "Cluster"}, {"uid", a_.Find("Cluster", "team", "one")->at("metadata").at("uid")}}};
  source["metadata"]["managedFields"] = {{{"manager", "kubectl"}}};
  a_.Put(source);
  const Json before = *b_.Find("Secret", "team", "one-kubeconfig");
  ASSERT_EQ(There().code, 0);
  Json after = *b_.Find("Secret", "team", "one-kubeconfig");
  EXPECT_EQ(after["data"], before["data"]);
  EXPECT_EQ(after["metadata"]["finalizers"], Json({"example.com/mine", "example.com/both", "example.com/source"}));
  const Json owners = after["metadata"]["ownerReferences"];
  ASSERT_EQ(owners.size(), 2) << owners;
  EXPECT_EQ(owners[0]["uid"], b_.Find("Cluster", "team", "one")->at("metadata").at("uid"));
  EXPECT_EQ(owners[1], before["metadata"]["ownerReferences"][0]);
  EXPECT_EQ(after["metadata"]["labels"], before["metadata"]["labels"]);
  EXPECT_FALSE(after["metadata"].contains("managedFields")) << after;
}

// L17: a class that others use works on in the source, and in the target from the start: no interruption leaves it
// paused.
TEST_F(Moves, NeverPauseAClassThatStays) {
  fleet_.Make("Namespace", "shared", "", "");
  fleet_.Make("ClusterClass", "common", "", "shared");
  Json one = *a_.Find("Cluster", "team", "one");
  one["spec"]["topology"]["classRef"] = {{"name", "common"}, {"namespace", "shared"}};
  a_.Put(one);
  const Json before = *a_.Find("ClusterClass", "shared", "common");
  auto is_paused = [&] { return IsPaused(kube::Object(*b_.Find("ClusterClass", "shared", "common"))); };
  b_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method != "POST" || target.find("/machines") == target.npos) return;
    EXPECT_FALSE(is_paused());
    allowance_.Set(0);
  });
  ASSERT_EQ(There().code, 1);
  b_.OnWrite({});
  allowance_.Set(-1);
  const Json copy = *b_.Find("ClusterClass", "shared", "common");
  ASSERT_EQ(There().code, 0);
  EXPECT_EQ(*b_.Find("ClusterClass", "shared", "common"), copy);
  EXPECT_EQ(*a_.Find("ClusterClass", "shared", "common"), before);
  EXPECT_FALSE(is_paused());
}

// L17: nor one that was to leave when a move was interrupted, and stays now.
TEST_F(Moves, ResumeAClassThatStaysNow) {
  b_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "POST" && target.find("/clusterclasses") != target.npos) allowance_.Set(0);
  });
  ASSERT_EQ(There().code, 1);
  b_.OnWrite({});
  allowance_.Set(-1);
  ASSERT_TRUE(IsPaused(kube::Object(*a_.Find("ClusterClass", "team", "quick"))));
  fleet_.Add("Cluster", "user", "", "elsewhere")["spec"]["topology"]["classRef"] = {{"name", "quick"},
                                                                                    {"namespace", "team"}};
  fleet_.Made();
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  for (FakeCluster* cluster : {&a_, &b_}) {
    const Json quick = cluster->Find("ClusterClass", "team", "quick").value();
    EXPECT_TRUE(quick["metadata"].value("annotations", Json::object()).empty()) << quick;
  }
}

// L17: a Cluster runs in one of them, whoever owns it.
TEST_F(Moves, TakeAClusterBelowAnObjectOfTheWholeCluster) {
  Json one = *a_.Find("Cluster", "team", "one");
  one["metadata"]["ownerReferences"] = {{{"apiVersion", "x/v1"},
                                         {"kind", "Identity"},
                                         {"name", "identity"},
                                         {"uid", a_.Find("Identity", "", "identity")->at("metadata").at("uid")}}};
  a_.Put(one);
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(b_.Find("Cluster", "team", "one"));
  EXPECT_FALSE(a_.Find("Cluster", "team", "one"));
  EXPECT_FALSE(a_.Find("Machine", "team", "one-m"));
  EXPECT_TRUE(a_.Find("Identity", "", "identity"));
}

// L17: also where nothing of the namespace moves, an error says what to do.
TEST_F(Moves, SayWhatToDoWhereTheyOnlyCopy) {
  b_.Forbid("POST", "identities");
  EXPECT_THAT(There({"--namespace", "nowhere"}).err,
              HasSubstr("the same command again goes on where this one ended: failed to create Identity identity"));
}

// L17: who resumes a Cluster by hand finds nothing of the move on it in the end.
TEST_F(Moves, LeaveNoRecord) {
  a_.OnWrite([&](const std::string& method, const std::string&) {
    if (method != "DELETE") return;
    Json one = *b_.Find("Cluster", "team", "one");
    one["spec"].erase("paused");
    b_.Put(one);
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: of what the whole cluster shares the target's own stays, and that is told.
TEST_F(Moves, LeaveSharedObjectsOfTheTargetAsTheyAre) {
  Fleet there(b_);
  there.Add("Identity", "identity", "", "")["spec"] = {{"of", "another"}};
  there.Made();
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err,
              HasSubstr("Warning: Identity identity differs at spec.of in the target, where it stays as it is\n"));
  EXPECT_EQ(b_.Find("Identity", "", "identity")->at("spec").at("of"), "another");
}

// L17.
TEST_F(Moves, RefuseBeforeAnythingIsChanged) {
  struct Case {
    std::function<void()> change;
    std::vector<std::string> flags;
    const char* error;
  };
  auto change = [&](const char* kind, const char* name, auto how) {
    return [this, kind, name, how] {
      Json object = *a_.Find(kind, "team", name);
      how(object);
      a_.Put(object);
    };
  };
  const std::string to_itself = folder_ / "a";
  const Case cases[] = {
      {[] {},
       {"--kubeconfig", to_itself, "--to-kubeconfig", to_itself},
       "source and target are the same management cluster"},
      {[&] { b_.Remove("Provider", "provider", "docker"); },
       {},
       "failed to check providers in target cluster: provider infrastructure-docker not found in the target cluster"},
      {change("Cluster", "one", [](Json& object) { object.erase("status"); }),
       {},
       "is still provisioning the infrastructure"},
      {change("Machine", "one-m", [](Json& object) { object["status"].erase("nodeRef"); }),
       {},
       "is still provisioning the node"},
      {change("Machine", "one-m", [](Json& object) { object["metadata"]["deletionTimestamp"] = "t"; }),
       {},
       "cannot start the move operation while Machine team/one-m is being deleted"},
      {[&] { b_.Remove("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io"); },
       {},
       "customresourcedefinitions.apiextensions.k8s.io \"clusters.cluster.x-k8s.io\" not found"},
  };
  const auto source = a_.All();
  const auto provider = *b_.Find("Provider", "provider", "docker");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.error);
    for (const Json& object : source) a_.Put(object);
    b_.Put(provider);
    c.change();
    allowance_.Set(-1);
    Outcome got = c.flags.empty() ? There() : Run(c.flags);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr(c.error));
    EXPECT_EQ(allowance_.taken(), 0);
  }
}

// L17.
TEST_F(Moves, SayThatThereIsNoCluster) {
  Outcome got = There({"--namespace", "elsewhere"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err,
              HasSubstr("Warning: 0 Clusters: there is none in namespace \"elsewhere\" of the source; there are some "
                        "in team (--namespace)\n"));
}

// L17.
TEST_F(Moves, TellOfKindsThatTheyDoNotKnow) {
  Json crd = *a_.Find("CustomResourceDefinition", "", "machines.cluster.x-k8s.io");
  crd["metadata"]["name"] = "strangers.cluster.x-k8s.io";
  crd["metadata"]["labels"] = {{"cluster.x-k8s.io/provider", "x"}};
  a_.Put(crd);
  EXPECT_THAT(There().err, HasSubstr("Warning: CustomResourceDefinition strangers.cluster.x-k8s.io lacks the label "
                                     "clusterctl.cluster.x-k8s.io: its objects aren't moved\n"));
}

// L17: a dry run lists what would be done.
TEST_F(Moves, ChangeNothingInADryRun) {
  allowance_.Set(-1);
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--to-directory", folder_.path()}, {"--to-kubeconfig", folder_ / "b"}}) {
    std::vector<std::string> all = {"--kubeconfig", folder_ / "a", "--dry-run"};
    all.insert(all.end(), flags.begin(), flags.end());
    Outcome got = Run(all);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_THAT(got.err, HasSubstr("This is a dry-run move, will not perform any real action\n"));
    EXPECT_THAT(got.err, HasSubstr("Machine=\"one-m\" Namespace=\"team\"\n"));
  }
  EXPECT_EQ(allowance_.taken(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "Cluster_team_one.yaml"));
}

// L17: a dry run looks at the target too, and says what the move would be refused for.
TEST_F(Moves, TellInADryRunWhatTheyWouldBeRefusedFor) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  there.Add("Secret", "one-kubeconfig")["data"] = {{"value", "c2VjcmV0"}};
  there.Made();
  b_.Remove("Provider", "provider", "docker");
  allowance_.Set(-1);
  Outcome got = There({"--dry-run"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("provider infrastructure-docker not found in the target cluster\n"));
  EXPECT_THAT(got.err, HasSubstr("Secret team/one-kubeconfig differs at data\n"));
  EXPECT_THAT(got.err, HasSubstr("Creating Machine=\"one-m\" Namespace=\"team\"\n"));
  EXPECT_EQ(allowance_.taken(), 0);
  got = Run({"--kubeconfig", folder_ / "a", "--to-kubeconfig", folder_ / "a", "--dry-run"});
  EXPECT_THAT(got.err, HasSubstr("source and target are the same management cluster"));
  // One that can't be looked at hinders no plan: Cluster API's clusterctl doesn't look at all.
  b_.Remove("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io");
  for (const char* target : {"none", "b"}) {
    got = Run({"--kubeconfig", folder_ / "a", "--to-kubeconfig", folder_ / target, "--dry-run"});
    EXPECT_EQ(got.code, 0);
    EXPECT_THAT(got.err, HasSubstr("Warning: the target can't be looked at: "));
    EXPECT_THAT(got.err, HasSubstr("Creating Machine=\"one-m\" Namespace=\"team\"\n"));
  }
  EXPECT_THAT(Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "none", "--dry-run"}).err,
              HasSubstr("there is no such folder"));
}

// L17: a provider that isn't ready is waited for, once its Cluster is paused.
TEST_F(Moves, WaitForABlockedObject) {
  Json machine = *a_.Find("Machine", "team", "one-m");
  machine["metadata"]["annotations"]["clusterctl.cluster.x-k8s.io/block-move"] = "";
  a_.Put(machine);
  a_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method != "PATCH" || target.find("/clusters/one") == target.npos ||
        !machine["metadata"].contains("annotations"))
      return;
    machine["metadata"].erase("annotations");
    a_.Put(machine);
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

// L17: where a move can't go on before it has created anything, it takes its pause back.
TEST_F(Moves, ResumeWhereTheyCannotBegin) {
  a_.OnWrite([&](const std::string&, const std::string& target) {
    if (target.find("/clusterclasses/") != target.npos) a_.Remove("ClusterClass", "team", "quick");
  });
  Outcome got = There();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to pause ClusterClass team/quick"));
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  EXPECT_TRUE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "two"))));
}

const Json kReady = {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};

// L17: those that an interrupted run has created are waited for, too.
TEST_F(Moves, WaitForProvidersThatAreThere) {
  fleet_.Make("InfrastructureProvider", "aws", "", "provider");
  Fleet(b_).Make("InfrastructureProvider", "aws", "", "provider");
  b_.OnRead([&](const std::string& target) {
    if (target.find("/infrastructureproviders/aws") == target.npos) return;
    Json aws = *b_.Find("InfrastructureProvider", "provider", "aws");
    aws["status"] = kReady;
    b_.Put(aws);
  });
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(b_.Find("InfrastructureProvider", "provider", "aws")->value("status", Json()), kReady);
}

// L17: no provider is created for a move that can't begin.
TEST_F(Moves, CheckBeforeTheyIncludeProviders) {
  fleet_.Make("InfrastructureProvider", "aws", "", "provider");
  Json machine = *a_.Find("Machine", "team", "one-m");
  machine["status"].erase("nodeRef");
  a_.Put(machine);
  allowance_.Set(-1);
  EXPECT_THAT(There({"--include-providers"}).err, HasSubstr("is still provisioning the node"));
  EXPECT_EQ(allowance_.taken(), 0);
}

// L17.
TEST_F(Moves, IncludeProvidersThatTheTargetLacks) {
  for (const char* name : {"variables", "release", "other"}) fleet_.Make("ConfigMap", name, "", "provider");
  for (const char* name : {"token", "login", "git", "keys"}) fleet_.Make("Secret", name, "", "provider");
  for (const char* name : {"aws", "docker"}) {
    Json& provider = fleet_.Add("InfrastructureProvider", name, "", "provider");
    provider["spec"]["configSecret"]["name"] = "token";
    provider["spec"]["additionalManifests"] = {{"name", "variables"}, {"namespace", "provider"}};
    provider["spec"]["fetchConfig"]["selector"]["matchLabels"]["mine"] = "yes";
    provider["spec"]["fetchConfig"]["secretRef"]["name"] = "login";
    provider["spec"]["fetchConfig"]["git"]["secretRef"]["name"] = "git";
    provider["spec"]["fetchConfig"]["verify"]["secretRef"]["name"] = "keys";
    provider["metadata"]["finalizers"] = {"provider.cluster.x-k8s.io"};
    provider["metadata"]["annotations"] = {{"operator.cluster.x-k8s.io/allowed-references", "x"}, {"mine", "y"}};
    fleet_.Made();
  }
  Fleet there(b_);
  there.Add("InfrastructureProvider", "docker", "", "provider")["status"] = kReady;
  there.Made();
  const Json before = *b_.Find("InfrastructureProvider", "provider", "docker");
  Outcome dry = There({"--include-providers", "--dry-run"});
  EXPECT_THAT(dry.err, HasSubstr("Creating where missing InfrastructureProvider=\"aws\" Namespace=\"provider\"\n"));
  EXPECT_EQ(b_.Find("InfrastructureProvider", "provider", "aws"), std::nullopt);
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Creating InfrastructureProvider=\"aws\" Namespace=\"provider\"\n"));
  EXPECT_THAT(got.err, Not(HasSubstr("InfrastructureProvider=\"docker\"")));
  Json copy = b_.Find("InfrastructureProvider", "provider", "aws").value();
  EXPECT_EQ(copy["metadata"]["annotations"], Json({{"mine", "y"}}));
  EXPECT_FALSE(copy["metadata"].contains("finalizers"));
  EXPECT_EQ(copy["spec"], a_.Find("InfrastructureProvider", "provider", "aws")->at("spec"));
  EXPECT_EQ(*b_.Find("InfrastructureProvider", "provider", "docker"), before);
  for (const char* name : {"token", "login", "git", "keys"}) EXPECT_TRUE(b_.Find("Secret", "provider", name)) << name;
  EXPECT_TRUE(b_.Find("ConfigMap", "provider", "variables"));
  EXPECT_TRUE(b_.Find("ConfigMap", "provider", "release"));
  EXPECT_TRUE(a_.Find("InfrastructureProvider", "provider", "aws"));
}

// L17.
TEST_F(Moves, NeedAnOperatorForProviders) {
  fleet_.Make("InfrastructureProvider", "aws", "", "provider");
  b_.Remove("CustomResourceDefinition", "", "infrastructureproviders.operator.cluster.x-k8s.io");
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("which has no such kind: install the operator there"));
  EXPECT_THAT(Run({"--include-providers", "--to-directory", "x"}).err,
              HasSubstr("[include-providers to-directory] were all set"));
}

}  // namespace
}  // namespace capi::cli::move
