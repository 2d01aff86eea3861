#include "cli/install/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/yaml/yaml.h"
#include "cli/install/provider_manifests.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using enum api::ProviderType;

constexpr const char* kComponents = R"(apiVersion: v1
kind: Namespace
metadata: {name: x-system, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: x-system}
stringData: {a: "${A}", b: "${B}", c: "${C:=d}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: x-system}
spec: {template: {spec: {containers: [{name: manager, image: "registry.example.com/x/m:v1"}]}}}
)";
constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 1, minor: 0, contract: "
    "v1beta2}]\n";

// Releases of two providers in a folder, and a configuration that names it.
class Releases : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"x", "z"}) {
      std::string base = std::string("infrastructure-") + name + "/v1.0.0/";
      folder_.Put(base + "infrastructure-components.yaml", kComponents);
      folder_.Put(base + "metadata.yaml", kMetadata);
    }
  }
  Config ConfigOf(const std::string& more, Variables variables = {}) {
    std::string text = more + "providers:\n";
    for (const char* name : {"x", "z"}) {
      text += std::string("- {name: ") + name + ", type: InfrastructureProvider, url: " + folder_.path() +
              "/infrastructure-" + name + "/latest/infrastructure-components.yaml}\n";
    }
    variables["HOME"] = folder_.path();
    return Config::Parse({"clusterctl.yaml", text}, From(std::move(variables))).value();
  }
  std::vector<Candidate> Fetch(const Config& config) {
    std::vector<Candidate> out;
    for (const char* name : {"x", "z"}) {
      auto got = FetchCandidate(Context{}, config, {kInfrastructure, {name, ""}}, "", notes_);
      EXPECT_TRUE(got.ok()) << (got.ok() ? "" : got.error().message);
      if (got.ok()) out.push_back(*got);
    }
    return out;
  }

  TestFolder folder_;
  std::ostringstream err_;
  Notes notes_{err_};
};

Result<std::map<std::string, std::string>> NothingStored(const Candidate&) {
  return std::map<std::string, std::string>();
}

// L10: all that are missing are named at once, of all providers.
TEST_F(Releases, EveryMissingVariableIsNamed) {
  Config config = ConfigOf("A: from-the-file\n");
  auto candidates = Fetch(config);
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[0].id, (api::ProviderId{kInfrastructure, "x-system", "x"}));
  EXPECT_EQ(candidates[0].variables, (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(candidates[0].namespace_labels.size(), 1u);
  Status got = FillIn(config, NothingStored, true, candidates);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, testing::HasSubstr("\"x\" provider: value for variables [B] is not set"));
  EXPECT_THAT(got.error().message, testing::HasSubstr("\"z\" provider: value for variables [B] is not set"));
  EXPECT_THAT(got.error().message, testing::Not(testing::HasSubstr("from-the-file")));
}

// L10: the environment goes before the file; what the cluster's Secret has isn't missing, and isn't copied.
TEST_F(Releases, ValuesComeFromEnvironmentFileAndCluster) {
  Config config = ConfigOf("A: from-the-file\n", {{"A", "from-the-shell"}});
  auto candidates = Fetch(config);
  auto stored = [](const Candidate& candidate) -> Result<std::map<std::string, std::string>> {
    return std::map<std::string, std::string>{{candidate.id.name == "x" ? "B" : "b", "stored"}};
  };
  Status got = FillIn(config, stored, true, candidates);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, testing::Not(testing::HasSubstr("\"x\"")));
  candidates.pop_back();
  ASSERT_TRUE(FillIn(config, stored, true, candidates).ok());
  EXPECT_EQ(candidates[0].values, (Variables{{"A", "from-the-shell"}}));
}

// L10: image overrides travel with the variables; those of others don't.
TEST_F(Releases, TheSecretHasWhatConcernsTheProvider) {
  Config config = ConfigOf(
      "A: a\nB: b\nimages:\n  all: {repository: mirror.example.com}\n  infrastructure-x/m: {tag: v2}\n  "
      "infrastructure-z: {tag: v3}\n");
  auto candidates = Fetch(config);
  ASSERT_TRUE(FillIn(config, NothingStored, true, candidates).ok());
  EXPECT_EQ(candidates[0].images, std::vector<std::string>{"mirror.example.com/m:v2"});
  auto values = SecretValues(candidates[0], config.Images().value());
  EXPECT_EQ(values.at("A"), "a");
  EXPECT_EQ(ParseYaml(values.at("images")).value(),
            (Json{{"all", {{"repository", "mirror.example.com"}}}, {"infrastructure-x/m", {{"tag", "v2"}}}}));
  EXPECT_FALSE(SecretValues(candidates[0], {}).contains("images"));
}

TEST_F(Releases, ANameOfAKindThatClusterApiRefuses) {
  folder_.Put("infrastructure-x/v1.0.0/infrastructure-components.yaml",
              std::string(kComponents) +
                  "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
                  "wrong.example.com}\nspec: {group: example.com, names: {kind: Right}}\n");
  Config config = ConfigOf("A: a\nB: b\n");
  auto candidates = Fetch(config);
  EXPECT_FALSE(FillIn(config, NothingStored, true, candidates).ok());
  EXPECT_TRUE(FillIn(config, NothingStored, false, candidates).ok());
}

