// The proposal's upgrade sequence, driven by merge patches alone, as `kubectl patch` sends them
// (behaviour.md II and III).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "e2e/support/managed_cluster.h"
#include "e2e/support/recorder.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

constexpr Seconds kLimit{180};
constexpr const char* kFormer = "operator.cluster.x-k8s.io/original-replicas";

const std::vector<Managed> kThree = {kCore, kBootstrap, kControlPlane};
const std::vector<Managed> kFour = {kCore, kBootstrap, kControlPlane, kDocker};

class Contract : public ManagedCluster {
 protected:
  std::string Message(const Managed& m) { return See(m).Message("Ready"); }
  std::int64_t Replicas(const Managed& m) { return GetInt(Deployment(m).json(), {"spec", "replicas"}, -1); }

  void Held(const Managed& m, std::string_view reason) { ASSERT_TRUE(AwaitReason(m, "Ready", reason, kLimit)); }
  // Installed, and as `reason` says: WorkloadsReady, or Paused.
  void Await(const std::vector<Managed>& members, const std::string& version, const std::string& reason) {
    for (const Managed& m : members) {
      Seen seen;
      ASSERT_TRUE(Eventually(
          [&] {
            seen = See(m);
            return seen.provider.status.installed_version == version && seen.Reason("Ready") == reason &&
                   seen.Status("ProviderInstalled") == "True" &&
                   seen.Status("Paused") == (reason == "Paused" ? "True" : "") &&
                   seen.provider.status.observed_generation == seen.provider.generation;
          },
          kLimit))
          << m.Label() << " isn't at " << version << ": " << seen.Describe();
      EXPECT_EQ(seen.Status("ContractCompatible"), "True") << m.Label();
      EXPECT_EQ(seen.Status("Stalled"), "") << m.Label();
      EXPECT_EQ(seen.provider.status.desired_version, "") << m.Label();
      EXPECT_EQ(Replicas(m), reason == "Paused" ? 0 : 1) << m.Label();
      EXPECT_EQ(Deployment(m).annotation(kFormer), reason == "Paused" ? "1" : "") << m.Label();
    }
  }
  void ExpectContract(const std::vector<Managed>& members, const std::string& contract) {
    for (const Managed& m : members) EXPECT_EQ(See(m).provider.status.contract, contract) << m.Label();
  }
  void PatchAll(const std::vector<Managed>& members, const Json& spec) {
    for (const Managed& m : members) PatchSpec(m, spec);
  }
  // What happens to these and to all Deployments meanwhile.
  struct Change {
    Change(Cluster& cluster, std::vector<Managed> changed)
        : members(std::move(changed)), deployments(cluster, "Deployment", "") {
      for (const Managed& m : members)
        providers.push_back(std::make_unique<Recorder>(cluster, api::ResourceOf(m.type), m.ns));
    }
    std::vector<Managed> members;
    Recorder deployments;
    std::vector<std::unique_ptr<Recorder>> providers;
  };
  // C4, C5: who is at zero stays there until all have the new contract.
  void ExpectNobodyStartedEarly(Change& change) {
    std::int64_t all_have_it = 0;
    for (const auto& recorder : change.providers) {
      std::int64_t has_it = 0;
      for (const auto& event : recorder->Seen()) {
        bool has = GetString(event.object.json(), {"status", "contract"}) == "v1beta1";
        if (has && has_it == 0) has_it = VersionOf(event.object);
      }
      ASSERT_GT(has_it, 0);
      all_have_it = std::max(all_have_it, has_it);
    }
    std::set<std::string> at_zero;
    auto look = [&](const kube::Object& deployment) {
      bool zero = GetInt(deployment.json(), {"spec", "replicas"}, 1) == 0;
      if (zero) at_zero.insert(deployment.name());
      bool started = !zero && at_zero.contains(deployment.name()) && VersionOf(deployment) < all_have_it;
      EXPECT_FALSE(started) << deployment.name();
    };
    for (const auto& deployment : change.deployments.Before()) look(deployment);
    EXPECT_FALSE(at_zero.empty());
    for (const auto& event : change.deployments.Seen()) look(event.object);
    for (const Managed& m : change.members) EXPECT_TRUE(at_zero.contains(m.deployment)) << m.Label();
  }
  // With releases of `later` versions at hand.
  void StartAtV1Alpha4(const std::vector<Managed>& members, const std::vector<std::string>& later) {
    for (const Managed& m : members) {
      Create(m, "v0.4.2");
      for (const std::string& version : later) StoreRelease(m, version);
    }
    Await(members, "v0.4.2", "WorkloadsReady");
    ExpectContract(members, "v1alpha4");
  }
  // C3: the message shrinks with the list of those that run.
  void PauseAllButControlPlane(const std::vector<Managed>& members) {
    for (const Managed& m : members) {
      if (m.type != kControlPlane.type) PatchSpec(m, {{"paused", true}});
    }
    auto last_one = [&] {
      std::string message = Message(kCore);
      return message.find("ControlPlaneProvider") != message.npos &&
             message.find("BootstrapProvider") == message.npos &&
             message.find("InfrastructureProvider") == message.npos;
    };
    ASSERT_TRUE(Eventually(last_one, kLimit)) << Message(kCore);
    EXPECT_THAT(Message(kCore), HasSubstr("ControlPlaneProvider capi-kubeadm-control-plane-system/kubeadm (v1alpha4)"));
    EXPECT_EQ(Replicas(kControlPlane), 1);
    EXPECT_EQ(See(kCore).provider.status.installed_version, "v0.4.2");
  }
  // U11: the core isn't free to go when the status of the last one that runs is lost.
  void LoseStatusOfTheLast() {
    ASSERT_TRUE(HandsOff(kControlPlane));
    PatchStatus(kControlPlane, nullptr);
    auto unknown = [&] {
      return Message(kCore).find("kubeadm (it runs, but its status names no contract") != std::string::npos;
    };
    EXPECT_TRUE(Eventually(unknown, kLimit)) << Message(kCore);
    HandsOn(kControlPlane);
    Held(kControlPlane, "WaitingForOrder");
    EXPECT_EQ(See(kCore).provider.status.installed_version, "v0.4.2");
  }
};

