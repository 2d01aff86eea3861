// `clusterctl move` between clusters in memory: what it leaves, and that it goes on after an interruption at any write.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/move/fake_cluster.h"
#include "cli/move/record.h"
#include "cli/testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;
using testing::Not;

const Json kReadyStatus = {{"initialization", {{"infrastructureProvisioned", true}, {"controlPlaneInitialized", true}}},
                           {"conditions", {{{"type", "ControlPlaneInitialized"}, {"status", "True"}}}}};

// Objects of the namespace team, as they are made one after the other. Thread-compatible.
class Fleet {
 public:
  explicit Fleet(FakeCluster& cluster) : cluster_(cluster) {}

  Json& Add(const std::string& kind, const std::string& name, const std::string& owner = "",
            const std::string& ns = "team") {
    static const std::map<std::string, std::string> groups = {
        {"Secret", "v1"},
        {"ConfigMap", "v1"},
        {"Namespace", "v1"},
        {"Template", "infrastructure.cluster.x-k8s.io/v1beta2"},
        {"Identity", "infrastructure.cluster.x-k8s.io/v1beta2"},
        {"InfrastructureProvider", "operator.cluster.x-k8s.io/v1alpha2"},
        {"Provider", "clusterctl.cluster.x-k8s.io/v1alpha3"}};
    auto group = groups.find(kind);
    object_ = {{"apiVersion", group == groups.end() ? "cluster.x-k8s.io/v1beta2" : group->second},
               {"kind", kind},
               {"metadata", {{"name", name}, {"labels", {{"mine", "yes"}}}}}};
    if (!ns.empty()) object_["metadata"]["namespace"] = ns;
    if (kind != "Secret" && kind != "ConfigMap" && kind != "Namespace") object_["spec"] = {{"of", name}};
    if (kind == "Secret") object_["data"] = {{"value", Base64Encode(name)}};
    if (!owner.empty()) {
      object_["metadata"]["ownerReferences"] = {
          {{"apiVersion", "x/v1"}, {"kind", "x"}, {"name", owner}, {"uid", uids_[owner]}, {"controller", true}}};
    }
    return object_;
  }
  void Made() { uids_[GetString(object_, {"metadata", "name"})] = cluster_.Put(object_); }

  void Make(const std::string& kind, const std::string& name, const std::string& owner = "",
            const std::string& ns = "team") {
    Add(kind, name, owner, ns);
    Made();
  }

  // A Cluster with a Machine, and a Secret that has no owner. The names begin with that of the Cluster.
  void MakeCluster(const std::string& name, bool paused) {
    Json& cluster = Add("Cluster", name);
    cluster["spec"]["topology"]["classRef"]["name"] = "quick";
    cluster["metadata"]["finalizers"] = {"cluster.cluster.x-k8s.io"};
    cluster["status"] = kReadyStatus;
    if (paused) cluster["spec"]["paused"] = true;
    Made();
    Make("Secret", name + "-kubeconfig");
    Make("MachineDeployment", name + "-md", name);
    Json& machine = Add("Machine", name + "-m", name + "-md");
    machine["spec"]["clusterName"] = name;
    machine["metadata"]["finalizers"] = {"machine.cluster.x-k8s.io"};
    machine["status"] = {{"nodeRef", {{"name", "n"}}}};
    Made();
  }

  void MakeAll() {
    for (const char* ns : {"team", "provider"}) Make("Namespace", ns, "", "");
    Make("ClusterClass", "quick");
    Make("Template", "template", "quick");
    MakeCluster("one", false);
    MakeCluster("two", true);
    Make("Identity", "identity", "", "");
    Make("Secret", "credentials", "identity", "provider");
    Make("Secret", "foreign");
    Make("Provider", "docker", "", "provider");
    object_ = *cluster_.Find("Provider", "provider", "docker");
    object_["type"] = "InfrastructureProvider";
    object_["providerName"] = "docker";
    object_["version"] = "v1.12.0";
    cluster_.Put(object_);
  }

 private:
  FakeCluster& cluster_;
  Json object_;
  std::map<std::string, std::string> uids_;
};

