#include "operator/act/install/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/http/testing.h"
#include "fetch/gitlab_testing.h"
#include "fetch/oci/oci_testing.h"
#include "operator/decide/upgrades/updates.h"

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
// and to no other; the Secret's goes to the host of the object's URL, and to none that it doesn't name.
TEST(Sources, TheOperatorsTokenGoesToHostsOfItsConfigurationAlone) {
  fetch::GitLabStandIn named({fetch::Package("v1.0.0")}), other({fetch::Package("v1.0.0")});
  Settings settings;
  settings.file.providers = {{api::ProviderType::kInfrastructure, "configured", named.url()}};
  std::string own = "own";
  auto sent = [&](const fetch::GitLabStandIn& gitlab, const std::string& name, const std::string& url,
                  const fetch::SourceCredentials& credentials) {
    SourceOptions options;
    options.gitlab = gitlab.options();
    options.gitlab.token = own;
    // Whom the configuration file names need not be allowed, though it has an address of this machine (T11).
    if (!url.empty()) options.allowed = {*CanonicalSource(named.host()), *CanonicalSource(other.host())};
    api::Provider provider;
    provider.id = {api::ProviderType::kInfrastructure, "ns", name};
    if (!url.empty()) provider.spec.fetch_config = api::FetchConfig{.url = url};
    size_t before = gitlab.seen().size();
    auto repository = Sources(settings, options).Open(provider, credentials);
    EXPECT_TRUE(repository.ok()) << repository.error().message;
    EXPECT_TRUE((*repository)->Versions({}).ok());
    return gitlab.seen().size() > before ? gitlab.seen().back().authorization : "nothing came";
  };
  const fetch::SourceCredentials secret =
      fetch::CredentialsIn({{"github-token", "g"}, {"gitlab-access-token", "secret"}, {"A", "b"}});
  EXPECT_EQ(secret.github_token, "g");
  EXPECT_EQ(sent(named, "configured", "", {}), "Bearer own");
  EXPECT_EQ(sent(named, "mine", named.url(), {}), "Bearer own");
  EXPECT_EQ(sent(other, "mine", other.url(), {}), "");
  EXPECT_EQ(sent(other, "mine", other.url(), secret), "Bearer secret");
  EXPECT_EQ(sent(named, "mine", named.url(), secret), "Bearer secret");
  EXPECT_EQ(sent(named, "configured", "", secret), "Bearer own");
  own.clear();
  EXPECT_EQ(sent(named, "configured", "", secret), "");
}

// I2, T9: with the folder that the operator was given, too.
TEST(Sources, ARegistryIsNamedByAReference) {
  Settings settings;
  Sources sources(settings, {.github = {}, .allowed = {"registry.example.com:5000"}, .folder = "/releases"});
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

// A registry that the spec may name, as a proxy answers for it, leads to this machine: there only where that host is in
// the list, too.
TEST(Sources, WhatIsAllowedLeadsToNoOtherHostWithin_T11) {
  fetch::OciStandIn inside({{"v1.0.0", fetch::PlainArtifact()}});
  http_testing::RawServer proxy([&](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 307 There\r\nConnection: close\r\nContent-Length: 0\r\nLocation: http://" + inside.host() +
               "/v2/org/provider/tags/list\r\n\r\n");
  });
  Settings settings;
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "aws"};
  provider.spec.fetch_config = api::FetchConfig{};
  provider.spec.fetch_config->oci = "http://registry.example/org/provider";
  for (bool listed : {false, true}) {
    SCOPED_TRACE(listed);
    SourceOptions options;
    options.oci.proxy.http_url = proxy.url();
    options.allowed = {"registry.example"};
    if (listed) options.allowed.push_back(inside.host());
    auto repository = Sources(settings, options).Open(provider, {});
    ASSERT_TRUE(repository.ok()) << repository.error().message;
    auto versions = (*repository)->Versions({});
    EXPECT_EQ(versions.ok(), listed);
    EXPECT_EQ(inside.seen().empty(), !listed);
    if (!versions.ok()) {
      EXPECT_THAT(versions.error().message, HasSubstr("127.0.0.1 is an address of this machine"));
    }
  }
}

constexpr const char* kPackage = "/api/v4/projects/1/packages/generic/p/latest/c.yaml";

// "" where a spec may name the source, else the error. A URL has a scheme, and a path is put to it.
std::string Refusal(std::vector<std::string> allowed, const std::string& source) {
  const Settings settings;
  const bool url = source.starts_with("url ");
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "mine"};
  provider.spec.fetch_config = api::FetchConfig{};
  if (url) provider.spec.fetch_config->url = source.substr(4) + kPackage;
  if (!url) provider.spec.fetch_config->oci = source + "/org/provider";
  auto opened = Sources(settings, {.github = {}, .allowed = std::move(allowed)}).Open(provider, {});
  return opened.ok() ? "" : opened.error().message;
}

// I18, T2: of a folder on a server, none without a list.
TEST(Sources, AFolderOnAServerIsAskedWhereTheOperatorAllowsIt_I18) {
  const std::string url = "https://files.example.com/capi/aws/latest/infrastructure-components.yaml";
  const Settings settings;
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "mine"};
  provider.spec.fetch_config = api::FetchConfig{};
  provider.spec.fetch_config->url = url;
  auto refused = Sources(settings, {}).Open(provider, {});
  EXPECT_THAT(refused.error().message, HasSubstr("files.example.com isn't asked"));
  auto opened = Sources(settings, {.github = {}, .allowed = {"files.example.com"}}).Open(provider, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ((*opened)->Describe(), "files.example.com/capi/aws");
  // What the operator's own configuration names needs no list.
  Settings configured;
  configured.file.providers = {{api::ProviderType::kInfrastructure, "mine", url}};
  provider.spec.fetch_config.reset();
  EXPECT_TRUE(Sources(configured, {}).Open(provider, {}).ok());
}

