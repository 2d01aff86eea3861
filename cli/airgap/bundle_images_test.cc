// bundle with the images themselves, between registries on loopback (L28).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>

#include "base/files.h"
#include "cli/airgap/airgap_testing.h"
#include "cli/airgap/bundle.h"
#include "cli/airgap/images.h"
#include "cli/frame/interrupt_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// aws and gcp, whose images are in a registry that asks for a user; on the other side is one that does, too.
class BundleImages : public WithoutInterrupts, public AirGap {
 protected:
  BundleImages() : from_({}, fetch::OciAuth::kBasic), to_({}, fetch::OciAuth::kBasic) {
    aws_ = from_.PutImage("mirror/aws", "v2.0.0", {"linux/amd64", "linux/arm64"}, "aws ");
    gcp_ = from_.PutImage("mirror/gcp", "v2.0.0", {}, "gcp");
    objects_ = cluster_.folder.Put("objects.yaml",
                                   Object("{version: v2.0.0}") + "---\n" +
                                       "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
                                       "metadata: {name: gcp, namespace: capg-system}\nspec: {version: v2.0.0}\n");
    file_ = cluster_.folder / "bundle.tar";
  }

  Outcome Create(const std::string& file, std::vector<std::string> more = {}, const Variables& environment = kUser) {
    std::vector<std::string> command = {"bundle",
                                        "create",
                                        "-f",
                                        objects_,
                                        "-o",
                                        file,
                                        "--install-cert-manager=false",
                                        "--images",
                                        "--images-from",
                                        "http://" + from_.host() + "/mirror"};
    command.insert(command.end(), more.begin(), more.end());
    return RunAlone(std::move(command), environment);
  }
  Outcome Load(std::vector<std::string> more = {}) {
    std::vector<std::string> command = {"bundle", "load", file_, "--images-to", "http://" + to_.host() + "/capi/"};
    command.insert(command.end(), more.begin(), more.end());
    return RunAlone(std::move(command), kUser);
  }
  std::vector<std::string> FilesBeside() const {
    std::vector<std::string> out = *ListDir(cluster_.folder.path());
    std::erase_if(out, [](const std::string& name) { return name.find(".tar") == name.npos; });
    return out;
  }

  fetch::OciStandIn from_, to_;
  std::string aws_, gcp_, objects_, file_;
};

TEST_F(BundleImages, GoFromOneRegistryToAnother_L28) {
  Outcome created = Create(file_);
  ASSERT_EQ(created.code, 0) << created.err;
  EXPECT_THAT(created.err, HasSubstr("Reading an image image=\"registry.k8s.io/aws:v2.0.0\""));
  const std::string other = cluster_.folder / "other.tar";
  ASSERT_EQ(Create(other).code, 0);
  EXPECT_EQ(*ReadFile(other), *ReadFile(file_)) << "the same images are the same bytes";
  EXPECT_EQ(RunAlone({"bundle", "list-images", file_}).out, "registry.k8s.io/aws:v2.0.0\nregistry.k8s.io/gcp:v2.0.0\n");

  Outcome loaded = Load();
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  const std::string there = "http://" + to_.host() + "/capi/";
  EXPECT_EQ(loaded.out, there + "aws:v2.0.0@" + aws_ + "\n" + there + "gcp:v2.0.0@" + gcp_ + "\n");
  EXPECT_EQ(to_.digest("/v2/capi/aws/:v2.0.0"), aws_);
  EXPECT_EQ(to_.digest("/v2/capi/gcp/:v2.0.0"), gcp_);
  EXPECT_EQ(to_.blob(fetch::OciDigest("aws linux/arm64")), "aws linux/arm64");
  Outcome again = Load();
  EXPECT_EQ(again.out, loaded.out);
  EXPECT_THAT(again.err, AllOf(HasSubstr("The image is there already"), Not(HasSubstr("Writing"))));
}

