// Providers whose managers run, with a real Cluster: what guards it, what a pause and an upgrade do to its objects
// (behaviour.md X2, X3, P3, U3, C2).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/length.h"
#include "e2e/real_managers/real_managers.h"
#include "e2e/real_managers/steady_client.h"
#include "e2e/real_managers/workload_cluster.h"
#include "e2e/resilience/scenario.h"
#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Seconds kLimit{180};

std::string SeriesOf(const std::string& version) { return version.substr(0, version.rfind('.')); }

class RealManagersTest : public ManagedCluster {
 protected:
  void SetUp() override {
    if (GetReleaseSet() == ReleaseSet::kTree) {
      GTEST_SKIP() << "the managers need all kinds of their releases: CAPI_RELEASES=built, or vendors";
    }
    ManagedCluster::SetUp();
  }
  // All four at `version`, with the managers of these series, and a Cluster of two Machines.
  void Begin(const std::string& version, const std::vector<std::string>& series) {
    managers_ = std::make_unique<RealManagers>(*cluster_, series);
    mine_ = std::make_unique<WorkloadCluster>(*cluster_, "mine");
    for (const Managed& p : RealProviders()) Create(p, version, managers_->Spec(p, version));
    AwaitVersion(version);
    if (HasFatalFailure()) return;
    mine_->Create(1);
    ASSERT_TRUE(mine_->AwaitRunning(2));
  }
  void TearDown() override {
    if (!cluster_) return;
    for (const Managed& p : RealProviders()) {
      if (HasFailure() && See(p).exists) Annotate(p, "operator.cluster.x-k8s.io/force-delete", "true");
    }
    ManagedCluster::TearDown();
  }

  void PauseAll(bool paused) {
    for (const Managed& p : RealProviders()) PatchSpec(p, {{"paused", paused}});
  }

  // All four installed, healthy and served by the managers of that version, and their objects migrated.
  void AwaitVersion(const std::string& version) {
    for (const Managed& p : RealProviders()) {
      if (!HasFatalFailure()) AwaitVersion(p, version);
    }
  }
  void AwaitVersion(const Managed& p, const std::string& version) {
    Seen seen;
    ASSERT_TRUE(kube::Eventually(
        [&] {
          seen = See(p);
          return seen.provider.status.installed_version == version && seen.Status("Ready") == "True" &&
                 seen.Status("StorageMigrated") != "False" &&
                 seen.provider.status.observed_generation == seen.provider.generation;
        },
        kLimit, Millis(100)))
        << p.Label() << " isn't at " << version << ": " << seen.Describe() << "\n"
        << operator_->Log();
    ASSERT_TRUE(managers_->AwaitServing(p, SeriesOf(version)));
  }
  void Pause() {
    PauseAll(true);
    for (const Managed& p : RealProviders()) {
      ASSERT_TRUE(AwaitReason(p, "Ready", "Paused", kLimit));
      ASSERT_TRUE(managers_->AwaitStopped(p));
    }
  }
  void Unpause(std::string_view series) {
    PauseAll(false);
    for (const Managed& p : RealProviders()) ASSERT_TRUE(managers_->AwaitServing(p, series)) << See(p).Describe();
  }

  // Every object of `before` is still there, and the same.
  void ExpectKept(const std::map<std::string, std::string>& before) {
    auto after = UidsOf(*cluster_, ListCrds(*cluster_));
    for (const auto& [name, uid] : before) EXPECT_EQ(after[name], uid) << name;
  }
  // U3: what is stored is stored at one version, which is served.
  void ExpectNothingStranded() {
    for (const CrdVersions& crd : ListCrds(*cluster_)) {
      EXPECT_THAT(crd.stored, ElementsAre(crd.resource.version)) << crd.Describe();
      EXPECT_THAT(crd.served, ::testing::Contains(crd.resource.version)) << crd.Describe();
    }
  }

  std::unique_ptr<RealManagers> managers_;
  std::unique_ptr<WorkloadCluster> mine_;
};