// A list takes the place of gitlab.com; a port that isn't the scheme's own has to be named.
TEST(Sources, ASpecNamesHostsThatTheOperatorAllowsAlone_T2) {
  const std::tuple<std::vector<std::string>, const char*, bool> cases[] = {
      {{}, "url https://gitlab.com", true},
      {{}, "url https://GitLab.com:443", true},
      {{}, "url https://gitlab.com:8443", false},
      {{}, "url https://gitlab.com.example.com", false},
      {{}, "url https://gitlab.example.com", false},
      {{}, "gitlab.com", false},
      {{}, "registry.example.com", false},
      {{}, "127.0.0.1:5000", false},
      {{"registry.example.com"}, "registry.example.com", true},
      {{"registry.example.com"}, "Registry.Example.com:443", true},
      {{"registry.example.com"}, "http://registry.example.com", true},
      {{"registry.example.com"}, "http://registry.example.com:443", false},
      {{"registry.example.com"}, "registry.example.com:5000", false},
      {{"registry.example.com"}, "other.example.com", false},
      {{"registry.example.com"}, "a.registry.example.com", false},
      {{"registry.example.com"}, "url https://registry.example.com", true},
      {{"registry.example.com"}, "url https://gitlab.com", false},
      {{"a", "*.example.com:5000"}, "a.b.example.com:5000", true},
      {{"a", "*.example.com:5000"}, "a.example.com", false},
      {{"*.example.com"}, "a.example.com", true},
      {{"*.example.com"}, "example.com", false},
      {{"*.example.com"}, "badexample.com", false},
      {{"[::1]:5000"}, "[::1]:5000", true},
      {{"[::1]:5000"}, "[::2]:5000", false},
  };
  for (const auto& [allowed, source, may] : cases) {
    const std::string refusal = Refusal(allowed, source);
    EXPECT_EQ(refusal.empty(), may) << source << ": " << refusal;
  }
  EXPECT_EQ(Refusal({}, "r.example:5000"),
            "spec.fetchConfig.oci: r.example:5000 isn't asked: the operator was started without --allowed-sources for "
            "that host, which whoever runs it may name there");
  EXPECT_THAT(Refusal({}, "url https://g.example"), HasSubstr("spec.fetchConfig.url: g.example isn't asked: the"));
}

// I2: what the operator's own configuration says is the choice of whoever runs it.
TEST(Sources, TheConfigurationFileNamesAnyHost_T2) {
  Settings settings;
  settings.file.providers = {{api::ProviderType::kInfrastructure, "mine", std::string("https://g.example") + kPackage}};
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "mine"};
  EXPECT_TRUE(Sources(settings, {}).Open(provider, {}).ok());
}

// T15, I18: which Secret is for a source is told by the words that its place begins with.
TEST(Sources, ThePlaceTellsWhetherVariablesMayHaveCredentials_U12) {
  Settings settings;
  Observation o;
  o.provider.id = {api::ProviderType::kInfrastructure, "ns", "mine"};
  o.config_secret = Referenced{{"variables", "ns"}, true, "u/1"};
  SourceOptions options;
  options.folder = "/releases";
  auto may_have = [&](const SourceOptions& started_with) {
    o.source = Sources(settings, started_with).PlaceOf(o.provider);
    return SourceSecretOf(o).has_value();
  };
  EXPECT_FALSE(may_have(options));
  for (const char* url :
       {"https://github.com/o/r/releases", "https://gitlab.com/api/v4/projects/1/packages/generic/p"}) {
    settings.file.providers = {{api::ProviderType::kInfrastructure, "mine", url}};
    EXPECT_TRUE(may_have({})) << url;
  }
  auto& fetch = o.provider.spec.fetch_config.emplace();
  fetch.url = "https://files.example/capi/mine/latest/infrastructure-components.yaml";
  EXPECT_FALSE(may_have(options));
  fetch.url = "";
  fetch.oci = "r.example/c";
  EXPECT_TRUE(may_have(options));
  fetch.oci = "";
  fetch.git = api::GitSource{.url = "https://h.example/d.git", .path = ""};
  EXPECT_FALSE(may_have(options));
}

// U12: what is known of one place says nothing of another, whoever has named it.
TEST(Sources, APlaceIsWhatOpenTakes_U12) {
  Settings settings;
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "mine"};
  EXPECT_EQ(Sources(settings, {}).PlaceOf(provider), "url ");
  settings.file.providers = {{api::ProviderType::kInfrastructure, "mine", "https://g.example/a"}};
  EXPECT_EQ(Sources(settings, {}).PlaceOf(provider), "url https://g.example/a");
  SourceOptions options;
  options.folder = "/releases";
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "folder /releases");
  provider.spec.fetch_config = api::FetchConfig{};
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "folder /releases");
  provider.spec.fetch_config->url = "https://h.example/b";
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "url https://h.example/b");
  provider.spec.fetch_config->url = "";
  provider.spec.fetch_config->oci = "r.example/c";
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "oci r.example/c");
  provider.spec.fetch_config->oci = "";
  provider.spec.fetch_config->git = api::GitSource{.url = "https://h.example/d.git", .path = "aws"};
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "git https://h.example/d.git aws");
  provider.spec.fetch_config->git.reset();
  provider.spec.fetch_config->selector = Json::object();
  EXPECT_EQ(Sources(settings, options).PlaceOf(provider), "");
}

}  // namespace
}  // namespace capi::ops
