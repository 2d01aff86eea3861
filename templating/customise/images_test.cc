#include "templating/customise/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/vectors.h"
#include "base/yaml/yaml.h"
#include "templating/customise/image_reference.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// The value of the `images` key in a case: text, a map, or nothing.
Result<ImageOverrides> OverridesOf(const Json& c) {
  const Json& overrides = c["overrides"];
  if (overrides.is_null()) return ImageOverrides();
  return ParseImageOverrides(overrides.is_string() ? overrides.get<std::string>() : ToYaml(overrides));
}

TEST(ImageReference, FollowsTheVectors) {
  RunVectors("image-reference.json", [](const Json&, const Json& c) {
    auto image = c["image"].get<std::string>();
    auto got = ImageReference::Parse(image);
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok());
      EXPECT_THAT(got.error().message, HasSubstr(c["error"].get<std::string>()));
      return;
    }
    ASSERT_TRUE(got.ok()) << got.error().message;
    const Json& want = c["want"];
    EXPECT_EQ(got->repository, want["repository"].get<std::string>());
    EXPECT_EQ(got->name, want["name"].get<std::string>());
    EXPECT_EQ(got->tag, want["tag"].get<std::string>());
    EXPECT_EQ(got->digest, want["digest"].get<std::string>());
    EXPECT_EQ(got->ToString(), image);
  });
}

// Texts of the reference that come from Go's decoder; ours name the key instead.
bool IsDecoderText(const std::string& error) { return error.find("failed to unmarshal") != std::string::npos; }

TEST(OverrideImage, FollowsTheVectors) {
  RunVectors("image-overrides.json", [](const Json&, const Json& c) {
    auto overrides = OverridesOf(c);
    auto got = overrides.ok()
                   ? OverrideImage(c["component"].get<std::string>(), c["image"].get<std::string>(), *overrides)
                   : Result<std::string>(overrides.error());
    if (!c.contains("error")) {
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(*got, c["want"].get<std::string>());
      return;
    }
    ASSERT_FALSE(got.ok());
    auto error = c["error"].get<std::string>();
    EXPECT_THAT(got.error().message,
                HasSubstr(IsDecoderText(error) ? "failed to unmarshal image override configurations: " : error));
  });
}

std::vector<kube::Object> Parse(std::string_view yaml) {
  std::vector<kube::Object> out;
  auto documents = ParseYamlStream(yaml).value();
  for (auto& document : documents) out.emplace_back(std::move(document.value));
  return out;
}

TEST(FixImages, TouchesDeploymentsAndDaemonSetsAndNamesWhatItCannotRead) {
  auto objects = Parse(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
      "{containers: [{name: m, image: a.b/m:1}], initContainers: [{name: i, image: a.b/i:1}]}}}}\n---\n"
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: "
      "{containers: [{name: m, image: a.b/m:1}]}}}}\n");
  ASSERT_TRUE(FixImages(objects, "infrastructure-x", {{"all", {"mirror.io", "", ""}}}).ok());
  EXPECT_THAT(ListImages(objects), testing::ElementsAre("mirror.io/m:1", "mirror.io/i:1"));
  EXPECT_EQ(objects[1].json()["spec"]["template"]["spec"]["containers"][0]["image"], "a.b/m:1");

  objects = Parse(
      "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: "
      "{initContainers: [{name: i, image: nginx}]}}}}\n");
  auto fixed = FixImages(objects, "x", {});
  ASSERT_FALSE(fixed.ok());
  EXPECT_EQ(fixed.error().message,
            "failed to apply image overrides: failed to fix containers in daemonset d: failed to fix init containers: "
            "failed to fix image for container i: couldn't parse image name: repository name must be canonical");
}

}  // namespace
}  // namespace capi::templating