// X2, X3, P3: a Cluster blocks the deletion of all that it needs, also while nobody can convert its objects; it is
// reconciled all the while, and when it is gone, so are the providers.
TEST_F(RealManagersTest, AClusterGuardsItsProviders) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0", "bootstrap-kubeadm/v1.12.0", "control-plane-kubeadm/v1.12.0",
                     "infrastructure-docker/v1.12.0");
  Begin("v1.12.0", {"v1.12"});
  if (HasFatalFailure()) return;
  auto before = UidsOf(*cluster_, ListCrds(*cluster_));
  EXPECT_GE(before.size(), 10u);

  Pause();
  if (HasFatalFailure()) return;
  ExpectKept(before);
  Delete(kBootstrap);
  ASSERT_TRUE(AwaitReason(kBootstrap, "Ready", "InUse", kLimit));
  EXPECT_THAT(See(kBootstrap).Message("Ready"), HasSubstr("KubeadmConfig default/mine-"));
  EXPECT_THAT(See(kBootstrap).Message("Ready"), HasSubstr("set spec.paused to false"));

  Unpause("v1.12");
  if (HasFatalFailure()) return;
  Delete(kDocker);
  Delete(kCore);
  ASSERT_TRUE(AwaitReason(kDocker, "Ready", "InUse", kLimit));
  EXPECT_THAT(See(kDocker).Message("Ready"), HasSubstr("DevCluster default/mine"));
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked", kLimit));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("BootstrapProvider/kubeadm"));
  mine_->Scale(2);
  ASSERT_TRUE(mine_->AwaitRunning(3)) << "what is deleted but needed still works";
  ExpectKept(before);

  mine_->Delete();
  ASSERT_TRUE(mine_->AwaitGone());
  EXPECT_TRUE(AwaitGone(kDocker));
  EXPECT_TRUE(AwaitGone(kBootstrap));
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked", kLimit));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("ControlPlaneProvider/kubeadm"));
  Delete(kControlPlane);
  EXPECT_TRUE(AwaitGone(kCore));
}

// The last steps of the proposal's sequence, with a Cluster that lives through them. Needs managers of older series,
// which take minutes to build.
class RealUpgrade : public RealManagersTest {
 protected:
  void SetUp() override {
    if (TestLength() != Length::kLong) GTEST_SKIP() << "CAPI_TEST_LONG isn't set";
    if (std::string missing = MissingForRealScenario(); !missing.empty()) GTEST_SKIP() << missing;
    RealManagersTest::SetUp();
    if (!cluster_) return;
    // Of the test before: they may store what an older release doesn't know.
    for (const Managed& p : RealProviders()) cluster_->DeleteCrds(p.Label());
  }
  void SetVersions(const std::string& version) {
    // The patches lead each webhook to our process by its path, which is another in another version.
    for (const Managed& p : RealProviders()) SetVersion(p, version);
  }
  void SetVersion(const Managed& p, const std::string& version) {
    StoreRelease(p, version);
    PatchSpec(p, managers_->Spec(p, version));
  }
  void UpgradeTo(const std::string& version, int workers) {
    if (HasFatalFailure()) return;
    SCOPED_TRACE(version);
    auto before = UidsOf(*cluster_, ListCrds(*cluster_));
    SetVersions(version);
    AwaitVersion(version);
    if (HasFatalFailure()) return;
    ExpectKept(before);
    ExpectNothingStranded();
    mine_->Scale(workers);
    ASSERT_TRUE(mine_->AwaitRunning(workers + 1));
    ExpectKept(before);
  }
  void End() {
    if (HasFatalFailure()) return;
    mine_->Delete();
    ASSERT_TRUE(mine_->AwaitGone());
    cluster_->DeleteAllProviders();
  }
};

// C2, U3: no pause, nothing lost, nothing stranded, and the Cluster goes on.
TEST_F(RealUpgrade, NothingIsLost) {
  Begin("v1.10.4", {"v1.10", "v1.11", "v1.12"});
  UpgradeTo("v1.11.0", 2);
  UpgradeTo("v1.12.0", 3);
  End();
}