// One command has releases and images where they are used, and the configuration that names both.
TEST_F(BundleImages, TheConfigurationOfAFolderNamesTheRegistry_L28) {
  ASSERT_EQ(Create(file_).code, 0);
  Outcome loaded = Load({"--to-folder", cluster_.folder / "loaded"});
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  EXPECT_EQ(to_.digest("/v2/capi/aws/:v2.0.0"), aws_);
  const std::string config = cluster_.folder.Put("loaded.yaml", loaded.out);
  Outcome printed =
      Clusterctl({"generate", "provider", "-i", "gcp", "--config", config}, {{"HOME", cluster_.folder.path()}});
  EXPECT_THAT(printed.out, HasSubstr("image: " + to_.host() + "/capi/gcp:v2.0.0")) << printed.err;
}

TEST_F(BundleImages, OfOnePlatformAlone_L28) {
  ASSERT_EQ(Create(file_, {"--platform", "linux/amd64"}).code, 0);
  EXPECT_THAT(*ReadFile(file_), AllOf(HasSubstr("aws linux/amd64"), Not(HasSubstr("aws linux/arm64"))));
  ASSERT_EQ(Load().code, 0);
  EXPECT_NE(to_.manifest("/v2/capi/aws/:v2.0.0"), "");
  Outcome none = Create(file_, {"--platform", "linux/riscv64"});
  EXPECT_THAT(none.err, AllOf(HasSubstr("image registry.k8s.io/aws:v2.0.0"), HasSubstr("it is not for linux/riscv64")));
  Outcome other = Create(file_, {"--platform", "linux/arm64"});
  EXPECT_THAT(other.err, AllOf(HasSubstr("image registry.k8s.io/gcp:v2.0.0"), HasSubstr("there is linux/amd64")));
}

// All or nothing, with what else is written.
TEST_F(BundleImages, WhatIsInTheWayStays_L28) {
  ASSERT_EQ(Create(file_).code, 0);
  to_.PutImage("capi/gcp", "v2.0.0", {}, "theirs");
  const std::string theirs = to_.digest("/v2/capi/gcp/:v2.0.0"), folder = cluster_.folder / "loaded";
  Outcome refused = Load({"--to-folder", folder});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("/capi/gcp:v2.0.0 is there with another content (" + theirs + ")"));
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(to_.manifest("/v2/capi/aws/:v2.0.0"), "");
  ASSERT_EQ(Load({"--force"}).code, 0);
  EXPECT_EQ(to_.digest("/v2/capi/gcp/:v2.0.0"), gcp_);
}

TEST_F(BundleImages, WithoutAllOfThemThereIsNoFile_L28) {
  Outcome refused = Create(file_, {}, {});
  EXPECT_THAT(refused.err, AllOf(HasSubstr("image registry.k8s.io/aws:v2.0.0: http://"), HasSubstr("OCI_USERNAME")));
  from_.set_store_fault([this](const http::ServerRequest& request) -> std::optional<http::Response> {
    std::string other = from_.blob(request.path.substr(std::string_view("/blobs/").size()));
    other.back() ^= 1;
    return fetch::OciAnswer(200, other);
  });
  EXPECT_EQ(Create(file_).code, 1);
  EXPECT_THAT(FilesBeside(), ElementsAre());
  cluster_.folder.Put("bundle.tar", "what was there");
  EXPECT_EQ(Create(file_).code, 1);
  EXPECT_EQ(*ReadFile(file_), "what was there");
  EXPECT_THAT(FilesBeside(), ElementsAre("bundle.tar"));
  EXPECT_THAT(Create("/dev/null").err, HasSubstr("something is there that is no file"));
}

TEST_F(BundleImages, CtrlCEndsItAndLeavesNoFile_L28) {
  cluster_.folder.Put("bundle.tar", "what was there");
  std::atomic<int> asked = 0;
  std::promise<void> gone;
  from_.set_store_fault([&](const http::ServerRequest&) -> std::optional<http::Response> {
    if (++asked != 2) return std::nullopt;
    EXPECT_TRUE(Interrupt());
    gone.get_future().wait();  // what was asked isn't answered before the command has ended
    return std::nullopt;
  });
  Outcome stopped = Create(file_);
  gone.set_value();
  EXPECT_EQ(stopped.code, 1);
  EXPECT_THAT(stopped.err, HasSubstr("Error: interrupted: nothing was written\n"));
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(FilesBeside(), ElementsAre("bundle.tar"));
  EXPECT_EQ(*ReadFile(file_), "what was there");
}

