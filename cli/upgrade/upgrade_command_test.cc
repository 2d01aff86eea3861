// The commands as people run them, on an API server in memory (L12, L13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/version.h"
#include "cli/upgrade/upgrades_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(Upgrades, PlanPrintsTheTableAndChangesNothing) {  // L12
  Outcome got = Run({"upgrade", "plan"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(got.out,
            "\nLatest release available for the v1beta2 Cluster API contract version:\n\n"
            "NAME                 NAMESPACE     TYPE                     CURRENT VERSION   NEXT VERSION\n"
            "cluster-api          capi-system   CoreProvider             v1.11.0           v1.12.0\n"
            "infrastructure-aws   capa-system   InfrastructureProvider   v2.0.0            v2.1.0\n\n"
            "You can now apply the upgrade by executing the following command:\n\n"
            "clusterctl upgrade apply --contract v1beta2\n\n");
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, PlanTellsOfAProviderThatNobodyKnowsAndOfTheOperator) {  // L12
  cluster_.Add(kMine, /*bare=*/true);
  cluster_.Put(
      "/apis/apps/v1/namespaces/o/deployments/capi-operator",
      {{"metadata",
        {{"name", "capi-operator"},
         {"namespace", "o"},
         {"labels", {{"app.kubernetes.io/name", "capi-operator"}, {"app.kubernetes.io/version", "v0.0.1"}}}}}});
  Outcome got = Run({"upgrade", "plan"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out,
              HasSubstr("infrastructure-mine   mine-system   InfrastructureProvider   v1.0.0            Unknown\n"));
  EXPECT_THAT(
      got.err,
      HasSubstr("Warning: mine-system/infrastructure-mine: its versions can't be told: failed to get configuration"));
  EXPECT_THAT(got.out, HasSubstr("clusterctl upgrade operator\n\n\nLatest release available"));
  Outcome json = Run({"upgrade", "plan", "-o", "json"});
  Json facts = ParseJson(json.out).value();
  EXPECT_EQ(GetString(facts, {"operator", "currentVersion"}), "v0.0.1");
  EXPECT_EQ(facts["plans"][0]["providers"][1]["nextVersion"], "v2.1.0");
  EXPECT_EQ(facts["plans"][0]["providers"][2]["known"], false);
  EXPECT_EQ(Run({"upgrade", "plan", "-o", "xml"}).code, 1);
}

TEST_F(Upgrades, PlanWithoutRightsSaysSo) {  // L12
  cluster_.forbidden = "clusterctl.cluster.x-k8s.io";
  Outcome got = Run({"upgrade", "plan"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to get providers from the inventory"));
}

TEST_F(Upgrades, FlagsThatSayNothingOrTooMuchAreRefused) {  // L13
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "Either the --contract flag or at least one of"},
      {{"--contract", "v1beta2", "--core", "cluster-api:v1.12.0"},
       "The --contract flag can't be used in combination with"},
      {{"--contract", "v1beta1"}, "could only upgrade to v1beta2 contract, requested v1beta1"},
      {{"--core", "cluster-api"}, "invalid provider name"},
      {{"--core", "cluster-api:1.x"}, "invalid version"},
      {{"--core", "other:v1.12.0"}, "unable to find default namespace for provider"},
      {{"-i", "elsewhere/aws:v2.1.0"},
       "the provider elsewhere/infrastructure-aws in not part of the management cluster"},
      {{"-i", "aws:v2.1.0,aws:v2.0.0"}, "is named twice"},
      {{"--core", "cluster-api:v1.15.0"}, "does not match any release series"},
      {{"--core", "cluster-api:v1.12.0", "--wait-provider-timeout", "0"}, "--wait-provider-timeout"},
  };
  for (const auto& [flags, words] : cases) {
    std::vector<std::string> arguments = {"upgrade", "apply"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    Outcome got = Run(arguments);
    EXPECT_EQ(got.code, 1) << words;
    EXPECT_THAT(got.err, HasSubstr(words));
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, AMissingVariableIsNamedBeforeTheFirstWrite) {  // L13
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("value for variables [TOKEN] is not set"));
  EXPECT_THAT(got.err, HasSubstr("Secret capa-system/infrastructure-aws-variables"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, ADryRunSaysWhatWouldChangeAndWritesNothing) {  // L13
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2", "--dry-run"}, {{"TOKEN", "s3cret-value"}});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("InfrastructureProvider capa-system/aws: v2.0.0 -> v2.1.0, contract v1beta1\n"));
  EXPECT_THAT(got.out, HasSubstr("  Secret capa-system/infrastructure-aws-variables gets TOKEN\n"));
  EXPECT_THAT(got.out, HasSubstr("  ~ ConfigMap/capi-system/c: .data.v\n"));
  EXPECT_THAT(got.out + got.err, Not(HasSubstr("s3cret")));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, ApplyPutsVariablesReleasesAndVersionsIntoTheCluster) {  // L13
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2", "--wait-providers"}, {{"TOKEN", "s3cret-value"}});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kCore), "v1.12.0");
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
  EXPECT_EQ(GetString(cluster_.Get(kSecret), {"data", "TOKEN"}), Base64Encode("s3cret-value"));
  EXPECT_EQ(GetString(cluster_.Get(UpgradeCluster::PathOf(kAws)), {"spec", "configSecret", "name"}),
            "infrastructure-aws-variables");
  Json map = cluster_.Get("/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0");
  EXPECT_THAT(GetString(map, {"data", "components"}), HasSubstr("${TOKEN}"));
  EXPECT_THAT(got.err, HasSubstr("InfrastructureProvider capa-system/aws: v2.1.0, ready\n"));
  EXPECT_THAT(got.out + got.err, Not(HasSubstr("s3cret")));
  // Specs come last: whatever ends the command before leaves the providers alone.
  auto writes = cluster_.writes();
  EXPECT_THAT(writes.back(), HasSubstr("infrastructureproviders"));
}

TEST_F(Upgrades, VariablesGoBesideThoseOfTheProvidersOwnSecret) {  // L13
  cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& aws) { aws["spec"]["configSecret"] = {{"name", "mine"}}; });
  const std::string path = "/api/v1/namespaces/capa-system/secrets/mine";
  cluster_.Put(path, {{"metadata", {{"name", "mine"}}}, {"data", {{"OTHER", "eA=="}}}});
  ASSERT_EQ(Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, {{"TOKEN", "value"}}).code, 0);
  EXPECT_EQ(cluster_.Get(path)["data"], (Json{{"OTHER", "eA=="}, {"TOKEN", Base64Encode("value")}}));
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
}

TEST_F(Upgrades, AnotherOnesEditIsNotOverwritten) {  // L13
  bool done = false;
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    if (done || what.find("coreproviders") == what.npos) return;
    done = true;
    cluster.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
      core["metadata"]["generation"] = 7;
      core["spec"]["version"] = "v1.11.9";
    });
  };
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("CoreProvider capi-system/cluster-api was changed by somebody else meanwhile"));
  EXPECT_EQ(VersionOf(kCore), "v1.11.9");
}

