// bundle, on an API server in memory and a registry on loopback (L27).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/airgap/airgap_testing.h"
#include "cli/airgap/bundle.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  // What spec.fetchConfig.digest takes.
  const std::string components = "sha256:" + Sha256Hex(ComponentsOf("aws", "capa-system", "v2.0.0"));
  EXPECT_THAT(created_.out, AllOf(HasSubstr("COMPONENTS"), HasSubstr(components)));
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

TEST_F(Bundles, TheBytesDontSayWhichFolder_L27) {
  namespace fs = std::filesystem;
  cluster_.folder.Put("elsewhere/x", "");  // the folder around it
  fs::copy(cluster_.folder / "r", cluster_.folder / "elsewhere/r", fs::copy_options::recursive);
  const std::string config = *ReadFile(cluster_.folder / "clusterctl.yaml");
  cluster_.folder.Put("clusterctl.yaml", ReplaceAll(config, "/r/", "/elsewhere/r/"));
  const std::string other = cluster_.folder / "other.tar";
  Outcome made = RunAlone(CreateTo(other, objects_));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(*ReadFile(other), *ReadFile(file_));
}

// What `load` can't know: where an object is, and what it looks for.
TEST_F(Bundles, CreateSaysWhichObjectsWouldNotFindTheirs_L27) {
  EXPECT_THAT(created_.err, Not(HasSubstr("bundle load puts")));
  for (const std::string& object : {Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}}}"),
                                    Object("{version: v2.0.0}", ", namespace: mine")}) {
    Outcome made = RunAlone(CreateTo(cluster_.folder / "other.tar", cluster_.folder.Put("one.yaml", object)));
    EXPECT_EQ(made.code, 0);
    EXPECT_THAT(made.err, HasSubstr("bundle load puts its release into namespace capa-system"));
  }
}

// L27: one object, in the files of two clusters.
TEST_F(Bundles, CreateSaysOfWhichFileAnObjectIs_L27) {
  const std::string selects = ", fetchConfig: {selector: {matchLabels: {a: b}}}}";
  cluster_.folder.Put("clusters/dev.yaml", Object("{version: v2.0.0" + selects));
  cluster_.folder.Put("clusters/prod.yaml", Object("{version: v2.1.0" + selects));
  Outcome made = RunAlone(CreateTo(cluster_.folder / "other.tar", cluster_.folder / "clusters"));
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string words = ".yaml:1: InfrastructureProvider capa-system/aws: bundle load puts";
  EXPECT_THAT(made.err, AllOf(HasSubstr("clusters/dev" + words), HasSubstr("clusters/prod" + words)));
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "other")}}}}});
  cluster_.folder.Put("clusters/prod.yaml",
                      Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}"));
  Outcome refused = RunAlone(CreateTo(cluster_.folder / "other.tar", cluster_.folder / "clusters"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("infrastructure-aws v2.0.0 comes from two sources"), HasSubstr("clusters/dev.yaml:1: "),
                    HasSubstr("clusters/prod.yaml:1: "), HasSubstr(registry.reference())));
}

// One bundle is of any number of clusters.
TEST_F(Bundles, CreateTakesAllVersionsOfAnObject_L27) {
  const std::string both = Object("{version: v2.0.0}") + "---\n" + Object("{version: v2.1.0}");
  Outcome made = RunAlone(CreateTo(cluster_.folder / "other.tar", cluster_.folder.Put("both.yaml", both)));
  EXPECT_EQ(made.code, 0) << made.err;
  for (const char* row : {"infrastructure-aws   v2.0.0", "infrastructure-aws   v2.1.0"})
    EXPECT_THAT(made.out, HasSubstr(row));
}

