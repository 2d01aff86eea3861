// preload, publish and bundle, on an API server in memory and a registry on loopback (L25 to L27).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/bundle.h"
#include "cli/upgrade/cluster_testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 2, minor: 0, contract: v1beta2}\n- {major: 2, minor: 1, contract: v1beta2}\n";
const std::string kAwsMap = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.0.0";
const std::string kGcpMap = "/api/v1/namespaces/capg-system/configmaps/infrastructure-gcp-v2.0.0";

// aws and gcp in a folder, which the configuration names.
class AirGap : public testing::Test {
 protected:
  AirGap() {
    std::string config = "providers:\n";
    for (const auto& [name, ns] : {std::pair("aws", "capa-system"), std::pair("gcp", "capg-system")}) {
      for (const char* version : {"v2.0.0", "v2.1.0"}) {
        const std::string folder = std::string("r/infrastructure-") + name + "/" + version + "/";
        cluster_.folder.Put(folder + "metadata.yaml", kMetadata);
        cluster_.folder.Put(folder + "infrastructure-components.yaml", ComponentsOf(name, ns, version));
      }
      config += std::string("- {name: ") + name + ", type: InfrastructureProvider, url: " + cluster_.folder.path() +
                "/r/infrastructure-" + name + "/latest/infrastructure-components.yaml}\n";
    }
    cluster_.folder.Put("clusterctl.yaml", config);
  }

  static std::string ComponentsOf(const std::string& name, const std::string& ns, const std::string& version) {
    return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + ns + ", labels: {of: " + name +
           "}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: " + ns +
           "}\nspec: {template: {spec: {containers: [{name: manager, image: 'registry.k8s.io/" + name + ":" + version +
           "'}]}}}\n";
  }

  Outcome Run(std::vector<std::string> arguments, Variables environment = {}) {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    return cluster_.Run(std::move(arguments), std::move(environment));
  }
  // Of a command that takes no cluster.
  Outcome RunAlone(std::vector<std::string> arguments, Variables environment = {}, const std::string& input = "") {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    environment.try_emplace("HOME", cluster_.folder.path());
    return Clusterctl(std::move(arguments), std::move(environment), input);
  }
  UpgradeCluster cluster_;
};

const Variables kUser = {{"OCI_USERNAME", std::string(fetch::kOciUser)},
                         {"OCI_PASSWORD", std::string(fetch::kOciPassword)}};

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