TEST_F(Upgrades, AStatusThatIsWrittenMeanwhileDoesNoHarm) {  // L13
  int left = 3;
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    if (left == 0 || what.find("coreproviders") == what.npos) return;
    --left;
    cluster.Change(UpgradeCluster::PathOf(kCore), [&](Json& core) { core["status"]["x"] = left; });
  };
  EXPECT_EQ(Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"}).code, 0);
  EXPECT_EQ(VersionOf(kCore), "v1.12.0");
}

TEST_F(Upgrades, AProviderWithoutAnObjectIsToBeAdoptedFirst) {  // L13
  cluster_.Add({api::ProviderType::kBootstrap, "kb", "kubeadm", "v1.11.0", "v1beta2"}, /*bare=*/true);
  cluster_.folder.Put("clusterctl.yaml", "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") +
                                             Source("kubeadm", "BootstrapProvider", "bootstrap-kubeadm"));
  Release("bootstrap-kubeadm", "v1.12.0",
          "{major: 1, minor: 11, contract: v1beta2}\n- {major: 1, minor: 12, contract: v1beta2}", "x");
  Outcome got = Run({"upgrade", "apply", "--bootstrap", "kubeadm:v1.12.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("run clusterctl adopt first"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, ApplyTellsOfAnOlderOperatorBeforeItWrites) {  // L13
  const std::string older = std::string(kProjectVersion) + "-rc.0";
  Json labels = {{"app.kubernetes.io/name", "capi-operator"}, {"app.kubernetes.io/version", older}};
  cluster_.Put("/apis/apps/v1/namespaces/o/deployments/capi-operator",
               {{"metadata", {{"name", "capi-operator"}, {"namespace", "o"}, {"labels", labels}}}});
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  const std::string warning = "Warning: the operator in namespace o is " + older + ", older than this clusterctl (" +
                              std::string(kProjectVersion) + "): `clusterctl upgrade operator` brings it up to date\n";
  EXPECT_THAT(got.err, HasSubstr(warning));
  EXPECT_LT(got.err.find(warning), got.err.find("Performing upgrade..."));
}

TEST_F(Upgrades, AnOperatorThatDoesNothingIsNotWaitedForForEver) {  // L13
  cluster_.has_operator = false;
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0", "--wait-provider-timeout", "1"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("not within 1 s: CoreProvider capi-system/cluster-api (v1.11.0"));
  EXPECT_THAT(got.err, HasSubstr("to go on, run the same command again; to look at it: clusterctl why cluster-api"));
  cluster_.has_operator = true;
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["observedGeneration"] = 2;
  });
  size_t before = cluster_.writes().size();
  EXPECT_EQ(Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"}).code, 0);
  EXPECT_EQ(cluster_.writes().size(), before) << "all is written already";
}

TEST_F(Upgrades, ToAContractThatNotAllCanGoToNobodyGoes) {  // L13
  UpgradeProvider core = kCore;
  core.version = "v1.10.0";
  core.contract = "v1beta1";
  cluster_.Add(core);
  cluster_.Add({api::ProviderType::kInfrastructure, "mine", "mine-system", "v1.0.0", "v1alpha4"});
  std::string series = "{major: 1, minor: 10, contract: v1beta1}\n- {major: 1, minor: 11, contract: v1beta2}";
  Release("cluster-api", "v1.12.0", series + "\n- {major: 1, minor: 12, contract: v1beta2}", "y");
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("not all providers can go to contract v1beta2: clusterctl upgrade plan"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, WhatASecretHasIsNotOverwrittenThoughNobodyNamesIt) {  // L13
  cluster_.Put(kSecret, {{"metadata", {{"name", "infrastructure-aws-variables"}, {"namespace", "capa-system"}}},
                         {"data", {{"TOKEN", "bWluZQ=="}}}});
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, {{"TOKEN", "other-value"}});
  ASSERT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(cluster_.Get(kSecret)["data"], (Json{{"TOKEN", "bWluZQ=="}}));
  EXPECT_EQ(GetString(cluster_.Get(UpgradeCluster::PathOf(kAws)), {"spec", "configSecret", "name"}),
            "infrastructure-aws-variables");
}

// What is checked is what the operator gets, wherever it would fetch the release from.
TEST_F(Upgrades, OverridesGoIntoTheCluster) {  // L13
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"]["url"] = cluster_.folder.path() + "/r/infrastructure-aws/latest/c.yaml";
  });
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/c.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {v: mine}\n");
  cluster_.folder.Put("clusterctl.yaml", "overridesFolder: " + cluster_.folder / "o" + "\nproviders:\n" +
                                             Source("cluster-api", "CoreProvider", "cluster-api"));
  const std::string path = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0";
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  ASSERT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(GetString(cluster_.Get(path), {"data", "components"}), HasSubstr("v: mine"));
}

