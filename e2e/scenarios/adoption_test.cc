// Taking over what other tools installed, and the way back, with the real tools (behaviour.md A1 to A2).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "e2e/support/managed_cluster.h"
#include "e2e/support/other_tools.h"
#include "kube/meta/health.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kOurs = "cluster.x-k8s.io/provider";

// What must stay the same where nothing restarts: of each Deployment and ReplicaSet the uid and the pods it asks for,
// of Deployments the generation too, of pods the uid.
std::map<std::string, std::string> Running(Cluster& cluster) {
  std::map<std::string, std::string> out;
  for (const char* kind : {"Deployment", "ReplicaSet", "Pod"}) {
    auto list = cluster.client().List(cluster.ctx(), kube::Builtin(kind), "");
    EXPECT_TRUE(list.ok());
    for (const auto& object : list->items) {
      bool deployment = kind == std::string_view("Deployment");
      const Json* pods = Find(object.json(), {"spec", "template"});
      out[fmt::format("{} {}/{}", kind, object.ns(), object.name())] = fmt::format(
          "{} {} {}", object.uid(), deployment ? object.generation() : 0, pods == nullptr ? "" : ToJsonText(*pods));
    }
  }
  return out;
}

// All Deployments have their pods, and no others are left.
bool Settled(Cluster& cluster, size_t pods) {
  auto deployments = cluster.client().List(cluster.ctx(), kube::Builtin("Deployment"), "");
  auto all = cluster.client().List(cluster.ctx(), kube::Builtin("Pod"), "");
  if (!deployments.ok() || !all.ok() || all->items.size() != pods) return false;
  return std::all_of(deployments->items.begin(), deployments->items.end(),
                     [](const kube::Object& object) { return kube::HealthOf(object).ok(); });
}

// Managers of the fields of everything that carries a provider's label.
std::set<std::string> Installers(Cluster& cluster) {
  std::set<std::string> managers;
  for (const char* kind : {"Deployment", "CustomResourceDefinition", "Secret", "Service", "ClusterRole",
                           "ValidatingWebhookConfiguration"}) {
    auto list = cluster.client().List(cluster.ctx(), kube::Builtin(kind), "", {.label_selector = std::string(kOurs)});
    EXPECT_TRUE(list.ok());
    for (const auto& object : list->items) {
      EXPECT_EQ(Find(object.json(), {"metadata", "ownerReferences"}), nullptr) << object.id().ToString();
      for (const Json& entry : *Find(object.json(), {"metadata", "managedFields"})) {
        if (GetString(entry, {"subresource"}).empty()) managers.insert(GetString(entry, {"manager"}));
      }
    }
  }
  return managers;
}

std::string SecretValue(Cluster& cluster, const std::string& ns, const std::string& name, std::string_view key) {
  auto text = Base64Decode(GetString(cluster.Get("Secret", ns, name).json(), {"data", key}));
  return text.ok() ? *text : "";
}

class Adoption : public ::testing::Test {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.11.0", "cluster-api/v1.12.0", "bootstrap-kubeadm/v1.11.0",
                       "bootstrap-kubeadm/v1.12.0", "infrastructure-aws/v2.11.1");
    auto plane = kube::ControlPlane::Start({.controllers = true});
    ASSERT_TRUE(plane.ok()) << plane.error().message;
    plane_ = std::move(*plane);
    cluster_ = std::make_unique<Cluster>(*plane_);
  }
  std::unique_ptr<OperatorProcess> StartOperator(std::vector<std::string> more = {}) {
    more.push_back("--releases-dir=" + ReleasesDir());
    return std::make_unique<OperatorProcess>(plane_->kubeconfig(), more);
  }
  bool AwaitReady(const Managed& who) { return cluster_->AwaitReady(who.type, who.ns, who.name); }
  Seen See(const Managed& who) { return cluster_->See(who.type, who.ns, who.name); }
  void Patch(const Managed& who, const Json& patch) { cluster_->PatchProvider(who.type, who.ns, who.name, patch); }

  std::unique_ptr<kube::ControlPlane> plane_;
  std::unique_ptr<Cluster> cluster_;
};

