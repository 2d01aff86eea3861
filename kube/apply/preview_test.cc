#include "kube/apply/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::kube {
namespace {

using ::testing::ElementsAreArray;

// A2: places by their path, items of lists by their name.
TEST(DifferingPaths, AreNamed) {
  struct Case {
    std::string a, b;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"{a: 1}", "{a: 1}", {}},
      {"{a: 1, b: {c: 2}}", "{a: 2, b: {}}", {"a", "b.c"}},
      {"{metadata: {resourceVersion: '1', generation: 3, labels: {x: y}}}",
       "{metadata: {labels: {x: z}}}",
       {"metadata.labels.x"}},
      // The Deployment's controller wrote between two looks (A1c).
      {"{metadata: {name: d}}",
       "{metadata: {name: d, annotations: {deployment.kubernetes.io/revision: '1'}}, status: {observedGeneration: 1}}",
       {}},
      {"{metadata: {annotations: {x: '1'}}}",
       "{metadata: {annotations: {deployment.kubernetes.io/revision: '1', x: '2'}}}",
       {"metadata.annotations.x"}},
      {"{c: [{name: a, v: 1}, {name: b, v: 1}]}", "{c: [{name: b, v: 2}, {name: a, v: 1}]}", {"c[b].v"}},
      {"{c: [{name: a}]}", "{c: [{name: a}, {name: d}]}", {"c[d]"}},
      {"{args: [x, y]}", "{args: [x, z]}", {"args[1]"}},
      {"{args: [x, y]}", "{args: [x, y, z]}", {"args"}},
      {"{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: {conversion: {webhook: "
       "{clientConfig: {caBundle: Cg==}}}}}",
       "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: {conversion: {webhook: "
       "{clientConfig: {}}}}}",
       {}},
  };
  for (const Case& c : cases) {
    auto a = ParseYaml(c.a), b = ParseYaml(c.b);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_THAT(DifferingPaths(Object(*a), Object(*b)), ElementsAreArray(c.want)) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace capi::kube
