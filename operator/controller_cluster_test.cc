// The pass on a real control plane, in this process, so that sanitizers see all of it.
#include "operator/controller.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "kube/testing/control_plane.h"

namespace capi::ops {
namespace {

constexpr std::string_view kComponents = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.example}
spec:
  group: test.example
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-in-VERSION, namespace: x}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capi-controller-manager, namespace: x}
spec:
  replicas: 1
  selector: {matchLabels: {app: capi}}
  template:
    metadata: {labels: {app: capi}}
    spec: {containers: [{name: manager, image: "registry.example/capi:VERSION"}]}
)";

std::string ComponentsOf(const std::string& version) {
  std::string text(kComponents);
  for (size_t at; (at = text.find("VERSION")) != text.npos;) text.replace(at, 7, version);
  return text;
}

// The operator without its main: manager, controller and lease in threads of this process.
class InProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    auto& plane = kube::ControlPlane::Shared();
    client_ = plane.NewClient("in-process");
    auto names = ListDir("manifests/crds");
    ASSERT_TRUE(names.ok()) << names.error().message;
    for (const auto& name : *names) kube::ApplyYaml(*client_, *ReadFile("manifests/crds/" + name));
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: core}}");
    for (const char* version : {"v1.0.0", "v1.0.1"}) StoreRelease(version);
    client_->mapper().Invalidate();
    running_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }

  void StoreRelease(const std::string& version) {
    Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    map["metadata"] = {{"name", version}, {"namespace", "core"}, {"labels", {{"release", "core"}}}};
    map["data"] = {{"metadata",
                    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                    "- {major: 1, minor: 0, contract: v1beta2}\n"},
                   {"components", ComponentsOf(version)}};
    kube::ApplyYaml(*client_, ToJsonText(map));
  }

  void Run(std::stop_token stop) {
    Context ctx{.stop = stop};
    Settings settings;
    Sources sources(settings, {});
    kube::Metrics metrics;
    kube::EventRecorder events(*client_, "capi-operator", SystemClock());
    ProviderController controller(*client_, settings, sources, {.workers = 2}, metrics, events, SystemClock());
    kube::LeaderElector elector(*client_, {.ns = "core", .name = "in-process", .identity = "test"});
    kube::Manager manager(SystemClock());
    manager.Add(
        "events", [&](const Context& run) { events.Run(run); }, true);
    controller.AddTo(manager);
    manager.LeadBy(elector);
    auto ended = manager.Run(ctx);
    EXPECT_TRUE(ended.ok()) << ended.error().message;
  }

  void ApplyCore(const std::string& version) {
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata: {{name: cluster-api, namespace: core}}
spec: {{version: {}, fetchConfig: {{selector: {{matchLabels: {{release: core}}}}}}}}
)",
                                          version));
  }

  bool Exists(const char* kind, const std::string& name) {
    return client_->Get(Context{}.WithTimeout(Seconds(30)), kube::Builtin(kind), "core", name).ok();
  }
  bool ReadyAt(const std::string& version) {
    auto object = client_->Get(Context{}.WithTimeout(Seconds(30)), api::ResourceOf(api::ProviderType::kCore), "core",
                               "cluster-api");
    if (!object.ok()) return false;
    api::Provider provider = api::ParseProviderMeta(*object);
    const auto* ready = kube::FindCondition(provider.status.conditions, "Ready");
    return ready != nullptr && ready->status == "True" && provider.status.installed_version == version &&
           provider.status.observed_generation == provider.generation;
  }

  std::unique_ptr<kube::Client> client_;
  std::jthread running_;
};

TEST_F(InProcess, InstallsRestoresChangesAndRemoves) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  EXPECT_TRUE(Exists("ConfigMap", "only-in-v1.0.0"));

  // D1: a deleted workload comes back by itself.
  Context ctx = Context{}.WithTimeout(Seconds(60));
  ASSERT_TRUE(client_->Delete(ctx, kube::Builtin("Deployment"), "core", "capi-controller-manager").ok());
  EXPECT_TRUE(kube::Eventually([&] { return Exists("Deployment", "capi-controller-manager"); }, Seconds(60)));

  // U1, U4: another version; what only the old one had goes once the new one is healthy.
  ApplyCore("v1.0.1");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.1"); }, Seconds(60)));
  EXPECT_TRUE(Exists("ConfigMap", "only-in-v1.0.1"));
  EXPECT_TRUE(kube::Eventually([&] { return !Exists("ConfigMap", "only-in-v1.0.0"); }, Seconds(60)));

  // X1: what it brought goes, CRDs stay.
  const kube::Resource core = api::ResourceOf(api::ProviderType::kCore);
  ASSERT_TRUE(client_->Delete(ctx, core, "core", "cluster-api").ok());
  EXPECT_TRUE(kube::Eventually([&] { return !client_->Get(ctx, core, "core", "cluster-api").ok(); }, Seconds(60)));
  EXPECT_FALSE(Exists("ConfigMap", "only-in-v1.0.1"));
  EXPECT_TRUE(client_->Get(ctx, kube::Builtin("CustomResourceDefinition"), "", "widgets.test.example").ok());
}

}  // namespace
}  // namespace capi::ops
