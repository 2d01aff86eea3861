// L22: the command as people run it.
#include "cli/remove/delete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "cli/frame/interrupt_testing.h"
#include "cli/move/fake_cluster.h"
#include "cli/testing.h"
#include "kube/apply/inventory.h"

namespace capi::cli {
namespace {

using ::testing::HasSubstr;

TEST(Delete, FlagsThatDontFit) {
  const std::string flags =
      "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"delete"}, "At least one of " + flags + " should be specified or the --all flag should be set"},
      {{"delete", "--include-crd"}, "At least one of "},
      {{"delete", "--all", "-i", "aws"}, "The --all flag can't be used in combination with " + flags},
      {{"delete", "-i", ""}, "the flag for InfrastructureProvider has an empty name"},
      {{"delete", "aws"}, "unknown command \"aws\""},
      {{"delete", "--all", "--wait-timeout=0"}, "--wait-timeout"},
      {{"delete", "--all", "--operator=perhaps"}, "--operator"},
  };
  for (const auto& [arguments, error] : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    Outcome outcome = Clusterctl(arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Error: "));
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
}

// A management cluster in memory. Whatever is in a provider's inventory, no operator is there to remove it.
class Deletes : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "delete");
    arguments.insert(arguments.end(), {"--kubeconfig", folder_.Put("kubeconfig", cluster_.Kubeconfig())});
    return Clusterctl(std::move(arguments), {{"HOME", folder_.path()}});
  }
  static Json Of(const std::string& api_version, const std::string& kind, const std::string& ns,
                 const std::string& name) {
    Json out = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
    if (!ns.empty()) out["metadata"]["namespace"] = ns;
    return out;
  }
  static Json Labelled(Json object) {
    object["metadata"]["labels"] = {{"clusterctl.cluster.x-k8s.io", ""},
                                    {"cluster.x-k8s.io/provider", "infrastructure-aws"}};
    return object;
  }
  static Json Aws(const std::string& ns) {
    Json out = Of("operator.cluster.x-k8s.io/v1alpha2", "InfrastructureProvider", ns, "aws");
    out["spec"]["version"] = "v1.0.0";
    return out;
  }
  // As Cluster API's clusterctl does, with an object that the operator hasn't looked at yet.
  void InstallAndDeclare(const std::string& ns) {
    Json entry = Labelled(Of("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", ns, "infrastructure-aws"));
    entry.update({{"providerName", "aws"}, {"type", "InfrastructureProvider"}, {"version", "v1.0.0"}});
    cluster_.Put(Of("v1", "Namespace", "", ns));
    cluster_.Put(std::move(entry));
    cluster_.Put(Aws(ns));
  }
  // As the operator does, with a Secret that cert-manager made, one with variables, and a preloaded release.
  void InstallByOperator(const std::string& ns) {
    kube::Inventory inventory;
    inventory.Put({"cert-manager.io", "Certificate", ns, "serving"}, {.version = "v1", .hash = "x"});
    Json aws = Aws(ns), secret = Of("v1", "Secret", ns, "webhook-cert"),
         release = Of("v1", "ConfigMap", ns, "selected");
    aws["status"] = {{"installedVersion", "v1.0.0"}, {"inventory", inventory.ToJson()}};
    aws["spec"].update({{"configSecret", {{"name", "aws-variables"}}},
                        {"fetchConfig", {{"selector", {{"matchLabels", {{"mine", "aws"}}}}}}}});
    secret["metadata"]["annotations"]["cert-manager.io/certificate-name"] = "serving";
    release["metadata"]["labels"] = {{"mine", "aws"}};
    cluster_.Put(Of("v1", "Namespace", "", ns));
    cluster_.Put(Of("v1", "Secret", ns, "aws-variables"));
    cluster_.Put(std::move(release));
    cluster_.Put(std::move(aws));
    cluster_.Put(std::move(secret));
  }
  // As clusterctl does, as far as it counts here.
  void InstallOperator(const std::string& ns) {
    Json deployment = Of("apps/v1", "Deployment", ns, "capi-operator");
    deployment["metadata"]["labels"]["app.kubernetes.io/name"] = "capi-operator";
    cluster_.Put(Of("v1", "Namespace", "", ns));
    cluster_.Put(std::move(deployment));
    cluster_.Put(Of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "",
                    "infrastructureproviders.operator.cluster.x-k8s.io"));
  }
  bool Has(const std::string& kind, const std::string& ns, const std::string& name) {
    return cluster_.Find(kind, ns, name).has_value();
  }

  WithoutInterrupts without_interrupts_;
  move::Allowance allowance_;
  move::FakeCluster cluster_{"c", allowance_};
  TestFolder folder_;
};

