// preload and publish, on an API server in memory and a registry on loopback (L25, L26).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/airgap_testing.h"
#include "fetch/github_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Titles = std::vector<std::pair<std::string, std::string>>;

// L25: by the labels that the operator looks for, with a selector and without one.
TEST_F(AirGap, PreloadWritesWhatTheOperatorFinds_L25) {
  Outcome first = Run({"preload", "-i", "aws:v2.0.0"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n");
  const Json map = cluster_.Get(kAwsMap);
  EXPECT_EQ(GetString(map, {"data", "components"}), ComponentsOf("aws", "capa-system", "v2.0.0"));
  EXPECT_EQ(GetString(map, {"data", "metadata"}), kMetadata);
  EXPECT_EQ(*Find(map, {"metadata", "labels"}), (Json{{"provider.cluster.x-k8s.io/type", "infrastructure"},
                                                      {"provider.cluster.x-k8s.io/name", "aws"},
                                                      {"provider.cluster.x-k8s.io/version", "v2.0.0"},
                                                      {"managed-by.operator.cluster.x-k8s.io", "true"}}));
  EXPECT_EQ(GetString(cluster_.Get("/api/v1/namespaces/capa-system"), {"metadata", "labels", "of"}), "aws");

  const size_t writes = cluster_.writes().size();
  Outcome second = Run({"preload", "-i", "aws:v2.0.0"});
  EXPECT_EQ(second.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system unchanged\n") << second.err;
  EXPECT_EQ(cluster_.writes().size(), writes);
}

TEST_F(AirGap, PreloadWritesNothingWhereOneIsAnother_L25) {
  ASSERT_EQ(Run({"preload", "-i", "gcp:v2.0.0"}).code, 0);
  cluster_.Change(kGcpMap, [](Json& map) { map["data"]["components"] = "kind: Namespace\n"; });
  const size_t writes = cluster_.writes().size();
  Outcome refused = Run({"preload", "-i", "aws:v2.0.0,gcp:v2.0.0"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("InfrastructureProvider capg-system/gcp: "), HasSubstr("another content")));
  EXPECT_EQ(cluster_.writes().size(), writes);
  EXPECT_TRUE(cluster_.Get(kAwsMap).is_null());
}

// L25: those of Pod Security, say, that the second one needs.
TEST_F(AirGap, ANamespaceGetsTheLabelsOfAllItsReleases_L25) {
  const std::string folder = "r/infrastructure-gcp/v2.0.0/", file = folder + "infrastructure-components.yaml";
  const std::string key = "pod-security.kubernetes.io/enforce", ns = "/api/v1/namespaces/one";
  // Each names its own provider, as the releases of Cluster API do.
  const std::string aws =
      ReplaceAll(ComponentsOf("aws", "one", "v2.0.0"), "{of: aws}", "{of: aws, " + key + ": baseline}");
  const std::string gcp =
      ReplaceAll(ComponentsOf("gcp", "one", "v2.0.0"), "{of: gcp}", "{of: gcp, " + key + ": privileged}");
  const std::vector<std::string> command = {"preload", "-i", "aws:v2.0.0,gcp:v2.0.0", "-n", "one"};
  cluster_.folder.Put("r/infrastructure-aws/v2.0.0/infrastructure-components.yaml", aws);
  cluster_.folder.Put(file, gcp);
  Outcome refused = Run(command);
  EXPECT_THAT(refused.err, HasSubstr("two releases want another label " + key + " of it (baseline and privileged)"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());

  cluster_.folder.Put(file, ReplaceAll(gcp, key + ": privileged", "second: one"));
  // Somebody begins to delete what wasn't there a moment ago.
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    const Json going = {{"metadata", {{"name", "one"}, {"deletionTimestamp", "2026-01-01T00:00:00Z"}}}};
    if (what == "POST /api/v1/namespaces") cluster.Put(ns, going);
  };
  EXPECT_THAT(Run(command).err, HasSubstr("namespace one is being deleted"));
  EXPECT_EQ(cluster_.writes().size(), 1u);
  cluster_.before_write = nullptr;
  cluster_.Remove(ns);
  Outcome made = Run(command);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(*Find(cluster_.Get(ns), {"metadata", "labels"}),
            (Json{{"of", "aws"}, {key, "baseline"}, {"second", "one"}}));
}

// L25, I6: the operator takes what its labels find.
TEST_F(AirGap, PreloadLooksAtWhatTheOperatorFindsUnderAnyName_L25) {
  const std::string other = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-2.0.0";
  const std::string by_selector = Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}}}");
  const std::string file = cluster_.folder.Put("objects/aws.yaml", by_selector);
  const Json own = {{"provider.cluster.x-k8s.io/type", "infrastructure"},
                    {"provider.cluster.x-k8s.io/name", "aws"},
                    {"provider.cluster.x-k8s.io/version", "2.0.0"}};
  const Json selected = {{"a", "b"}, {"provider.cluster.x-k8s.io/version", "v2.0.0"}};
  const std::pair<Json, std::vector<std::string>> cases[] = {{own, {"preload", "-i", "aws:v2.0.0"}},
                                                             {selected, {"preload", "-f", file}}};
  for (const auto& [labels, command] : cases) {
    cluster_.Put(
        other, {{"metadata", {{"name", "infrastructure-aws-2.0.0"}, {"namespace", "capa-system"}, {"labels", labels}}},
                {"data", {{"metadata", kMetadata}, {"components", "kind: Namespace\n"}}}});
    Outcome refused = Run(command);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("InfrastructureProvider capa-system/aws: "),
                                   HasSubstr("ConfigMap capa-system/infrastructure-aws-2.0.0 has the labels")));
    EXPECT_THAT(cluster_.writes(), IsEmpty());
  }
  // The same release, and one of another version, do no harm.
  cluster_.Change(other, [](Json& map) { map["data"]["components"] = ComponentsOf("aws", "capa-system", "v2.0.0"); });
  EXPECT_EQ(Run({"preload", "-f", file}).out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n");
  EXPECT_EQ(Run({"preload", "-i", "aws:v2.1.0"}).code, 0);
}

