// Providers that wait for each other's sources, on a real control plane.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/oci/oci_testing.h"
#include "operator/in_process_testing.h"

namespace capi::ops {
namespace {

constexpr const char* kOfProvider = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-it, namespace: x}\n";

// Of its two workers one may ask a source, and a registry answers for the repository org/slow when it is told to.
class InProcessSources : public InProcess {
 protected:
  InProcessSources() {
    source_options_.allowed = {registry_.host()};
    registry_.set_registry_fault([this](const http::ServerRequest& request) {
      if (request.path.starts_with("/v2/org/slow/")) answers_.wait(false);
      return std::optional<http::Response>();
    });
  }
  void TearDown() override {
    Answer();
    running_ = {};  // it asks the registry
  }
  void Answer() {
    answers_ = true;
    answers_.notify_all();
  }

  void Apply(const std::string& name, const std::string& repository) {
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata: {{name: {}, namespace: core}}
spec: {{version: v1.11.0, fetchConfig: {{oci: "http://{}/org/{}"}}}}
)",
                                          name, registry_.host(), repository));
  }
  void Delete(const std::string& name) {
    Context ctx = Context{}.WithTimeout(Seconds(60));
    EXPECT_TRUE(client_->Delete(ctx, kKind, "core", name).ok());
    EXPECT_TRUE(kube::Eventually([&] { return !client_->Get(ctx, kKind, "core", name).ok(); }, Seconds(60))) << name;
  }
  bool Waits(const std::string& name) {
    return kube::Eventually(
        [&] {
          auto object = client_->Get(Context{}, kKind, "core", name);
          if (!object.ok()) return false;
          const api::Provider provider = api::ParseProviderMeta(*object);
          const auto* installed = kube::FindCondition(provider.status.conditions, "ProviderInstalled");
          return installed != nullptr && installed->reason == "WaitingForSource";
        },
        Seconds(60));
  }
  bool IsAsked(const std::string& repository) const {
    for (const fetch::OciRequest& request : registry_.seen()) {
      if (request.target.starts_with("/v2/org/" + repository + "/")) return true;
    }
    return false;
  }

  const kube::Resource kKind = api::ResourceOf(api::ProviderType::kInfrastructure);
  std::atomic<bool> answers_ = false;
  fetch::OciStandIn registry_{{{"v1.11.0", fetch::PlainArtifact(kOfProvider)}}};
};

// One that is gone stands first in the line: it takes no turn, and gives none up.
TEST_F(InProcessSources, WhoIsGoneKeepsNobodyWaiting_T13) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  Apply("first", "slow");
  ASSERT_TRUE(kube::Eventually([&] { return IsAsked("slow"); }, Seconds(60)));
  Apply("gone", "provider");
  ASSERT_TRUE(Waits("gone"));
  Apply("next", "provider");
  ASSERT_TRUE(Waits("next"));
  Delete("gone");
  EXPECT_FALSE(IsAsked("provider"));
  Answer();
  EXPECT_TRUE(kube::Eventually([&] { return IsAsked("provider"); }, Seconds(60)));
  for (const char* name : {"first", "next"}) Delete(name);
  DeleteCore();
}

}  // namespace
}  // namespace capi::ops
