#include "templating/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::templating {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::string_view kComponents = R"(apiVersion: v1
kind: Namespace
metadata:
  name: capx-system
  labels:
    pod-security.kubernetes.io/enforce: restricted
---
apiVersion: example.com/v1
kind: Wide
metadata: {name: wide, namespace: capx-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wides.example.com}
spec: {group: example.com, names: {kind: Wide, plural: wides}, scope: Cluster}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: issuer}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capx-controller-manager, namespace: capx-system}
spec:
  template:
    spec:
      containers: [{name: manager, image: "a.b/capx:${TAG}"}]
)";

struct Inputs {
  api::Release release{.version = {}, .metadata = "", .components = std::string(kComponents), .source = ""};
  api::ProviderSpec spec;
  RenderInput input;

  Inputs() {
    input.type = api::ProviderType::kInfrastructure;
    input.name = "x";
    input.release = &release;
    input.spec = &spec;
    input.target_namespace = "here";
    input.variables = [](const std::string&) { return "v1"; };
  }
};

const kube::Object& ByKind(const RenderOutput& output, std::string_view kind) {
  for (const kube::Object& object : output.objects) {
    if (object.kind() == kind) return object;
  }
  ADD_FAILURE() << "no " << kind;
  return output.objects.front();
}

// W25: what the release's own CRDs and Kubernetes say about scope counts, not a list of names alone.
TEST(Render, ClusterScopedObjectsGetNoNamespace) {
  Inputs in;
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  EXPECT_EQ(ByKind(*result.output, "Wide").ns(), "");
  EXPECT_EQ(ByKind(*result.output, "ClusterIssuer").ns(), "");
  EXPECT_EQ(ByKind(*result.output, "Deployment").ns(), "here");
}

TEST(Render, NobodyWishesForAnEmptyCreationTimestamp) {
  Inputs in;
  in.release.components =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}}\n---\n"
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {creationTimestamp: "
      "null}}}}\n---\n"
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, creationTimestamp: '2026-01-01T00:00:00Z'}}\n";
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  EXPECT_EQ(Find(result.output->objects[0].json(), {"metadata", "creationTimestamp"}), nullptr);
  EXPECT_EQ(Find(result.output->objects[1].json(), {"spec", "template", "metadata", "creationTimestamp"}), nullptr);
  EXPECT_NE(Find(result.output->objects[2].json(), {"metadata", "creationTimestamp"}), nullptr);
}

// W25: of other kinds the cluster knows it, where there is one; a name alone says little.
TEST(Render, TheClusterTellsTheScopeOfKindsThatItHas) {
  Inputs in;
  in.input.additional_manifests =
      "{apiVersion: other.io/v1, kind: Fleet, metadata: {name: a, namespace: b}}\n---\n"
      "{apiVersion: other.io/v1, kind: Node, metadata: {name: a}}";
  in.input.cluster_scoped = [](const kube::GroupKind& kind) -> std::optional<bool> {
    if (kind.group != "other.io") return std::nullopt;
    return kind.kind == "Fleet";
  };
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  EXPECT_EQ(ByKind(*result.output, "Fleet").ns(), "");
  EXPECT_EQ(ByKind(*result.output, "Node").ns(), "here");
  EXPECT_EQ(ByKind(*result.output, "Wide").ns(), "");
  in.input.cluster_scoped = nullptr;
  result = Render(in.input);
  EXPECT_EQ(ByKind(*result.output, "Fleet").ns(), "here");
  EXPECT_EQ(ByKind(*result.output, "Node").ns(), "") << "as clusterctl has it";
}

// I8
TEST(Render, TheReleasesNamespaceIsReportedAndNotApplied) {
  Inputs in;
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value());
  EXPECT_EQ(result.output->objects.size(), 4u);
  EXPECT_THAT(result.output->namespace_labels, ElementsAre(Pair("pod-security.kubernetes.io/enforce", "restricted")));
  in.input.keep_namespace_object = true;
  in.input.target_namespace = "";
  result = Render(in.input);
  ASSERT_TRUE(result.output.has_value());
  EXPECT_EQ(result.output->target_namespace, "capx-system");
  EXPECT_EQ(result.output->objects.front().kind(), "Namespace");
}

TEST(Render, ImageOverridesComeBeforeAndAfterCustomisation) {
  Inputs in;
  in.input.images = {{"infrastructure-x", {"one.io", "", ""}}};
  auto image = [&] {
    auto result = Render(in.input);
    return result.output
               ? GetString(ByKind(*result.output, "Deployment").json()["spec"]["template"]["spec"]["containers"][0],
                           {"image"})
               : result.error->error.message;
  };
  EXPECT_EQ(image(), "one.io/capx:v1");
  in.spec.deployment = api::DeploymentSpec{};
  in.spec.deployment->containers = {{.name = "manager", .image = "user.io/own:v9"}};
  EXPECT_EQ(image(), "user.io/own:v9");
  in.input.operator_images = {{"all", {"mirror.io", "", ""}}};
  EXPECT_EQ(image(), "mirror.io/own:v9");
}

TEST(Render, SaysWhichStepFailed) {
  struct Case {
    std::string_view name;
    void (*spoil)(Inputs&);
    RenderStep step;
    std::string_view message;
  };
  const Case cases[] = {
      {"missing variable", [](Inputs& in) { in.input.variables = nullptr; }, RenderStep::kVariables,
       "[TAG] is not set"},
      {"YAML", [](Inputs& in) { in.release.components += "---\na: b: c\n"; }, RenderStep::kParse, "line 29, column 5"},
      {"additional manifests", [](Inputs& in) { in.input.additional_manifests = "a: b: c\n"; }, RenderStep::kParse,
       "line 1, column 5 of the additional manifests"},
      {"nothing but a Namespace",
       [](Inputs& in) { in.release.components = "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n"; },
       RenderStep::kParse, "no object in it but a Namespace"},
      {"image", [](Inputs& in) { in.release.components += "      initContainers: [{name: i, image: nginx}]\n"; },
       RenderStep::kImages, "repository name must be canonical"},
      {"two namespaces",
       [](Inputs& in) {
         in.input.additional_manifests = "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n";
       },
       RenderStep::kNamespace, "it has capx-system and other"},
      {"customisation",
       [](Inputs& in) {
         in.spec.deployment = api::DeploymentSpec{};
         in.spec.deployment->containers = {{.name = "nope"}};
       },
       RenderStep::kCustomise, "cannot find container \"nope\""},
      {"patch",
       [](Inputs& in) {
         in.spec.patches = {{"[{op: remove, path: /nope}]", std::nullopt}};
       },
       RenderStep::kPatch, "spec.patches[0]: failed to apply patch to "},
      {"patch that leaves no object",
       [](Inputs& in) {
         in.spec.patches = {{"{kind: null}", std::nullopt}};
       },
       RenderStep::kPatch, "it leaves an object without apiVersion, kind or name"},
      {"patch that replaces an object",
       [](Inputs& in) {
         in.spec.patches = {{"[{op: replace, path: '', value: 1}]", std::nullopt}};
       },
       RenderStep::kPatch, "it leaves an object without apiVersion, kind or name"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Inputs in;
    c.spoil(in);
    auto result = Render(in.input);
    EXPECT_FALSE(result.output.has_value());
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->step, c.step);
    EXPECT_EQ(result.error->error.code, Code::kInvalidArgument);
    EXPECT_THAT(result.error->error.message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace capi::templating