TEST_F(AirGap, PreloadPrintsWithoutACluster_L25) {
  Outcome yaml = RunAlone({"preload", "-i", "aws:v2.0.0", "-n", "mine", "-o", "yaml", "--kubeconfig", "/no/such"});
  EXPECT_EQ(yaml.code, 0) << yaml.err;
  const Json map = *ParseYaml(yaml.out);
  EXPECT_EQ(GetString(map, {"metadata", "namespace"}), "mine");
  Outcome json = RunAlone({"preload", "-i", "aws:v2.0.0,gcp", "-o", "json"});
  const Json list = *ParseJson(json.out);
  EXPECT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(GetString(list["items"][1], {"metadata", "name"}), "infrastructure-gcp-v2.1.0");
  const std::string file = cluster_.folder / "maps.yaml";
  EXPECT_EQ(RunAlone({"preload", "-i", "aws:v2.0.0", "-n", "mine", "--to-file", file}).out, "");
  EXPECT_EQ(*ReadFile(file), yaml.out);
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// L25: neither the labels of a namespace, nor what is on its way out, nor what a broken-off `init` goes on with.
TEST_F(AirGap, PreloadChangesNothingThatIsThere_L25) {
  const std::string ns = "/api/v1/namespaces/capa-system";
  cluster_.Put(ns, {{"metadata", {{"name", "capa-system"}, {"labels", {{"of", "somebody"}, {"x", "y"}}}}}});
  ASSERT_EQ(Run({"preload", "-i", "aws:v2.0.0"}).code, 0);
  EXPECT_EQ(*Find(cluster_.Get(ns), {"metadata", "labels"}), (Json{{"of", "somebody"}, {"x", "y"}}));
  EXPECT_EQ(cluster_.writes().size(), 1u);

  cluster_.Put("/api/v1/namespaces/capg-system",
               {{"metadata", {{"name", "capg-system"}, {"deletionTimestamp", "2026-01-01T00:00:00Z"}}}});
  Outcome going = Run({"preload", "-i", "aws:v2.1.0,gcp:v2.0.0"});
  EXPECT_THAT(going.err, HasSubstr("namespace capg-system is being deleted"));
  EXPECT_EQ(cluster_.writes().size(), 1u);

  cluster_.Change(kAwsMap, [](Json& map) {
    map["data"]["components"] = "kind: Namespace\n";
    map["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
  });
  Outcome left = Run({"preload", "-i", "aws:v2.0.0"});
  EXPECT_THAT(left.err, HasSubstr("another content"));
  EXPECT_EQ(cluster_.writes().size(), 1u);
}

// L25: what an object's selector asks for; the release is that of the provider's own source.
TEST_F(AirGap, PreloadOfAnObjectHasTheLabelsOfItsSelector_L25) {
  const std::string object = Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}}}");
  Outcome made = RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, object);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(*Find(*ParseYaml(made.out), {"metadata", "labels"}),
            (Json{{"provider.cluster.x-k8s.io/type", "infrastructure"},
                  {"provider.cluster.x-k8s.io/name", "aws"},
                  {"provider.cluster.x-k8s.io/version", "v2.0.0"},
                  {"a", "b"}}));
}

