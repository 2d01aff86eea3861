// The operator against a world that isn't ready for it: what comes late, is withdrawn or refused, a server that goes
// away, a process that stands still, and the same work over and over (D1, F1, F3 to F6, I4, U7). What kills it or lies
// to it is crash_test's and fault_test's.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "base/files.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "e2e/releases/small_release.h"
#include "e2e/support/audit.h"
#include "e2e/support/injected_faults.h"
#include "e2e/support/managed_cluster.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

class Survival : public UnmanagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.12.0");
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    cluster_->CreateNamespace(kSmall.ns);
    StoreSmall(*cluster_, kSmall, {.version = "v1.0.0"});
  }
  void CreateSmall(const Json& more = Json::object()) {
    Json spec = {{"version", "v1.0.0"}, {"fetchConfig", SmallSource(kSmall)}};
    spec.update(more);
    cluster_->ApplyProvider(kSmall.type, kSmall.ns, kSmall.name, spec);
  }
  std::string Extra() {
    return GetString(cluster_->Get("ConfigMap", "small", "small-settings").json(), {"data", "extra"});
  }
};

// I4: the core arrives last, and everyone goes on by itself.
TEST_F(Survival, TheCoreArrivesLast) {
  StartOperator();
  CreateSmall();
  ASSERT_TRUE(AwaitReason(kSmall, "PreflightCheckPassed", "WaitingForCoreProviderReady"));
  ASSERT_TRUE(AwaitPass(kSmall));
  EXPECT_FALSE(cluster_->Exists({"", "ServiceAccount", "small", "small-manager"}));
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  ASSERT_TRUE(AwaitReady(kSmall));
  EXPECT_TRUE(cluster_->Exists({"", "ServiceAccount", "small", "small-manager"}));
}

// F1, I5: the Secret arrives after the Provider.
TEST_F(Survival, TheSecretArrivesLater) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  CreateSmall({{"configSecret", {{"name", "late"}}}});
  ASSERT_TRUE(AwaitReason(kSmall, "PreflightCheckPassed", "SecretNotFound"));
  EXPECT_THAT(See(kSmall).Message("PreflightCheckPassed"), HasSubstr("small/late"));
  cluster_->StoreSecret("small", "late", {{"EXTRA", "came late"}});
  ASSERT_TRUE(AwaitReady(kSmall));
  EXPECT_EQ(Extra(), "came late");
  // U1: a change of the Secret is a change of input.
  cluster_->StoreSecret("small", "late", {{"EXTRA", "changed"}});
  EXPECT_TRUE(Eventually([&] { return Extra() == "changed"; })) << Extra();
}

// U7: a change is withdrawn after it was applied and before the status could say so. What is live is the change's, and
// not what the last status told of (it stayed so for good, behind Ready: True).
TEST_F(Survival, AChangeThatNoStatusToldOfIsWithdrawn) {
  StartBehindProxy();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  cluster_->StoreSecret("small", "variables", {{"EXTRA", "before"}});
  CreateSmall({{"configSecret", {{"name", "variables"}}}});
  ASSERT_TRUE(AwaitReady(kSmall));
  std::atomic<bool> sent = false, withdrawn = false, read = false;
  std::atomic<int> untold = 0, untold_after = 0;
  InjectedFaults faults(*proxy_, [&](const kube::ProxyRequest& request) {
    auto about = [&](std::string_view what) { return request.target.find(what) != std::string::npos; };
    if (about("/configmaps/small-settings?") && !about("dryRun")) sent = true;
    if (withdrawn && about("/secrets/variables")) read = true;
    bool tells = sent && about("/infrastructureproviders/small/status");
    untold += tells;
    untold_after += tells && read;
    return kube::Fault{.status = tells ? 409 : 0};
  });
  cluster_->StoreSecret("small", "variables", {{"EXTRA", "changed"}});
  ASSERT_TRUE(Eventually([&] { return untold > 0; }));
  ASSERT_EQ(Extra(), "changed");
  cluster_->StoreSecret("small", "variables", {{"EXTRA", "before"}});
  withdrawn = true;
  ASSERT_TRUE(Eventually([&] { return untold_after > 0; }));
  faults.Clear();
  EXPECT_TRUE(Eventually([&] { return Extra() == "before"; })) << Extra();
  EXPECT_TRUE(AwaitReady(kSmall));
}

