#include "cli/frame/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace capi::cli {
namespace {

using api::ProviderType;
using testing::HasSubstr;

Result<Config> Parse(std::string text, Variables environment = {}) {
  return Config::Parse({"c.yaml", std::move(text)}, From(std::move(environment)));
}

std::optional<std::string> Value(const Config& config, const std::string& key) {
  auto value = config.Get(key);
  EXPECT_TRUE(value.ok()) << (value.ok() ? "" : value.error().message);
  return value.ok() ? *value : std::nullopt;
}

// L2.
TEST(Config, TakesTheEnvironmentBeforeTheFile) {
  struct Case {
    std::string file;
    Variables environment;
    std::string key;
    std::optional<std::string> want;
  };
  const Case cases[] = {
      {"FOO: file", {}, "FOO", "file"},
      {"FOO: file", {{"FOO", "env"}}, "FOO", "env"},
      {"FOO: file", {{"FOO", ""}}, "FOO", ""},  // set to "" counts as set
      {"foo: file", {}, "Foo", "file"},
      {"foo: file", {{"foo", "env"}}, "foo", "file"},  // names in the environment are in upper case
      {"foo: file", {{"FOO", "env"}}, "foo", "env"},
      {"github-token: file", {{"GITHUB_TOKEN", "env"}}, "github-token", "env"},
      {"FOO: ~", {}, "FOO", std::nullopt},
      {"FOO: 0o17", {}, "FOO", "15"},
      {"FOO: yes", {}, "FOO", "yes"},
      {"", {}, "FOO", std::nullopt},
      {"# only a comment\n", {}, "FOO", std::nullopt},
      {"a: &x {FOO: 1}\n<<: *x\n", {}, "FOO", "1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file + " " + c.key);
    auto config = Parse(c.file, c.environment);
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(Value(*config, c.key), c.want);
  }
}

// L2.
TEST(Config, SaysWhereAFileIsBroken) {
  const std::pair<std::string, std::string> cases[] = {
      {"foobar", "c.yaml: line 1, column 1: the file must be a map of keys and values"},
      {"- a", "c.yaml: line 1, column 1: the file must be a map of keys and values"},
      {"a: b\nproviders: [\n", "c.yaml: line 3, column 1: did not find expected node content"},
      {"a: b\n\tb: c\n", "c.yaml: line 2, column 1: found a tab character"},
      {"b: 1\na: 1\na: 2\n", "c.yaml: line 3, column 1: key \"a\" is already on line 2"},
  };
  for (const auto& [text, want] : cases) {
    auto config = Parse(text);
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.error().message, HasSubstr("failed to initialize the configuration reader: "));
    EXPECT_THAT(config.error().message, HasSubstr(want));
  }
}

TEST(Config, SaysWhereAValueIsNoText) {
  auto config = Parse("a: 1\nFOO:\n- x\n");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->Get("FOO").error().message,
            "c.yaml, line 3, column 1: the value of FOO is a list; write it as text, in quotes");
}

// clusterctl reads 1.10 as 1.1 too, and says nothing.
TEST(Config, TellsOfNumbersThatChange) {
  auto config = Parse("A: 1.10\nB: \"1.10\"\nC: 1.5\nD: 1_0\n");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(Value(*config, "A"), "1.1");
  EXPECT_EQ(Value(*config, "B"), "1.10");
  EXPECT_EQ(Value(*config, "C"), "1.5");
  // I7: the value may be a password.
  EXPECT_THAT(config->Surprises(),
              testing::ElementsAre("c.yaml, line 1, column 4: A: a number, which is not read as it "
                                   "is written; put it in quotes to keep it so"));
}

TEST(Config, SaysWhichProviderEntryIsWrong) {
  auto config =
      Parse("providers:\n- {name: a, url: u, type: AddonProvider}\n- name: BAD\n  url: u\n  type: AddonProvider\n");
  ASSERT_TRUE(config.ok());
  auto found = config->FindProvider(ProviderType::kInfrastructure, "aws");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message,
            "c.yaml, line 3, column 3: error validating configuration for the AddonProvider with name BAD. Please fix "
            "the providers value in clusterctl configuration file: provider name BAD must be in lower case");
}

// The whole key in the environment is no configuration: clusterctl can't read it either, and fails.
TEST(Config, TakesListsAndMapsFromTheFileAlone) {
  auto config = Parse("Images: {All: {Tag: v2}}\n", {{"IMAGES", "x"}, {"PROVIDERS", "x"}});
  ASSERT_TRUE(config.ok());
  auto images = config->Images();
  ASSERT_TRUE(images.ok()) << images.error().message;
  EXPECT_EQ(images->at("all").tag, "v2");
  EXPECT_TRUE(config->FindProvider(ProviderType::kCore, "cluster-api").ok());
}

TEST(Config, SaysWhereImagesAreWrong) {
  auto config = Parse("a: b\nimages:\n  all: foo\n");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->Images().error().message,
            "c.yaml, line 3, column 3: failed to unmarshal image override configurations: images[\"all\"] is no map");
}

TEST(Config, LooksForOverridesInTheOldFolderOnlyWhereTheNewIsMissing) {
  TestFolder home;
  Variables environment = {{"HOME", home.path()}};
  auto config = Parse("", environment);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->OverridesFolder().value(), home / ".config/cluster-api/overrides");
  home.Put(".cluster-api/overrides/x", "");
  EXPECT_EQ(config->OverridesFolder().value(), home / ".cluster-api/overrides");
  home.Put(".config/cluster-api/overrides/x", "");
  EXPECT_EQ(config->OverridesFolder().value(), home / ".config/cluster-api/overrides");
  EXPECT_EQ(Parse("overridesFolder: \"${A\"").value().OverridesFolder().error().message,
            "unable to evaluate overridesFolder: \"${A\": missing closing brace");
}

}  // namespace
}  // namespace capi::cli
