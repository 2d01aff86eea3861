#include "cli/declare/gitops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/declaration.h"
#include "cli/install/provider_manifests.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Config From(std::string text, Variables variables = {}) {
  return *Config::Parse({"clusterctl.yaml", std::move(text)}, cli::From(std::move(variables)));
}

kube::Object Parsed(std::string_view yaml) { return kube::Object(*ParseYaml(yaml)); }

const InventoryEntry kAws{{api::ProviderType::kInfrastructure, "capa-system", "aws"}, "v2.11.1"};

// L20.
TEST(Declare, TheInstalledVersionInTheNamespaceOfTheComponents) {
  auto declared = Declare(From(""), kAws);
  ASSERT_TRUE(declared.ok());
  EXPECT_EQ(ToYaml(declared->object.json()),
            "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\nmetadata:\n  name: aws\n"
            "  namespace: capa-system\nspec:\n  version: v2.11.1\n");
  EXPECT_THAT(declared->remarks, IsEmpty());
}

TEST(Declare, SourcesOfTheConfiguration) {
  auto providers = [](std::string_view name, std::string_view url) {
    return fmt::format("providers: [{{name: {}, type: InfrastructureProvider, url: {}}}]\n", name, url);
  };
  // A fork on GitHub, whatever version its URL names.
  auto fork =
      Declare(From(providers("aws", "https://github.com/me/aws/releases/v2.0.0/infrastructure-components.yaml")), kAws);
  EXPECT_EQ(GetString(fork->object.json(), {"spec", "fetchConfig", "url"}),
            "https://github.com/me/aws/releases/latest/infrastructure-components.yaml");
  // A folder of this machine: what is built in is found elsewhere, ...
  auto folder = Declare(From(providers("aws", "/r/infrastructure-aws/latest/infrastructure-components.yaml")), kAws);
  EXPECT_EQ(Find(folder->object.json(), {"spec", "fetchConfig"}), nullptr);
  EXPECT_THAT(folder->remarks, ElementsAre(HasSubstr("which the operator doesn't read. It takes them from https://")));
  EXPECT_FALSE(folder->needs_release);
  // ... and what isn't comes from ConfigMaps, which go along.
  InventoryEntry own = kAws;
  own.id.name = "own";
  auto maps = Declare(From(providers("own", "/r/infrastructure-own/latest/infrastructure-components.yaml")), own);
  EXPECT_EQ(GetString(maps->object.json(),
                      {"spec", "fetchConfig", "selector", "matchLabels", "provider.cluster.x-k8s.io/name"}),
            "own");
  EXPECT_TRUE(maps->needs_release);
  EXPECT_THAT(maps->remarks, IsEmpty());
  EXPECT_FALSE(Declare(From(""), own).ok());
}

// gitlab.com as GitHub. The release goes along where this machine has a token for it, which stays here (T10), and of
// another GitLab, which an operator doesn't ask unless it is told to (T2).
TEST(Declare, AReleaseOfAGitLabThatTheOperatorDoesNotAskGoesAlong_L20_T2) {
  InventoryEntry own = kAws;
  own.id.name = "own";
  const std::string path = "/api/v4/projects/me%2Fown/packages/generic/own/", file = "/c-v2.11.1.yaml";
  const Variables with_token = {{"GITLAB_ACCESS_TOKEN", "t"}};
  const std::tuple<std::string, Variables, bool> cases[] = {
      {"gitlab.com", {}, false},
      {"GitLab.com", {}, false},
      {"gitlab.com", with_token, true},
      {"code.example.com", {}, true},
      {"gitlab.com.example.com", {}, true},
      {"code.example.com", with_token, true},
  };
  for (const auto& [host, variables, along] : cases) {
    SCOPED_TRACE(host);
    const std::string url = "https://" + host + path;
    auto declared = Declare(
        From(fmt::format("providers: [{{name: own, type: InfrastructureProvider, url: {}}}]\n", url + "v2.11.1" + file),
             variables),
        own);
    ASSERT_TRUE(declared.ok()) << declared.error().message;
    const Json& object = declared->object.json();
    EXPECT_EQ(declared->needs_release, along);
    EXPECT_EQ(Find(object, {"spec", "fetchConfig", "selector"}) != nullptr, along);
    if (!along) EXPECT_EQ(ToLower(GetString(object, {"spec", "fetchConfig", "url"})), ToLower(url + "latest" + file));
  }
}