// C1, C2, C3, C4, C7, P1: v0.4.2 to v1.12.0. v1alpha4 to v1beta1 needs the pause, v1beta1 to v1beta2 none (C2, C3).
// Docker takes part from the beginning where the set of releases lets it, as the vendors' may not.
TEST_F(Contract, TheWholeSequence) {
  for (const Managed& m : kThree) CAPI_NEED_RELEASES(m.Label() + "/v0.4.2", m.Label() + "/v1.8.0");
  for (const Managed& m : kFour) {
    CAPI_NEED_RELEASES(m.Label() + "/v1.1.5", m.Label() + "/v1.10.4", m.Label() + "/v1.11.0", m.Label() + "/v1.12.0");
  }
  const bool docker_too = MissingReleases({kDocker.Label() + "/v0.4.2", kDocker.Label() + "/v1.8.0"}).empty();
  const std::vector<Managed>& first = docker_too ? kFour : kThree;
  StartAtV1Alpha4(first, {"v1.1.5", "v1.8.0", "v1.10.4", "v1.11.0", "v1.12.0"});
  if (HasFatalFailure()) return;

  // C3: not while somebody runs.
  PatchAll({first.rbegin(), first.rend()}, {{"version", "v1.1.5"}});
  for (const Managed& m : first) Held(m, "WaitingForPause");
  PauseAllButControlPlane(first);
  if (HasFatalFailure()) return;
  LoseStatusOfTheLast();
  if (HasFatalFailure()) return;

  // C4: the last one is paused, and all of it goes, though the operator dies on the way (U7).
  auto change = std::make_unique<Change>(*cluster_, first);
  PatchSpec(kControlPlane, {{"paused", true}});
  ASSERT_TRUE(Eventually([&] { return See(kCore).provider.status.contract == "v1beta1"; }, kLimit)) << Message(kCore);
  operator_->Kill();
  operator_->Restart();
  Await(first, "v1.1.5", "Paused");
  ExpectContract(first, "v1beta1");
  PatchAll(first, {{"paused", false}});
  Await(first, "v1.1.5", "WorkloadsReady");
  ExpectNobodyStartedEarly(*change);
  change.reset();

  // C2: from here on, no pause.
  if (!docker_too) {
    Create(kDocker, "v1.1.5");
    for (const char* version : {"v1.10.4", "v1.11.0", "v1.12.0"}) StoreRelease(kDocker, version);
    Await({kDocker}, "v1.1.5", "WorkloadsReady");
  }
  PatchAll(first, {{"version", "v1.8.0"}});
  Await(first, "v1.8.0", "WorkloadsReady");

  // C7: too far, with the next possible version.
  PatchSpec(kCore, {{"version", "v1.12.0"}});
  Held(kCore, "UnsupportedVersionSkip");
  EXPECT_THAT(Message(kCore), HasSubstr("v1.11 release"));
  PatchAll(kFour, {{"version", "v1.10.4"}});
  Await(kFour, "v1.10.4", "WorkloadsReady");
  ExpectContract(kFour, "v1beta1");

  // C3: the core first, without a pause; the others wait for it and go on by themselves.
  PatchAll({kDocker, kBootstrap, kControlPlane}, {{"version", "v1.11.0"}});
  for (const Managed& m : {kDocker, kBootstrap, kControlPlane}) Held(m, "WaitingForOrder");
  EXPECT_THAT(Message(kDocker), HasSubstr("set spec.version of CoreProvider"));
  ExpectContract(kFour, "v1beta1");
  EXPECT_EQ(Replicas(kDocker), 1);
  PatchSpec(kCore, {{"version", "v1.11.0"}});
  Await(kFour, "v1.11.0", "WorkloadsReady");
  ExpectContract(kFour, "v1beta2");
  PatchAll(kFour, {{"version", "v1.12.0"}});
  Await(kFour, "v1.12.0", "WorkloadsReady");
}