// Each would leave to the other what has no namespace.
TEST_F(Deletes, TwoOfANameThatWerentTakenOverLeaveNothing) {
  InstallAndDeclare("capa");
  InstallAndDeclare("capb");
  cluster_.Put(Labelled(Of("infrastructure.cluster.x-k8s.io/v1beta2", "Identity", "", "shared")));
  Outcome got = Run({"--all"});
  EXPECT_EQ(got.code, 0) << got.err;
  for (const char* ns : {"capa", "capb"}) {
    EXPECT_FALSE(Has("InfrastructureProvider", ns, "aws"));
    EXPECT_FALSE(Has("Provider", ns, "infrastructure-aws"));
  }
  EXPECT_FALSE(Has("Identity", "", "shared")) << got.err;
}

// Whoever made the object anew needs it.
TEST_F(Deletes, WhatCameAgainKeepsItsRest) {
  InstallAndDeclare("capa");
  std::atomic<bool> deleted = false;
  cluster_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "DELETE" && target.find("/infrastructureproviders/aws") != target.npos) deleted = true;
  });
  cluster_.OnRead([&](const std::string&) {
    if (deleted.exchange(false)) cluster_.Put(Aws("capa"));
  });
  Outcome got = Run({"--all"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err,
              HasSubstr("Warning: InfrastructureProvider capa/aws has an object again, and keeps what is left"));
  EXPECT_TRUE(Has("InfrastructureProvider", "capa", "aws"));
  EXPECT_TRUE(Has("Provider", "capa", "infrastructure-aws"));
}

