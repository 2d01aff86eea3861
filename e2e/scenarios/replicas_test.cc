// Several replicas of the operator: one works, and another goes on where it ended, however it ended (behaviour.md F4).
// Their webhooks are webhooks_test's; who stood still is survival_test's.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/must.h"
#include "e2e/releases/small_release.h"
#include "e2e/support/audit.h"
#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

class Replicas : public UnmanagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.12.0");
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    cluster_->CreateNamespace(kSmall.ns);
    for (const char* version : {"v1.0.0", "v1.1.0"}) StoreSmall(*cluster_, kSmall, {.version = version});
  }
  // Whoever is left works until the test's end.
  void TearDown() override {
    for (auto& replica : replicas_) {
      if (!replica.process->ended_by_test()) operator_ = std::move(replica.process);
    }
    replicas_.clear();
    UnmanagedCluster::TearDown();
  }

  // Three that the server knows by different names.
  void Start(std::string_view name, const std::vector<std::string>& arguments) {
    const std::string text = Must(ReadFile(cluster_->plane().kubeconfig()), "kubeconfig");
    for (int i = 0; i < 3; ++i) {
      const std::string user = fmt::format("{}-{}", name, i), path = folder_.path() + "/" + user;
      const std::string as = "user: {as: " + user + ", as-groups: [\"system:masters\"], token:";
      ASSERT_TRUE(WriteFile(path, ReplaceAll(text, "user: {token:", as), 0600).ok());
      replicas_.push_back({user, std::make_unique<OperatorProcess>(path, arguments)});
    }
  }

  struct Replica {
    std::string user;
    std::unique_ptr<OperatorProcess> process;
    bool Leads() const {
      return !process->ended_by_test() && process->Log().find(" leading lease=") != std::string::npos;
    }
  };
  // The one that leads now, or comes to; null where nobody does for a minute.
  Replica* AwaitLeader() {
    Replica* leader = nullptr;
    kube::Eventually(
        [&] {
          auto it = std::find_if(replicas_.begin(), replicas_.end(), [](const Replica& r) { return r.Leads(); });
          if (it != replicas_.end()) leader = &*it;
          return leader != nullptr;
        },
        Seconds(60));
    return leader;
  }

  // Those who wrote, one after the other.
  std::vector<std::string> Writers() {
    std::vector<std::pair<std::string, std::string>> writes;  // time and user
    for (const AuditedRequest& request : AuditLog(cluster_->plane())) {
      auto ours = [&](const Replica& replica) { return replica.user == request.user; };
      if (!request.writes() || request.resource == "leases") continue;
      if (std::any_of(replicas_.begin(), replicas_.end(), ours)) writes.emplace_back(request.time, request.user);
    }
    std::sort(writes.begin(), writes.end());
    std::vector<std::string> users;
    for (const auto& [time, user] : writes) {
      if (users.empty() || users.back() != user) users.push_back(user);
    }
    return users;
  }

  // The first installs, the second upgrades, the third deletes; each of the first two ends while it is at it.
  void TakeTurns(const std::function<void(OperatorProcess&)>& end) {
    std::vector<std::string> led;
    auto next = [&]() -> OperatorProcess* {
      Replica* leader = AwaitLeader();
      if (leader == nullptr) return nullptr;
      led.push_back(leader->user);
      return leader->process.get();
    };
    OperatorProcess* leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(Install(kCore, "v1.12.0"));
    cluster_->ApplyProvider(kSmall.type, kSmall.ns, kSmall.name,
                            {{"version", "v1.0.0"}, {"fetchConfig", SmallSource(kSmall)}});
    ASSERT_TRUE(kube::Eventually([&] { return !See(kSmall).provider.status.inventory.is_null(); }));
    end(*leader);

    leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(AwaitReady(kSmall));
    PatchSpec(kSmall, {{"version", "v1.1.0"}});
    ASSERT_TRUE(kube::Eventually([&] {
      return See(kSmall).provider.status.desired_version == "v1.1.0" ||
             See(kSmall).provider.status.installed_version == "v1.1.0";
    }));
    end(*leader);

    leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(AwaitReady(kSmall));
    EXPECT_EQ(See(kSmall).provider.status.installed_version, "v1.1.0");
    Delete(kSmall);
    EXPECT_TRUE(AwaitGone(kSmall));
    EXPECT_EQ(Writers(), led) << "one at a time, and nobody after his turn";
  }

  kube::TemporaryFolder folder_;
  std::vector<Replica> replicas_;
};

// The lease would last for two minutes: it is given back.
TEST_F(Replicas, AStopHandsOverAtOnce) {
  Start("stopped", {"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  TakeTurns([](OperatorProcess& leader) { EXPECT_EQ(leader.Terminate(), 0); });
}

TEST_F(Replicas, ADeadLeaderIsFollowedWithinTheLease) {
  Start("killed",
        {"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=1s"});
  TakeTurns([](OperatorProcess& leader) { leader.KillAtOnce(); });
}

}  // namespace
}  // namespace capi::e2e
