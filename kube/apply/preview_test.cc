#include "kube/apply/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "base/yaml/yaml.h"

namespace capi::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

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

// L23: what isn't there yet holds up nothing; what can't be read is named, each.
TEST(TakeOverAll, NamesWhatItCouldNotTakeOver) {
  auto server = http::Server::Start({}, [](const http::ServerRequest& request) -> http::Response {
    if (request.path == "/apis") return {.status = 200, .headers = {}, .body = R"({"groups":[]})"};
    const bool forbidden = request.path.find("/forbidden") != request.path.npos;
    return {.status = forbidden ? 403 : 404, .headers = {}, .body = "{}"};
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  auto client = *Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
  std::vector<Manifest> manifests;
  for (const char* name : {"absent", "forbidden-a", "forbidden-b"}) {
    manifests.push_back(ToManifest(
        Object(Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", "n"}}}})));
  }
  const PreviewOptions options{.field_manager = "us"};
  const std::vector<Manifest> first = {manifests[0]};
  EXPECT_TRUE(TakeOverAll(*client, Context{}.WithTimeout(Seconds(30)), first, options).ok());
  auto taken = TakeOverAll(*client, Context{}.WithTimeout(Seconds(30)), manifests, options);
  ASSERT_EQ(taken.code(), Code::kPermissionDenied);
  EXPECT_THAT(taken.error().message,
              AllOf(HasSubstr("ConfigMap/n/forbidden-a: "), HasSubstr("ConfigMap/n/forbidden-b: ")));
}

}  // namespace
}  // namespace capi::kube
