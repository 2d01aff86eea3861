// What init refuses or leaves alone, on an API server in memory (L10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "api/schema/crds.h"
#include "api/version.h"
#include "base/http/server/server.h"
#include "base/version.h"
#include "cli/frame/interrupt_testing.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const UpgradeProvider kCore = {api::ProviderType::kCore, "capi-system", "cluster-api", "v1.11.0", "v1beta2"};
const UpgradeProvider kAws = {api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"};

// A core that is installed, and a local repository of aws.
class InitCommand : public testing::Test {
 protected:
  InitCommand() {
    cluster_.Add(kCore);
    Know("aws", "InfrastructureProvider", "infrastructure-aws", "capa-system", {"v2.0.0", "v2.1.0"});
  }
  // Releases in a folder, which the configuration names.
  void Know(const std::string& name, const std::string& type, const std::string& label, const std::string& ns,
            const std::vector<std::string>& versions) {
    for (const std::string& version : versions) {
      std::string folder = "r/" + label + "/" + version + "/";
      cluster_.folder.Put(folder + "metadata.yaml",
                          "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                          "- {major: 2, minor: 0, contract: v1beta2}\n- {major: 2, minor: 1, contract: v1beta2}\n");
      cluster_.folder.Put(folder + "c.yaml",
                          "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + ns +
                              "}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: " + ns + "}\n");
    }
    config_ += "- {name: " + name + ", type: " + type + ", url: " + cluster_.folder.path() + "/r/" + label +
               "/latest/c.yaml}\n";
    cluster_.folder.Put("clusterctl.yaml", config_);
  }
  Outcome Init(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "init");
    arguments.insert(arguments.end(),
                     {"--install-cert-manager=false", "--config", cluster_.folder / "clusterctl.yaml"});
    return cluster_.Run(std::move(arguments));
  }
  // aws is on its way to v2.0.0.
  void HasObjectBy(const std::string& manager) {
    Json entry = {{"manager", manager}, {"operation", "Apply"}, {"fieldsV1", {{"f:spec", Json::object()}}}};
    cluster_.Put(
        UpgradeCluster::PathOf(kAws),
        {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
         {"kind", "InfrastructureProvider"},
         {"metadata", {{"name", "aws"}, {"namespace", "capa-system"}, {"managedFields", Json::array({entry})}}},
         {"spec", {{"version", "v2.0.0"}}}});
  }

  void HasOperator(Json labels = Json::object(), const std::string& ns = "ops") {
    labels["app.kubernetes.io/name"] = "capi-operator";
    cluster_.Put(
        "/apis/apps/v1/namespaces/" + ns + "/deployments/capi-operator-controller-manager",
        {{"apiVersion", "apps/v1"},
         {"kind", "Deployment"},
         {"metadata",
          {{"name", "capi-operator-controller-manager"}, {"namespace", ns}, {"generation", 1}, {"labels", labels}}},
         {"spec",
          {{"replicas", 1},
           {"template", {{"spec", {{"containers", Json::array({{{"image", "r.example.com/o:v1"}}})}}}}}}},
         {"status",
          {{"observedGeneration", 1},
           {"replicas", 1},
           {"updatedReplicas", 1},
           {"readyReplicas", 1},
           {"availableReplicas", 1},
           {"conditions", Json::array({{{"type", "Available"}, {"status", "True"}}})}}}});
  }

  WithoutInterrupts without_interrupts_;
  UpgradeCluster cluster_;
  std::string config_ = "providers:\n";
};

TEST_F(InitCommand, AnObjectOfSomebodyElseStaysAsItIs) {  // L10
  HasObjectBy("kustomize-controller");
  const Json before = cluster_.Get(UpgradeCluster::PathOf(kAws));
  EXPECT_THAT(Init({"-i", "aws:v2.0.0"}).err,
              HasSubstr("Skipping the provider as somebody else has made its object provider=\"infrastructure-aws\""));
  EXPECT_EQ(cluster_.Get(UpgradeCluster::PathOf(kAws)), before);
  for (const std::string& write : cluster_.writes()) EXPECT_THAT(write, Not(HasSubstr("capa-system")));

  size_t writes = cluster_.writes().size();
  Outcome other = Init({"-i", "aws:v2.1.0", "--validate=false"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("InfrastructureProvider capa-system/aws is there already, asks for v2.0.0, and its "
                                   "spec is kustomize-controller's: change spec.version to v2.1.0 there"));
  EXPECT_EQ(cluster_.writes().size(), writes);
}

// It is on its way for an operator alone.
TEST_F(InitCommand, AnObjectOfSomebodyElseIsNothingThatIsInstalledWithoutAnOperator) {  // L10, L23
  HasObjectBy("kubectl");
  for (const char* waiting : {"--wait-providers=false", "--wait-providers"}) {
    Outcome got = Init({"-i", "aws:v2.0.0", "--operator=false", waiting});
    EXPECT_EQ(got.code, 1) << waiting;
    EXPECT_THAT(got.err, HasSubstr("InfrastructureProvider capa-system/aws is a provider object, and nothing looks "
                                   "after it: leave out --operator=false"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The operator notes the version before its workloads are up: the same command again waits for them.
TEST_F(InitCommand, WhatIsInstalledAndNotReadyIsWaitedForToo) {  // L10
  HasOperator();
  cluster_.Add(kAws);
  const std::vector<std::string> waiting = {"-i", "aws:v2.0.0", "--wait-providers", "--wait-provider-timeout", "1"};
  EXPECT_EQ(Init(waiting).code, 0);
  auto says = [&](const char* type, const char* status) {
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["status"]["conditions"].push_back({{"type", type}, {"status", status}, {"reason", "Of" + std::string(type)}});
    });
  };
  cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& aws) { aws["status"]["conditions"] = Json::array(); });
  says("Ready", "False");
  EXPECT_EQ(Init({"-i", "aws:v2.0.0"}).code, 0) << "the operator has looked at it";
  Outcome got = Init(waiting);
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("InfrastructureProvider capa-system/aws is not ready after 1 s: OfReady"));
  says("Stalled", "True");
  Outcome refused = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the operator doesn't go on with InfrastructureProvider capa-system/aws"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(InitCommand, WhatItBeganItselfGoesOn) {  // L10
  HasObjectBy("clusterctl");
  std::string said = Init({"-i", "aws:v2.0.0"}).err;
  EXPECT_THAT(said, Not(HasSubstr("Skipping the provider")));
  EXPECT_THAT(said, HasSubstr("Installing the operator"));
}

TEST_F(InitCommand, AConfigMapOfSomebodyIsToldBeforeAnythingIsWritten) {  // L10
  HasOperator();
  cluster_.Put("/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.0.0",
               {{"data", {{"components", "somebody's"}}}});
  const std::string told = "its release goes into ConfigMap capa-system/infrastructure-aws-v2.0.0";
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: InfrastructureProvider capa-system/aws: " + told));
  cluster_.Add(kAws, /*bare=*/true);
  got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: failed to take over infrastructure-aws: " + told));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// Newer releases have come since a first run was broken off.
TEST_F(InitCommand, AFirstRunGoesOnWithItsVersions) {  // L10, L23
  cluster_.Remove(UpgradeCluster::PathOf(kCore));
  cluster_.Remove("/apis/clusterctl.cluster.x-k8s.io/v1alpha3/namespaces/capi-system/providers/cluster-api");
  cluster_.Add({api::ProviderType::kBootstrap, "kb", "kubeadm", "v2.0.0", "v1beta2"}, /*bare=*/true);
  Know("cluster-api", "CoreProvider", "cluster-api", "capi-system", {"v2.0.0"});
  Know("kubeadm", "BootstrapProvider", "bootstrap-kubeadm", "kb", {"v2.0.0", "v2.1.0"});
  Know("kubeadm", "ControlPlaneProvider", "control-plane-kubeadm", "kc", {"v2.1.0"});
  Outcome got = Init({"--operator=false"});
  EXPECT_THAT(got.err, HasSubstr("Skipping installing the provider as it is already installed "
                                 "provider=\"bootstrap-kubeadm\" version=\"v2.0.0\""));
  EXPECT_THAT(got.err, Not(HasSubstr("there is already an instance")));
}

// The run that installed it ended before it was available.
TEST_F(InitCommand, WhatIsInstalledIsWaitedForWithoutAnOperatorToo) {  // L10, L23
  cluster_.Add(kAws, /*bare=*/true);
  cluster_.Remove(UpgradeCluster::PathOf(kCore));
  cluster_.Put(
      "/apis/apps/v1/namespaces/capa-system/deployments/capa",
      {{"apiVersion", "apps/v1"},
       {"kind", "Deployment"},
       {"metadata",
        {{"name", "capa"},
         {"namespace", "capa-system"},
         {"labels", {{"clusterctl.cluster.x-k8s.io", ""}, {"cluster.x-k8s.io/provider", "infrastructure-aws"}}}}},
       {"spec", {{"replicas", 1}}}});
  Outcome got = Init({"-i", "aws:v2.0.0", "--operator=false", "--wait-providers", "--wait-provider-timeout", "1"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("deployment \"capa\" is not ready after 1 s"));
  EXPECT_EQ(Init({"-i", "aws:v2.0.0", "--operator=false"}).code, 0);
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(InitCommand, IsNoUpgradeWhateverIsValidated) {  // L10
  cluster_.Add(kAws);
  for (const char* with_operator : {"--operator=true", "--operator=false"}) {
    Outcome got = Init({"-i", "aws:v2.1.0", "--validate=false", with_operator});
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("infrastructure-aws is installed in namespace capa-system at v2.0.0: `clusterctl "
                                   "upgrade apply` brings it to v2.1.0"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The same command again, after a policy has led on from what it installed: it said that `upgrade apply` goes back.
TEST_F(InitCommand, WhatAPolicyHasLedOnFromIsInstalled) {  // L10, U13
  HasOperator();
  cluster_.Add({kAws.type, kAws.ns, kAws.name, "v2.1.0", kAws.contract});
  cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& object) {
    object["spec"] = {{"version", "v2.0.0"}, {"upgradePolicy", {{"type", "Minor"}}}};
    object["status"]["history"] =
        Json::array({{{"version", "v2.1.0"}, {"outcome", "Succeeded"}, {"insteadOf", "v2.0.0"}}});
  });
  for (const char* version : {"aws:v2.0.0", "aws:v2.1.0"}) {
    Outcome got = Init({"-i", version});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_THAT(got.err, HasSubstr("Skipping installing the provider as it is already installed"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// In clusterctl's inventory alone, and no configuration names it.
TEST_F(InitCommand, WhatCannotBeTakenOverFailsNobodyElse) {  // L10
  HasOperator();
  cluster_.Add(kAws);
  cluster_.Add({api::ProviderType::kInfrastructure, "mine-system", "mine", "v1.0.0", "v1beta2"}, /*bare=*/true);
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: failed to take over infrastructure-mine"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(InitCommand, ACoreThatCannotBeTakenOverIsRefused) {  // L10
  HasOperator();
  cluster_.Add(kAws);
  cluster_.Remove(UpgradeCluster::PathOf(kCore));
  Know("cluster-api", "CoreProvider", "cluster-api", "capi-system", {"v2.0.0"});  // not the one that is installed
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: failed to take over cluster-api: "));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// What an outage hides can be taken over all the same: it isn't passed over with success.
TEST_F(InitCommand, AnOutageIsNoReasonToPassOneOver) {  // L10
  HasOperator();
  cluster_.Add(kAws);
  cluster_.Add({api::ProviderType::kInfrastructure, "mine-system", "mine", "v1.0.0", "v1beta2"}, /*bare=*/true);
  auto github = http::Server::Start(
      {}, [](const http::ServerRequest&) { return http::Response{.status = 503, .headers = {}, .body = "unicorn"}; });
  ASSERT_TRUE(github.ok());
  const std::string mirror = "http://" + (*github)->address();
  config_ += "- {name: mine, type: InfrastructureProvider, url: 'https://github.com/o/mine/releases/latest/c.yaml'}\n";
  cluster_.folder.Put("clusterctl.yaml",
                      config_ + "clusterctl-github-url: " + mirror + "\nclusterctl-github-api-url: " + mirror + "\n");
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: failed to take over infrastructure-mine: "));
  EXPECT_THAT(got.err, HasSubstr("; nothing has been written: run the same command again once that answers\n"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// No operator looks at what was written.
TEST_F(InitCommand, WhatIsInterruptedSaysHowToGoOn) {  // L10
  HasOperator();
  cluster_.before_write = [](UpgradeCluster&, const std::string& what) {
    if (what.find("infrastructureproviders") == what.npos) return;
    EXPECT_TRUE(WithoutInterrupts::Interrupt());
  };
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: interrupted; what was written stays; to go on, run the same command again\n"));
}

TEST_F(InitCommand, AnUpgradeOfTheOperatorThatIsInterruptedSaysHowToGoOn) {  // L11
  HasOperator(Json::object(), std::string(api::kOperatorNamespace));
  bool interrupted = false;
  cluster_.before_write = [&](UpgradeCluster&, const std::string&) {
    if (std::exchange(interrupted, true)) return;
    EXPECT_TRUE(WithoutInterrupts::Interrupt());
  };
  Outcome got = cluster_.Run({"upgrade", "operator", "--operator-image", "r.example.com/o:v2"});
  EXPECT_EQ(got.code, 1);
  EXPECT_TRUE(interrupted);
  EXPECT_THAT(got.err, HasSubstr("Error: interrupted"));
  EXPECT_THAT(got.err, HasSubstr("; what was written stays; to go on, run the same command again\n"));
}

// The rest of it isn't in this program.
TEST_F(InitCommand, AnotherVersionsOperatorThatIsThereInPartIsRefused) {  // L10
  api::Version other = api::Version::Parse(kProjectVersion).value();
  other.patch += 1;
  HasOperator({{"app.kubernetes.io/managed-by", "clusterctl"}, {"app.kubernetes.io/version", other.ToString()}});
  cluster_.Add(kAws);
  Outcome got = Init({"-i", "aws:v2.0.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the operator " + other.ToString() + " in namespace ops is installed in part"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The operator does nothing with it, and says nothing of it.
TEST_F(InitCommand, WhatAPersonHasPausedIsToldAndNotWaitedFor) {  // L10, P4
  HasOperator();
  const std::map<std::string, Json> held = {
      {"spec.paused", {{"spec", {{"paused", true}}}}},
      {"the annotation", {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}}},
  };
  for (const auto& [what, change] : held) {
    const Json& how = change;  // a lambda can't have the other in clang
    cluster_.Add(kAws);
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws.merge_patch(how);
      aws["status"]["conditions"] = {{{"type", "Ready"}, {"status", "False"}, {"reason", "Paused"}}};
    });
    Outcome got = Init({"-i", "aws:v2.0.0", "--wait-providers", "--wait-provider-timeout", "1"});
    EXPECT_EQ(got.code, 0) << what << got.err;
    EXPECT_THAT(got.err,
                HasSubstr("Warning: infrastructure-aws in namespace capa-system is paused: it isn't waited for"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// It isn't there any more once the command has ended.
TEST_F(InitCommand, WhatIsBeingDeletedIsRefused) {  // L10
  HasOperator();
  for (bool installed : {true, false}) {
    if (installed)
      cluster_.Add(kAws);
    else
      HasObjectBy("clusterctl");
    cluster_.Change(UpgradeCluster::PathOf(kAws),
                    [](Json& aws) { aws["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; });
    Outcome got = Init({"-i", "aws:v2.0.0"});
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("Error: InfrastructureProvider capa-system/aws is being deleted; wait until it has "
                                   "gone, then run the same command again"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// Nobody would take its finalizer away.
TEST_F(InitCommand, WhatIsBeingDeletedAndHasNoOperatorIsToldWithWhatEndsThat) {  // L10, L23
  cluster_.Add(kAws);
  cluster_.Change(UpgradeCluster::PathOf(kAws),
                  [](Json& aws) { aws["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; });
  for (const char* with_operator : {"--operator=true", "--operator=false"}) {
    Outcome got = Init({"-i", "aws:v2.0.0", with_operator});
    EXPECT_EQ(got.code, 1) << with_operator;
    EXPECT_THAT(got.err, HasSubstr("Error: InfrastructureProvider capa-system/aws is being deleted, and no operator is "
                                   "there to end that: `clusterctl delete --operator=false` does, then run the same "
                                   "command again"));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(InitCommand, AnImageForNoOperatorIsRefused) {  // L10, L23
  const std::vector<std::string> flags = {"--operator=false", "--operator-image", "r.example.com/o:v1", "-i", "aws"};
  EXPECT_THAT(Init(flags).err, HasSubstr("--operator-image has no use with --operator=false"));
  std::vector<std::string> list = {"init", "list-images"};
  list.insert(list.end(), flags.begin(), flags.end());
  EXPECT_THAT(Clusterctl(list).err, HasSubstr("--operator-image has no use with --operator=false"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

}  // namespace
}  // namespace capi::cli
