// What `upgrade apply` does with a cert-manager that clusterctl installed, on an API server in memory (L13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/interrupt_testing.h"
#include "cli/upgrade/upgrades_testing.h"

namespace capi::cli {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kDeployment = "/apis/apps/v1/namespaces/cert-manager/deployments/cert-manager";
const Json kOurs = {{"clusterctl.cluster.x-k8s.io/core", "cert-manager"}};

constexpr std::string_view kGroups = R"({"kind": "APIGroupDiscoveryList", "items": [
  {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [
    {"resource": "deployments", "responseKind": {"kind": "Deployment"}, "scope": "Namespaced",
     "verbs": ["delete", "list"]}]}]}]})";
constexpr std::string_view kNewer = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: cert-manager, namespace: cert-manager}
)";

// v1.19.0 is in the cluster, and the configuration names v1.20.0. Its base comes before the threads of the server.
class CertManagerUpgrades : public WithoutInterrupts, public Upgrades {
 protected:
  CertManagerUpgrades() {
    cluster_.Put("/api", {{"kind", "APIGroupDiscoveryList"}, {"items", Json::array()}});
    cluster_.Put("/apis", *ParseJson(kGroups));
    cluster_.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/issuers.cert-manager.io",
                 {{"metadata", {{"name", "issuers.cert-manager.io"}, {"labels", kOurs}}}});
    cluster_.Put(kDeployment, {{"apiVersion", "apps/v1"},
                               {"kind", "Deployment"},
                               {"metadata",
                                {{"name", "cert-manager"},
                                 {"namespace", "cert-manager"},
                                 {"labels", kOurs},
                                 {"annotations", {{"cert-manager.clusterctl.cluster.x-k8s.io/version", "v1.19.0"}}}}}});
    cluster_.folder.Put("clusterctl.yaml",
                        "cert-manager: {url: " + cluster_.folder.path() +
                            "/cert-manager/latest/cert-manager.yaml, version: v1.20.0}\nproviders:\n" +
                            Source("cluster-api", "CoreProvider", "cluster-api") +
                            Source("aws", "InfrastructureProvider", "infrastructure-aws"));
    Has(std::string(kNewer));
  }
  void Has(const std::string& manifest) { cluster_.folder.Put("cert-manager/v1.20.0/cert-manager.yaml", manifest); }
  Outcome Apply() { return Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0"}); }
};

TEST_F(CertManagerUpgrades, OneWithoutDeploymentsIsToldAndTheProvidersAreUpgraded) {  // L13
  cluster_.Remove(kDeployment);
  Outcome got = Apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: cert-manager stays as it is: cert-manager, which clusterctl installed, has "
                                 "no Deployment"));
  EXPECT_EQ(VersionOf(kCore), "v1.12.0");
}

// A proxy's answer, say: nobody knows by it what runs.
TEST_F(CertManagerUpgrades, AListThatIsNotThereIsNoOneWithoutDeployments) {  // L13
  cluster_.Remove(kDeployment);
  cluster_.absent = "/apis/apps/v1/deployments";
  Outcome got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: cert-manager can't be upgraded "));
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
  EXPECT_THAT(cluster_.writes(), testing::IsEmpty());
}

// What the new one needs isn't there: that is no cert-manager that stays as it is.
TEST_F(CertManagerUpgrades, AKindThatIsNotServedEndsTheCommandBeforeItWrites) {  // L13
  Has(std::string(kNewer) +
      "---\napiVersion: monitoring.example.com/v1\nkind: PodMonitor\n"
      "metadata: {name: cert-manager, namespace: cert-manager}\n");
  Outcome got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: cert-manager can't be upgraded "));
  EXPECT_THAT(got.err, HasSubstr("the API server has no kind PodMonitor"));
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
  EXPECT_THAT(cluster_.writes(), Each(EndsWith(" (dry run)")));
}

// A right that is missing as well doesn't make it one, wherever that object stands.
TEST_F(CertManagerUpgrades, AKindThatIsNotServedEndsTheCommandWhateverIsForbiddenBesides) {  // L13
  const std::string forbidden =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: cert-manager}\n";
  cluster_.forbidden = "/configmaps/mine";
  Has(std::string(kNewer) + forbidden);
  Outcome got = Run({"upgrade", "apply", "--core", "cluster-api:v1.12.0", "--dry-run"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: cert-manager stays as it is: "));
  Has(std::string(kNewer) + forbidden +
      "---\napiVersion: monitoring.example.com/v1\nkind: PodMonitor\n"
      "metadata: {name: cert-manager, namespace: cert-manager}\n");
  got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: cert-manager can't be upgraded "));
  EXPECT_THAT(got.err, HasSubstr("the API server has no kind PodMonitor"));
  EXPECT_THAT(cluster_.writes(), Each(EndsWith(" (dry run)")));
}

TEST_F(CertManagerUpgrades, InterruptedItSaysHowToGoOn) {  // L13
  cluster_.before_write = [](UpgradeCluster&, const std::string& what) {
    if (what != "PATCH " + kDeployment) return;
    EXPECT_TRUE(WithoutInterrupts::Interrupt());
  };
  Outcome got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("Error: interrupted while cert-manager was being upgraded; to go on, run the same "
                                 "command again\n"));
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
}

}  // namespace
}  // namespace capi::cli
