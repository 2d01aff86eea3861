#include "fetch/configuration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::fetch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// L2
TEST(ConfigurationFile, KeysAreFoundInAnyCase) {
  auto file = ConfigurationFile::Parse("Images: {All: {Tag: v1}}\nnothing: ~\n", "c.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_NE(file->Key("IMAGES"), nullptr);
  EXPECT_EQ(*file->Key("images"), Json({{"all", {{"tag", "v1"}}}}));
  EXPECT_EQ(file->Key("nothing"), nullptr);
  EXPECT_EQ(file->Key("other"), nullptr);
  EXPECT_EQ(file->Place({"images", "all"}), "c.yaml, line 1, column 15");
  EXPECT_TRUE(ConfigurationFile::Parse("", "c.yaml").ok());
}

TEST(ConfigurationFile, ProvidersAreThoseOfTheFileInItsOrder) {
  auto file = ConfigurationFile::Parse(
      "providers:\n- {name: b, url: $b, type: AddonProvider}\n- {NAME: a, url: /a, type: CoreProvider}\n", "c.yaml");
  ASSERT_TRUE(file.ok());
  auto names = [&](const ConfigurationFile::Expand& expand) {
    std::vector<std::string> out;
    auto providers = file->Providers(expand);
    if (!providers.ok()) return std::vector<std::string>{providers.error().message};
    for (const auto& provider : *providers) out.push_back(provider.name + " " + provider.url);
    return out;
  };
  EXPECT_THAT(names(nullptr), ElementsAre(HasSubstr("c.yaml, line 3, column 3: ")));  // the core has another name
  file = ConfigurationFile::Parse("providers:\n- {name: b, url: $b, type: AddonProvider}\n", "c.yaml");
  EXPECT_THAT(names(nullptr), ElementsAre("b $b"));
  EXPECT_THAT(names([](const std::string& url) { return Result<std::string>(url + "!"); }), ElementsAre("b $b!"));
}

TEST(ConfigurationFile, SaysWhereItIsBroken) {
  struct Case {
    std::string_view text, message;
  };
  const Case cases[] = {
      {"a: [", "c.yaml: line "},
      {"- a", "c.yaml: line 1, column 1: the file must be a map"},
      {"a: 1\na: 2\n", "c.yaml: line 2, column 1: key \"a\" is already on line 1"},
  };
  for (const Case& c : cases) {
    auto file = ConfigurationFile::Parse(c.text, "c.yaml");
    ASSERT_FALSE(file.ok()) << c.text;
    EXPECT_EQ(file.code(), Code::kInvalidArgument);
    EXPECT_THAT(file.error().message, HasSubstr(std::string(c.message)));
  }
}

// T10.
TEST(GitLabHosts, ThoseOfUrlsOnGitLab) {
  using Type = api::ProviderType;
  EXPECT_EQ(
      GitLabHosts({{Type::kCore, "a", "https://GitLab.example.org/api/v4/projects/1/packages/generic/p/v1/c.yaml"},
                   {Type::kCore, "b", "https://code.test:8443/api/v4/projects/2/packages/generic/p/v1/c.yaml"},
                   {Type::kCore, "c", "https://other.test/api/v4/projects/2/packages/npm/p/v1/c.yaml"},
                   {Type::kCore, "d", "https://github.com/o/r/releases/latest/c.yaml"},
                   {Type::kCore, "e", "/releases/cluster-api/latest/c.yaml"}}),
      (std::set<std::string>{"gitlab.example.org", "code.test:8443"}));
}

}  // namespace
}  // namespace capi::fetch
