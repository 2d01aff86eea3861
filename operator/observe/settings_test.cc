#include "operator/observe/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// I7, T4: only what the patterns name is visible to a release.
TEST(SelectEnvironment, TakesWhatThePatternsName) {
  const char* all[] = {"EXP_MACHINE_POOL=true", "EXP=no", "CLUSTER_TOPOLOGY=true",
                       "AWS_SECRET=hidden",     "broken", nullptr};
  EXPECT_THAT(SelectEnvironment(all, {"EXP_*", "CLUSTER_TOPOLOGY"}),
              ElementsAre(Pair("CLUSTER_TOPOLOGY", "true"), Pair("EXP_MACHINE_POOL", "true")));
  EXPECT_TRUE(SelectEnvironment(all, {}).empty());
  EXPECT_THAT(SelectEnvironment(all, {"*_SEC*T"}), ElementsAre(Pair("AWS_SECRET", "hidden")));
  EXPECT_THAT(SelectEnvironment(all, {"EXP**"}), ElementsAre(Pair("EXP", "no"), Pair("EXP_MACHINE_POOL", "true")));
  EXPECT_THAT(SelectEnvironment(all, {"EXP?M*"}), ElementsAre(Pair("EXP_MACHINE_POOL", "true")));
  EXPECT_THAT(SelectEnvironment(all, {"EXP[^_]*", "[A-B]WS_*"}), ElementsAre(Pair("AWS_SECRET", "hidden")));
  EXPECT_TRUE(SelectEnvironment(all, {"EXP[", "EXP\\"}).empty());
  EXPECT_TRUE(SelectEnvironment(nullptr, {"*"}).empty());
}

TEST(ParseConfigFile, ReadsProvidersAndImages) {
  auto file = ParseConfigFile(R"(
providers:
- {name: mine, url: "https://github.com/me/mine/releases/latest/infrastructure-components.yaml", type: InfrastructureProvider}
images:
  all: {repository: registry.example/capi}
  infrastructure-mine/manager: {tag: v2}
variable: ignored
)",
                              "clusterctl.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  Settings settings{.file = *file};
  EXPECT_EQ(settings.UrlOf(api::ProviderType::kInfrastructure, "mine"),
            "https://github.com/me/mine/releases/latest/infrastructure-components.yaml");
  EXPECT_THAT(*settings.UrlOf(api::ProviderType::kInfrastructure, "aws"), HasSubstr("cluster-api-provider-aws"));
  EXPECT_FALSE(settings.UrlOf(api::ProviderType::kBootstrap, "mine"));
  EXPECT_EQ(file->images.at("all").repository, "registry.example/capi");
  for (const char* none : {"", "a: b", "providers:", "PROVIDERS: []"})
    EXPECT_TRUE(ParseConfigFile(none, "").ok()) << none;
}

TEST(ParseConfigFile, NamesWhatIsWrong) {
  struct Case {
    std::string text, message;
  };
  const Case cases[] = {
      {"- a", "clusterctl.yaml: line 1, column 1: the file must be a map"},
      {"images: {}\nImages: {}\nimages: {}\n", "line 3, column 1: key \"images\" is already on line 1"},
      {"providers: {}", "clusterctl.yaml, line 1, column 12: failed to unmarshal providers"},
      {"providers: [{name: a, url: u, type: Nonsense}]",
       "clusterctl.yaml, line 1, column 13: error validating configuration for the Nonsense with name a"},
      {"providers: [{name: A, url: u, type: AddonProvider}]", "provider name A must be in lower case"},
      {"providers: [{name: a, type: AddonProvider}]", "provider URL value cannot be empty"},
      {"providers: [{name: other, url: u, type: CoreProvider}]", "cluster-api"},
      {"providers: [{name: a, url: \"https://github.com/${ORG}/a/releases/latest/a.yaml\", type: AddonProvider}]",
       "clusterctl.yaml, line 1, column 13: url https://github.com/${ORG}/a/releases/latest/a.yaml has a variable"},
      {"images: [a]", "images is no map"},
      {"images: {all: {tag: [1]}}", "images[\"all\"].tag"},
      {"a: [", "line 2"},
  };
  for (const auto& c : cases) {
    auto parsed = ParseConfigFile(c.text, "clusterctl.yaml");
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(c.message));
  }
}

// U10: what the operator brings to a render is part of what decides whether a render is needed.
TEST(Settings, DigestFollowsEveryInput) {
  Settings a, b;
  EXPECT_EQ(a.Digest(), b.Digest());
  b.environment["EXP_X"] = "true";
  EXPECT_NE(a.Digest(), b.Digest());
  Settings c;
  c.file.images["all"] = {"registry.example", "", ""};
  EXPECT_NE(a.Digest(), c.Digest());
  Settings d;
  d.renderer = "another build";
  EXPECT_NE(a.Digest(), d.Digest());
}

}  // namespace
}  // namespace capi::ops
