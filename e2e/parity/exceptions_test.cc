// Each row of the table of exceptions, on a release made for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/files.h"
#include "base/processes/temporary_folder.h"
#include "base/yaml/yaml.h"
#include "e2e/parity/compare.h"
#include "e2e/parity/exceptions.h"

namespace capi::e2e {
namespace {

struct Example {
  std::string_view name;
  std::string_view components;   // beside a Namespace
  std::string_view differences;  // of the last object, as a JSON patch from the real one's to ours; "" for failures
  std::string_view contract = "v1beta1";
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

// What Go's structures would add is there already.
constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
status: {}
spec:
  strategy: {}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: manager
        image: example.com/a/b:v1
)";

constexpr Example kExamples[] = {
    {"zero-values", "        env: [{name: A, value: ''}]\n        resources: {}",
     R"([{op: add, path: /spec/template/spec/containers/0/env/0/value, value: ''}])"},
    {"quantities", "        resources: {limits: {cpu: 1000m, memory: 1024Mi}}",
     R"([{op: replace, path: /spec/template/spec/containers/0/resources/limits/cpu, value: 1000m},
         {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 1024Mi}])"},
    {"creation-timestamp", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}}",
     R"([{op: remove, path: /metadata/creationTimestamp}])"},
    {"cluster-scoped", "{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: a}}",
     R"([{op: remove, path: /metadata/namespace}])"},
    {"unknown-fields", "        newInKubernetes: 1\n        resources: {}",
     R"([{op: add, path: /spec/template/spec/containers/0/newInKubernetes, value: 1}])"},
    {"wrong-types", "        stdin: 1\n        resources: {}", ""},
    {"old-contract", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "", "v1alpha4"},
    {"two-namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: b}}", "", "v1alpha3"},
    {"duplicates",
     "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}}\n---\n"
     "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: c}}",
     ""},
    {"changed-type", "        env: [{name: A, value: ${A:=5}}]\n        resources: {}", ""},
    {"lists", "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}",
     R"([{op: remove, path: /items}, {op: replace, path: /kind, value: Secret},
         {op: add, path: /metadata/name, value: a}])"},
    {"api-services",
     "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.a.io}, spec: {service: {name: s, "
     "namespace: old}}}",
     R"([{op: remove, path: /metadata/namespace},
         {op: replace, path: /spec/service/namespace, value: made-system}])"},
};

// What docs/parity.md calls equal.
TEST(DropEmptyParts, LeavesWhatSaysSomething) {
  struct Case {
    std::string_view real, ours;
    bool equal;
  };
  const Case cases[] = {
      {"{kind: CustomResourceDefinition, status: {conditions: null, storedVersions: []}}",
       "{kind: CustomResourceDefinition}", true},
      {"{kind: CustomResourceDefinition, status: {storedVersions: [v1]}}", "{kind: CustomResourceDefinition}", false},
      {"{kind: Deployment, status: {}, spec: {strategy: {}, template: {spec: {containers: [{resources: {}}]}}}}",
       "{kind: Deployment, spec: {template: {spec: {containers: [{}]}}}}", true},
      {"{kind: Deployment, spec: {strategy: {type: Recreate}}}", "{kind: Deployment, spec: {}}", false},
      {"{kind: Deployment, spec: {replicas: 0}}", "{kind: Deployment, spec: {}}", false},
      {"{kind: MutatingWebhookConfiguration, webhooks: [{admissionReviewVersions: null, sideEffects: null}]}",
       "{kind: MutatingWebhookConfiguration, webhooks: [{}]}", true},
      {"{kind: Secret, status: {}}", "{kind: Secret}", false},
  };
  for (const Case& c : cases) {
    Json real = *ParseYaml(c.real);
    const Json ours = *ParseYaml(c.ours);
    DropEmptyParts(real, ours);
    EXPECT_EQ(real == ours, c.equal) << c.real;
  }
}

bool IsForgiven(std::string_view name) {
  auto rows = ParityExceptions();
  auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& e) { return e.name == name; });
  return row != rows.end() && (row->amend != nullptr || row->fails != nullptr);
}