// L20, L21: what runs came from there, and the operator would find something else.
TEST(Declare, OverridesAndMirrorsGoAlong) {
  TestFolder folder;
  folder.Put("overrides/infrastructure-aws/v2.11.1/infrastructure-components.yaml", "a: b\n");
  const std::string overrides = "overridesFolder: " + (folder / "overrides") + "\n";
  const std::string elsewhere =
      "providers: [{name: aws, type: InfrastructureProvider, url: "
      "/r/infrastructure-aws/latest/infrastructure-components.yaml}]\n";
  InventoryEntry other = kAws;
  other.version = "v2.12.0";
  const std::tuple<std::string, InventoryEntry, bool> cases[] = {
      {overrides, kAws, true},
      {overrides, other, false},
      {overrides + elsewhere, kAws, true},
      {"clusterctl-github-url: https://mirror\n", kAws, true},
  };
  for (const auto& [config, entry, along] : cases) {
    SCOPED_TRACE(config);
    auto declared = Declare(From(config), entry);
    ASSERT_TRUE(declared.ok()) << declared.error().message;
    EXPECT_EQ(declared->needs_release, along);
    EXPECT_EQ(Find(declared->object.json(), {"spec", "fetchConfig", "selector"}) != nullptr, along);
  }
}

TEST(VariablesOf, WhatHasNoDefaultOrIsSetToSomethingElse) {
  auto names = VariablesOf(From("B: \"2\"\nC: \"3\"\n", {{"D", "4"}}), "${A} ${B:=1} ${C:=3} ${D:=1} ${E:=1}");
  EXPECT_THAT(*names, ElementsAre("A", "B", "D"));
}

TEST(ImagesOf, ThoseOfTheProvider) {
  Config config = From(
      "images:\n  all: {repository: a}\n  infrastructure-aws: {tag: b}\n  infrastructure-aws/x: {tag: c}\n"
      "  infrastructure-aws-other: {tag: d}\n  cert-manager: {tag: e}\n");
  EXPECT_EQ(ImagesText(ImagesOf(*config.Images(), "infrastructure-aws")),
            "all:\n  repository: a\ninfrastructure-aws:\n  tag: b\ninfrastructure-aws/x:\n  tag: c\n");
}

TEST(WithoutBookkeeping, WhatAPersonDeclared) {
  kube::Object live = Parsed(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata:
  name: cluster-api
  namespace: capi-system
  uid: u
  generation: 3
  finalizers: [provider.cluster.x-k8s.io]
  managedFields: []
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: x
    operator.cluster.x-k8s.io/allowed-references: x
    operator.cluster.x-k8s.io/v1alpha1: x
    operator.cluster.x-k8s.io/delete-crds: "true"
    operator.cluster.x-k8s.io/force-delete: "true"
    operator.cluster.x-k8s.io/allow-downgrade: "true"
    meta.helm.sh/release-name: x
  labels: {team: a, app.kubernetes.io/managed-by: Helm}
spec: {paused: true}
status: {installedVersion: v1.12.0}
)");
  EXPECT_EQ(ToYaml(WithoutBookkeeping(live).json()),
            "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata:\n  annotations:\n"
            "    operator.cluster.x-k8s.io/delete-crds: \"true\"\n  labels:\n    team: a\n  name: cluster-api\n"
            "  namespace: capi-system\nspec:\n  paused: true\n  version: v1.12.0\n");
}

