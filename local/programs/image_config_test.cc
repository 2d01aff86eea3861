#include "local/programs/image_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/programs/testing.h"

namespace capi::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ImageConfig, IsReadAsImagesHaveIt_G9) {
  const ImageConfig config = ReadImageConfig(R"({"architecture": "amd64", "config": {"Entrypoint": ["/manager", "-v"],
      "Cmd": null, "Env": ["PATH=/bin", "A=b=c", "EMPTY="], "WorkingDir": "app", "User": "65532:65532"}})")
                                 .value();
  EXPECT_THAT(config.entrypoint, ElementsAre("/manager", "-v"));
  EXPECT_TRUE(config.cmd.empty());
  EXPECT_THAT(config.environment, ElementsAre(Pair("PATH", "/bin"), Pair("A", "b=c"), Pair("EMPTY", "")));
  EXPECT_EQ(config.working_folder, "/app");
  EXPECT_EQ(config.Variable("A"), "b=c");
  EXPECT_EQ(config.Variable("B"), "");
  EXPECT_EQ(ReadImageConfig("{}")->working_folder, "/");
}

TEST(ImageConfig, WhatIsNoneIsRefused_G9) {
  for (const char* text : {"", "[]", R"({"config": {"Cmd": "sh"}})", R"({"config": {"Cmd": [1]}})",
                           R"({"config": {"Entrypoint": ["a\u0000b"]}})", R"({"config": {"Env": ["A"]}})",
                           R"({"config": {"Env": ["=a"]}})", R"({"config": {"WorkingDir": "/\u0000"}})"}) {
    auto read = ReadImageConfig(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
  }
}

TEST(ImageConfig, OfAnIndexTheManifestForThisMachineIsChosen_G9) {
  const MadeImage amd = MakeImage({"a"}, {{"Cmd", {"a"}}}, "amd64"),
                  arm = MakeImage({"b", "c"}, {{"Cmd", {"b"}}}, "arm64");
  const MadeImage both = MadeImage::Index({{"amd64", amd}, {"arm64", arm}});
  EXPECT_EQ(ChooseManifest(both.image, {"linux", "amd64", ""})->digest, amd.image.digest());
  const ChosenManifest chosen = ChooseManifest(both.image, {"linux", "arm64", ""}).value();
  EXPECT_EQ(chosen.digest, arm.image.digest());
  ASSERT_EQ(chosen.layers.size(), 2u);
  EXPECT_EQ(chosen.layers[0].digest, fetch::OciDigest(Gzip("b")));
  EXPECT_EQ(chosen.layers[1].size, Gzip("c").size());
  auto none = ChooseManifest(both.image, {"linux", "s390x", ""});
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("it is not for linux/s390x; there is linux/amd64, linux/arm64"));
  EXPECT_EQ(ChooseManifest(amd.image, {"linux", "s390x", ""})->digest, amd.image.digest()) << "its configuration tells";
}

// G9: one for newer processors may not run here.
TEST(ImageConfig, OneForAnyProcessorGoesBeforeOneForNewerOnes_G9) {
  const MadeImage newer = MakeImage({"a"}, {{"Cmd", {"a"}}}, "amd64"),
                  any = MakeImage({"b"}, {{"Cmd", {"b"}}}, "amd64");
  MadeImage index = MadeImage::Index({{"amd64", newer}, {"amd64", any}});
  Json root = ParseJson(index.image.root().text).value();
  root["manifests"][0]["platform"]["variant"] = "v3";
  index.image.manifests.back().text = ToJsonText(root);
  EXPECT_EQ(ChooseManifest(index.image, {"linux", "amd64", ""})->digest, any.image.digest());
  root["manifests"].erase(1);
  index.image.manifests.back().text = ToJsonText(root);
  EXPECT_EQ(ChooseManifest(index.image, {"linux", "amd64", ""})->digest, newer.image.digest());
}

TEST(ImageConfig, LayersThatCantBeReadAreRefusedBeforeAnyIs_G9) {
  const MadeImage packed = MakeImage({"a"}, {}, "amd64", "application/vnd.oci.image.layer.v1.tar+zstd");
  auto chosen = ChooseManifest(packed.image, {"linux", "amd64", ""});
  EXPECT_EQ(chosen.code(), Code::kUnsupported);
  EXPECT_THAT(chosen.error().message, HasSubstr("zstd"));
  MadeImage foreign = MakeImage({"a"}, {}, "amd64");
  foreign.image.blobs.erase(fetch::OciDigest(Gzip("a")));
  EXPECT_EQ(ChooseManifest(foreign.image, {"linux", "amd64", ""}).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace capi::local