// L27: a build of one's own in the one cluster's registry. Either file counts.
TEST_F(Bundles, CreateRefusesTwoContentsOfOneVersion_L27) {
  const std::string components = ComponentsOf("aws", "capa-system", "v2.0.0"), metadata = kMetadata;
  const std::pair<std::string, std::string> patched[] = {{metadata, components + "# patched\n"},
                                                         {metadata + "# patched\n", components}};
  for (const auto& [its_metadata, its_components] : patched) {
    fetch::OciStandIn registry(
        {{"v2.0.0", {.files = {{"metadata.yaml", its_metadata}, {"components.yaml", its_components}}}}});
    const std::string both = Object("{version: v2.0.0}") + "---\n" +
                             Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
    const std::string file = cluster_.folder / "other.tar";
    Outcome refused = RunAlone(CreateTo(file, cluster_.folder.Put("both.yaml", both)));
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("infrastructure-aws v2.0.0 comes from two sources with different files"));
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

// T12: of two that are equal one source is named.
TEST_F(Bundles, CreateSaysWhichObjectAsksForAnotherSource_L27) {
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  const std::string by_registry = Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
  const std::string plain = Object("{version: v2.0.0}", ", namespace: mine"), file = cluster_.folder / "other.tar";
  const std::string words = "capa-system/aws: the bundle has the same release from a folder";
  Outcome both = RunAlone(CreateTo(file, cluster_.folder.Put("both.yaml", plain + "---\n" + by_registry)));
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr(words));
  // Of one object, too.
  const std::string same = Object("{version: v2.0.0}");
  Outcome twice = RunAlone(CreateTo(file, cluster_.folder.Put("twice.yaml", same + "---\n" + by_registry)));
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_THAT(twice.err, HasSubstr(words));
  Outcome one = RunAlone(CreateTo(file, cluster_.folder.Put("one.yaml", by_registry)));
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.err, Not(HasSubstr("the same release from")));
}

// T14: an artifact and files are signed each in their way, and each object looks for its own.
TEST_F(Bundles, HasTheSignaturesThatAllObjectsAskFor_L27_T14) {
  const std::map<std::string, fetch::OciArtifact> artifact = {
      {"v2.0.0",
       {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}};
  fetch::OciStandIn registry(artifact), mirror(artifact);
  Sign(registry, "v2.0.0", "b25l");
  Sign(mirror, "v2.0.0", "dHdv");
  for (const char* name : {"metadata.yaml.sig", "infrastructure-components.yaml.sig"})
    cluster_.folder.Put(std::string("r/infrastructure-aws/v2.0.0/") + name, "bWV0YQ==");
  auto object = [](const std::string& source, const std::string& ns) {
    return Object("{version: v2.0.0, fetchConfig: {" + source + "verify: {provider: cosign, secretRef: {name: keys}}}}",
                  ", namespace: " + ns);
  };
  const std::string of_artifact = object("oci: '" + registry.reference() + "', ", "capa-system");
  const std::string of_files = object("selector: {matchLabels: {a: b}}, ", "mine");
  const std::string of_mirror = object("oci: '" + mirror.reference() + "', ", "theirs");
  const std::string file = cluster_.folder / "signed.tar", words = "the bundle has another artifact.json";
  for (const std::string& objects : {of_artifact + "---\n" + of_files, of_files + "---\n" + of_artifact}) {
    Outcome made = RunAlone(CreateTo(file, cluster_.folder.Put("signed.yaml", objects)));
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, Not(HasSubstr(words)));
    const Bundle bundle = *ReadBundle(*ReadFile(file));
    ASSERT_EQ(bundle.releases.size(), 1u);
    std::vector<std::string> keys;
    for (const auto& [key, text] : bundle.releases[0].release.signatures) keys.push_back(key);
    EXPECT_THAT(keys, testing::ElementsAre("artifact.json", "components.sig", "metadata.sig"));
  }
  // Of one kind there is one.
  Outcome two = RunAlone(
      CreateTo(file, cluster_.folder.Put("signed.yaml", of_files + "---\n" + of_artifact + "---\n" + of_mirror)));
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.err, HasSubstr("theirs/aws: " + words + " of the same release"));
  EXPECT_THAT(two.err, Not(HasSubstr("capa-system/aws: " + words)));
}

TEST_F(Bundles, NothingIsWrittenWhereALinkOrAFolderIsInTheWay_L27) {
  namespace fs = std::filesystem;
  cluster_.folder.Put("target/x", "");
  const std::pair<const char*, std::function<void(const fs::path&)>> cases[] = {
      {"is no folder",
       [&](const fs::path& f) { fs::create_symlink(cluster_.folder / "target", f / "infrastructure-gcp"); }},
      {"is no file", [&](const fs::path& f) { fs::create_directories(f / "infrastructure-gcp/v2.0.0/metadata.yaml"); }},
      {"is no file",
       [&](const fs::path& f) {
         fs::create_directories(f / "infrastructure-gcp/v2.0.0");
         fs::create_symlink(f / "nowhere", f / "infrastructure-gcp/v2.0.0/metadata.yaml");
       }},
  };
  for (const auto& [words, spoil] : cases) {
    const fs::path folder = cluster_.folder / "loaded";
    fs::remove_all(folder);
    fs::create_directories(folder);
    spoil(folder);
    Outcome refused = RunAlone({"bundle", "load", file_, "--to-folder", folder});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr(words));
    EXPECT_FALSE(fs::exists(folder / "infrastructure-aws"));
  }
  EXPECT_THAT(RunAlone({"bundle", "load", file_, "--to-folder", file_}).err, HasSubstr("bundle.tar is no folder"));
}