// T14: the operator wouldn't take it without them.
TEST_F(AirGap, PreloadBringsTheSignaturesThatAnObjectAsksFor_L25_T14) {
  const std::string verify = "verify: {provider: cosign, secretRef: {name: keys}}";
  const std::string object =
      Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}, " + verify + "}}");
  const std::string file = cluster_.folder.Put("objects/aws.yaml", object);
  Outcome none = Run({"preload", "-f", file});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("has no signature of metadata.yaml"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());

  const std::string folder = "r/infrastructure-aws/v2.0.0/";
  cluster_.folder.Put(folder + "metadata.yaml.sig", "bWV0YQ==");
  cluster_.folder.Put(folder + "infrastructure-components.yaml.bundle", "{}");
  Outcome made = Run({"preload", "-f", file});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(GetString(cluster_.Get(kAwsMap), {"data", "metadata.sig"}), "bWV0YQ==");
  EXPECT_EQ(GetString(cluster_.Get(kAwsMap), {"data", "components.bundle"}), "{}");

  // One that is there without them isn't the same.
  cluster_.Change(kAwsMap, [](Json& map) { map["data"].erase("metadata.sig"); });
  const size_t writes = cluster_.writes().size();
  EXPECT_THAT(Run({"preload", "-f", file}).err, HasSubstr("another content"));
  EXPECT_EQ(cluster_.writes().size(), writes);

  // One that has none gets them; all else of it stays.
  const Json before = cluster_.Get(kAwsMap);
  cluster_.Change(kAwsMap, [](Json& map) { map["data"].erase("components.bundle"); });
  Outcome added = Run({"preload", "-f", file});
  EXPECT_EQ(added.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system configured\n") << added.err;
  EXPECT_EQ(GetString(cluster_.Get(kAwsMap), {"data", "metadata.sig"}), "bWV0YQ==");
  EXPECT_EQ(GetString(cluster_.Get(kAwsMap), {"data", "components.bundle"}), "{}");
  EXPECT_EQ(GetString(cluster_.Get(kAwsMap), {"data", "components"}), GetString(before, {"data", "components"}));
  EXPECT_EQ(cluster_.writes().back(), "PATCH " + kAwsMap);

  const std::string bundle = cluster_.folder / "one.tar";
  Outcome create = RunAlone({"bundle", "create", "-f", file, "-o", bundle, "--install-cert-manager=false"});
  EXPECT_EQ(create.code, 0) << create.err;

  // L28: and so does a bundle.
  Outcome loaded = Run({"bundle", "load", bundle, "-n", "other"});
  EXPECT_EQ(loaded.code, 0) << loaded.err;
  const Json map = cluster_.Get("/api/v1/namespaces/other/configmaps/infrastructure-aws-v2.0.0");
  EXPECT_EQ(GetString(map, {"data", "metadata.sig"}), "bWV0YQ==");
  EXPECT_EQ(GetString(map, {"data", "components.bundle"}), "{}");
  Outcome in_folder = RunAlone({"bundle", "load", bundle, "--to-folder", cluster_.folder / "loaded"});
  EXPECT_EQ(in_folder.code, 0) << in_folder.err;
  const std::string there = cluster_.folder / "loaded/infrastructure-aws/v2.0.0/";
  EXPECT_EQ(*ReadFile(there + "metadata.yaml.sig"), "bWV0YQ==");
  EXPECT_EQ(*ReadFile(there + "infrastructure-components.yaml.bundle"), "{}");
  fetch::OciStandIn registry({});
  Outcome pushed = RunAlone({"bundle", "load", bundle, "--to", "http://" + registry.host() + "/org"});
  EXPECT_EQ(pushed.code, 0) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("infrastructure-aws v2.0.0: its signatures are those of what its own source has"));
}