std::string Object(const std::string& spec, const std::string& ns = ", namespace: capa-system") {
  return "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\nmetadata: {name: aws" + ns +
         "}\nspec: " + spec + "\n";
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

TEST_F(AirGap, PreloadTakesWhatTheClusterDeclares_L25) {
  EXPECT_THAT(Run({"preload", "--existing"}).err, HasSubstr("the cluster has declared no providers"));
  cluster_.Add({api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"});
  Outcome made = Run({"preload", "--existing"});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

TEST_F(AirGap, PreloadRefusesWhatNobodyWouldFind_L25) {
  const std::pair<std::string, const char*> objects[] = {
      {Object("{version: v2.0.0}", ""), "metadata.namespace: write it, or name it with -n"},
      {Object("{version: v7.0.0}"), "v7.0.0"},
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
      {{"-i", "aws:v2.0.0", "-o", "yaml", "-u", "https://github.com/a/b/releases/v2.0.0/c.yaml"},
       "version cannot be set when artifact URL is GitHub or GitLab"},
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

// A folder with a release, and with what nobody should see.
std::string ReleaseFolder(const TestFolder& folder) {
  folder.Put("out/metadata.yaml", kMetadata);
  folder.Put("out/infrastructure-components.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n");
  folder.Put("out/kubeconfig", "s3cret");
  folder.Put("out/notes-components.yaml", "s3cret");
  folder.Put("more/cluster-template.yaml", "kind: Cluster\n");
  return folder / "out";
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
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--dir", out}, "name where to publish it: --artifact-url"},
      {{"--dir", out, "-u", registry.reference()}, "name a tag, the release's version"},
      {{"--dir", out, "-u", registry.reference("@sha256:" + std::string(64, '0'))}, "name a tag"},
      {{"--dir", out, "-u", registry.reference(":v9.0.0")}, "metadata.yaml names no release series of v9.0.0"},
      {{"--dir", out, "-u", tagged, "-i", "aws"}, "not both"},
      {{"--dir", cluster_.folder / "half", "-u", tagged}, "there is no release: "},
      {{"--dir", cluster_.folder / "other", "-u", tagged}, "metadata.yaml: "},
      {{"--dir", cluster_.folder / "none", "-u", tagged}, "--dir: "},
      {{"--dir", out, "--file", out + "/metadata.yaml", "-u", tagged}, "two files with the name metadata.yaml"},
      {{"--dir", out, "--file", out, "-u", tagged}, "there is no such file"},
      {{"--dir", out, "--file", cluster_.folder / "bad/a b.yaml", "-u", tagged}, "characters that no file"},
      {{"--file", out + "/kubeconfig", "-u", tagged}, "there is no release: "},
      {{"-i", "aws,gcp", "-u", tagged}, "name one provider"},
      {{"-i", "aws:v2.1.0", "-u", tagged}, "the tag says v2.0.0, and the release is v2.1.0"},
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

std::vector<std::string> CreateTo(const std::string& file, const std::string& objects) {
  return {"bundle", "create", "-f", objects, "-o", file, "--install-cert-manager=false"};
}

// L27: from a set of objects, since the flags' defaults would ask GitHub for the core.
class Bundles : public AirGap {
 protected:
  Bundles() {
    objects_ = cluster_.folder.Put("objects.yaml",
                                   Object("{version: v2.0.0}") + "---\n" +
                                       "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
                                       "metadata: {name: gcp, namespace: capg-system}\nspec: {version: v2.0.0}\n");
    file_ = cluster_.folder / "bundle.tar";
    created_ = RunAlone(CreateTo(file_, objects_));
  }
  std::string objects_, file_;
  Outcome created_;
};

TEST_F(Bundles, TheSameReleasesAreTheSameBytes_L27) {
  ASSERT_EQ(created_.code, 0) << created_.err;
  EXPECT_THAT(created_.out, AllOf(HasSubstr("infrastructure-aws   v2.0.0"), HasSubstr("sha256:")));
  const std::string other = cluster_.folder / "other.tar";
  ASSERT_EQ(RunAlone(CreateTo(other, objects_)).code, 0);
  EXPECT_EQ(*ReadFile(other), *ReadFile(file_));
  Outcome images = RunAlone({"bundle", "list-images", file_});
  EXPECT_EQ(images.out, "registry.k8s.io/aws:v2.0.0\nregistry.k8s.io/gcp:v2.0.0\n") << images.err;
}

TEST_F(Bundles, AFolderIsUsedWithTheConfigurationThatIsPrinted_L27) {
  const std::string folder = cluster_.folder / "loaded";
  Outcome loaded = RunAlone({"bundle", "load", file_, "--to-folder", folder});
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  const std::string config = cluster_.folder.Put("loaded.yaml", loaded.out);
  Outcome printed =
      Clusterctl({"generate", "provider", "-i", "gcp", "--config", config}, {{"HOME", cluster_.folder.path()}});
  EXPECT_THAT(printed.out, HasSubstr("registry.k8s.io/gcp:v2.0.0")) << printed.err;
  EXPECT_EQ(RunAlone({"bundle", "load", file_, "--to-folder", folder}).out, loaded.out);
  cluster_.folder.Put("loaded/infrastructure-gcp/v2.0.0/metadata.yaml", "mine");
  std::filesystem::remove_all(folder + "/infrastructure-aws");
  Outcome refused = RunAlone({"bundle", "load", file_, "--to-folder", folder});
  EXPECT_THAT(refused.err, HasSubstr("is there with another content: it stays, and nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/infrastructure-aws"));
}

TEST_F(Bundles, AClusterGetsAllOrNothing_L27) {
  std::string damaged = *ReadFile(file_);
  damaged[damaged.find("kind: Deployment")] ^= 1;
  Outcome refused = Run({"bundle", "load", cluster_.folder.Put("damaged.tar", damaged)});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("nothing was written"), HasSubstr("does not have the digest")));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  Outcome loaded = Run({"bundle", "load", file_});
  EXPECT_EQ(loaded.out,
            "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n"
            "configmap/infrastructure-gcp-v2.0.0 in namespace capg-system created\n")
      << loaded.err;
  EXPECT_EQ(GetString(cluster_.Get(kGcpMap), {"data", "components"}), ComponentsOf("gcp", "capg-system", "v2.0.0"));
}

TEST_F(Bundles, FlagsThatSayNothingAreRefused_L27) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"bundle", "load"}, "name the bundle"},
      {{"bundle", "load", file_, "--to", "oci://x/y", "--to-folder", "z"}, "take one of them"},
      {{"bundle", "load", file_, "--to-folder", "z", "-n", "a"}, "--target-namespace is about"},
      {{"bundle", "load", file_, "--force"}, "--force is about tags"},
      {{"bundle", "load", file_, "--to", "oci://bad host"}, "--to: "},
      {{"bundle", "load", file_, "--to-folder", cluster_.folder / "a$b"}, "can't be named in a configuration file"},
      {{"bundle", "load", cluster_.folder / "none"}, "none"},
      {{"bundle", "create", "--filename", objects_}, "name the file to write"},
      {{"bundle", "create", "--filename", objects_, "-i", "aws", "-o", "x"}, "one of these"},
  };
  for (const auto& [arguments, words] : cases) {
    Outcome refused = RunAlone(arguments);
    EXPECT_EQ(refused.code, 1) << words;
    EXPECT_THAT(refused.err, HasSubstr(words));
  }
  EXPECT_THAT(RunAlone({"bundle", "create", "--images"}).err, StartsWith("Error: unknown flag: --images"));
}

}  // namespace
}  // namespace capi::cli
