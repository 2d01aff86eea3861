#include "cli/operator_manifests/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/version.h"
#include "base/yaml/yaml.h"
#include "cli/operator_manifests/embedded.h"
#include "kube/meta/kind.h"

namespace capi::cli {
namespace {

templating::ImageOverrides Overrides(const std::string& yaml) { return templating::ParseImageOverrides(yaml).value(); }

// L10.
TEST(OperatorImage, IsTheGivenOneOrTheManifestsWithWhatOverridesReplace) {
  struct Case {
    std::string given, overrides, want;
  };
  const std::string own = "capi-operator:" + std::string(kProjectVersion);
  const std::string digest = "@sha256:" + std::string(64, 'a');
  for (const Case& c : {
           Case{"", "{}", own},
           Case{"", "{all: {repository: mirror.example.com/capi}}", "mirror.example.com/capi/" + own},
           Case{"", "{capi-operator: {repository: r.example.com, tag: v9.9.9}, all: {repository: mirror.example.com}}",
                "r.example.com/capi-operator:v9.9.9"},
           Case{"", "{capi-operator/capi-operator: {name: other}}",
                "docker.io/library/other:" + std::string(kProjectVersion)},
           Case{"", "{infrastructure-aws: {repository: mirror.example.com}}", own},
           Case{"localhost:5000/x:v1", "{all: {repository: mirror.example.com}}", "localhost:5000/x:v1"},
           Case{"capi-operator:dev", "{}", "capi-operator:dev"},
           Case{"r.example.com/x" + digest, "{}", "r.example.com/x" + digest},
       }) {
    auto image = OperatorImage(c.given, Overrides(c.overrides));
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ(*image, c.want);
  }
  for (const char* bad : {"r.example.com/x", "R:x", "r.example.com/", "a b:c"}) {
    EXPECT_FALSE(OperatorImage(bad, {}).ok()) << bad;
  }
  EXPECT_TRUE(NamesRegistry("localhost/x:1") && NamesRegistry("r.example.com/x:1") && NamesRegistry("r:5000/x:1"));
  EXPECT_FALSE(NamesRegistry("capi-operator:v1") || NamesRegistry("library/x:1"));
}

// The files are those of the tree, and the kustomization says which.
TEST(EmbeddedFiles, AreThoseOfTheKustomization) {
  auto kustomization = ParseYaml(EmbeddedFiles().front().text).value();
  std::vector<std::string> listed = {"kustomization.yaml"}, embedded;
  for (const Json& resource : kustomization.at("resources")) {
    if (resource != "../crds" && resource != "webhooks.yaml") listed.push_back(resource);
  }
  for (const EmbeddedFile& file : EmbeddedFiles()) embedded.emplace_back(file.path);
  EXPECT_EQ(embedded, listed);
  // Other parts of a kustomization would have to be carried out.
  std::set<std::string> keys;
  for (const auto& [key, value] : kustomization.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"apiVersion", "images", "kind", "resources"}));
}

// L10, L11. (tools/clusterctl_init_e2e_test.py compares them with what `tools/manifests default` prints.)
TEST(OperatorObjects, HaveTheImageAndTheirLabels) {
  auto objects = OperatorObjects("r.example.com/x:v1");
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  std::set<kube::ObjectId> ids;
  size_t crds = 0, deployments = 0;
  for (const kube::Object& object : *objects) {
    EXPECT_TRUE(ids.insert(object.id()).second) << object.id().ToString();
    crds += kube::IsCrd(object);
    EXPECT_EQ(object.label("app.kubernetes.io/managed-by"), kube::IsCrd(object) ? "" : "clusterctl");
    bool versioned = kube::IsDeployment(object) || IsLast(object);
    EXPECT_EQ(object.label("app.kubernetes.io/version"), versioned ? kProjectVersion : "") << object.id().ToString();
    if (!kube::IsDeployment(object)) continue;
    ++deployments;
    EXPECT_EQ(object.name(), kOperatorDeployment);
    EXPECT_EQ(object.json().at("/spec/template/spec/containers/0/image"_json_pointer), "r.example.com/x:v1");
  }
  EXPECT_EQ(crds, 7u);
  EXPECT_EQ(deployments, 1u);
  EXPECT_GE(ids.size(), 25u);
}

}  // namespace
}  // namespace capi::cli
