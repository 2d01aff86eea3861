// The whole way on small inputs, against clusterctl's results (vectors/namespace.json).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "templating/images.h"
#include "templating/render.h"
#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// Where we depart from clusterctl on purpose.
struct Departure {
  std::string_view rule;
  std::string_view error;   // what we say where we refuse
  std::string_view change;  // else how our last object differs from its: a JSON merge patch
};

// Cluster-scoped objects never keep a namespace: the field means nothing to the API server, and identities would
// differ.
constexpr Departure kNoNamespace = {"peer-operator.md W25", "", R"({"metadata": {"namespace": null}})"};

const std::map<std::string, Departure>& Departures() {
  static const std::map<std::string, Departure> kTable = {
      {"N11c",
       {"clusterctl.md 2.6: a name without the old namespace stays", "",
        R"({"spec": {"dnsNames": ["a.capi-system.svc", "a..svc"]}})"}},
      {"N15d", {"F2: old bindings are moved as new ones are", "", "{}"}},
      {"N20-CSIDriver", kNoNamespace},
      {"N20-CSINode", kNoNamespace},
      {"N20-CertificateSigningRequest", kNoNamespace},
      {"N20-ClusterRole", kNoNamespace},
      {"N20-Node", kNoNamespace},
      {"N20-PersistentVolume", kNoNamespace},
      {"N20-PodSecurityPolicy", kNoNamespace},
      {"N20-PriorityClass", kNoNamespace},
      {"N20-RuntimeClass", kNoNamespace},
      {"N20-StorageClass", kNoNamespace},
      {"N20-VolumeAttachment", kNoNamespace},
      {"N21", kNoNamespace},
      {"V5", {"F2: line and column", "failed to parse yaml: line 1, column 5: mapping values are not allowed", ""}},
      {"V9", {"F2: an empty components file", "there is no object in it", ""}},
      {"V10", {"F2: an empty components file", "there is no object in it", ""}},
      {"V13", {"F2: a document that is no object", "the document on line 1 has no kind", ""}},
      {"V14", {"F2: a document that is no object", "the document on line 1 has no apiVersion", ""}},
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

TEST(RenderVectors, FollowClusterctlButForTheDeparturesNamedHere) {
  Json vectors = LoadVectors("namespace.json");
  if (vectors.is_null()) GTEST_SKIP() << kNoVectors;
  size_t departed = 0;
  for (const Json& c : vectors["cases"]) {
    auto id = c["id"].get<std::string>();
    SCOPED_TRACE(id + " " + c["what"].get<std::string>());
    auto found = Departures().find(id);
    Departure departure = found == Departures().end() ? Departure{} : found->second;
    departed += found != Departures().end();
    bool accepts = !c.contains("error") || !departure.change.empty();
    std::string error = !departure.error.empty() ? std::string(departure.error) : c.value("error", std::string());
    auto result = RenderCase(c);
    if (accepts && departure.error.empty()) {
      ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
      if (c.contains("want")) ExpectOutput(*result.output, c["want"], departure.change);
    } else {
      ASSERT_TRUE(result.error.has_value());
      EXPECT_THAT(result.error->error.message, HasSubstr(error));
    }
  }
  EXPECT_EQ(departed, Departures().size());
}

}  // namespace
}  // namespace capi::templating
