// What an upgrade without an operator says where it fails, on an API server in memory (L23).
#include "cli/upgrade/without_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "api/kinds.h"
#include "cli/upgrade/upgrades_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// aws is to come to v2.1.0, and doesn't come to zero: the server has no list of its pods.
class UpgradesDirectly : public Upgrades {
 protected:
  UpgradesDirectly() : Upgrades(/*bare=*/true) {
    for (const char* path : {"/api", "/apis"})
      cluster_.Put(path, {{"kind", "APIGroupDiscoveryList"}, {"items", Json::array()}});
    Deploy(kAws, false);
    const api::ProviderId id = {kAws.type, kAws.ns, kAws.name};
    rollout_.told.pause = true;
    rollout_.releases.emplace_back().provider = {id, "v2.1.0", "v1beta1"};
    UpgradeTarget& target = rollout_.told.targets.emplace_back();
    target.object.provider.id = id;
    target.leaves = "v2.0.0";
    ctx_.clock = &clock_;
  }
  static std::string PathOf(const UpgradeProvider& provider) {
    return "/apis/apps/v1/namespaces/" + provider.ns + "/deployments/manager";
  }
  // `stopped`: an earlier run has brought it to zero replicas.
  void Deploy(const UpgradeProvider& provider, bool stopped) {
    Json metadata = {{"name", "manager"},
                     {"namespace", provider.ns},
                     {"labels",
                      {{"clusterctl.cluster.x-k8s.io", ""},
                       {"cluster.x-k8s.io/provider", api::ManifestLabel(provider.type, provider.name)}}}};
    if (stopped) metadata["annotations"][std::string(api::kAnnotationOriginalReplicas)] = "1";
    const Json spec = {{"replicas", stopped ? 0 : 1}, {"selector", {{"matchLabels", {{"app", "manager"}}}}}};
    cluster_.Put(PathOf(provider),
                 {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", metadata}, {"spec", spec}});
  }
  // The error, and what was told before.
  std::string Upgrade() {
    auto cluster = ManagementCluster::Open({.kubeconfig = cluster_.folder / "kubeconfig"}, From({}));
    EXPECT_TRUE(cluster.ok()) << cluster.error().message;
    std::ostringstream err;
    Notes notes(err);
    Status done = UpgradeDirectly(ctx_, *cluster, rollout_, {}, notes);
    EXPECT_FALSE(done.ok());
    return err.str() + (done.ok() ? "" : done.error().message);
  }
  std::int64_t Replicas(const UpgradeProvider& provider) {
    return GetInt(cluster_.Get(PathOf(provider)), {"spec", "replicas"});
  }

  FakeClock clock_;
  Context ctx_;
  DirectRollout rollout_;
};

TEST_F(UpgradesDirectly, WhatIsPutBackGoesToNoOtherVersion) {  // L23
  const std::string of = " provider=\"infrastructure-aws\" namespace=\"capa-system\" ";
  EXPECT_THAT(Upgrade(), AllOf(HasSubstr("Scaling down" + of + "from=\"v2.0.0\" to=\"v2.1.0\"\n"),
                               HasSubstr("Putting back what was stopped" + of + "version=\"v2.0.0\"\n"),
                               Not(HasSubstr("at zero replicas"))));
  EXPECT_EQ(Replicas(kAws), 1);
}

// One that can't be read hides no other.
TEST_F(UpgradesDirectly, WhatIsAtZeroIsToldBesideWhatCantBe) {  // L23
  Deploy(kAws, true);
  cluster_.forbidden = "/namespaces/capi-system/deployments";
  EXPECT_THAT(Upgrade(),
              AllOf(HasSubstr("; at zero replicas: InfrastructureProvider/aws (by hand they come back with "),
                    HasSubstr("; whether CoreProvider/cluster-api is at zero replicas can't be told: failed "
                              "to list Deployments in namespace capi-system: ")));
}

TEST_F(UpgradesDirectly, PuttingBackLeavesTimeToTellWhatIsAtZero) {  // L23
  Deploy(kCore, true);
  int writes = 0;
  cluster_.before_write = [&](UpgradeCluster&, const std::string&) {
    if (++writes == 2) clock_.Advance(Seconds(60));  // the first one has stopped it
  };
  EXPECT_THAT(Upgrade(), HasSubstr("; at zero replicas: CoreProvider/cluster-api (by hand they come back with "));
  EXPECT_EQ(writes, 2);
}

}  // namespace
}  // namespace capi::cli