// T14: those of an artifact are made of its manifest.
TEST_F(AirGap, PreloadBringsTheSignaturesOfAnArtifact_L25_T14) {
  const Titles files = {{"metadata.yaml", kMetadata},
                        {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}};
  fetch::OciStandIn registry({{"v2.0.0", {.files = files}}});
  const std::string verify = "verify: {provider: cosign, secretRef: {name: keys}}";
  const std::string own =
      Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "', " + verify + "}}");
  const std::string other = Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}, " + verify + "}}");
  EXPECT_THAT(RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, own).err, HasSubstr("the artifact isn't signed"));
  EXPECT_THAT(RunAlone({"preload", "-f", "-", "-o", "yaml", "-u", registry.reference()}, {}, other).err,
              HasSubstr("the artifact isn't signed"));
}

TEST_F(AirGap, PreloadTakesWhatTheClusterDeclares_L25) {
  EXPECT_THAT(Run({"preload", "--existing"}).err, HasSubstr("the cluster has declared no providers"));
  cluster_.Add({api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"});
  Outcome made = Run({"preload", "--existing"});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

// The source may be public, for who may not read the provider's Secret.
TEST_F(AirGap, PreloadNeedsNoRightToReadSecrets_L25) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"};
  cluster_.Add(aws);
  cluster_.Change(UpgradeCluster::PathOf(aws), [](Json& object) {
    object["spec"]["configSecret"] = {{"name", "aws-variables"}};
  });
  cluster_.forbidden = "/secrets/";
  Outcome made = Run({"preload", "--existing"});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

TEST_F(AirGap, PreloadRefusesWhatNobodyWouldFind_L25) {
  const std::pair<std::string, const char*> objects[] = {
      {Object("{version: v2.0.0}", ""), "metadata.namespace: write it, or name it with -n"},
      {Object("{version: v7.0.0}"), "v7.0.0"},
      {Object("{}"),
       "spec.version: without it the operator asks the source, and doesn't look at a release that is "
       "there: write v2.1.0"},
      {Object("{version: v2.0.0, fetchConfig: {selector: {matchExpressions: [{key: a, operator: Exists}]}}}"),
       "spec.fetchConfig.selector: it doesn't find what has the labels"},
      {Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}, digest: 'sha256:" +
              std::string(64, '0') + "'}}"),
       "spec.fetchConfig.digest: "},
      {Object("{version: v2.0.0, fetchConfig: {git: {url: x}}}"), "spec.fetchConfig.git"},
      {"kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n", "there is no Provider object in -"},
  };
  for (const auto& [object, words] : objects) {
    Outcome refused = RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, object);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr(words));
    EXPECT_EQ(refused.out, "");
  }
  const std::pair<std::vector<std::string>, const char*> flags[] = {
      {{}, "name the providers"},
      {{"-i", "aws", "--existing"}, "one of these"},
      {{"-i", "aws", "-o", "table"}, "valid values: [json yaml]"},
      {{"-i", "aws:v2.1.0", "-o", "yaml", "-u", "https://github.com/a/b/releases/v2.0.0/c.yaml"},
       "--artifact-url: it names v2.0.0, and v2.1.0 is asked for"},
      {{"-i", "aws:v2.0.0+one", "-o", "yaml", "-u", "https://github.com/a/b/releases/v2.0.0+two/c.yaml"},
       "--artifact-url: it names v2.0.0+two, and v2.0.0+one is asked for"},
      {{"-i", "aws", "-o", "yaml", "-u", "oci://Host With Spaces/x"}, "--artifact-url: "},
  };
  for (const auto& [arguments, words] : flags) {
    std::vector<std::string> all = {"preload"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_THAT(RunAlone(all).err, HasSubstr(words));
  }
  Outcome elsewhere = RunAlone({"preload", "-f", "-", "-o", "yaml", "-u", "oci://other.example.com/x"}, {},
                               Object("{version: v2.0.0, fetchConfig: {oci: registry.example.com/x}}"));
  EXPECT_THAT(elsewhere.err, HasSubstr("spec.fetchConfig.oci: the operator takes a release from there alone"));
}