// What counts of an object, with the names of its owners, each of which has to be there.
std::string Essence(const Json& object, const std::map<std::string, std::string>& names) {
  Json out = object;
  for (const char* field : {"uid", "resourceVersion"}) out["metadata"].erase(field);
  out.erase("status");
  if (Json* owners = Find(out, {"metadata", "ownerReferences"})) {
    for (Json& owner : *owners) {
      auto found = names.find(GetString(owner, {"uid"}));
      owner["uid"] = found == names.end() ? "dangling" : found->second;
    }
  }
  if (Json* annotations = Find(out, {"metadata", "annotations"}); annotations != nullptr && annotations->empty())
    out["metadata"].erase("annotations");
  return out.dump();
}

using World = std::set<std::string>;

World Essences(FakeCluster& cluster) {
  std::map<std::string, std::string> names;
  for (const Json& object : cluster.All())
    names[GetString(object, {"metadata", "uid"})] = GetString(object, {"metadata", "name"});
  World out;
  for (const Json& object : cluster.All()) out.insert(Essence(object, names));
  return out;
}

class Moves : public testing::Test {
 protected:
  Moves() {
    folder_.Put("a", a_.Kubeconfig());
    folder_.Put("b", b_.Kubeconfig());
    fleet_.MakeAll();
    Fleet(b_).Make("Namespace", "provider", "", "");
    b_.Put(*a_.Find("Provider", "provider", "docker"));
    before_ = Essences(a_);
  }

  Outcome Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "move");
    return Clusterctl(flags, {{"HOME", folder_.path()}});
  }
  Outcome There(std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--kubeconfig", folder_ / "a", "--to-kubeconfig", folder_ / "b"});
    return Run(flags);
  }
  Outcome Back() { return Run({"--kubeconfig", folder_ / "b", "--to-kubeconfig", folder_ / "a"}); }

  // Those of what there was that have one of these names.
  World Only(const std::vector<std::string>& names) {
    World out;
    for (const std::string& object : before_) {
      for (const std::string& name : names)
        if (object.find(fmt::format("\"name\":\"{}\"", name)) != object.npos) out.insert(object);
    }
    return out;
  }
  World AllBut(const std::string& name) {
    World out = before_;
    for (const std::string& object : Only({name})) out.erase(object);
    return out;
  }
  // All of them are in B, and A has only what stays.
  void ExpectMoved() {
    EXPECT_EQ(Essences(b_), AllBut("foreign"));
    EXPECT_EQ(Essences(a_), Only({"identity", "credentials", "foreign", "docker"}));
  }
  // As controllers would do.
  void MakeReady(FakeCluster& cluster) {
    for (Json object : cluster.All()) {
      if (object["kind"] == "Cluster") object["status"] = kReadyStatus;
      if (object["kind"] == "Machine") object["status"] = {{"nodeRef", {{"name", "n"}}}};
      cluster.Put(object);
    }
  }

  TestFolder folder_;
  Allowance allowance_;
  FakeCluster a_{"a", allowance_}, b_{"b", allowance_};
  Fleet fleet_{a_};
  World before_;
};

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
  for (int n = 0;; ++n) {
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
  for (int n = 0;; ++n) {
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
  // An equal one is no hindrance.
  there.Add("Secret", "one-kubeconfig");
  there.Made();
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
      {change("Machine", "one-m", [](Json& object) { object.erase("status"); }), {}, "is still provisioning the node"},
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

// L17.
TEST_F(Moves, IncludeProvidersThatTheTargetLacks) {
  for (const char* name : {"variables", "release", "other"}) fleet_.Make("ConfigMap", name, "", "provider");
  fleet_.Make("Secret", "token", "", "provider");
  for (const char* name : {"aws", "docker"}) {
    Json& provider = fleet_.Add("InfrastructureProvider", name, "", "provider");
    provider["spec"]["configSecret"]["name"] = "token";
    provider["spec"]["additionalManifests"] = {{"name", "variables"}, {"namespace", "provider"}};
    provider["spec"]["fetchConfig"]["selector"]["matchLabels"]["mine"] = "yes";
    provider["metadata"]["finalizers"] = {"provider.cluster.x-k8s.io"};
    provider["metadata"]["annotations"] = {{"operator.cluster.x-k8s.io/allowed-references", "x"}, {"mine", "y"}};
    fleet_.Made();
  }
  Fleet there(b_);
  there.Make("InfrastructureProvider", "docker", "", "provider");
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
  EXPECT_TRUE(b_.Find("Secret", "provider", "token"));
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

class Directories : public Moves {
 protected:
  Directories() { std::filesystem::create_directory(folder_ / "files"); }
  Outcome Into() { return Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "files"}); }
  Outcome OutOf() { return Run({"--to-kubeconfig", folder_ / "b", "--from-directory", folder_ / "files"}); }
};

// L17.
TEST_F(Directories, HoldAllThatMoves) {
  Outcome into = Into();
  ASSERT_EQ(into.code, 0) << into.err;
  EXPECT_EQ(Essences(a_), before_);
  EXPECT_THAT(ListDir(folder_ / "files").value(),
              testing::ElementsAre(
                  "ClusterClass_team_quick.yaml", "Cluster_team_one.yaml", "Cluster_team_two.yaml",
                  "Identity__identity.yaml", "MachineDeployment_team_one-md.yaml", "MachineDeployment_team_two-md.yaml",
                  "Machine_team_one-m.yaml", "Machine_team_two-m.yaml", "Secret_provider_credentials.yaml",
                  "Secret_team_one-kubeconfig.yaml", "Secret_team_two-kubeconfig.yaml", "Template_team_template.yaml"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "files"))
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600));
  Outcome out_of = OutOf();
  ASSERT_EQ(out_of.code, 0) << out_of.err;
  EXPECT_EQ(Essences(b_), AllBut("foreign"));
  // A second time all of it is there already, and stays as it is.
  Json one = *b_.Find("Cluster", "team", "one");
  one["spec"] = {{"paused", true}};
  b_.Put(one);
  World restored = Essences(b_);
  EXPECT_EQ(OutOf().code, 0);
  EXPECT_EQ(Essences(b_), restored);
}

