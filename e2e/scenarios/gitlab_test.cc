// Releases from a private project of a server that speaks GitLab's API, seen through a Provider object (I16, T10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/support/managed_cluster.h"
#include "fetch/gitlab_testing.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;

constexpr std::string_view kWanted = "glpat-wanted";

class FromGitLab : public UnmanagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.11.0", "cluster-api/v1.12.0");
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    cluster_->CreateNamespace(kCore.ns);
    // What other tests of this program stored would be taken instead of GitLab's.
    for (const char* version : {"v1.11.0", "v1.12.0"}) {
      std::string name = std::string("core-cluster-api-") + version;
      (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, name).ok();
    }
    std::vector<fetch::GitLabPackage> packages;
    for (const char* version : {"v1.11.0", "v1.12.0"}) {
      auto release = GetRelease("cluster-api", version);
      packages.push_back({.version = version,
                          .files = {{"metadata.yaml", release.Text("metadata.yaml")},
                                    {"core-components.yaml", release.Components()}}});
    }
    gitlab_.Publish(std::move(packages));
    gitlab_.MakePrivate(std::string(kWanted));
  }
  void PutToken(std::string_view token) {
    kube::Object secret(Json{{"apiVersion", "v1"},
                             {"kind", "Secret"},
                             {"metadata", {{"name", "tokens"}, {"namespace", kCore.ns}}},
                             {"stringData", {{"gitlab-access-token", token}}}});
    auto applied =
        cluster_->client().Apply(cluster_->ctx(), kube::Builtin("Secret"), secret, {.field_manager = "test"});
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }

  fetch::GitLabStandIn gitlab_{{}};
};

// The operator's own token stays away from a host that only the object names; the Secret's goes there, and with the
// right one the provider goes on by itself.
TEST_F(FromGitLab, TheSecretsTokenOpensAPrivateProject) {
  StartOperator({"--allowed-sources=" + gitlab_.host()},
                {"SSL_CERT_FILE=" + gitlab_.ca_file(), "GITLAB_ACCESS_TOKEN=" + std::string(kWanted)});
  cluster_->ApplyProvider(ProviderType::kCore, kCore.ns, "cluster-api", {{"fetchConfig", {{"url", gitlab_.url()}}}});
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "NoReleaseFound"));
  EXPECT_THAT(See(kCore).Message("ProviderInstalled"),
              HasSubstr("GITLAB_ACCESS_TOKEN isn't sent to " + gitlab_.host()));
  PutToken("glpat-other");
  PatchSpec(kCore, {{"configSecret", {{"name", "tokens"}}}});
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "SourceCredentialsRejected"));
  PutToken(kWanted);
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(See(kCore).provider.status.installed_version, "v1.12.0");
  EXPECT_EQ(See(kCore).provider.status.source, gitlab_.host() + "/group/project/p v1.12.0");
  for (const fetch::SeenRequest& request : gitlab_.seen()) {
    if (request.host == "objects") {
      EXPECT_EQ(request.authorization, "") << request.target;
    }
  }
  // I14: what was fetched lies in the cluster: an upgrade of its own settings asks nobody.
  const size_t before = gitlab_.seen().size();
  PatchSpec(kCore, {{"deployment", {{"replicas", 2}}}});
  EXPECT_TRUE(Eventually([&] { return GetInt(Deployment(kCore).json(), {"spec", "replicas"}) == 2; }));
  EXPECT_EQ(gitlab_.seen().size(), before);
}

}  // namespace
}  // namespace capi::e2e
