#include "operator/act/install/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/gitlab_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

// I2: what a spec may name a repository by.
TEST(Sources, ARepositoryIsNamedByAFileOrByItsPageOfReleases) {
  Settings settings;
  Sources sources(settings, {});
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "myazure"};
  provider.spec.fetch_config = api::FetchConfig{};
  auto open = [&](const std::string& url) {
    provider.spec.fetch_config->url = url;
    return sources.Open(provider, {});
  };
  const std::pair<const char*, const char*> right[] = {
      {"https://github.com/myorg/azure/releases", "infrastructure-components.yaml"},
      {"https://github.com/myorg/azure/releases/", "infrastructure-components.yaml"},
      {"https://github.com/myorg/azure/releases/latest/own.yaml", "own.yaml"},
      {"https://github.com/myorg/azure/releases/v1.0.0/own.yaml", "own.yaml"},
  };
  for (const auto& [url, file] : right) {
    auto repository = open(url);
    ASSERT_TRUE(repository.ok()) << url << ": " << repository.error().message;
    EXPECT_EQ((*repository)->Describe(), "github.com/myorg/azure") << url;
    EXPECT_EQ((*repository)->ComponentsFile(), file) << url;
  }
  for (const char* wrong : {"https://github.com/myorg/azure", "https://github.com/releases",
                            "https://github.com/myorg/azure/releases/latest",
                            "https://code.test/api/v4/projects/1/packages/npm/p/v1/c.yaml",
                            "https://u:p@code.test/api/v4/projects/1/packages/generic/p/v1/c.yaml",
                            "https://code.test/releases", "/releases/infrastructure-myazure/latest/c.yaml"}) {
    auto repository = open(wrong);
    ASSERT_FALSE(repository.ok()) << wrong;
    EXPECT_THAT(repository.error().message, HasSubstr("spec.fetchConfig.url"));
  }
}

// I16, T10: the operator's own token goes to hosts that its configuration file names, whoever asks for a release there,
// and to no other; the Secret's goes wherever the object leads.
TEST(Sources, TheOperatorsTokenGoesToHostsOfItsConfigurationAlone) {
  fetch::GitLabStandIn named({fetch::Package("v1.0.0")}), other({fetch::Package("v1.0.0")});
  Settings settings;
  settings.file.providers = {{api::ProviderType::kInfrastructure, "configured", named.url()}};
  auto sent = [&](const fetch::GitLabStandIn& gitlab, const std::string& name, const std::string& url,
                  const SourceCredentials& credentials) {
    SourceOptions options;
    options.gitlab = gitlab.options();
    options.gitlab.token = "own";
    api::Provider provider;
    provider.id = {api::ProviderType::kInfrastructure, "ns", name};
    if (!url.empty()) provider.spec.fetch_config = api::FetchConfig{.url = url};
    size_t before = gitlab.seen().size();
    auto repository = Sources(settings, options).Open(provider, credentials);
    EXPECT_TRUE(repository.ok()) << repository.error().message;
    EXPECT_TRUE((*repository)->Versions({}).ok());
    return gitlab.seen().size() > before ? gitlab.seen().back().authorization : "nothing came";
  };
  const SourceCredentials secret =
      CredentialsIn({{"github-token", "g"}, {"gitlab-access-token", "secret"}, {"A", "b"}});
  EXPECT_EQ(secret.github_token, "g");
  EXPECT_EQ(sent(named, "configured", "", {}), "Bearer own");
  EXPECT_EQ(sent(named, "mine", named.url(), {}), "Bearer own");
  EXPECT_EQ(sent(other, "mine", other.url(), {}), "");
  EXPECT_EQ(sent(other, "mine", other.url(), secret), "Bearer secret");
  EXPECT_EQ(sent(named, "mine", named.url(), secret), "Bearer secret");
}

// I2, T9: with the folder that the operator was given, too.
TEST(Sources, ARegistryIsNamedByAReference) {
  Settings settings;
  Sources sources(settings, {.github = {}, .folder = "/releases"});
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "aws"};
  provider.spec.fetch_config = api::FetchConfig{};
  provider.spec.fetch_config->oci = "registry.example.com:5000/org/aws:v1.0.0";
  auto repository = sources.Open(provider, {});
  ASSERT_TRUE(repository.ok()) << repository.error().message;
  EXPECT_EQ((*repository)->Describe(), "oci://registry.example.com:5000/org/aws:v1.0.0");
  EXPECT_EQ((*repository)->ComponentsFile(), "infrastructure-components.yaml");
  EXPECT_FALSE((*repository)->IsLocal());
  provider.spec.fetch_config->oci = "aws";
  auto wrong = sources.Open(provider, {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("spec.fetchConfig.oci: it names no repository"));
}

// T9: by the peer's names, and no others.
TEST(Sources, CredentialsAreThoseOfTheSecret) {
  SourceCredentials all = CredentialsIn({{"github-token", "g"},
                                         {"OCI_USERNAME", "u"},
                                         {"OCI_PASSWORD", "p"},
                                         {"OCI_ACCESS_TOKEN", "a"},
                                         {"OCI_REFRESH_TOKEN", "r"},
                                         {"oci_username", "x"}});
  EXPECT_EQ(all.github_token + all.oci.username + all.oci.password + all.oci.access_token + all.oci.refresh_token,
            "gupar");
  SourceCredentials none = CredentialsIn({{"A", "b"}});
  EXPECT_TRUE(none.oci.empty());
  EXPECT_EQ(none.github_token, "");
}

}  // namespace
}  // namespace capi::ops