size_t WritesTo(const fetch::OciStandIn& registry) {
  const auto seen = registry.seen();
  return static_cast<size_t>(std::count_if(
      seen.begin(), seen.end(), [](const auto& one) { return one.method == "PUT" || one.method == "POST"; }));
}

TEST_F(Bundles, ARegistryGetsAllOrNothing_L27) {
  fetch::OciStandIn registry({});
  const std::string to = "http://" + registry.host() + "/org", gcp = "/v2/org/infrastructure-gcp/:v2.0.0";
  ASSERT_EQ(RunAlone({"publish", "-i", "gcp:v2.1.0", "-u", to + "/infrastructure-gcp:nightly"}).code, 0);
  ASSERT_EQ(
      RunAlone({"publish", "--dir", ReleaseFolder(cluster_.folder), "-u", to + "/infrastructure-gcp:v2.0.0"}).code, 0);
  const std::string theirs = registry.manifest(gcp);
  const size_t before = WritesTo(registry);
  std::vector<std::string> command = {"bundle", "load", file_, "--to", to};
  Outcome refused = RunAlone(command);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("/infrastructure-gcp:v2.0.0 is there with another content"));
  EXPECT_EQ(WritesTo(registry), before);
  command.push_back("--force");
  Outcome forced = RunAlone(command);
  ASSERT_EQ(forced.code, 0) << forced.err;
  EXPECT_NE(registry.manifest(gcp), theirs);
  EXPECT_EQ(forced.out, to + "/infrastructure-aws:v2.0.0@" + registry.digest("/v2/org/infrastructure-aws/:v2.0.0") +
                            "\n" + to + "/infrastructure-gcp:v2.0.0@" + registry.digest(gcp) + "\n");
  EXPECT_EQ(RunAlone({"bundle", "load", file_, "--to", to}).out, forced.out);
}

// Somebody else pushes between the look at all and the writing.
TEST_F(Bundles, ATagIsLookedAtAgainBeforeItIsWritten_L27) {
  fetch::OciStandIn registry({});
  int looks = 0;
  registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool look = request.method == "GET" && request.path.ends_with("/infrastructure-aws/manifests/v2.0.0");
    if (look && ++looks > 1) return fetch::OciAnswer(200, "{\"layers\": []}");
    return std::nullopt;
  });
  Outcome refused = RunAlone({"bundle", "load", file_, "--to", "http://" + registry.host() + "/org"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("since a moment ago"));
  EXPECT_EQ(registry.manifest("/v2/org/infrastructure-aws/:v2.0.0"), "");
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
      {{"bundle", "create", "-i", "aws", "-n", "x", "-o", "x"}, "--namespace is about Provider objects"},
      {{"bundle", "create", "--filename", objects_, "-i", "aws", "-o", "x"}, "one of these"},
      {{"bundle", "create", "-i", "aws", "-o", "x", "--platform", "linux/amd64"}, "--platform and --images-from are"},
      {{"bundle", "create", "-i", "aws", "-o", "x", "--images", "--platform", "amd64"}, "--platform: \"amd64\" is no"},
      {{"bundle", "create", "-i", "aws", "-o", "x", "--images", "--images-from", "oci://"}, "--images-from: "},
      {{"bundle", "load", file_, "--images-to", "oci://x/y"}, "make it with `bundle create --images`"},
      {{"bundle", "load", file_, "--images-to", "oci://x/y", "-n", "a"}, "--target-namespace is about"},
  };
  for (const auto& [arguments, words] : cases) {
    Outcome refused = RunAlone(arguments);
    EXPECT_EQ(refused.code, 1) << words;
    EXPECT_THAT(refused.err, HasSubstr(words));
  }
}

}  // namespace
}  // namespace capi::cli