Json HandMade(const std::string& components) {
  return {{"metadata",
           {{"name", "by-hand"},
            {"namespace", "capa-system"},
            {"labels",
             {{"provider.cluster.x-k8s.io/type", "infrastructure"},
              {"provider.cluster.x-k8s.io/name", "aws"},
              {"provider.cluster.x-k8s.io/version", "v2.1.1"}}}}},
          {"data",
           {{"metadata",
             "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
             "- {major: 2, minor: 1, contract: v1beta1}\n"},
            {"components", components}}}};
}

TEST_F(Upgrades, AReleaseThatSomebodyPutIntoTheClusterIsFound) {  // L13, I6
  const std::string components = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n";
  const std::string path = "/api/v1/namespaces/capa-system/configmaps/by-hand";
  cluster_.Put(path, HandMade(components));
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.1"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.1");
  for (const std::string& write : cluster_.writes()) EXPECT_THAT(write, Not(HasSubstr("configmaps")));
}

TEST_F(Upgrades, AReleaseThatIsThereAndAnotherOverrideAreNotMixedUp) {  // L13
  cluster_.Put("/api/v1/namespaces/capa-system/configmaps/by-hand", HandMade("a: b\n"));
  cluster_.folder.Put("o/infrastructure-aws/v2.1.1/c.yaml", "apiVersion: v1\nkind: ConfigMap\n");
  cluster_.folder.Put("o/infrastructure-aws/v2.1.1/metadata.yaml", "apiVersion: v1\n");
  cluster_.folder.Put("clusterctl.yaml", "overridesFolder: " + cluster_.folder / "o" + "\nproviders:\n" +
                                             Source("cluster-api", "CoreProvider", "cluster-api") +
                                             Source("aws", "InfrastructureProvider", "infrastructure-aws"));
  EXPECT_THAT(Run({"upgrade", "apply", "-i", "aws:v2.1.1"}).err,
              HasSubstr("ConfigMap capa-system/by-hand holds another v2.1.1 than the folder of overrides"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// T14: what lies there from before the provider had keys gets its signatures, or is refused before anything is changed.
TEST_F(Upgrades, SignaturesGoIntoTheClusterWithARelease_T14) {
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"url", cluster_.folder.path() + "/r/infrastructure-aws/latest/c.yaml"},
                                  {"verify", {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}}}};
  });
  const Variables token = {{"TOKEN", "a"}};
  Outcome unsigned_one = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, token);
  EXPECT_EQ(unsigned_one.code, 1);
  EXPECT_THAT(unsigned_one.err, HasSubstr("has no signature of metadata.yaml"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());

  const std::string path = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0";
  Json before = HandMade("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {v: '${TOKEN}'}\n");
  before["metadata"]["name"] = "infrastructure-aws-v2.1.0";
  before["metadata"]["labels"]["provider.cluster.x-k8s.io/version"] = "v2.1.0";
  cluster_.Put(path, before);
  EXPECT_THAT(Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, token).err,
              HasSubstr("ConfigMap capa-system/infrastructure-aws-v2.1.0 has no signatures of both its files"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  before["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "capi-operator";
  cluster_.Put(path, before);
  const std::string folder = "r/infrastructure-aws/v2.1.0/";
  cluster_.folder.Put(folder + "metadata.yaml.sig", "bWV0YQ==");
  cluster_.folder.Put(folder + "c.yaml.sig", "Y29tcG9uZW50cw==");
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, token);
  ASSERT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(GetString(cluster_.Get(path), {"data", "components.sig"}), "Y29tcG9uZW50cw==");
  EXPECT_EQ(GetString(cluster_.Get(path), {"data", "metadata.sig"}), "bWV0YQ==");
}

// What runs was installed before the provider had keys; the first release that is signed is compared with it.
TEST_F(Upgrades, WhatRunsNeedNotBeSigned_L13_T14) {
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"url", cluster_.folder.path() + "/r/infrastructure-aws/latest/c.yaml"},
                                  {"verify", {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}}}};
  });
  cluster_.folder.Put("r/infrastructure-aws/v2.1.0/metadata.yaml.sig", "bWV0YQ==");
  cluster_.folder.Put("r/infrastructure-aws/v2.1.0/c.yaml.sig", "Y29tcG9uZW50cw==");
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0", "--dry-run"}, {{"TOKEN", "a"}});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out + got.err, HasSubstr("~ ConfigMap/capa-system/c: .data.v"));
}