// U2: a client of the core provider's objects that creates, reads and converts meanwhile. Its requests fail at most
// while the paths of the webhooks change, under a second, and not at all where they stay.
TEST_F(RealUpgrade, AClientHardlyNotices) {
  managers_ = std::make_unique<RealManagers>(*cluster_, std::vector<std::string>{"v1.10", "v1.11", "v1.12"});
  Create(kCore, "v1.10.4", managers_->Spec(kCore, "v1.10.4"));
  AwaitVersion(kCore, "v1.10.4");
  struct Upgrade {
    const char* version;
    std::vector<std::string> read_at;  // v1beta2 is there when the upgrade to v1.11.0 is over
    int under;
  };
  const Upgrade upgrades[] = {{"v1.11.0", {"v1beta1"}, 50}, {"v1.12.0", {"v1beta1", "v1beta2"}, 1}};
  for (const Upgrade& upgrade : upgrades) {
    if (HasFatalFailure()) return;
    SteadyClient client(*cluster_, upgrade.read_at);
    client.AwaitRequests(100);
    std::string from = See(kCore).provider.status.installed_version;
    SetVersion(kCore, upgrade.version);
    AwaitVersion(kCore, upgrade.version);
    client.AwaitRequests(50);
    SteadyFigures seen = client.Finish();
    fmt::print("core {} to {}: {}\n", from, upgrade.version, seen.Describe());
    EXPECT_LT(seen.failures, upgrade.under);
    if (seen.failures > 0) fmt::print("{}\n", seen.Explain());
  }
}

// C7: as far as core and kubeadm providers allow.
TEST_F(RealUpgrade, TwoMinorVersionsAtOnce) {
  Begin("v1.10.4", {"v1.10", "v1.12"});
  UpgradeTo("v1.12.0", 2);
  End();
}

// P3: an upgrade at zero replicas switches the storage version of all CRDs, and nobody is there to convert what is
// stored: it is read at the version that it is stored at, guards what needs it, and is migrated when it is over.
TEST_F(RealUpgrade, PausedItStaysReadable) {
  Begin("v1.10.4", {"v1.10", "v1.12"});
  if (HasFatalFailure()) return;
  auto before = UidsOf(*cluster_, ListCrds(*cluster_));
  Pause();
  ExpectKept(before);
  SetVersions("v1.12.0");
  for (const Managed& p : RealProviders()) {
    ASSERT_TRUE(kube::Eventually(
        [&] {
          ExpectKept(before);
          return See(p).provider.status.installed_version == "v1.12.0" || HasFailure();
        },
        kLimit, Millis(200)))
        << See(p).Describe();
    EXPECT_TRUE(AwaitReason(p, "Ready", "Paused", kLimit));
  }
  for (const CrdVersions& crd : ListCrds(*cluster_)) {
    EXPECT_EQ(crd.resource.version, "v1beta2") << crd.Describe();
    EXPECT_THAT(crd.stored, ::testing::Contains("v1beta2")) << crd.Describe();
  }
  ExpectKept(before);
  Delete(kDocker);
  ASSERT_TRUE(AwaitReason(kDocker, "Ready", "InUse", kLimit));
  EXPECT_THAT(See(kDocker).Message("Ready"), HasSubstr("DevCluster default/mine"));

  Unpause("v1.12");
  if (HasFatalFailure()) return;
  ASSERT_TRUE(kube::Eventually(
      [&] {
        auto crds = ListCrds(*cluster_);
        return std::all_of(crds.begin(), crds.end(), [](const auto& crd) { return crd.stored.size() == 1; });
      },
      kLimit, Millis(200)));
  ExpectNothingStranded();
  mine_->Scale(2);
  ASSERT_TRUE(mine_->AwaitRunning(3));
  ExpectKept(before);
  End();
}

}  // namespace
}  // namespace capi::e2e