// L25: an object has a version (docs/air-gap.md), which the URL names again.
TEST_F(AirGap, TheUrlOfAFileNamesTheVersionOfAnObject_L25) {
  fetch::GitHubStandIn github({{"v2.0.0",
                                {{"metadata.yaml", kMetadata},
                                 {"infrastructure-components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}});
  const fetch::GitHubOptions hosts = github.options();
  const std::string config = *ReadFile(cluster_.folder / "clusterctl.yaml");
  cluster_.folder.Put("clusterctl.yaml", config + "clusterctl-github-url: " + hosts.download_url +
                                             "\nclusterctl-github-api-url: " + hosts.api_url + "\n");
  const std::string url = "https://github.com/o/r/releases/v2.0.0/infrastructure-components.yaml";
  const std::vector<std::string> command = {"preload", "-f", "-", "-o", "yaml", "-u", url};
  Outcome made = RunAlone(command, {}, Object("{version: v2.0.0}"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(GetString(*ParseYaml(made.out), {"metadata", "name"}), "infrastructure-aws-v2.0.0");
  Outcome other = RunAlone(command, {}, Object("{version: v2.1.0}"));
  EXPECT_EQ(other.out, "");
  EXPECT_THAT(other.err, HasSubstr("it names v2.0.0, and v2.1.0 is asked for"));
}

// L25: that of the newest, as configurations have it, names no version.
TEST_F(AirGap, TheUrlOfTheNewestFileTakesAnyVersion_L25) {
  std::vector<fetch::GitHubRelease> releases;
  for (const char* version : {"v2.1.0", "v2.0.0"})
    releases.push_back({version,
                        {{"metadata.yaml", kMetadata},
                         {"infrastructure-components.yaml", ComponentsOf("aws", "capa-system", version)}}});
  fetch::GitHubStandIn github(releases);
  const fetch::GitHubOptions hosts = github.options();
  cluster_.folder.Put("clusterctl.yaml", "clusterctl-github-url: " + hosts.download_url +
                                             "\nclusterctl-github-api-url: " + hosts.api_url + "\n");
  const std::string url = "https://github.com/o/r/releases/latest/infrastructure-components.yaml";
  for (const auto& [asked, name] :
       {std::pair("aws:v2.0.0", "infrastructure-aws-v2.0.0"), std::pair("aws", "infrastructure-aws-v2.1.0")}) {
    Outcome made = RunAlone({"preload", "-i", asked, "-o", "yaml", "-u", url});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(GetString(*ParseYaml(made.out), {"metadata", "name"}), name);
  }
}

// L25: one URL isn't each provider's files.
TEST_F(AirGap, AnArtifactOfSeveralProvidersNamesThem_L25) {
  Titles both;
  for (const auto& [name, ns] : {std::pair("aws", "capa-system"), std::pair("gcp", "capg-system")}) {
    const std::string before = std::string("infrastructure-") + name + "-v2.0.0-";
    both.emplace_back(before + "metadata.yaml", kMetadata);
    both.emplace_back(before + "components.yaml", ComponentsOf(name, ns, "v2.0.0"));
  }
  const Titles one = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}};
  fetch::OciStandIn registry({{"v2.0.0", {.files = one}}, {"both", {.files = both}}});
  const std::vector<std::string> command = {"preload", "-i", "aws:v2.0.0,gcp:v2.0.0", "-o", "json", "-u"};
  auto with = [&](const std::string& url) {
    auto all = command;
    all.push_back(url);
    return RunAlone(all);
  };
  Outcome refused = with(registry.reference());
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("no file with the title infrastructure-aws-v2.0.0-metadata.yaml"));
  Outcome found = with(registry.reference(":both"));
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(GetString((*ParseJson(found.out))["items"][1], {"data", "components"}),
            ComponentsOf("gcp", "capg-system", "v2.0.0"));
  const std::string file = "https://github.com/a/b/releases/v2.0.0/c.yaml";
  EXPECT_THAT(with(file).err, HasSubstr("it names a file of one provider"));
  const std::string gcp = "---\n" + ReplaceAll(Object("{version: v2.0.0}"), "name: aws", "name: gcp");
  EXPECT_THAT(
      RunAlone({"preload", "-f", "-", "-o", "json", "-u", file}, {}, Object("{version: v2.0.0}") + gcp).err,
      HasSubstr("it names a file of one provider, and these are asked for: infrastructure-aws, infrastructure-gcp"));

  // Nor those of the core, which a bundle has without it.
  const std::string bundle = cluster_.folder / "one.tar";
  std::vector<std::string> create = {
      "bundle", "create", "-u", registry.reference(), "-o", bundle, "--install-cert-manager=false"};
  EXPECT_THAT(RunAlone(create).err, HasSubstr("name the providers"));
  create.insert(create.end(), {"-i", "aws:v2.0.0"});
  Outcome made = RunAlone(create);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("infrastructure-aws "), Not(HasSubstr("cluster-api"))));
}

// L25: which registry an object names, is nobody's word that it may have these.
TEST_F(AirGap, CredentialsGoWhereTheCommandLineNamesTheSame_L25) {
  const Titles files = {{"metadata.yaml", kMetadata},
                        {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}};
  fetch::OciStandIn registry({{"v2.0.0", {.files = files}}}, fetch::OciAuth::kBasic);
  const std::string object = Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
  Outcome refused = RunAlone({"preload", "-f", "-", "-o", "yaml"}, kUser, object);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("go there with --artifact-url " + registry.reference()));
  for (const fetch::OciRequest& request : registry.seen()) EXPECT_EQ(request.authorization, "");
  Outcome other = RunAlone({"preload", "-f", "-", "-o", "yaml", "-u", registry.reference(":v2.0.0")}, kUser, object);
  EXPECT_THAT(other.err, HasSubstr("name the same with it (" + registry.reference() + ")"));
  Outcome made = RunAlone({"preload", "-f", "-", "-o", "yaml", "-u", registry.reference()}, kUser, object);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(GetString(*ParseYaml(made.out), {"metadata", "name"}), "infrastructure-aws-v2.0.0");
}

// L26, and back through preload.
TEST_F(AirGap, PublishTakesTheReleaseAlone_L26) {
  for (fetch::OciAuth auth : {fetch::OciAuth::kBasic, fetch::OciAuth::kBearer}) {
    fetch::OciStandIn registry({}, auth);
    const std::string where = registry.reference(":v2.0.0");
    std::vector<std::string> command = {"publish", "-u", where, "--dir", ReleaseFolder(cluster_.folder)};
    Outcome made = RunAlone(command, kUser);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.out, where + "@" + registry.digest("v2.0.0") + "\n");
    EXPECT_THAT(registry.manifest("v2.0.0"), AllOf(HasSubstr("metadata.yaml"), HasSubstr("infrastructure-components"),
                                                   Not(HasSubstr("kubeconfig")), Not(HasSubstr("notes"))));
    Outcome again = RunAlone(command, kUser);
    EXPECT_EQ(again.out, made.out);
    EXPECT_THAT(again.err, HasSubstr("It is there already"));
    Outcome preloaded =
        RunAlone({"preload", "-i", "aws:v2.0.0", "-o", "yaml", "-n", "x", "-u", registry.reference()}, kUser);
    EXPECT_THAT(preloaded.out, HasSubstr("components: |\n    apiVersion: v1\n    kind: ConfigMap\n")) << preloaded.err;
  }
}

