// The whole way on small inputs, against clusterctl's results (testdata/vectors/namespace.json).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "base/testing/vectors.h"
#include "templating/customise/images.h"
#include "templating/render.h"
#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// What we do in the superseded cases.
struct Departure {
  std::string_view error;       // what we say where we refuse
  std::string_view change;      // else how our last object differs from its: a JSON merge patch
  std::string_view order = "";  // else our order, as JSON
};

// A kind of another group is namespaced as long as nobody says otherwise, whatever its name.
constexpr Departure kMoved = {"", R"({"metadata": {"namespace": "bar"}})"};

const std::map<std::string, Departure>& Departures() {
  static const std::map<std::string, Departure> kTable = {
      {"N11c", {"", R"({"spec": {"dnsNames": ["a.capi-system.svc", "a..svc"]}})"}},
      {"N11f", {"", R"({"spec": {"dnsNames": ["a.capi-system.svc"]}})"}},
      {"N15d", {"", "{}"}},
      {"N20-CSIDriver", kMoved},
      {"N20-CSINode", kMoved},
      {"N20-CertificateSigningRequest", kMoved},
      {"N20-ClusterRole", kMoved},
      {"N20-Node", kMoved},
      {"N20-PersistentVolume", kMoved},
      {"N20-PodSecurityPolicy", kMoved},
      {"N20-PriorityClass", kMoved},
      {"N20-RuntimeClass", kMoved},
      {"N20-StorageClass", kMoved},
      {"N20-VolumeAttachment", kMoved},
      {"N21", kMoved},
      {"S6", {"", "", R"(["Namespace/bar", "ConfigMap/x1", "Namespace/foo"])"}},
      {"V5", {"failed to parse yaml: line 1, column 5: mapping values are not allowed", ""}},
      {"V9", {"there is no object in it", ""}},
      {"V10", {"there is no object in it", ""}},
      {"V12", {"", R"({"kind": "ConfigMap", "items": null, "metadata": {"name": "c"}})"}},
      {"V13", {"the document on line 1 has no kind", ""}},
      {"V14", {"the document on line 1 has no apiVersion", ""}},
  };
  return kTable;
}

RenderResult RenderCase(const Json& c) {
  api::Release release;
  release.components = c["yaml"].get<std::string>();
  RenderInput input;
  input.type = api::KindByName(c["provider"]["type"].get<std::string>())->type;
  input.name = c["provider"]["name"].get<std::string>();
  input.release = &release;
  input.target_namespace = c["target"].get<std::string>();
  input.keep_namespace_object = true;
  input.skip_substitution = c.value("skip_substitution", false);
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    const Json* value = Find(c, {"variables", name});
    return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
  };
  if (auto images = input.variables("images")) input.images = ParseImageOverrides(*images).value();
  return Render(input);
}

void ExpectOutput(const RenderOutput& output, const Json& want, std::string_view change) {
  Json got = Json::array(), order = Json::array();
  for (const kube::Object& object : output.objects) {
    got.push_back(object.json());
    order.push_back(object.kind() + "/" + object.name());
  }
  EXPECT_EQ(output.target_namespace, want["namespace"].get<std::string>());
  if (want.contains("order")) EXPECT_EQ(order, want["order"]);
  if (want.contains("images")) EXPECT_EQ(Json(output.images), want["images"]);
  if (want.contains("variables")) EXPECT_EQ(Json(output.variables), want["variables"]);
  if (!want.contains("objects")) return;
  Json objects = want["objects"];
  if (!change.empty()) objects.back().merge_patch(ParseJson(change).value());
  got = WithoutEmpty(got);
  EXPECT_EQ(got, WithoutZeroes(WithoutEmpty(objects), got));
}

void ExpectError(const RenderResult& result, std::string_view error) {
  ASSERT_TRUE(result.error.has_value());
  EXPECT_THAT(result.error->error.message, HasSubstr(std::string(error)));
}

void ExpectOutput(const RenderResult& result, const Json& c, std::string_view change) {
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  if (c.contains("want")) ExpectOutput(*result.output, c["want"], change);
}

TEST(RenderVectors, FollowClusterctlButForTheSupersededOnes) {
  auto reference = [](const Json&, const Json& c) {
    auto result = RenderCase(c);
    c.contains("error") ? ExpectError(result, c["error"].get<std::string>()) : ExpectOutput(result, c, "");
  };
  auto ours = [](const Json&, const Json& c) {
    const Departure& departure = Departures().at(c["id"].get<std::string>());
    auto result = RenderCase(c);
    if (!departure.error.empty()) return ExpectError(result, departure.error);
    Json wanted = c;
    if (!departure.order.empty()) wanted["want"]["order"] = ParseJson(departure.order).value();
    ExpectOutput(result, wanted, departure.change);
  };
  RunVectors("namespace.json", reference, ours);
}

}  // namespace
}  // namespace capi::templating