// L10: a release that the operator can't fetch goes into the cluster.
TEST_F(Releases, WhereTheOperatorTakesTheReleaseFrom) {
  Config config = ConfigOf("overridesFolder: " + (folder_ / "overrides") + "\n");
  folder_.Put("overrides/infrastructure-aws/v2.0.0/metadata.yaml", "x");
  using Kind = ReleaseSource::Kind;
  struct Case {
    std::string name, url, version;
    Kind want;
  };
  std::string aws = api::FindKnownProvider(kInfrastructure, "aws")->Url();
  const std::string other = "https://github.com/me/fork/releases/latest/infrastructure-components.yaml";
  for (const Case& c : {
           Case{"aws", aws, "v1.0.0", Kind::kBuiltIn},
           Case{"aws", other, "v1.0.0", Kind::kUrl},
           Case{"mine", other, "v1.0.0", Kind::kUrl},
           Case{"aws", aws, "v2.0.0", Kind::kInCluster},
           Case{"aws", "/releases/infrastructure-aws/latest/x.yaml", "v1.0.0", Kind::kInCluster},
       }) {
    auto got = SourceOf(config, {kInfrastructure, c.name, c.url}, c.version, "infrastructure-components.yaml");
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->kind, c.want) << c.url << " " << c.version;
  }
  Config mirror = ConfigOf("", {{"CLUSTERCTL_GITHUB_URL", "https://mirror.example.com"}});
  EXPECT_EQ(SourceOf(mirror, {kInfrastructure, "aws", aws}, "v1.0.0", "x")->kind, Kind::kInCluster);
}

TEST(ProviderObjectOf, HasWhatTheOperatorNeedsAndNoMore) {
  const api::ProviderId id{kInfrastructure, "capa-system", "aws"};
  auto plain = ProviderObjectOf(id, "v2.0.0", std::nullopt, {});
  EXPECT_EQ(plain.json(), ParseYaml("{apiVersion: operator.cluster.x-k8s.io/v1alpha2, kind: InfrastructureProvider, "
                                    "metadata: {name: aws, namespace: capa-system}, spec: {version: v2.0.0}}")
                              .value());
  auto whole = ProviderObjectOf(id, "v2.0.0", api::ObjectRef{"infrastructure-aws-variables", id.ns},
                                {ReleaseSource::Kind::kInCluster, ""});
  EXPECT_EQ(
      whole.json().at("spec"),
      ParseYaml(
          "{version: v2.0.0, configSecret: {name: infrastructure-aws-variables}, fetchConfig: {selector: "
          "{matchLabels: {provider.cluster.x-k8s.io/type: infrastructure, provider.cluster.x-k8s.io/name: aws}}}}")
          .value());
  EXPECT_EQ(ProviderObjectOf(id, "v2.0.0", api::ObjectRef{"s", "secrets"}, {}).json().at("spec").at("configSecret"),
            (Json{{"name", "s"}, {"namespace", "secrets"}}))
      << "it may be elsewhere";
  EXPECT_EQ(ProviderObjectOf(id, "v2.0.0", std::nullopt, {ReleaseSource::Kind::kUrl, "https://x"})
                .json()
                .at("spec")
                .at("fetchConfig"),
            (Json{{"url", "https://x"}}));
  auto maps =
      ReleaseMapsOf(id, {.version = api::Version::Parse("v2.0.0+a").value(), .metadata = "m", .components = "c"});
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].name(), "infrastructure-aws-v2.0.0-a");
  EXPECT_EQ(maps[0].label("provider.cluster.x-k8s.io/version"), "v2.0.0_a");
  EXPECT_FALSE(maps[0].has_label("managed-by.operator.cluster.x-k8s.io")) << "the operator didn't store it";
}

// L10: without a cluster.
TEST_F(Releases, ListImagesAsksNoCluster) {
  folder_.Put(
      "cert-manager/v1.0.0/cert-manager.yaml",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, "
      "image: \"quay.io/j/c:v1\"}]}}}\n");
  std::string text =
      "cert-manager: {url: " + folder_.path() + "/cert-manager/latest/cert-manager.yaml, version: v1.0.0}\n";
  text += "providers:\n";
  for (const auto& [name, type] : {std::pair("x", "InfrastructureProvider"), {"z", "InfrastructureProvider"}}) {
    text += std::string("- {name: ") + name + ", type: " + type + ", url: " + folder_.path() + "/infrastructure-" +
            name + "/latest/infrastructure-components.yaml}\n";
  }
  folder_.Put("cluster-api/v1.0.0/core-components.yaml", kComponents);
  folder_.Put("cluster-api/v1.0.0/metadata.yaml", kMetadata);
  text += "- {name: cluster-api, type: CoreProvider, url: " + folder_.path() +
          "/cluster-api/latest/core-components.yaml}\n";
  std::string config = folder_.Put("clusterctl.yaml", text);
  std::vector<std::string> base = {"init", "--config", config, "-b", "-", "-c", "-", "-i", "x,z", "list-images"};
  Outcome got = Clusterctl(base);
  EXPECT_EQ(got.err, "");
  EXPECT_EQ(got.out, "quay.io/j/c:v1\nregistry.example.com/x/m:v1\n");
  base.insert(base.end(), {"--install-cert-manager=false", "--operator-image", "r.example.com/o:v1"});
  EXPECT_EQ(Clusterctl(base).out, "r.example.com/o:v1\nregistry.example.com/x/m:v1\n");
}

}  // namespace
}  // namespace capi::cli
