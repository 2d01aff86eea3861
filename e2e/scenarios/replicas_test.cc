// Several replicas of the operator: one works, and another goes on where it ended, however it ended (behaviour.md F4).
// Their webhooks are webhooks_test's; who stood still is survival_test's.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/testing/value_or_abort.h"
#include "e2e/releases/small_release.h"
#include "e2e/support/audit.h"
#include "e2e/support/injected_faults.h"
#include "e2e/support/managed_cluster.h"
#include "e2e/support/passes.h"

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

  // Three behind one proxy, that the server knows by different names.
  void Start(std::string_view name, const std::vector<std::string>& arguments) {
    proxy_ = ValueOrAbort(kube::FaultProxy::Start(cluster_->plane().config()), "proxy");
    const std::string kubeconfig = proxy_->WriteKubeconfig(folder_.path());
    for (int i = 0; i < 3; ++i) {
      const std::string user = fmt::format("{}-{}", name, i);
      const std::string path = WriteKubeconfigAs(user, kubeconfig, folder_.path());
      replicas_.push_back({user, std::make_unique<OperatorProcess>(path, arguments)});
    }
  }

  static bool AppliesTheDeployment(const kube::ProxyRequest& request) {
    return request.method == "PATCH" &&
           request.target.find(std::string("/deployments/") + kSmall.deployment) != std::string::npos &&
           request.target.find("dryRun") == std::string::npos;
  }
  // Has whoever leads do `change`, to `version`, and end by `end` in the middle of it: the apply of one object fails
  // until then.
  void EndInTheMiddle(OperatorProcess& leader, const std::string& version, const std::function<void()>& change,
                      const std::function<void(OperatorProcess&)>& end) {
    proxy_->Reset();
    InjectedFaults faults(*proxy_, [](const kube::ProxyRequest& request) {
      kube::Fault fault;
      if (AppliesTheDeployment(request)) fault.status = 500;
      return fault;
    });
    const std::string before = See(kSmall).provider.status.installed_version;
    change();
    EXPECT_TRUE(kube::Eventually([&] {
      const auto requests = proxy_->requests();
      return std::any_of(requests.begin(), requests.end(), AppliesTheDeployment);
    })) << See(kSmall).Describe();
    end(leader);
    left_ = LeaseNow();
    const Seen seen = See(kSmall);
    const api::ProviderStatus& status = seen.provider.status;
    ASSERT_FALSE(status.history.empty()) << seen.Describe();
    EXPECT_EQ(status.history.front().version, version) << "it had begun";
    EXPECT_EQ(status.history.front().outcome, api::outcome::kApplying) << "and hadn't ended";
    EXPECT_EQ(status.installed_version, before);
  }

  struct Replica {
    std::string user;
    std::unique_ptr<OperatorProcess> process;
    // One that loses its lease, or gives it back, ends.
    bool Leads() const { return process->running() && process->Log().find(" leading lease=") != std::string::npos; }
  };
  // The one that leads now, or comes to; null where nobody does for that long.
  Replica* AwaitLeader(Seconds within) {
    Replica* leader = nullptr;
    kube::Eventually(
        [&] {
          auto it = std::find_if(replicas_.begin(), replicas_.end(), [](const Replica& r) { return r.Leads(); });
          if (it != replicas_.end()) leader = &*it;
          return leader != nullptr;
        },
        within);
    return leader;
  }

  kube::Object LeaseNow() { return cluster_->Get("Lease", "default", "controller-leader-election-capi-operator"); }
  // How the lease went from one replica to the next.
  struct Handover {
    kube::Object left, taken;  // the Lease when the one had ended, and when the next one led
  };
  // Those of them whose metrics say that they lead.
  std::vector<std::string> ShownAsLeaders() const {
    std::vector<std::string> users;
    for (const Replica& replica : replicas_) {
      if (!replica.process->running()) continue;
      const double shown = SumOf(replica.process->Metrics(), "leader_election_master_status{");
      EXPECT_GE(shown, 0) << replica.user << " shows nothing of its lease";
      if (shown == 1) users.push_back(replica.user);
    }
    return users;
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

  // The first installs, the second upgrades, the third deletes; each of the first two ends while it is at it, and is
  // followed in time.
  void TakeTurns(Seconds within, const std::function<void(OperatorProcess&)>& end) {
    std::vector<std::string> led;
    auto next = [&]() -> OperatorProcess* {
      Replica* leader = AwaitLeader(within);
      if (leader == nullptr) return nullptr;
      if (!led.empty()) handovers_.push_back({left_, LeaseNow()});
      led.push_back(leader->user);
      EXPECT_EQ(ShownAsLeaders(), std::vector{leader->user}) << "dashboards show one leader";
      return leader->process.get();
    };
    OperatorProcess* leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(Install(kCore, "v1.12.0"));
    const Json spec = {{"version", "v1.0.0"}, {"fetchConfig", SmallSource(kSmall)}};
    EndInTheMiddle(
        *leader, "v1.0.0", [&] { cluster_->ApplyProvider(kSmall.type, kSmall.ns, kSmall.name, spec); }, end);
    ASSERT_FALSE(HasFatalFailure());

    leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(AwaitReady(kSmall));
    EXPECT_EQ(See(kSmall).provider.status.installed_version, "v1.0.0");
    EndInTheMiddle(
        *leader, "v1.1.0",
        [&] {
          PatchSpec(kSmall, {{"version", "v1.1.0"}});
        },
        end);
    ASSERT_FALSE(HasFatalFailure());

    leader = next();
    ASSERT_NE(leader, nullptr);
    ASSERT_TRUE(AwaitReady(kSmall));
    EXPECT_EQ(See(kSmall).provider.status.installed_version, "v1.1.0");
    Delete(kSmall);
    EXPECT_TRUE(AwaitGone(kSmall));
    EXPECT_EQ(Writers(), led) << "one at a time, and nobody after his turn";
  }

  TemporaryFolder folder_;
  std::vector<Replica> replicas_;
  kube::Object left_;
  std::vector<Handover> handovers_;
};