// D1: what went while no operator ran can't be put back at the first try. It was forgotten then, behind Ready: True.
TEST_F(Survival, WhatIsNotRestoredAtOnceIsTriedAgain) {
  StartBehindProxy();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  CreateSmall();
  ASSERT_TRUE(AwaitReady(kSmall));
  EXPECT_EQ(operator_->Terminate(), 0);
  const kube::ObjectId settings{"", "ConfigMap", "small", "small-settings"};
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), settings.ns, settings.name).ok());
  std::atomic<int> tries = 0;
  InjectedFaults faults(*proxy_, [&](const kube::ProxyRequest& request) {
    bool apply = request.target.find("/configmaps/small-settings?") != std::string::npos &&
                 request.target.find("dryRun") == std::string::npos;
    return kube::Fault{.status = apply && ++tries == 1 ? 403 : 0};
  });
  operator_->Restart();
  EXPECT_TRUE(Eventually([&] { return cluster_->Exists(settings); }, Seconds(60)));
  EXPECT_TRUE(AwaitReady(kSmall));
  faults.Clear();
  EXPECT_EQ(tries, 2) << "one was refused";
}

// An admission policy by which the server refuses an object of Namespace `small`. Thread-compatible.
class Denial {
 public:
  // `holds` is the policy's expression; `refused` tells whether it is in force.
  Denial(Cluster& cluster, const std::string& resource, const std::string& holds, std::function<bool()> refused)
      : cluster_(cluster), refused_(std::move(refused)) {
    kube::ApplyYaml(cluster_.client(), fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: deny-small}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: ["*"], apiVersions: [v1], resources: [{}], operations: [CREATE, UPDATE]}}]
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: small}}}}
  validations: [{{expression: "{}", message: come back later}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: deny-small}}
spec: {{policyName: deny-small, validationActions: [Deny]}}
)",
                                                   resource, holds));
    EXPECT_TRUE(kube::Eventually(refused_)) << "the policy doesn't come into force";
  }
  void Lift() {
    auto& client = cluster_.client();
    for (const char* kind : {"ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"}) {
      auto resource = client.mapper().For(cluster_.ctx(), {"admissionregistration.k8s.io", kind}, "v1");
      ASSERT_TRUE(resource.ok()) << resource.error().message;
      EXPECT_TRUE(client.Delete(cluster_.ctx(), *resource, "", "deny-small").ok());
    }
    EXPECT_TRUE(kube::Eventually([&] { return !refused_(); })) << "the policy stays in force";
  }

 private:
  Cluster& cluster_;
  std::function<bool()> refused_;
};

// F5, F6: what the server refuses, for a reason of which no event tells, is tried again when the condition says, and so
// goes on after the reason has gone, with no edit of the Provider.
TEST_F(Survival, WhatIsRefusedIsTriedAgainAtTheTimeReported) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  auto& client = cluster_->client();
  auto refused = [&](const kube::Object& object) {
    auto resource = kube::Builtin(object.kind());
    auto tried = client.Apply(cluster_->ctx(), resource, object, {.field_manager = "test", .dry_run = true});
    return !tried.ok() && tried.error().message.find("come back later") != std::string::npos;
  };
  // Lifts it, and returns when the operator then is to try again.
  auto lift = [&](Denial& denial) {
    auto held = [&] { return See(kSmall).Message("Ready").find("come back later") != std::string::npos; };
    EXPECT_TRUE(Eventually(held)) << See(kSmall).Describe();
    EXPECT_EQ(See(kSmall).Status("Stalled"), "True");
    denial.Lift();
    auto next = NextTryIn(See(kSmall).Message("Ready"));
    EXPECT_TRUE(next.ok()) << See(kSmall).Describe();
    return next.ok() ? *next : WallTime();
  };
  auto expect_then = [&](WallTime reported, const std::function<bool()>& done) {
    ASSERT_TRUE(kube::Eventually(done, Seconds(60))) << See(kSmall).Describe();
    const WallTime now = SystemClock().Now();
    EXPECT_TRUE(IsTimeOf(reported, now)) << FormatTime(now) << ", not " << FormatTime(reported);
  };

  kube::Object account(Json{{"apiVersion", "v1"},
                            {"kind", "ServiceAccount"},
                            {"metadata", {{"name", "small-manager"}, {"namespace", "small"}}}});
  Denial creation(*cluster_, "serviceaccounts", "object.metadata.name != 'small-manager'",
                  [&] { return refused(account); });
  CreateSmall();
  const WallTime first = lift(creation);
  expect_then(first, [&] { return cluster_->Exists(account.id()); });
  ASSERT_TRUE(AwaitReady(kSmall));

  kube::Object map(Json{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"name", "small-settings"}, {"namespace", "small"}}},
                        {"data", {{"probe", "changed"}}}});
  const std::string uid = cluster_->Get("ConfigMap", "small", "small-settings").uid();
  Denial change(*cluster_, "configmaps", "object.metadata.name != 'small-settings'", [&] { return refused(map); });
  cluster_->StoreSecret("small", "values", {{"EXTRA", "changed"}});
  PatchSpec(kSmall, {{"configSecret", {{"name", "values"}}}});
  const WallTime second = lift(change);
  expect_then(second, [&] { return Extra() == "changed"; });
  // U9: a field that can't be changed is another matter; that would be a reason to create the object anew.
  EXPECT_EQ(cluster_->Get("ConfigMap", "small", "small-settings").uid(), uid);
  EXPECT_TRUE(AwaitReady(kSmall));
}

