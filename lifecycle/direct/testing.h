// A provider that tests install on a real control plane, without an operator.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/testing/cert_manager_kinds.h"
#include "kube/testing/control_plane.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/direct/install.h"
#include "lifecycle/direct/remove.h"
#include "lifecycle/direct/upgrade.h"
#include "lifecycle/labelled.h"

namespace capi::lifecycle {

inline constexpr char kMetadata[] = R"(
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 1, minor: 0, contract: v1beta2}
- {major: 1, minor: 1, contract: v1beta2}
)";

// A provider with a kind of its own. v1.1.0 stores another version, has one ClusterRole less and another ConfigMap key.
inline std::string Toy(bool newer) {
  return std::string(R"(
apiVersion: v1
kind: Namespace
metadata: {name: toy-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Toy, plural: toys, singular: toy, listKind: ToyList}
  versions:
  - {name: v1alpha1, served: true, storage: )") +
         (newer ? "false" : "true") +
         R"(, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: )" +
         (newer ? "true" : "false") +
         R"(, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: toy-config, namespace: toy-system}
data: {)" +
         (newer ? "new" : "old") + R"(: "${TOY:=1}"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: toy-)" +
         (newer ? "new" : "old") + R"(-role}
rules: []
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: toy-controller-manager, namespace: toy-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: toy}}
  template:
    metadata: {labels: {app: toy}}
    spec:
      containers: [{name: manager, image: "example.com/toy:)" +
         (newer ? "v1.1.0" : "v1.0.0") + R"("}]
)";
}

// Tests find nothing of each other's.
class Direct : public testing::Test {
 protected:
  void SetUp() override {
    client_ = kube::ControlPlane::Shared().NewClient();
    kube::ApplyYaml(*client_, kube::kCertManagerKinds);
  }
  void TearDown() override {
    auto toys = client_->List(ctx_, kToys, "default");
    for (const kube::Object& toy : toys.ok() ? toys->items : std::vector<kube::Object>()) EndToy(toy.name());
    MustRemove({true, true});
    EXPECT_TRUE(
        kube::Eventually([&] { return Gone("CustomResourceDefinition", "toys.infrastructure.cluster.x-k8s.io"); }));
  }

  DirectRelease Prepared(bool newer) {
    release_.version = *api::Version::Parse(newer ? "v1.1.0" : "v1.0.0");
    release_.metadata = kMetadata;
    release_.components = Toy(newer);
    auto prepared = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "toy", &release_, values_, "", {}});
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    return prepared.ok() ? *prepared : DirectRelease{};
  }
  void MustInstall(bool newer = false) {
    auto installed = Install(ctx_, *client_, Prepared(newer));
    ASSERT_TRUE(installed.ok()) << installed.error().message;
  }
  void MustUpgrade(const UpgradeOptions& options = {}) {
    auto upgraded = Upgrade(ctx_, *client_, {Prepared(true)}, options);
    ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  }
  void MustRemove(const RemovalScope& scope) {
    auto removal = PlanRemoval(ctx_, *client_, kToy, scope, nullptr);
    ASSERT_TRUE(removal.ok()) << removal.error().message;
    auto removed = Remove(ctx_, *client_, *removal, nullptr);
    ASSERT_TRUE(removed.ok()) << removed.error().message;
  }
  kube::Object Live(std::string_view kind, std::string_view name) {
    const kube::Resource& resource = kube::Builtin(kind);
    auto live = client_->Get(ctx_, resource, resource.namespaced ? "toy-system" : "", name);
    EXPECT_TRUE(live.ok()) << live.error().message;
    return live.ok() ? *live : kube::Object();
  }
  void MakeToy(const std::string& name) {
    kube::ApplyYaml(*client_, "{apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, kind: Toy, metadata: {name: " +
                                  name + ", namespace: default}}");
  }
  void EndToy(const std::string& name) { EXPECT_TRUE(client_->Delete(ctx_, kToys, "default", name).ok()); }
  // As Cluster API's clusterctl does: by plain requests, in its name.
  void MakeAnew(std::string_view kind, std::string_view name) {
    kube::Object object = Live(kind, name);
    for (const char* field : {"managedFields", "resourceVersion", "uid"}) object.json()["metadata"].erase(field);
    object.json().erase("status");
    ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin(kind), "toy-system", name).ok());
    ASSERT_TRUE(client_->Create(ctx_, kube::Builtin(kind), object, {.field_manager = "clusterctl"}).ok());
  }
  void Scale(int replicas, const kube::WriteOptions& options) {
    Json patch = {{"spec", {{"replicas", replicas}}}};
    auto scaled = client_->Patch(ctx_, kube::Builtin("Deployment"), "toy-system", "toy-controller-manager",
                                 kube::PatchType::kMerge, patch, options);
    ASSERT_TRUE(scaled.ok()) << scaled.error().message;
  }
  std::int64_t Replicas() { return GetInt(Live("Deployment", "toy-controller-manager").json(), {"spec", "replicas"}); }
  bool Gone(std::string_view kind, std::string_view name) {
    const kube::Resource& resource = kube::Builtin(kind);
    auto live = client_->Get(ctx_, resource, resource.namespaced ? "toy-system" : "", name);
    return !live.ok() && live.code() == Code::kNotFound;
  }
  std::string Installed() {
    auto entries = ListEntries(ctx_, *client_);
    EXPECT_TRUE(entries.ok());
    for (const ClusterctlEntry& entry : *entries) {
      if (entry.id == kToy) return entry.version;
    }
    return "";
  }
  std::set<std::string> Labelled() {
    std::set<std::string> out;
    auto all = ListLabelled(ctx_, *client_, kToy);
    EXPECT_TRUE(all.ok()) << all.error().message;
    for (const kube::Object& object : all->items) out.insert(object.id().ToString());
    return out;
  }

  const api::ProviderId kToy{api::ProviderType::kInfrastructure, "toy-system", "toy"};
  const kube::Resource kToys{
      .group = "infrastructure.cluster.x-k8s.io", .version = "v1beta1", .plural = "toys", .kind = "Toy"};
  Context ctx_ = Context{}.WithTimeout(Seconds(120));
  std::unique_ptr<kube::Client> client_;
  api::Release release_;
  templating::Variables values_ = [](const std::string&) { return std::optional<std::string>(); };
};

}  // namespace capi::lifecycle