// What ours refuses though the real one prints it, and with a name that an exception has, is still a difference.
TEST(Compare, ARefusalOfOursAloneIsNoException) {
  const Json once = *ParseYaml("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}}");
  const Json other = *ParseYaml("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: c}}");
  const Json foreign = *ParseYaml("{apiVersion: example.com/v1, kind: Secret, metadata: {name: a, namespace: b}}");
  const Printed duplicates{.exit_code = 1, .error = "two objects would be one: Secret b/a"};
  const Printed type{.exit_code = 1, .error = "data.a is a number, and it has to be a string"};
  const Printed decoding{.exit_code = 1, .error = "unable to convert unstructured object to apps/v1 Deployment"};
  struct Case {
    std::string_view what;
    Printed real, ours;
    Mode mode;
    std::string_view cell;
  };
  const Case cases[] = {
      {"printed twice", {.objects = {once, other, once}}, duplicates, Mode::kDefault, "duplicates"},
      {"printed once each", {.objects = {once, other, foreign}}, duplicates, Mode::kDefault, "different"},
      {"another refusal", decoding, duplicates, Mode::kDefault, "different"},
      {"values make it so", {.objects = {once}}, type, Mode::kAll, "changed-type"},
      {"its own defaults", {.objects = {once}}, type, Mode::kDefault, "different"},
      {"the real one sees it too", decoding, type, Mode::kDefault, "changed-type"},
      {"it refuses something else", {.exit_code = 1, .error = "no"}, type, Mode::kAll, "different"},
  };
  for (const Case& c : cases) EXPECT_EQ(Compare(c.real, c.ours, c.mode).Cell(), c.cell) << c.what;
}

class ExceptionTest : public testing::TestWithParam<Example> {
 protected:
  // A release of infrastructure provider "made" in a folder of its own.
  ParityCase Made(const Example& example) {
    ParityCase out{.release = {.type = api::ProviderType::kInfrastructure, .name = "made", .version = "v1.0.0"},
                   .file = "infrastructure-components.yaml"};
    out.release.path = folder_.path() + "/" + out.release.Id();
    std::filesystem::create_directories(out.release.path);
    std::string text = "{apiVersion: v1, kind: Namespace, metadata: {name: made-system}}\n---\n";
    if (example.components.starts_with("  ")) text += kDeployment;
    text.append(example.components).append("\n");
    EXPECT_TRUE(WriteFile(out.release.path + "/" + out.file, text).ok());
    std::string metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n";
    metadata.append("releaseSeries: [{major: 1, minor: 0, contract: ").append(example.contract).append("}]\n");
    EXPECT_TRUE(WriteFile(out.release.path + "/metadata.yaml", metadata).ok());
    return out;
  }

  TemporaryFolder folder_;
};

TEST_P(ExceptionTest, IsWhatTheTableSays) {
  const Example& example = GetParam();
  auto program = RealClusterctl();
  ASSERT_TRUE(program.ok()) << program.error().message;
  ParityCase c = Made(example);
  auto real = program->Generate(c);
  auto ours = OurClusterctl().Generate(c);
  ASSERT_TRUE(real.ok()) << real.error().message;
  ASSERT_TRUE(ours.ok()) << ours.error().message;
  if (IsForgiven(example.name)) {
    Verdict verdict = Compare(*real, *ours, c.mode);
    EXPECT_THAT(verdict.differences, testing::IsEmpty());
    EXPECT_THAT(verdict.exceptions, testing::ElementsAre(example.name));
  }
  if (example.differences.empty()) return;
  ASSERT_EQ(real->objects.size(), ours->objects.size()) << ours->error;
  EXPECT_EQ(Json::diff(real->objects.back(), ours->objects.back()), *ParseYaml(example.differences));
}

INSTANTIATE_TEST_SUITE_P(Each, ExceptionTest, testing::ValuesIn(kExamples), [](const auto& test) {
  std::string name(test.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ExceptionTable, EachRowHasAnExample) {
  std::vector<std::string_view> rows, examples;
  for (const ParityException& exception : ParityExceptions()) rows.push_back(exception.name);
  for (const Example& example : kExamples) examples.push_back(example.name);
  EXPECT_THAT(rows, testing::UnorderedElementsAreArray(examples));
}

}  // namespace
}  // namespace capi::e2e