TEST(GitOpsFiles, OneForEachProviderAndAKustomization) {
  GitOpsProvider aws{
      Parsed("{apiVersion: a/v1, kind: InfrastructureProvider, metadata: {name: aws, namespace: capa-system}, "
             "spec: {configSecret: {name: s}, version: v2.11.1}}"),
      {"AWS_KEY", "github-token"},
      true,
      {"One remark."}};
  auto files = *GitOpsFiles({aws}, {{"capa-system", Json{{"pod-security.kubernetes.io/enforce", "restricted"}}}},
                            {{"all", {.repository = "mirror", .name = "", .tag = ""}}});
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].name, "namespaces.yaml");
  EXPECT_EQ(
      files[0].text,
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  labels:\n    pod-security.kubernetes.io/enforce: restricted\n"
      "  name: capa-system\n");
  EXPECT_EQ(files[1].name, "infrastructure-aws.yaml");
  EXPECT_THAT(files[1].text, testing::StartsWith("# One remark.\n# The Secret"));
  EXPECT_THAT(files[1].text, HasSubstr("#   kubectl create secret generic s --namespace capa-system \\\n"
                                       "#     --from-literal=AWS_KEY=\"$AWS_KEY\" \\\n"
                                       "#     --from-literal=github-token=\"$GITHUB_TOKEN\" \\\n"
                                       "#     --from-file=images=images.yaml\napiVersion: a/v1\n"));
  EXPECT_EQ(files[2].text,
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- namespaces.yaml\n"
            "- infrastructure-aws.yaml\n");
  EXPECT_EQ(files[3].text, "all:\n  repository: mirror\n");
  std::string text = AsOneText(files);
  EXPECT_THAT(text, HasSubstr("# images.yaml:\n# all:\n#   repository: mirror\n"));
  EXPECT_THAT(text, Not(HasSubstr("Kustomization")));
  EXPECT_EQ(ParseYamlStream(text)->size(), 2U);
}

// L20: nothing is lost.
TEST(GitOpsFiles, TwoOfOneNameHaveFilesOfTheirOwn) {
  auto provider = [](std::string_view ns) {
    return GitOpsProvider{Parsed(fmt::format(
        "{{apiVersion: a/v1, kind: InfrastructureProvider, metadata: {{name: aws, namespace: {}}}, spec: {{}}}}", ns))};
  };
  GitOpsProvider other{Parsed("{apiVersion: a/v1, kind: IPAMProvider, metadata: {name: aws, namespace: a}, spec: {}}")};
  other.release = {Parsed("{apiVersion: v1, kind: ConfigMap, metadata: {name: r}}")};
  std::vector<std::string> names;
  auto files = GitOpsFiles({provider("a"), provider("b"), other}, {}, {});
  ASSERT_TRUE(files.ok());
  for (const GitOpsFile& file : *files) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("namespaces.yaml", "a_infrastructure-aws.yaml", "b_infrastructure-aws.yaml",
                                 "ipam-aws_release.yaml", "ipam-aws.yaml", "kustomization.yaml"));
  auto twice = GitOpsFiles({provider("a"), provider("a")}, {}, {});
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("InfrastructureProvider a/aws is in the inventory more than once"));
}

TEST(Convert, AFolderOfSomebodysIsLeftAlone) {
  TestFolder folder;
  folder.Put("git/mine.yaml", "a: b\n");
  Outcome outcome = Clusterctl({"convert", "--output-dir", folder / "git"}, {{"HOME", "/nowhere"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("isn't empty: name a folder that is empty or isn't there"));
  outcome = Clusterctl({"convert", "--output-dir", folder / "git/mine.yaml"}, {{"HOME", "/nowhere"}});
  EXPECT_THAT(outcome.err, HasSubstr("is no folder"));
}

// L20: an entry has an object if that is in its namespace, whichever other ones there are.
TEST(Convert, OneFileForEachOfOneName) {
  UpgradeCluster cluster;
  UpgradeProvider core = {api::ProviderType::kCore, "a", "cluster-api", "v1.12.0", "v1beta2"};
  cluster.Add(core);
  core.ns = "b";
  cluster.Add(core);
  for (const char* ns : {"a", "b"}) {
    cluster.Put(std::string("/api/v1/namespaces/") + ns, {{"metadata", {{"name", ns}}}});
    cluster.Change(
        std::string("/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/") + ns + "/coreproviders/cluster-api",
        [&](Json& object) { object["metadata"]["annotations"]["of"] = ns; });
  }
  Outcome got = cluster.Run({"convert", "--output-dir", cluster.folder / "git"});
  ASSERT_EQ(got.code, 0) << got.err;
  for (const std::string ns : {"a", "b"}) {
    auto text = ReadFile(cluster.folder / ("git/" + ns + "_core-cluster-api.yaml"));
    ASSERT_TRUE(text.ok()) << got.out;
    EXPECT_THAT(*text, HasSubstr("of: " + ns));
    EXPECT_THAT(*text, HasSubstr("The operator goes on with the older object"));
  }
  EXPECT_EQ(std::count(got.out.begin(), got.out.end(), '\n'), 4) << got.out;
}

}  // namespace
}  // namespace capi::cli
