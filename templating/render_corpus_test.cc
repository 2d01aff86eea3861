// Every real release, rendered with its defaults, against what clusterctl makes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/testing/vectors.h"
#include "templating/render.h"
#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

std::string OneLine(const kube::Object& object) {
  return fmt::format("{} {} {} {}", object.api_version(), object.kind(), object.ns().empty() ? "-" : object.ns(),
                     object.name());
}

std::vector<std::string> Lines(const std::vector<kube::Object>& objects) {
  std::vector<std::string> out;
  for (const kube::Object& object : objects) out.push_back(OneLine(object));
  return out;
}

Variables FromCase(const Json& c) {
  return [&c](const std::string& name) -> std::optional<std::string> {
    const Json* value = Find(c, {"variables", name});
    if (value == nullptr) return std::nullopt;
    return value->get<std::string>();
  };
}

RenderInput InputOf(const Json& c, const api::Release& release) {
  RenderInput input;
  input.type = api::KindByName(c["provider"]["type"].get<std::string>())->type;
  input.name = c["provider"]["name"].get<std::string>();
  input.release = &release;
  input.variables = FromCase(c);
  return input;
}

TEST(RenderCorpus, EqualsClusterctlOnEveryRelease) {
  Json vectors = LoadVectors("components-corpus.json");
  if (ReleasesDir().empty()) GTEST_SKIP() << kNoReleases;
  size_t rendered = 0;
  for (const Json& c : vectors["cases"]) {
    std::string id = c["id"].get<std::string>();
    SCOPED_TRACE(id);
    api::Release release;
    release.components = LoadReleaseFile(id);
    RenderInput input = InputOf(c, release);
    input.keep_namespace_object = true;
    auto result = Render(input);
    if (c.contains("error")) {
      ASSERT_TRUE(result.error.has_value());
      EXPECT_THAT(result.error->error.message, testing::HasSubstr(c["error"].get<std::string>()));
      continue;
    }
    ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
    ++rendered;
    const Json& want = c["want"];
    EXPECT_EQ(result.output->target_namespace, want["namespace"].get<std::string>());
    EXPECT_EQ(result.output->variables, want["variables"].is_null()
                                            ? std::vector<std::string>()
                                            : want["variables"].get<std::vector<std::string>>());
    EXPECT_EQ(result.output->images, want["images"].get<std::vector<std::string>>());
    EXPECT_EQ(Lines(result.output->objects), want["objects"].get<std::vector<std::string>>());
  }
  EXPECT_GE(rendered, 66u);
}

// I8, I14: what the operator applies has no Namespace, no owners, and every object where it belongs.
TEST(RenderCorpus, TheOperatorsObjectsAreAllInItsNamespace) {
  Json vectors = LoadVectors("components-corpus.json");
  if (ReleasesDir().empty()) GTEST_SKIP() << kNoReleases;
  for (const Json& c : vectors["cases"]) {
    if (c.contains("error")) continue;
    std::string id = c["id"].get<std::string>();
    SCOPED_TRACE(id);
    api::Release release;
    release.components = LoadReleaseFile(id);
    api::ProviderSpec spec;
    RenderInput input = InputOf(c, release);
    input.spec = &spec;
    input.target_namespace = "target-ns";
    auto result = Render(input);
    ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
    for (const kube::Object& object : result.output->objects) {
      EXPECT_NE(object.kind(), "Namespace");
      EXPECT_EQ(Find(object.json(), {"metadata", "ownerReferences"}), nullptr);
      EXPECT_TRUE(object.ns().empty() || object.ns() == "target-ns") << OneLine(object);
      EXPECT_EQ(object.label(api::kLabelProvider), api::ManifestLabel(input.type, input.name));
    }
    EXPECT_EQ(result.output->objects.size() + 1, c["want"]["objects"].size());
  }
}

}  // namespace
}  // namespace capi::templating
