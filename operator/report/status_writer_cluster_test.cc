#include "operator/report/status_writer.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/report/plane_testing.h"

namespace capi::ops {
namespace {

const api::ProviderId kId{api::ProviderType::kInfrastructure, "writer", "small"};

class StatusWriterTest : public testing::ProxiedPlane {
 protected:
  void SetUp() override {
    ProxiedPlane::SetUp();
    if (HasFatalFailure()) return;
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: writer}}");
    ApplyProvider("v1.0.0");
    writer_ = std::make_unique<StatusWriter>(*proxied_, cache_, masks_);
  }
  void TearDown() override {
    proxy_->SetFaults(nullptr);
    EXPECT_TRUE(client_->Delete(ctx_, api::ResourceOf(kId.type), kId.ns, kId.name).ok());
  }

  void ApplyProvider(const std::string& version) {
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata: {{name: small, namespace: writer}}
spec: {{version: {}}}
)",
                                          version));
  }
  api::Provider Live() {
    auto object = client_->Get(ctx_, api::ResourceOf(kId.type), kId.ns, kId.name);
    EXPECT_TRUE(object.ok());
    return *api::ParseProvider(*object);
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  SecretMasks masks_;
  std::unique_ptr<StatusWriter> writer_;
};

TEST_F(StatusWriterTest, WritesOneAfterAnother) {
  api::Provider provider = Live();
  api::ProviderStatus status;
  status.applied = "inputs";
  ASSERT_TRUE(writer_->WriteStatus(ctx_, provider, status).ok());
  EXPECT_EQ(provider.status, status);
  status.applied.clear();
  status.contract = "v1beta2";
  ASSERT_TRUE(writer_->WriteStatus(ctx_, provider, status).ok());
  EXPECT_EQ(Live().status, status) << "what went away is gone";
  EXPECT_EQ(Live().resource_version, provider.resource_version);
}

// F3: a server did a write and said it hadn't. The next pass didn't know, wrote what it had decided on the status
// before that, and members of both were left: installed at one version, with everything of another applied, for ever.
TEST_F(StatusWriterTest, RefusesWhatWasDecidedOnAnOlderStatus) {
  api::Provider provider = Live();
  api::ProviderStatus announced;
  announced.history = {{"v1.0.0", "v1beta2", "sha256:1"}};
  ASSERT_TRUE(writer_->WriteStatus(ctx_, provider, announced).ok());
  api::ProviderStatus applied = announced, failed = announced;
  applied.applied = "inputs";
  applied.installed_version = "v1.0.0";
  failed.observed_generation = 1;

  proxy_->SetFaults([](const kube::ProxyRequest& request) {
    return kube::Fault{.status = request.method == "PATCH" ? 500 : 0, .after_server = true};
  });
  EXPECT_FALSE(writer_->WriteStatus(ctx_, provider, applied).ok());
  EXPECT_EQ(provider.status, announced) << "nobody knows";
  proxy_->SetFaults(nullptr);
  auto written = writer_->WriteStatus(ctx_, provider, failed);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.code(), Code::kConflict);
  EXPECT_EQ(Live().status, applied);
}

// Nor over an edit that the pass has not seen.
TEST_F(StatusWriterTest, RefusesWhatWasDecidedOnAnOlderSpec) {
  api::Provider provider = Live();
  ApplyProvider("v1.1.0");
  api::ProviderStatus status;
  status.applied = "inputs";
  auto written = writer_->WriteStatus(ctx_, provider, status);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.code(), Code::kConflict);
  EXPECT_EQ(Live().status.applied, "");
  EXPECT_EQ(Live().status.observed_generation, -1) << "as the API server made it";
}

}  // namespace
}  // namespace capi::ops