// T14: the source's signatures say nothing of a file in the folder of overrides, which counts with its own.
TEST_F(Upgrades, OverridesAreVerifiedByWhatLiesBesideThem_L13_T14) {
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"url", cluster_.folder.path() + "/r/infrastructure-aws/latest/c.yaml"},
                                  {"verify", {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}}}};
  });
  cluster_.folder.Put("r/infrastructure-aws/v2.1.0/metadata.yaml.sig", "bWV0YQ==");
  cluster_.folder.Put("r/infrastructure-aws/v2.1.0/c.yaml.sig", "Y29tcG9uZW50cw==");
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/c.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {v: mine}\n");
  cluster_.folder.Put("clusterctl.yaml", "overridesFolder: " + cluster_.folder / "o" + "\nproviders:\n" +
                                             Source("cluster-api", "CoreProvider", "cluster-api"));
  Outcome refused = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("sign them there, or move them away"),
                                 HasSubstr("v2.1.0 has no signature of c.yaml: none of the files c.yaml.")));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/c.yaml.sig", "bWluZQ==");
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  ASSERT_EQ(got.code, 0) << got.err;
  const Json map = cluster_.Get("/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0");
  EXPECT_THAT(GetString(map, {"data", "components"}), HasSubstr("v: mine"));
  EXPECT_EQ(GetString(map, {"data", "components.sig"}), "bWluZQ==");
  EXPECT_EQ(GetString(map, {"data", "metadata.sig"}), "bWV0YQ==");
}