// C4, C5: edits in any order, an unpause that comes too early, and the operator killed between them.
TEST_F(Contract, EditsInAnyOrder) {
  for (const Managed& m : kThree) CAPI_NEED_RELEASES(m.Label() + "/v0.4.2", m.Label() + "/v1.1.5");
  StartAtV1Alpha4(kThree, {"v1.1.5"});
  if (HasFatalFailure()) return;
  PatchAll(kThree, {{"paused", true}});
  Await(kThree, "v0.4.2", "Paused");
  Change change(*cluster_, kThree);

  // Version and unpause in one edit, before the core is asked for anything.
  PatchSpec(kBootstrap, {{"version", "v1.1.5"}, {"paused", false}});
  Held(kBootstrap, "WaitingForOrder");
  operator_->Kill();
  PatchSpec(kCore, {{"version", "v1.1.5"}, {"paused", false}});
  operator_->Restart();
  Held(kBootstrap, "WaitingForContracts");
  Held(kCore, "WaitingForContracts");
  auto alone = [&] {  // words follow within a second
    std::string message = Message(kCore);
    return message.find("ControlPlaneProvider capi-kubeadm-control-plane-system/kubeadm (v1alpha4)") != message.npos &&
           message.find("BootstrapProvider") == message.npos;
  };
  EXPECT_TRUE(Eventually(alone, kLimit)) << Message(kCore);
  EXPECT_EQ(See(kControlPlane).Status("ContractCompatible"), "False");

  PatchSpec(kControlPlane, {{"version", "v1.1.5"}});
  Await({kCore, kBootstrap}, "v1.1.5", "WorkloadsReady");
  Await({kControlPlane}, "v1.1.5", "Paused");
  PatchSpec(kControlPlane, {{"paused", false}});
  Await(kThree, "v1.1.5", "WorkloadsReady");
  ExpectNobodyStartedEarly(change);
}

// P1, P2, P4: a pause needs no render, what drifts meanwhile waits for its end, and hands off means hands off.
TEST_F(Contract, APauseNeedsNoRender) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  cluster_->CreateNamespace(kCore.ns);
  cluster_->StoreSecret(kCore.ns, "variables", {{"EXP_CLUSTER_RESOURCE_SET", "true"}});
  Create(kCore, "v1.12.0", {{"configSecret", {{"name", "variables"}}}, {"deployment", {{"replicas", 2}}}});
  ASSERT_TRUE(AwaitReady(kCore, kLimit));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("Secret"), kCore.ns, "variables").ok());
  Held(kCore, "SecretNotFound");

  PatchSpec(kCore, {{"paused", true}});
  ASSERT_TRUE(Eventually([&] { return See(kCore).Status("Paused") == "True"; }, kLimit)) << See(kCore).Describe();
  EXPECT_EQ(Replicas(kCore), 0);
  EXPECT_EQ(Deployment(kCore).annotation(kFormer), "2");
  const std::string label(api::kLabelClusterctl);
  kube::WriteOptions person{.field_manager = "a-person"};
  Json edit = {{"metadata", {{"labels", {{label, "edited"}}}}}};
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Deployment"), kCore.ns, kCore.deployment,
                         kube::PatchType::kMerge, edit, person)
                  .ok());

  ASSERT_TRUE(HandsOff(kCore));
  const auto before = Versions(kCore);
  PatchSpec(kCore, {{"paused", false}, {"deployment", {{"replicas", 3}}}});
  ASSERT_TRUE(AwaitPassByEdit(kCore));
  operator_->Kill();
  operator_->Restart();
  ASSERT_TRUE(AwaitPassByEdit(kCore));
  EXPECT_EQ(Versions(kCore), before) << "also by an operator that sees it for the first time";
  EXPECT_EQ(Replicas(kCore), 0);
  HandsOn(kCore);
  ASSERT_TRUE(Eventually([&] { return Replicas(kCore) == 3; }, kLimit)) << "what the spec says now";
  EXPECT_EQ(Deployment(kCore).annotation(kFormer), "");
  Held(kCore, "SecretNotFound");
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Deployment(kCore).label(label), "edited") << "without the Secret there is nothing to restore it from";
  cluster_->StoreSecret(kCore.ns, "variables", {{"EXP_CLUSTER_RESOURCE_SET", "true"}});
  ASSERT_TRUE(AwaitReady(kCore, kLimit));
  EXPECT_EQ(See(kCore).Status("Paused"), "");
  EXPECT_TRUE(Eventually([&] { return Deployment(kCore).label(label).empty(); }, kLimit));
  EXPECT_EQ(Replicas(kCore), 3);
}

}  // namespace
}  // namespace capi::e2e