TEST_F(AirGap, PublishLeavesATagAloneWithoutForce_L26) {
  fetch::OciStandIn registry({{"v2.0.0", fetch::PlainArtifact()}});
  const std::string before = registry.digest("v2.0.0");
  std::vector<std::string> command = {"publish", "-u", registry.reference(), "-i", "aws:v2.0.0"};
  Outcome refused = RunAlone(command);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(":v2.0.0 is there with another content (" + before), HasSubstr("--force")));
  EXPECT_EQ(registry.digest("v2.0.0"), before);
  command.insert(command.end(), {"--force", "-o", "json", "--file", cluster_.folder / "more/cluster-template.yaml"});
  ReleaseFolder(cluster_.folder);
  Outcome forced = RunAlone(command);
  ASSERT_EQ(forced.code, 0) << forced.err;
  EXPECT_EQ(GetString(*ParseJson(forced.out), {"digest"}), registry.digest("v2.0.0"));
  EXPECT_THAT(registry.manifest("v2.0.0"), HasSubstr("cluster-template.yaml"));
}

TEST_F(AirGap, PublishRefusesWhatIsNoRelease_L26) {
  fetch::OciStandIn registry({});
  const std::string out = ReleaseFolder(cluster_.folder), tagged = registry.reference(":v2.0.0");
  cluster_.folder.Put("half/metadata.yaml", kMetadata);
  cluster_.folder.Put("other/metadata.yaml", "kind: Namespace\n");
  cluster_.folder.Put("other/components.yaml", "kind: Namespace\n");
  cluster_.folder.Put("bad/a b.yaml", "");
  cluster_.folder.Put("full/infrastructure-aws-v2.0.0-metadata.yaml", kMetadata);
  cluster_.folder.Put("full/infrastructure-aws-v2.1.0-components.yaml", "kind: Namespace\n");
  const std::string aws = "infrastructure-aws-v2.0.0-", other = "infrastructure-gcp-v2.0.0-";
  cluster_.folder.Put("mixed/" + aws + "metadata.yaml", kMetadata);
  cluster_.folder.Put("mixed/" + other + "components.yaml", "kind: Namespace\n");
  for (const std::string& file : {"lone/" + aws, "lone/" + other})
    cluster_.folder.Put(file + "components.yaml", "kind: Namespace\n");
  cluster_.folder.Put("lone/" + aws + "metadata.yaml", kMetadata);
  cluster_.folder.Put("series/infrastructure-aws-v9.0.0-metadata.yaml", kMetadata);
  cluster_.folder.Put("series/infrastructure-aws-v9.0.0-components.yaml", "kind: Namespace\n");
  const std::string any_tag = registry.reference(":all"), build = "r/infrastructure-aws/v2.0.0+one/";
  cluster_.folder.Put(build + "metadata.yaml", kMetadata);
  cluster_.folder.Put(build + "infrastructure-components.yaml", "kind: Namespace\n");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--dir", cluster_.folder / "mixed", "-u", tagged}, "there is no infrastructure-aws-v2.0.0-components.yaml"},
      {{"--dir", cluster_.folder / "lone", "-u", any_tag}, "there is no infrastructure-gcp-v2.0.0-metadata.yaml"},
      {{"--dir", cluster_.folder / "series", "-u", any_tag}, "metadata.yaml names no release series of v9.0.0"},
      {{"--dir", cluster_.folder / "lone", "--file", out + "/metadata.yaml", "-u", tagged}, "there is no "},
      {{"--dir", out}, "name where to publish it: --artifact-url"},
      {{"--dir", out, "-u", registry.reference()}, "name a tag, the release's version"},
      {{"--dir", out, "-u", registry.reference("@sha256:" + std::string(64, '0'))}, "name a tag"},
      {{"--dir", out, "-u", registry.reference(":v9.0.0")}, "metadata.yaml names no release series of v9.0.0"},
      {{"--dir", out, "-u", tagged, "-i", "aws"}, "not both"},
      {{"--dir", cluster_.folder / "half", "-u", tagged}, "there is no release: "},
      {{"--dir", cluster_.folder / "other", "-u", tagged}, "metadata.yaml: "},
      {{"--dir", cluster_.folder / "full", "-u", tagged}, "v2.1.0-components.yaml is of another version than v2.0.0"},
      {{"--dir", cluster_.folder / "none", "-u", tagged}, "--dir: "},
      {{"--dir", out, "--file", out + "/metadata.yaml", "-u", tagged}, "two files with the name metadata.yaml"},
      {{"--dir", out, "--file", out, "-u", tagged}, "there is no such file"},
      {{"--dir", out, "--file", cluster_.folder / "bad/a b.yaml", "-u", tagged}, "characters that no file"},
      {{"--file", out + "/kubeconfig", "-u", tagged}, "there is no release: "},
      {{"-i", "aws,gcp", "-u", tagged}, "name one provider"},
      {{"-i", "aws:v2.1.0", "-u", tagged}, "the tag says v2.0.0, and the release is v2.1.0"},
      {{"-i", "aws:v2.0.0+one", "-u", registry.reference(":v2.0.0_two")},
       "the tag says v2.0.0_two, and the release is v2.0.0+one"},
  };
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> all = {"publish"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Outcome refused = RunAlone(all);
    EXPECT_EQ(refused.code, 1) << words;
    EXPECT_THAT(refused.err, HasSubstr(words));
  }
  EXPECT_THAT(registry.seen(), IsEmpty());
}

TEST_F(AirGap, PublishWithoutCredentialsSaysWhichItNeeds_L26) {
  fetch::OciStandIn registry({}, fetch::OciAuth::kBearer);
  Outcome refused = RunAlone({"publish", "-u", registry.reference(":v2.0.0"), "-i", "aws:v2.0.0"});
  EXPECT_THAT(refused.err, HasSubstr("OCI_USERNAME"));
}

}  // namespace
}  // namespace capi::cli