// The server has done it, and its answer came to nobody.
TEST_F(Upgrades, AnAnswerThatWasLostIsNoEditOfSomebodyElse) {  // L13
  bool done = false;
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    if (done || what.find("coreproviders") == what.npos) return;
    done = true;
    cluster.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
      core["metadata"]["generation"] = core["status"]["observedGeneration"] = 2;
      core["spec"]["version"] = core["status"]["installedVersion"] = "v1.12.0";
    });
  };
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kCore), "v1.12.0");
}

TEST_F(Upgrades, ASelectorThatWouldNotFindTheReleaseIsRefusedFirst) {  // L13
  cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& aws) {
    aws["spec"]["fetchConfig"]["selector"]["matchLabels"]["provider.cluster.x-k8s.io/version"] = "v2.0.0";
  });
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"}, {{"TOKEN", "value"}});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("doesn't say with matchLabels which labels a release has"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, WhatIsUpToDateIsWaitedForToo) {  // L13
  const std::pair<UpgradeProvider, std::string> newest[] = {{kCore, "v1.12.0"}, {kAws, "v2.1.0"}};
  for (auto [provider, version] : newest) {
    provider.version = version;
    cluster_.Add(provider);
  }
  const std::vector<std::string> waiting = {
      "upgrade", "apply", "--contract", "v1beta2", "--wait-providers", "--wait-provider-timeout", "1"};
  EXPECT_EQ(Run(waiting).code, 0);
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["status"]["conditions"][0]["status"] = "False";
    core["status"]["conditions"][0]["message"] = "it is \x1b[31mred";
  });
  Outcome got = Run(waiting);
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("not within 1 s: CoreProvider capi-system/cluster-api"));
  EXPECT_THAT(got.err, Not(HasSubstr("\x1b"))) << "what others wrote steers no terminal";
  cluster_.Change(UpgradeCluster::PathOf(kCore),
                  [](Json& core) { core["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; });
  Outcome deleting = Run(waiting);
  EXPECT_EQ(deleting.code, 0) << deleting.err;
  EXPECT_THAT(deleting.err, HasSubstr("Warning: CoreProvider capi-system/cluster-api is paused or being deleted"));
}

TEST_F(Upgrades, AWatchThatIsRefusedIsTold) {  // L13
  cluster_.has_operator = false;
  cluster_.before_write = [](UpgradeCluster& cluster, const std::string& what) {
    if (what.find("coreproviders") != what.npos) cluster.forbidden = "/v1alpha2/coreproviders";
  };
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0", "--wait-provider-timeout", "60"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("watching coreproviders: "));
  EXPECT_THAT(got.err, HasSubstr("you may not"));
}

TEST_F(Upgrades, AVersionWhoseObjectsCouldNotBeReadIsNotGoneTo) {  // L14, U3
  // ENV is one of the operator's own environment.
  Release("cluster-api", "v1.11.0", "{major: 1, minor: 11, contract: v1beta2}", "${ENV}");
  Release("cluster-api", "v1.11.1", "{major: 1, minor: 11, contract: v1beta2}", "x");
  cluster_.folder.Put(
      "r/cluster-api/v1.11.1/c.yaml",
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\nspec: {group: "
      "x.io, scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1beta1, storage: true}]}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {v: '${ENV}'}\n");
  cluster_.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/as.x.io",
               {{"metadata", {{"name", "as.x.io"}}},
                {"spec", {{"versions", Json::array({{{"name", "v1beta2"}, {"storage", true}}})}}}});
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.11.1"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("objects of as.x.io are stored at v1beta2, which that release doesn't have"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, WithoutTheOperatorNoneMayBeThere) {  // L23
  const std::vector<std::string> arguments = {"upgrade", "apply", "--contract", "v1beta2", "--operator=false"};
  EXPECT_THAT(Run(arguments).err, HasSubstr("CoreProvider capi-system/cluster-api is a provider object"));
  cluster_.Put(
      "/apis/apps/v1/namespaces/o/deployments/capi-operator",
      {{"metadata",
        {{"name", "capi-operator"}, {"namespace", "o"}, {"labels", {{"app.kubernetes.io/name", "capi-operator"}}}}}});
  EXPECT_THAT(Run(arguments).err, HasSubstr("capi-operator is in namespace o, and upgrades providers"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// A cluster with the same providers, and no operator.
class UpgradesAlone : public Upgrades {
 protected:
  UpgradesAlone() : Upgrades(/*bare=*/true) {}
};

TEST_F(UpgradesAlone, AllIsToldBeforeTheFirstWrite) {  // L23
  Release(
      "cluster-api", "v1.12.0",
      "{major: 1, minor: 10, contract: v1beta2}\n- {major: 1, minor: 11, contract: v1beta2}\n- {major: 1, minor: 12, "
      "contract: v1beta2}",
      "y");
  std::vector<std::string> arguments = {"upgrade", "apply", "--contract", "v1beta2", "--dry-run"};
  EXPECT_THAT(Run(arguments).err, HasSubstr("or upgrade with --operator=false"));
  arguments.push_back("--operator=false");
  Outcome missing = Run(arguments);
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("[TOKEN]"));
  Outcome dry = Run(arguments, {{"TOKEN", "s3cret-value"}});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(dry.out,
            "CoreProvider capi-system/cluster-api: v1.11.0 -> v1.12.0, contract v1beta2\n"
            "  ~ ConfigMap/capi-system/c: .data.v\n"
            "InfrastructureProvider capa-system/aws: v2.0.0 -> v2.1.0, contract v1beta1\n"
            "  ~ ConfigMap/capa-system/c: .data.v\n"
            "This was a dry run: nothing was written.\n");
  EXPECT_THAT(Run({"upgrade", "apply", "--core", "cluster-api:v1.10.0", "--operator=false"}).err,
              HasSubstr("v1.10.0 is an older minor version"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The run that upgraded it ended before it was available.
TEST_F(UpgradesAlone, WhatIsUpToDateIsWaitedForToo) {  // L23
  const std::pair<UpgradeProvider, std::string> newest[] = {{kCore, "v1.12.0"}, {kAws, "v2.1.0"}};
  for (auto [provider, version] : newest) {
    provider.version = version;
    cluster_.Add(provider, /*bare=*/true);
  }
  const std::string path = "/apis/apps/v1/namespaces/capa-system/deployments/capa";
  cluster_.Put(
      path, {{"apiVersion", "apps/v1"},
             {"kind", "Deployment"},
             {"metadata",
              {{"name", "capa"},
               {"namespace", "capa-system"},
               {"generation", 1},
               {"labels", {{"clusterctl.cluster.x-k8s.io", ""}, {"cluster.x-k8s.io/provider", "infrastructure-aws"}}}}},
             {"spec", {{"replicas", 1}}},
             {"status", {{"observedGeneration", 1}, {"replicas", 1}, {"updatedReplicas", 1}}}});
  const std::vector<std::string> waiting = {
      "upgrade", "apply",           "--contract", "v1beta2", "--wait-providers", "--wait-provider-timeout",
      "1",       "--operator=false"};
  Outcome got = Run(waiting);
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("deployment \"capa\" is not ready after 1 s"));
  cluster_.Change(path, [](Json& capa) {
    capa["status"].update({{"readyReplicas", 1}, {"availableReplicas", 1}});
    capa["status"]["conditions"] = Json::array({{{"type", "Available"}, {"status", "True"}}});
  });
  EXPECT_EQ(Run(waiting).code, 0);
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

}  // namespace
}  // namespace capi::cli
