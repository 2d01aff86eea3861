#include "templating/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

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
  EXPECT_EQ(ByKind(*result.output, "Node").ns(), "here") << "not a Node of Kubernetes'";
}

// W25: what is treated in a way of its own is told by group and kind: these are somebody's own.
TEST(Render, NamesOfKindsSayNothingInOtherGroups) {
  Inputs in;
  in.release.components =
      "{apiVersion: x.io/v1, kind: Namespace, metadata: {name: space}}\n---\n"
      "{apiVersion: x.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, subjects: [{namespace: old}]}\n---\n"
      "{apiVersion: x.io/v7, kind: MutatingWebhookConfiguration, metadata: {name: w}, webhooks: [{clientConfig: "
      "{service: {namespace: old}}}]}\n---\n"
      "{apiVersion: x.io/v7, kind: CustomResourceDefinition, metadata: {name: c}, spec: {scope: Cluster, group: y.io, "
      "names: {kind: Yard}}}\n---\n"
      "{apiVersion: y.io/v1, kind: Yard, metadata: {name: yard}}\n";
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  ASSERT_EQ(result.output->objects.size(), 5u);
  for (const kube::Object& object : result.output->objects) EXPECT_EQ(object.ns(), "here") << object.kind();
  EXPECT_EQ(ByKind(*result.output, "Namespace").name(), "space");
  EXPECT_EQ(ByKind(*result.output, "ClusterRoleBinding").json()["subjects"][0]["namespace"], "old");
  EXPECT_EQ(ByKind(*result.output, "MutatingWebhookConfiguration").json()["webhooks"][0]["clientConfig"],
            Json({{"service", {{"namespace", "old"}}}}));
}

// I8: the server behind an APIService moves with the rest.
TEST(Render, AnApiServicesServiceMoves) {
  Inputs in;
  in.release.components =
      "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x.io, namespace: old, "
      "annotations: "
      "{cert-manager.io/inject-ca-from: old/serving}}, spec: {group: x.io, version: v1, service: {name: s, namespace: "
      "old}}}\n---\n"
      "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.y.io}, spec: {group: y.io}}\n";
  auto result = Render(in.input);
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  const kube::Object& moved = result.output->objects[0];
  EXPECT_EQ(moved.ns(), "");
  EXPECT_EQ(moved.json()["spec"]["service"], Json({{"name", "s"}, {"namespace", "here"}}));
  EXPECT_EQ(moved.annotation("cert-manager.io/inject-ca-from"), "here/serving");
  EXPECT_EQ(Find(result.output->objects[1].json(), {"spec", "service"}), nullptr);
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

// I8: of two objects that become one, the second would overwrite the first.
TEST(Render, TwoObjectsOfOneIdentityAreRefusedWithBothPlaces) {
  struct Case {
    std::string_view name, components, additional;
    std::string_view message;  // "" where it is fine
  };
  const Case cases[] = {
      {"in two namespaces",
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}}\n---\n"
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: b}}\n",
       "", "Deployment.apps/here/d (line 1, and line 3)"},
      {"from the additional manifests", "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n",
       "# mine\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n",
       "Secret/here/s (line 1, and line 2 of the additional manifests)"},
      {"in a List",
       "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n"
       "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: s}}]}\n",
       "", "Secret/here/s (line 1, and line 3, item 1)"},
      {"of two versions",
       "{apiVersion: x.io/v1, kind: X, metadata: {name: x}}\n---\n"
       "{apiVersion: x.io/v2, kind: X, metadata: {name: x}}\n",
       "", "X.x.io/here/x (line 1, and line 3)"},
      {"cluster-scoped",
       "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n---\n"
       "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r, namespace: a}}",
       "", "ClusterRole.rbac.authorization.k8s.io/r (line 1, and line 3)"},
      {"six times",
       "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: "
       "s}}\n---\n"
       "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: "
       "s}}\n---\n"
       "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: "
       "s}}\n",
       "", "Secret/here/s (line 1, and line 7) and 2 more"},
      {"of two groups",
       "{apiVersion: x.io/v1, kind: X, metadata: {name: x}}\n---\n"
       "{apiVersion: y.io/v1, kind: X, metadata: {name: x}}\n",
       "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Inputs in;
    in.release.components = c.components;
    in.input.additional_manifests = c.additional;
    auto result = Render(in.input);
    ASSERT_EQ(result.output.has_value(), c.message.empty());
    if (c.message.empty()) continue;
    EXPECT_EQ(result.error->step, RenderStep::kDuplicates);
    EXPECT_THAT(result.error->error.message, testing::EndsWith(std::string(c.message)));
  }
}