// A preloaded release is the provider's own.
TEST_F(Deletes, AReleaseInTheClusterGoesWithItsNamespace) {
  InstallByOperator("capa");
  Json map = Of("v1", "ConfigMap", "capa", "aws-v1.0.0");
  map["metadata"]["labels"] = {{"provider.cluster.x-k8s.io/type", "infrastructure"},
                               {"provider.cluster.x-k8s.io/name", "aws"}};
  cluster_.Put(std::move(map));
  Outcome got = Run({"--all", "--include-crd", "--include-namespace", "--dry-run"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("  ConfigMap/capa/aws-v1.0.0\n"));
  EXPECT_TRUE(Has("Namespace", "", "capa"));
}

// L22: its credentials are the provider's own, also once its object is gone.
TEST_F(Deletes, TheCredentialsOfItsRegistryGoWithItsNamespace) {
  int writes = 0;
  for (bool broken = true; broken; ++writes) {
    SCOPED_TRACE(writes);
    ASSERT_LT(writes, 50);
    InstallByOperator("capa");
    Json aws = *cluster_.Find("InfrastructureProvider", "capa", "aws");
    aws["spec"]["fetchConfig"] = {{"oci", "registry.example.com/aws"}, {"secretRef", {{"name", "registry"}}}};
    cluster_.Put(std::move(aws));
    cluster_.Remove("ConfigMap", "capa", "selected");
    cluster_.Put(Of("v1", "Secret", "capa", "registry"));
    allowance_.Set(writes);
    broken = Run({"--all", "--include-namespace"}).code != 0;
    allowance_.Set(-1);
    Outcome got = Run({"--all", "--include-namespace"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_FALSE(Has("Namespace", "", "capa"));
  }
  EXPECT_GT(writes, 2);
}

// L22: what providers own goes before their kinds, where these go; else the garbage collector sees to it.
TEST_F(Deletes, ReleasesThatProvidersOwnGoBeforeTheKinds) {
  const std::string kind = "infrastructureproviders.operator.cluster.x-k8s.io";
  for (bool crds : {false, true}) {
    SCOPED_TRACE(crds);
    InstallOperator("capi-operator-system");
    InstallByOperator("capa");
    Json map = Of("v1", "ConfigMap", "capa", "release"), aws = Aws("capa");
    map["metadata"]["ownerReferences"] = {
        {{"apiVersion", aws["apiVersion"]}, {"kind", aws["kind"]}, {"name", "aws"}, {"uid", "u"}}};
    cluster_.Put(std::move(map));
    std::vector<std::string> arguments = {"--all"};
    if (crds) arguments.push_back("--include-crd");
    std::vector<std::string> dry_run = arguments;
    dry_run.push_back("--dry-run");
    Outcome got = Run(dry_run);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(got.out.find("  ConfigMap/capa/release\n") != got.out.npos, crds) << got.out;
    cluster_.OnWrite([&](const std::string&, const std::string& target) {
      if (target.find(kind) != target.npos) EXPECT_FALSE(Has("ConfigMap", "capa", "release"));
    });
    got = Run(arguments);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_FALSE(Has("Deployment", "capi-operator-system", "capi-operator"));
    EXPECT_EQ(Has("CustomResourceDefinition", "", kind), !crds);
    EXPECT_EQ(Has("ConfigMap", "capa", "release"), !crds);
  }
}

// --force accepts what was told, and no more. The same command goes on afterwards.
TEST_F(Deletes, WhatCameIntoANamespaceMeanwhileKeepsIt) {
  for (bool force : {false, true}) {
    SCOPED_TRACE(force);
    InstallByOperator("capa");
    if (force) cluster_.Put(Of("v1", "ConfigMap", "capa", "told"));
    cluster_.OnWrite(
        [&](const std::string&, const std::string&) { cluster_.Put(Of("v1", "ConfigMap", "capa", "came")); });
    std::vector<std::string> arguments = {"-i", "aws", "--include-namespace"};
    if (force) arguments.insert(arguments.end(), {"--force", "--yes"});
    Outcome got = Run(arguments);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("namespace capa stays, for ConfigMap/capa/came came into it meanwhile"));
    EXPECT_FALSE(Has("InfrastructureProvider", "capa", "aws"));
    EXPECT_TRUE(Has("Namespace", "", "capa"));
    cluster_.OnWrite(nullptr);
    for (const char* name : {"came", "told"}) cluster_.Remove("ConfigMap", "capa", name);
    got = Run({"-i", "aws", "--include-namespace"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_FALSE(Has("Namespace", "", "capa"));
  }
}

// L22: the deletion goes by --force, and so does its dry run.
TEST_F(Deletes, ADryRunByForcePrintsOneWhoseInventoryCantBeRead) {
  Json aws = Aws("capa");
  aws["status"] = {{"installedVersion", "v1.0.0"}, {"inventory", Json::array({"x"})}};
  cluster_.Put(Of("v1", "Namespace", "", "capa"));
  cluster_.Put(std::move(aws));
  Outcome got = Run({"--all", "--dry-run"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the inventory of InfrastructureProvider capa/aws can't be read: "));
  got = Run({"--all", "--dry-run", "--force"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("InfrastructureProvider capa/aws v1.0.0, by the operator\n"
                                 "  its objects can't be told: "));
  EXPECT_THAT(got.out, HasSubstr("  InfrastructureProvider.operator.cluster.x-k8s.io/capa/aws\n"));
  EXPECT_TRUE(Has("InfrastructureProvider", "capa", "aws"));
}

TEST_F(Deletes, WhatIsInterruptedSaysHowToGoOn) {
  InstallByOperator("capa");
  bool interrupted = false;
  cluster_.OnWrite([&](const std::string&, const std::string&) {
    if (std::exchange(interrupted, true)) return;
    EXPECT_TRUE(WithoutInterrupts::Interrupt());
  });
  Outcome got = Run({"--all"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: interrupted; what was written stays; to go on, run the same command again\n"));
  EXPECT_TRUE(Has("InfrastructureProvider", "capa", "aws"));
  got = Run({"--all"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(Has("InfrastructureProvider", "capa", "aws"));
}

// L22: also in the operator's own namespace, which goes last of all, and where a spec alone told whose something is.
TEST_F(Deletes, WhatIsBrokenOffAnywhereGoesOn) {
  const std::vector<std::string> all = {"--all", "--include-crd", "--include-namespace"};
  int writes = 0;
  for (bool broken = true; broken; ++writes) {
    SCOPED_TRACE(writes);
    ASSERT_LT(writes, 50);
    InstallOperator("capi-operator-system");
    InstallByOperator("capi-operator-system");
    allowance_.Set(writes);
    broken = Run(all).code != 0;
    allowance_.Set(-1);
    Outcome got = Run(all);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_FALSE(Has("InfrastructureProvider", "capi-operator-system", "aws"));
    EXPECT_FALSE(Has("CustomResourceDefinition", "", "infrastructureproviders.operator.cluster.x-k8s.io"));
    EXPECT_FALSE(Has("Namespace", "", "capi-operator-system"));
  }
  EXPECT_GT(writes, 5);
}

// L22: the note of a run that was broken off stays where the provider is installed anew, without an operator.
TEST_F(Deletes, ANoteOfBeforeSaysNothingOfWhatIsInstalledAnew) {
  InstallAndDeclare("capa");
  Json aws = Aws("capa");
  aws["spec"]["configSecret"]["name"] = "values";
  cluster_.Put(std::move(aws));
  Json entry = *cluster_.Find("Provider", "capa", "infrastructure-aws");
  entry["metadata"].erase("uid");
  cluster_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "DELETE" && target.find("/providers/") != target.npos) allowance_.Set(1);
  });
  EXPECT_EQ(Run({"--all"}).code, 0) << "the note stays, for want of the right to take it away";
  cluster_.OnWrite(nullptr);
  allowance_.Set(-1);
  EXPECT_FALSE(Has("Provider", "capa", "infrastructure-aws"));
  EXPECT_TRUE(cluster_.Find("Namespace", "", "capa")->at("metadata").contains("annotations"));
  cluster_.Put(std::move(entry));
  cluster_.Put(Of("v1", "Secret", "capa", "values"));
  Outcome got = Run({"--all", "--include-namespace", "--operator=false"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("namespace capa also has Secret/capa/values, which would go with it"));
}

TEST_F(Deletes, WhatCantBeSeenGoesByForceAlone) {
  InstallByOperator("capa");
  cluster_.Forbid("GET", "templates");
  Outcome got = Run({"--all", "--include-namespace"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("can't tell what else is in namespace capa: "));
  EXPECT_TRUE(Has("InfrastructureProvider", "capa", "aws"));
  got = Run({"--all", "--include-namespace", "--force", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(Has("Namespace", "", "capa"));
}

}  // namespace
}  // namespace capi::cli
