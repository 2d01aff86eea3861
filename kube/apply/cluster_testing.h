// What the tests of apply on a real control plane share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "kube/apply/apply.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::kube {

inline std::vector<Manifest> Manifests(std::string_view yaml) {
  auto documents = ParseYamlStream(yaml);
  if (!documents.ok()) ADD_FAILURE() << documents.error().message;
  std::vector<Manifest> out;
  if (documents.ok()) {
    for (YamlDocument& document : *documents) out.push_back(ToManifest(Object(std::move(document.value))));
  }
  return out;
}

// What an inventory is after `changes`.
inline Inventory After(const std::vector<Change>& changes) {
  Inventory inventory;
  for (const Change& change : changes) inventory.Put(change.id, change.entry);
  return inventory;
}

inline bool IsNotFound(const Result<Object>& result) { return !result.ok() && result.code() == Code::kNotFound; }

// An applier whose requests go through a proxy, and a client that asks the server itself. Each test has a namespace of
// its own.
class ApplyClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    ControlPlane& plane = ControlPlane::Shared();
    auto proxy = FaultProxy::Start(plane.config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(*proxy);
    auto client = Client::Connect(proxy_->config(), {.user_agent = "applier", .max_retries = 0});
    ASSERT_TRUE(client.ok()) << client.error().message;
    through_proxy_ = std::move(*client);
    client_ = plane.NewClient();
    applier_ = std::make_unique<Applier>(*through_proxy_, ApplyOptions{});
    ns_ = ToLower(testing::UnitTest::GetInstance()->current_test_info()->name()).substr(0, 50);
    ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: " + ns_ + "}}");
  }

  // YAML with @ for the test's namespace.
  std::vector<Manifest> InNamespace(std::string_view yaml) {
    return Manifests(ReplaceAll(std::string(yaml), "@", ns_));
  }

  Result<Object> Live(std::string_view kind, std::string_view name) {
    return client_->Get(ctx_, Builtin(kind), Builtin(kind).namespaced ? ns_ : "", name);
  }

  // Requests of the applier with this method since the last Reset; "" for all.
  size_t Requests(std::string_view method = "") {
    size_t count = 0;
    for (const ProxyRequest& request : proxy_->requests()) count += method.empty() || request.method == method ? 1 : 0;
    return count;
  }

  std::vector<Change> MustApply(const std::vector<Manifest>& manifests, const Inventory& current = {}) {
    std::vector<Change> changes;
    auto applied = applier_->Apply(ctx_, manifests, current, changes);
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    return changes;
  }

  Context ctx_;
  std::string ns_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Client> client_, through_proxy_;
  std::unique_ptr<Applier> applier_;
};

}  // namespace capi::kube