// A1, A1c, A2: what clusterctl installed is taken over on request; nothing restarts, what was edited holds one provider
// back, and upgrades work afterwards.
TEST_F(Adoption, TakesOverWhatClusterctlInstalled) {
  RealClusterctl clusterctl({"cluster-api/v1.11.0", "cluster-api/v1.12.0", "bootstrap-kubeadm/v1.11.0",
                             "bootstrap-kubeadm/v1.12.0", "infrastructure-aws/v2.11.1"});
  ToolRun init =
      clusterctl.Run(plane_->kubeconfig(),
                     {"init", "--core", "cluster-api:v1.11.0", "--bootstrap", "kubeadm:v1.11.0", "--control-plane", "-",
                      "--infrastructure", "aws:v2.11.1"},
                     {"AWS_B64ENCODED_CREDENTIALS=c2VjcmV0", "CLUSTER_TOPOLOGY=true", "EXP_EKS_FARGATE=true"});
  ASSERT_EQ(init.code, 0) << init.output;
  // Somebody edited one Deployment.
  Json edit =
      Json::array({{{"op", "add"}, {"path", "/spec/template/spec/containers/0/args/-"}, {"value", "--edited"}}});
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Deployment"), kBootstrap.ns,
                         "capi-kubeadm-bootstrap-controller-manager", kube::PatchType::kJson, edit)
                  .ok());
  ASSERT_TRUE(kube::Eventually([&] { return Settled(*cluster_, 3); }, Seconds(60)));
  auto before = Running(*cluster_);

  auto capi_operator = StartOperator({"--adopt-inventory"});
  ASSERT_TRUE(AwaitReady(kCore));
  ASSERT_TRUE(AwaitReady(kAws));
  EXPECT_EQ(See(kAws).provider.status.installed_version, "v2.11.1");
  EXPECT_EQ(SecretValue(*cluster_, kAws.ns, "infrastructure-aws-variables", "AWS_B64ENCODED_CREDENTIALS"), "c2VjcmV0");
  EXPECT_EQ(SecretValue(*cluster_, kAws.ns, "infrastructure-aws-variables", "EXP_EKS_FARGATE"), "true");
  EXPECT_EQ(SecretValue(*cluster_, kCore.ns, "cluster-api-variables", "CLUSTER_TOPOLOGY"), "true");
  EXPECT_THAT(capi_operator->Log(), Not(HasSubstr("c2VjcmV0"))) << "I7";

  ASSERT_TRUE(cluster_->AwaitReason(kBootstrap.type, kBootstrap.ns, kBootstrap.name, "Ready", "Adopting"));
  EXPECT_THAT(See(kBootstrap).Message("Ready"),
              HasSubstr("Deployment.apps/capi-kubeadm-bootstrap-system/capi-kubeadm-bootstrap-controller-manager "
                        "(spec.template.spec.containers[manager].args)"));
  EXPECT_TRUE(See(kBootstrap).provider.status.inventory.is_null()) << "nothing is its yet";
  EXPECT_EQ(Running(*cluster_), before) << "nothing restarts";

  for (const char* section : {"From clusterctl", "Variables", "When a provider stays in Adopting"}) {
    ToolRun read = RunCommands(plane_->kubeconfig(), CommandsOf("adopting.md", section));
    EXPECT_EQ(read.code, 0) << read.output;
  }

  // The user takes the edit into the declaration.
  Json patch = {{"patch", "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --edited}"},
                {"target", {{"kind", "Deployment"}}}};
  Patch(kBootstrap, {{"spec", {{"patches", Json::array({patch})}}}});
  ASSERT_TRUE(AwaitReady(kBootstrap));
  EXPECT_EQ(Running(*cluster_), before) << "nothing restarts";
  EXPECT_THAT(Installers(*cluster_), Not(::testing::Contains("clusterctl")));

  Patch(kCore, {{"spec", {{"version", "v1.12.0"}}}});
  Patch(kBootstrap, {{"spec", {{"version", "v1.12.0"}}}});
  ASSERT_TRUE(AwaitReady(kCore));
  ASSERT_TRUE(AwaitReady(kBootstrap));
  EXPECT_EQ(See(kCore).provider.status.installed_version, "v1.12.0");
  EXPECT_NE(Running(*cluster_), before);
  // clusterctl sees the upgrade.
  ToolRun plan = clusterctl.Run(plane_->kubeconfig(), {"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_THAT(plan.output, HasSubstr("v1.12.0"));
  EXPECT_THAT(plan.output, Not(HasSubstr("v1.11.0")));

  // The way back.
  capi_operator.reset();
  ToolRun back = RunCommands(plane_->kubeconfig(), CommandsOf("adopting.md", "The way back"));
  EXPECT_EQ(back.code, 0) << back.output;
  EXPECT_FALSE(See(kAws).exists);
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", kAws.ns, "capa-controller-manager"}));
  plan = clusterctl.Run(plane_->kubeconfig(), {"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_THAT(plan.output, HasSubstr("infrastructure-aws"));
}

// A1a: a Provider object that asks for another version upgrades after the adoption.
TEST_F(Adoption, ADeclarationMeetsWhatClusterctlInstalled) {
  RealClusterctl clusterctl({"cluster-api/v1.11.0"});
  ToolRun init = clusterctl.Run(plane_->kubeconfig(),
                                {"init", "--core", "cluster-api:v1.11.0", "--bootstrap", "-", "--control-plane", "-"});
  ASSERT_EQ(init.code, 0) << init.output;
  auto capi_operator = StartOperator();
  cluster_->CreateNamespace("elsewhere");
  cluster_->ApplyProvider(kCore.type, "elsewhere", kCore.name, Json::object());
  ASSERT_TRUE(cluster_->AwaitReason(kCore.type, "elsewhere", kCore.name, "Ready", "MoreThanOneExists"));
  EXPECT_THAT(cluster_->See(kCore.type, "elsewhere", kCore.name).Message("Ready"), HasSubstr("capi-system"));
  cluster_->DeleteProvider(kCore.type, "elsewhere", kCore.name);
  ASSERT_TRUE(cluster_->AwaitGone(kCore.type, "elsewhere", kCore.name));

  // What somebody scaled by hand stays in the way until its loss is allowed.
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Deployment"), kCore.ns, "capi-controller-manager",
                         kube::PatchType::kMerge, {{"spec", {{"replicas", 2}}}})
                  .ok());
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.12.0"}});
  ASSERT_TRUE(cluster_->AwaitReason(kCore.type, kCore.ns, kCore.name, "Ready", "Adopting"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("(spec.replicas)"));
  // Deleted before it was taken over: everything stays as it was.
  ASSERT_TRUE(kube::Eventually([&] { return Settled(*cluster_, 2); }, Seconds(60)));
  auto before = Running(*cluster_);
  cluster_->DeleteProvider(kCore.type, kCore.ns, kCore.name);
  ASSERT_TRUE(cluster_->AwaitGone(kCore.type, kCore.ns, kCore.name));
  EXPECT_EQ(Running(*cluster_), before);
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.12.0"}});
  ASSERT_TRUE(cluster_->AwaitReason(kCore.type, kCore.ns, kCore.name, "Ready", "Adopting"));
  Patch(kCore, {{"metadata", {{"annotations", {{"operator.cluster.x-k8s.io/overwrite-differences", "true"}}}}}});
  ASSERT_TRUE(
      kube::Eventually([&] { return See(kCore).provider.status.installed_version == "v1.12.0"; }, Seconds(120)));
  ASSERT_TRUE(AwaitReady(kCore));
  const auto& history = See(kCore).provider.status.history;
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[1].version, "v1.11.0") << "it was taken over at the installed version";
}

// A1b: a peer's providers are taken over in place, and given back.
TEST_F(Adoption, TakesOverWhatThePeerInstalledAndGivesItBack) {
  for (auto [where, version] : {std::pair{kCore, "v1.11.0"}, std::pair{kAws, "v2.11.1"}}) {
    auto release = GetRelease(api::ManifestLabel(where.type, where.name), version);
    cluster_->CreateNamespace(where.ns);
    cluster_->StoreRelease(where.ns, release);
    cluster_->StoreSecret(where.ns, "variables", {{"AWS_B64ENCODED_CREDENTIALS", "c2VjcmV0"}});
    Json spec = SelectorSpec(release);
    spec["configSecret"] = {{"name", "variables"}, {"namespace", where.ns}};
    cluster_->ApplyProvider(where.type, where.ns, where.name, spec);
  }
  constexpr const char* kHash = "operator.cluster.x-k8s.io/applied-spec-hash";
  auto done_by_peer = [&](const Managed& who) {
    return See(who).Status("Ready") == "True" && See(who).provider.annotations.contains(kHash);
  };
  PeerOperator peer(plane_->kubeconfig());
  ASSERT_TRUE(kube::Eventually([&] { return done_by_peer(kCore) && done_by_peer(kAws); }, Seconds(120)))
      << peer.LogTail();
  peer.Stop();
  const kube::ObjectId cache{"", "Secret", kAws.ns, "infrastructure-aws-v2.11.1-cache"};
  ASSERT_TRUE(cluster_->Exists(cache));
  ASSERT_TRUE(kube::Eventually([&] { return Settled(*cluster_, 2); }, Seconds(60)));
  auto before = Running(*cluster_);

  auto capi_operator = StartOperator();
  auto taken_over = [&](const Managed& who) {
    return !See(who).provider.annotations.contains(kHash) && !See(who).provider.status.applied.empty();
  };
  ASSERT_TRUE(kube::Eventually([&] { return taken_over(kCore) && taken_over(kAws); }, Seconds(120)));
  ASSERT_TRUE(AwaitReady(kCore));
  ASSERT_TRUE(AwaitReady(kAws));
  EXPECT_EQ(Running(*cluster_), before) << "nothing restarts";
  EXPECT_FALSE(cluster_->Exists(cache)) << "it holds credentials";
  EXPECT_THAT(Installers(*cluster_), Not(::testing::Contains("peer")));
  EXPECT_TRUE(cluster_->Exists({"clusterctl.cluster.x-k8s.io", "Provider", kAws.ns, "infrastructure-aws"}));
  capi_operator.reset();

  PeerOperator again(plane_->kubeconfig());
  ASSERT_TRUE(kube::Eventually([&] { return done_by_peer(kCore) && done_by_peer(kAws); }, Seconds(120)))
      << again.LogTail();
  EXPECT_EQ(Running(*cluster_), before) << "nor does anything on the way back";
}

}  // namespace
}  // namespace capi::e2e