// U4, U11: by its labels an object is found again, so patches can't take them away, nor give it to another provider.
TEST(Render, OurLabelsHoldWhateverPatchesDo) {
  const std::string_view patches[] = {
      "{metadata: {labels: null}}",
      "{metadata: {labels: {cluster.x-k8s.io/provider: infrastructure-other, clusterctl.cluster.x-k8s.io: 'no'}}}",
      "[{op: add, path: /metadata/labels, value: {a: b}}]",
      "[{op: add, path: /metadata/labels, value: 5}]",
  };
  for (std::string_view patch : patches) {
    SCOPED_TRACE(patch);
    Inputs in;
    in.spec.patches = {{std::string(patch), std::nullopt}};
    auto result = Render(in.input);
    ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
    for (const kube::Object& object : result.output->objects) {
      EXPECT_EQ(object.label("cluster.x-k8s.io/provider"), "infrastructure-x");
      EXPECT_TRUE(object.has_label("clusterctl.cluster.x-k8s.io"));
      EXPECT_EQ(object.label("clusterctl.cluster.x-k8s.io"), "");
    }
  }
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

// An input that is spoilt, and what is said of it.
struct Failure {
  std::string_view name;
  void (*spoil)(Inputs&);
  RenderStep step;
  std::string_view message;
};

void ExpectFailures(std::span<const Failure> failures) {
  for (const auto& c : failures) {
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

TEST(Render, SaysWhichStepFailed) {
  const Failure failures[] = {
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
      {"patch that makes a Namespace",
       [](Inputs& in) {
         in.spec.patches = {
             {"{apiVersion: v1, kind: Namespace, metadata: {name: other}}", api::PatchTarget{.kind = "ClusterIssuer"}}};
       },
       RenderStep::kPatch, "a patch makes a Namespace (other) of an object"},
      {"patch that makes two objects one",
       [](Inputs& in) {
         in.input.additional_manifests = "{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: b}}";
         in.spec.patches = {{"{metadata: {name: same}}", api::PatchTarget{.kind = "ClusterIssuer"}}};
       },
       RenderStep::kPatch,
       "two objects would be one, and the second overwrite the first: ClusterIssuer.cert-manager.io/same"},
      {"patch that replaces an object",
       [](Inputs& in) {
         in.spec.patches = {{"[{op: replace, path: '', value: 1}]", std::nullopt}};
       },
       RenderStep::kPatch, "it leaves an object without apiVersion, kind or name"},
  };
  ExpectFailures(failures);
}

// I8: what keeps objects out of one namespace has reasons of its own.
TEST(Render, SaysWhyObjectsDontFitIntoANamespace) {
  const Failure failures[] = {
      {"two namespaces",
       [](Inputs& in) {
         in.input.additional_manifests = "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n";
       },
       RenderStep::kTwoNamespaces, "it has capx-system and other"},
      {"no namespace to move to",
       [](Inputs& in) {
         in.release.components = "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n";
         in.input.target_namespace = "";
       },
       RenderStep::kNamespace, "Please specify a target namespace"},
      {"an annotation that can't be moved",
       [](Inputs& in) {
         in.input.additional_manifests =
             "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: c, annotations: "
             "{cert-manager.io/inject-ca-from: x}}}";
       },
       RenderStep::kNamespace, "does not have a correct value for cert-manager.io/inject-ca-from"},
      {"the same object again",
       [](Inputs& in) {
         in.input.additional_manifests =
             "{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: issuer}}";
       },
       RenderStep::kDuplicates,
       "ClusterIssuer.cert-manager.io/issuer (line 17, and line 1 of the additional manifests)"},
  };
  ExpectFailures(failures);
}

}  // namespace
}  // namespace capi::templating