// What `load` would refuse is known before what is large is asked for.
TEST_F(BundleImages, WhatIsNoBundleIsRefusedBeforeItsLayersAreRead_L28) {
  Json other = *ParseJson(from_.manifest("/v2/mirror/gcp/:v2.0.0"));
  other["layers"][0] = {{"mediaType", "y"}, {"digest", fetch::OciDigest("aws linux/amd64")}, {"size", 3}};
  from_.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (!request.path.ends_with("/gcp/manifests/v2.0.0")) return std::nullopt;
    return fetch::OciAnswer(200, ToJsonText(other));
  });
  Outcome refused = Create(file_);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("can't be read back"), HasSubstr("is said to have 3 bytes, and has 15")));
  for (const fetch::OciRequest& one : from_.seen()) EXPECT_NE(one.host, "store") << one.target;
}

TEST_F(BundleImages, ADamagedLayerIsNoticedBeforeAnythingIsWritten_L28) {
  ASSERT_EQ(Create(file_).code, 0);
  std::string damaged = *ReadFile(file_);
  damaged[damaged.find("aws linux/arm64")] ^= 1;
  cluster_.folder.Put("bundle.tar", damaged);
  // For a list nobody reads what may be 20 GB.
  EXPECT_EQ(RunAlone({"bundle", "list-images", file_}).out, "registry.k8s.io/aws:v2.0.0\nregistry.k8s.io/gcp:v2.0.0\n");
  Outcome refused = Load();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("nothing was written"), HasSubstr("does not have the digest")));
  EXPECT_EQ(to_.manifest("/v2/capi/gcp/:v2.0.0"), "");
  // What can be told without them is told first.
  for (const char* flag : {"--images-to", "--to"})
    EXPECT_THAT(RunAlone({"bundle", "load", file_, flag, "http://" + to_.host() + "/No Place"}, kUser).err,
                HasSubstr(std::string(flag) + ": "));
}

// A registry that lacks some would be named for all.
TEST_F(BundleImages, SomeOfItsListAreNoBundle_L28) {
  ASSERT_EQ(Create(file_).code, 0);
  std::string text = *ReadFile(file_);
  std::map<std::string, std::string> files;
  for (const auto& [name, content] : *fetch::ReadTar(text)) files[name] = content;
  Json index = *ParseJson(files["index.json"]);
  index["manifests"].erase(index["manifests"].size() - 1);
  files["index.json"] = ToJsonText(index);
  auto read = ReadBundle(fetch::WriteTar({files.begin(), files.end()}));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("image registry.k8s.io/gcp:v2.0.0 is in its list, and isn't there"));
}

fetch::OciImage ImageOf(const std::string& text) { return {.manifests = {{"x", text}}, .blobs = {}}; }

// By the last parts of their names.
TEST(PlanOfImages, TwoOfOneNameAreRefused_L28) {
  const auto plan =
      PlanImages({{"a.example.com/x/one:v1", ImageOf("1")}, {"b.example.com/one:v1", ImageOf("1")}}, "r/p");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 1u) << "it is one image";
  const auto two =
      PlanImages({{"a.example.com/x/one:v1", ImageOf("1")}, {"b.example.com/one:v1", ImageOf("2")}}, "r/p");
  EXPECT_EQ(two.code(), Code::kFailedPrecondition);
  EXPECT_THAT(two.error().message, HasSubstr("a.example.com/x/one:v1 and b.example.com/one:v1 are two images"));
  const std::string digest = fetch::OciDigest("1");
  const std::pair<std::string, std::string> names[] = {{"nginx", "oci://r/p/nginx:latest"},
                                                       {"a.example.com:5000/x/y:v1", "oci://r/p/y:v1"},
                                                       {"a.example.com/y:v1@" + digest, "oci://r/p/y:v1"},
                                                       {"a.example.com/y@" + digest, "oci://r/p/y@" + digest}};
  for (const auto& [image, place] : names)
    EXPECT_EQ(PlanImages({{image, ImageOf("1")}}, "oci://r/p/")->front().reference.ToString(), place);
  EXPECT_FALSE(PlanImages({{"http://a.example.com/y", ImageOf("1")}}, "oci://r/p").ok());
  EXPECT_EQ(RepositoryOf("http://r:5000/p/"), "r:5000/p");
}

}  // namespace
}  // namespace capi::cli