// The lease would last for two minutes, and who can't watch it would look at it once a minute: it is given back, and
// the next one sees that. All the rest is for a busy machine.
TEST_F(Replicas, AStopHandsOverAtOnce) {
  Start("stopped", {"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s",
                    "--leader-elect-retry-period=60s"});
  TakeTurns(Seconds(30), [](OperatorProcess& leader) { EXPECT_EQ(leader.Terminate(), 0); });
}

// Nobody gives its lease back: the next one takes it when it has run out, and no earlier. It comes later where the
// machine is busy; how much later it may be itself, the elector's own tests say.
TEST_F(Replicas, ADeadLeaderIsFollowedWithinTheLease) {
  Start("killed",
        {"--leader-elect-lease-duration=9s", "--leader-elect-renew-deadline=7s", "--leader-elect-retry-period=1s"});
  TakeTurns(Seconds(60), [](OperatorProcess& leader) { leader.KillAtOnce(); });
  ASSERT_EQ(handovers_.size(), 2u);
  for (const Handover& handover : handovers_) {
    auto time = [](const kube::Object& lease, std::string_view of) {
      return ValueOrAbort(ParseTime(GetString(lease.json(), {"spec", of})), of);
    };
    EXPECT_NE(GetString(handover.left.json(), {"spec", "holderIdentity"}),
              GetString(handover.taken.json(), {"spec", "holderIdentity"}));
    const WallTime renewed = time(handover.left, "renewTime"), acquired = time(handover.taken, "acquireTime");
    EXPECT_GE(acquired, renewed + Seconds(9)) << "while the lease lasted";
    EXPECT_LE(acquired, renewed + Seconds(18)) << "and not long after";
  }
}

}  // namespace
}  // namespace capi::e2e
