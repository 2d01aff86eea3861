// The real clusterctl on clusters whose providers this operator installed (behaviour.md A1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"
#include "e2e/support/other_tools.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

const kube::Resource kClusters{
    .group = "cluster.x-k8s.io", .version = "v1beta2", .plural = "clusters", .kind = "Cluster"};
const kube::Resource kDockerClusters{.group = "infrastructure.cluster.x-k8s.io",
                                     .version = "v1beta2",
                                     .plural = "dockerclusters",
                                     .kind = "DockerCluster"};

// A management cluster with four providers of ours.
struct Management {
  std::unique_ptr<kube::ControlPlane> plane;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<OperatorProcess> capi_operator;

  explicit Management(const std::string& version) {
    auto started = kube::ControlPlane::Start({.controllers = true});
    if (!started.ok()) ADD_FAILURE() << started.error().message;
    if (!started.ok()) return;
    plane = std::move(*started);
    cluster = std::make_unique<Cluster>(*plane);
    capi_operator = std::make_unique<OperatorProcess>(plane->kubeconfig());
    for (const char* label : {"cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-docker"}) {
      ReleaseFolder release = GetRelease(label, version);
      cluster->CreateNamespace(std::string(label) + "-system");
      cluster->StoreRelease(std::string(label) + "-system", release);
      cluster->ApplyProvider(release.type, std::string(label) + "-system", release.name, SelectorSpec(release));
    }
  }
  bool Ready() {
    ReleaseFolder docker = GetRelease("infrastructure-docker", ""), core = GetRelease("cluster-api", "");
    ReleaseFolder bootstrap = GetRelease("bootstrap-kubeadm", ""), control = GetRelease("control-plane-kubeadm", "");
    for (const auto& r : {core, docker, bootstrap, control}) {
      if (!cluster->AwaitReady(r.type, r.Label() + "-system", r.name)) return false;
    }
    return true;
  }
  // The managers don't run here, so nothing could answer their webhooks.
  void StopAndDropWebhooks() {
    capi_operator.reset();
    for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
      auto list = cluster->client().List(cluster->ctx(), kube::Builtin(kind), "");
      ASSERT_TRUE(list.ok());
      for (const auto& hook : list->items) {
        EXPECT_TRUE(cluster->client().Delete(cluster->ctx(), kube::Builtin(kind), "", hook.name()).ok());
      }
    }
  }
};

Json New(const kube::Resource& resource, Json metadata) {
  metadata["name"] = "mine";
  metadata["namespace"] = "default";
  return {{"apiVersion", resource.api_version()}, {"kind", resource.kind}, {"metadata", std::move(metadata)}};
}

// A Cluster with its infrastructure, as far as `move` looks.
void CreateWorkloadCluster(Cluster& cluster) {
  cluster.CreateNamespace("default");
  Json object = New(kClusters, Json::object());
  object["spec"]["infrastructureRef"] = {
      {"apiGroup", kDockerClusters.group}, {"kind", "DockerCluster"}, {"name", "mine"}};
  auto created = cluster.client().Create(cluster.ctx(), kClusters, kube::Object(object));
  ASSERT_TRUE(created.ok()) << created.error().message;
  Json status = {{"status",
                  {{"initialization", {{"infrastructureProvisioned", true}, {"controlPlaneInitialized", true}}},
                   {"conditions", Json::array({{{"type", "ControlPlaneInitialized"},
                                                {"status", "True"},
                                                {"reason", "Initialized"},
                                                {"message", ""},
                                                {"lastTransitionTime", "2026-01-01T00:00:00Z"}}})}}}};
  auto patched = cluster.client().Patch(cluster.ctx(), kClusters, "default", "mine", kube::PatchType::kMerge, status,
                                        {.subresource = "status"});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  Json owner = {
      {"apiVersion", kClusters.api_version()}, {"kind", "Cluster"}, {"name", "mine"}, {"uid", created->uid()}};
  Json docker = New(kDockerClusters, {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}},
                                      {"ownerReferences", Json::array({owner})}});
  auto infrastructure = cluster.client().Create(cluster.ctx(), kDockerClusters, kube::Object(docker));
  ASSERT_TRUE(infrastructure.ok()) << infrastructure.error().message;
}

TEST(ClusterctlBeside, PlansInitsAndMoves) {
  CAPI_NEED_RELEASES("cluster-api/v1.11.0", "cluster-api/v1.12.0", "bootstrap-kubeadm/v1.11.0",
                     "bootstrap-kubeadm/v1.12.0", "control-plane-kubeadm/v1.11.0", "control-plane-kubeadm/v1.12.0",
                     "infrastructure-docker/v1.11.0", "infrastructure-docker/v1.12.0");
  RealClusterctl clusterctl({"cluster-api/v1.11.0", "cluster-api/v1.12.0", "bootstrap-kubeadm/v1.11.0",
                             "bootstrap-kubeadm/v1.12.0", "control-plane-kubeadm/v1.11.0",
                             "control-plane-kubeadm/v1.12.0", "infrastructure-docker/v1.11.0",
                             "infrastructure-docker/v1.12.0"});
  Management from("v1.11.0"), to("v1.11.0");
  ASSERT_TRUE(from.Ready() && to.Ready());

  ToolRun plan = clusterctl.Run(from.plane->kubeconfig(), {"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_THAT(plan.output, ::testing::ContainsRegex("infrastructure-docker +infrastructure-docker-system +"
                                                    "InfrastructureProvider +v1.11.0 +v1.12.0"));
  ToolRun same = clusterctl.Run(from.plane->kubeconfig(), {"init", "--infrastructure", "docker:v1.11.0",
                                                           "--target-namespace", "infrastructure-docker-system"});
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("already"));
  ToolRun other = clusterctl.Run(from.plane->kubeconfig(), {"init", "--infrastructure", "docker:v1.12.0"});
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.output, HasSubstr("there is already an instance of the \"infrastructure-docker\" provider"));

  from.StopAndDropWebhooks();
  to.StopAndDropWebhooks();
  CreateWorkloadCluster(*from.cluster);
  ToolRun described = clusterctl.Run(from.plane->kubeconfig(), {"describe", "cluster", "mine", "-n", "default"});
  EXPECT_EQ(described.code, 0) << described.output;
  to.cluster->CreateNamespace("default");
  ToolRun moved = clusterctl.Run(from.plane->kubeconfig(),
                                 {"move", "--namespace", "default", "--to-kubeconfig", to.plane->kubeconfig()});
  EXPECT_EQ(moved.code, 0) << moved.output;
  EXPECT_TRUE(to.cluster->client().Get(to.cluster->ctx(), kClusters, "default", "mine").ok()) << moved.output;
  EXPECT_TRUE(to.cluster->client().Get(to.cluster->ctx(), kDockerClusters, "default", "mine").ok());
  EXPECT_FALSE(from.cluster->client().Get(from.cluster->ctx(), kClusters, "default", "mine").ok());
}

}  // namespace
}  // namespace capi::e2e