// L17.
TEST_F(Directories, AreReadOnAfterAnInterruption) {
  ASSERT_EQ(Into().code, 0);
  allowance_.Set(-1);
  ASSERT_EQ(OutOf().code, 0);
  const int writes = allowance_.taken();
  const World restored = Essences(b_);
  for (int n = 0; n < writes; ++n) {
    SCOPED_TRACE(n);
    for (const Json& object : b_.All()) {
      if (object["kind"] == "Provider") continue;
      b_.Remove(object["kind"], GetString(object, {"metadata", "namespace"}), object["metadata"]["name"]);
    }
    b_.Remove("Namespace", "", "team");
    allowance_.Set(n);
    ASSERT_EQ(OutOf().code, 1);
    allowance_.Set(-1);
    ASSERT_EQ(OutOf().code, 0);
    ASSERT_EQ(Essences(b_), restored);
  }
}

// L17: where the files can't be written, or not in time, nothing stays paused, and no half is read.
TEST_F(Directories, AreWholeOrNotRead) {
  a_.OnWrite([&](const std::string&, const std::string&) { a_.Remove("Machine", "team", "one-m"); });
  Outcome got = Into();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to read Machine team/one-m"));
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  EXPECT_TRUE(ListDir(folder_ / "files").value().empty());
  std::filesystem::create_directory(folder_ / "files/.clusterctl-move-unfinished");
  EXPECT_THAT(OutOf().err, HasSubstr("the move into this folder hasn't ended. Run it again, with --to-directory"));
  ASSERT_EQ(Into().code, 0);
  EXPECT_EQ(OutOf().code, 0);
}

// L17.
TEST_F(Directories, WithOtherFilesAreTold) {
  folder_.Put("files/old.yaml", "x");
  EXPECT_THAT(Into().err,
              HasSubstr("has files that aren't of this move, and that --from-directory would read: old.yaml\n"));
  EXPECT_THAT(OutOf().err, HasSubstr("old.yaml: is no Kubernetes object"));
  EXPECT_THAT(Run({"--to-kubeconfig", folder_ / "b", "--from-directory", folder_ / "none"}).err,
              HasSubstr("no such folder"));
  EXPECT_THAT(Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "files/old.yaml"}).err,
              HasSubstr("is no folder"));
}

}  // namespace
}  // namespace capi::cli::move
