// What tests of the operator on a real control plane begin with.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "base/files.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::ops::testing {

// A control plane with our CRDs, a client of the test's, and one for what is tested, which meets the proxy's faults.
class ProxiedPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    auto& plane = kube::ControlPlane::Shared();
    client_ = plane.NewClient("test");
    auto names = ListDir("manifests/crds");
    ASSERT_TRUE(names.ok()) << names.error().message;
    for (const auto& name : *names) {
      if (name.ends_with(".yaml")) kube::ApplyYaml(*client_, *ReadFile("manifests/crds/" + name));
    }
    auto proxy = kube::FaultProxy::Start(plane.config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(proxy).value();
    auto proxied = kube::Client::Connect(proxy_->config(), {.user_agent = "capi-operator"});
    ASSERT_TRUE(proxied.ok()) << proxied.error().message;
    proxied_ = std::move(proxied).value();
  }

  std::unique_ptr<kube::Client> client_, proxied_;
  std::unique_ptr<kube::FaultProxy> proxy_;
};

}  // namespace capi::ops::testing
