// spec.manifestPatches and spec.patches, against what cluster-api-operator makes of them
// (testdata/vectors/patches.json).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "base/testing/vectors.h"
#include "templating/render.h"
#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// What we expect of a superseded case: which objects change (from T001).
struct Departure {
  std::string_view change;  // a JSON merge patch for each object of kind `kind`
  std::string_view kind;
};

const std::map<std::string, Departure>& Departures() {
  static const std::map<std::string, Departure> kTable = {
      {"T007", {R"({"metadata": {"labels": {"x": true}}})", "Service"}},
      {"T008", {"", ""}},
      {"T009", {"", ""}},
  };
  return kTable;
}

// I14: ours have no owners.
Json Cleaned(Json objects) {
  for (Json& object : objects) object["metadata"].erase("ownerReferences");
  return WithoutEmpty(objects);
}

Json Wanted(const Json& vectors, const Json& c, const Departure* departure) {
  Json objects = vectors["cases"][0]["want"]["objects"];
  if (departure == nullptr) {
    for (const Json& changed : c["want"].value("changed", Json::array())) {
      objects[changed["index"].get<size_t>()] = changed["object"];
    }
  } else if (!departure->change.empty()) {
    for (Json& object : objects) {
      if (object["kind"] == departure->kind) object.merge_patch(ParseJson(departure->change).value());
    }
  }
  return Cleaned(objects);
}

void Check(const Json& vectors, const Json& c, const Departure* departure) {
  auto provider = api::ParseProvider(kube::Object(c["provider"]));
  ASSERT_TRUE(provider.ok()) << provider.error().message;
  api::Release release;
  release.components = vectors["bases"][c["base"].get<std::string>()]["components"].get<std::string>();
  RenderInput input;
  input.type = provider->id.type;
  input.name = provider->id.name;
  input.release = &release;
  input.target_namespace = provider->id.ns;
  input.spec = &provider->spec;
  auto result = Render(input);
  if (c.contains("error")) {
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->step, RenderStep::kPatch);
    return;
  }
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  Json got = Json::array();
  for (const kube::Object& object : result.output->objects) got.push_back(object.json());
  EXPECT_EQ(Json::diff(Wanted(vectors, c, departure), Cleaned(got)), Json::array());
  bool silent = c["what"].get<std::string>().find("silent") != std::string::npos;
  if (silent) {
    EXPECT_THAT(result.output->warnings, testing::ElementsAre(HasSubstr("matches no object")));
  }
}

TEST(PatchVectors, FollowTheReferenceButForTheSupersededOnes) {
  RunVectors(
      "patches.json", [](const Json& vectors, const Json& c) { Check(vectors, c, nullptr); },
      [](const Json& vectors, const Json& c) { Check(vectors, c, &Departures().at(c["id"].get<std::string>())); });
}

}  // namespace
}  // namespace capi::templating