// F3: the API server goes and comes back under the operator, which sees it go. (How often it is asked meanwhile:
// fault_test.)
TEST_F(Survival, TheApiServerRestarts) {
  StartBehindProxy({"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  const int pid = operator_->pid();

  auto met_nobody = [&] { return operator_->Log().find("lease not renewed") != std::string::npos; };
  EXPECT_FALSE(met_nobody());
  ASSERT_TRUE(cluster_->plane().StopApiServer().ok());
  EXPECT_TRUE(kube::Eventually(met_nobody));
  ASSERT_TRUE(cluster_->plane().StartApiServer().ok());

  CreateSmall();
  EXPECT_TRUE(AwaitReady(kSmall));
  EXPECT_TRUE(operator_->running() && operator_->pid() == pid);
}

// Writes by `user`, except for the lease, that the server got after `time`.
std::vector<std::string> WritesAfter(const kube::ControlPlane& plane, const std::string& user,
                                     const std::string& time) {
  std::vector<std::string> writes;
  for (const AuditedRequest& request : AuditLog(plane)) {
    bool later = request.user == user && request.writes() && request.resource != "leases" && request.time > time;
    if (later) writes.push_back(request.ToString());
  }
  return writes;
}

// F4: who stood still in the middle of its writes for longer than its lease lasts sends none of the rest, though it is
// back before it has noticed: another one has taken over.
TEST_F(Survival, WhoStoodStillWritesNoMore) {
  const std::vector<std::string> lease = {"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
                                          "--leader-elect-retry-period=1s"};
  StartBehindProxy(lease, "first");
  operator_->AllowLostLease();
  std::atomic<int> applies = 0;
  InjectedFaults faults(*proxy_, [&](const kube::ProxyRequest& request) {
    bool apply = request.method == "PATCH" && request.target.find("force=true") != std::string::npos;
    applies += apply;
    return kube::Fault{.delay = apply ? Millis(200) : Millis(0)};
  });
  Create(kCore, "v1.12.0");
  ASSERT_TRUE(kube::Eventually([&] { return applies >= 2; }));
  ASSERT_EQ(kill(operator_->pid(), SIGSTOP), 0);

  auto second = std::make_unique<OperatorProcess>(cluster_->plane().kubeconfig(), lease);
  ASSERT_TRUE(kube::Eventually([&] { return second->Log().find("leading") != std::string::npos; }));
  auto taken = cluster_->Get("Lease", "default", "controller-leader-election-capi-operator");
  const std::string since = GetString(taken.json(), {"spec", "acquireTime"});
  ASSERT_FALSE(since.empty());
  EXPECT_THAT(WritesAfter(cluster_->plane(), "first", ""), ::testing::Not(::testing::IsEmpty())) << "it was at it";

  ASSERT_EQ(kill(operator_->pid(), SIGCONT), 0);
  EXPECT_TRUE(kube::Eventually([&] { return !operator_->running(); }));
  EXPECT_TRUE(operator_->LostItsLease()) << operator_->Log();
  operator_ = std::move(second);
  EXPECT_TRUE(AwaitReady(kCore)) << "the second one has gone on";
  EXPECT_THAT(WritesAfter(cluster_->plane(), "first", since), ::testing::IsEmpty());
}

// No leak: install and delete a small provider again and again; memory, descriptors and threads stay where they were.
TEST_F(Survival, ManyCyclesLeakNothing) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  auto cycle = [&] {
    CreateSmall();
    ASSERT_TRUE(Eventually([&] { return !See(kSmall).provider.status.installed_version.empty(); }));
    Delete(kSmall);
    ASSERT_TRUE(AwaitGone(kSmall));
  };
  const int cycles = ByLength(24, 200, 200);
  for (int i = 0; i < cycles / 4 && !HasFatalFailure(); ++i) cycle();  // pools and arenas fill
  size_t memory = operator_->ResidentKiB(), descriptors = operator_->Descriptors(), threads = operator_->Threads();
  for (int i = cycles / 4; i < cycles && !HasFatalFailure(); ++i) cycle();
  EXPECT_LE(operator_->ResidentKiB(), memory + memory / 10 + 1024);
  EXPECT_LE(operator_->Descriptors(), descriptors + 4);
  EXPECT_LE(operator_->Threads(), threads + 2);
}

}  // namespace
}  // namespace capi::e2e
