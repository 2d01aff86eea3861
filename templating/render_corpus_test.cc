// Every release of the set, rendered with its defaults: against what its text says, and, of the vendors', against what
// clusterctl makes of it (testdata/vectors/components-corpus.json).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "api/testing/release_folder.h"
#include "base/files.h"
#include "base/testing/value_or_abort.h"
#include "base/testing/vectors.h"
#include "templating/render.h"
#include "templating/testing/release_text.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

std::string OneLine(const kube::Object& object) {
  return fmt::format("{} {} {} {}", object.api_version(), object.kind(), object.ns().empty() ? "-" : object.ns(),
                     object.name());
}

std::vector<std::string> Lines(const std::vector<kube::Object>& objects) {
  std::vector<std::string> out;
  for (const kube::Object& object : objects) out.push_back(OneLine(object));
  return out;
}

// What OneLine prints of the text's objects, the namespaces those of the text but for namespaced objects in `ns`.
std::vector<std::string> LinesOf(const ReleaseText& text, const std::string& ns, bool with_namespace_object) {
  std::vector<std::string> out;
  for (const Json& o : text.objects) {
    bool is_namespace = GetString(o, {"kind"}) == "Namespace";
    if (is_namespace && !with_namespace_object) continue;
    bool namespaced = !GetString(o, {"metadata", "namespace"}).empty();
    out.push_back(fmt::format("{} {} {} {}", GetString(o, {"apiVersion"}), GetString(o, {"kind"}),
                              namespaced ? ns : "-", is_namespace ? ns : GetString(o, {"metadata", "name"})));
  }
  return out;
}

Variables From(const api::VariableValues& values) {
  return [&values](const std::string& name) -> std::optional<std::string> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
}

// Calls `check` with every components file of the set, and an input for it.
void ForEachFile(const std::function<void(const ReleaseText&, RenderInput&)>& check) {
  size_t files = 0;
  for (const api::ReleaseFolder& folder : api::AllReleases()) {
    for (const std::string& file : folder.ComponentsFiles()) {
      SCOPED_TRACE(folder.Id() + "/" + file);
      api::Release release;
      release.components = folder.Text(file);
      ReleaseText text = ReadReleaseText(release.components);
      RenderInput input;
      input.type = folder.type;
      input.name = folder.name;
      input.release = &release;
      input.variables = From(text.values);
      check(text, input);
      ++files;
    }
  }
  EXPECT_GT(files, 0u);
}

// I8: a release with two Namespaces is refused, as clusterctl refuses it, and one with two objects that become one. Any
// other is rendered.
bool IsRefused(const ReleaseText& text, const RenderResult& result) {
  bool refused = result.error.has_value();
  EXPECT_EQ(refused, !text.CanBeInOneNamespace()) << (refused ? result.error->error.message : "");
  if (refused) {
    EXPECT_THAT(result.error->error.message,
                HasSubstr(text.Count("Namespace") > 1 ? "no more than one resource with Kind Namespace"
                                                      : "two objects would be one"));
  }
  return refused;
}

// I8: the namespace is the release's own, as clusterctl's is without --target-namespace; nothing comes or goes.
TEST(RenderReleases, HaveAllThatTheirTextHas) {
  CAPI_NEED_RELEASES();
  ForEachFile([](const ReleaseText& text, RenderInput& input) {
    input.keep_namespace_object = true;
    auto result = Render(input);
    if (IsRefused(text, result)) return;
    auto space = std::find_if(text.objects.begin(), text.objects.end(),
                              [](const Json& o) { return GetString(o, {"kind"}) == "Namespace"; });
    ASSERT_NE(space, text.objects.end()) << "it has no Namespace";
    std::string ns = GetString(*space, {"metadata", "name"});
    EXPECT_EQ(result.output->target_namespace, ns);
    EXPECT_THAT(result.output->variables, UnorderedElementsAreArray(text.variables));
    EXPECT_EQ(std::set<std::string>(result.output->images.begin(), result.output->images.end()), text.images);
    EXPECT_THAT(Lines(result.output->objects), UnorderedElementsAreArray(LinesOf(text, ns, true)));
  });
}

// I8, I14: what the operator applies has no Namespace, no owners, and every object where it belongs.
TEST(RenderReleases, TheOperatorsObjectsAreAllInItsNamespace) {
  CAPI_NEED_RELEASES();
  ForEachFile([](const ReleaseText& text, RenderInput& input) {
    api::ProviderSpec spec;
    input.spec = &spec;
    input.target_namespace = "target-ns";
    auto result = Render(input);
    if (IsRefused(text, result)) return;
    for (const kube::Object& object : result.output->objects) {
      EXPECT_EQ(Find(object.json(), {"metadata", "ownerReferences"}), nullptr);
      EXPECT_EQ(object.label(api::kLabelProvider), api::ManifestLabel(input.type, input.name));
    }
    EXPECT_THAT(Lines(result.output->objects), UnorderedElementsAreArray(LinesOf(text, "target-ns", false)));
  });
}

// What clusterctl makes of vendors' releases. There is a test for each of them that the set has.
const Json& Corpus() {
  static const Json corpus = LoadVectors("components-corpus.json");
  return corpus;
}

std::vector<const Json*> CasesOfTheSet() {
  std::vector<const Json*> out;
  if (GetReleaseSet() != ReleaseSet::kVendors) return out;
  for (const Json& c : Corpus()["cases"]) {
    if (std::filesystem::exists(ReleasesDir() + "/" + c["id"].get<std::string>())) out.push_back(&c);
  }
  if (out.empty()) out.push_back(nullptr);  // a test that says so
  return out;
}

std::string TestName(const testing::TestParamInfo<const Json*>& info) {
  if (info.param == nullptr) return "none";
  std::string name = (*info.param)["id"].get<std::string>();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

class RenderCorpus : public testing::TestWithParam<const Json*> {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RenderCorpus);  // for the other sets there is none
INSTANTIATE_TEST_SUITE_P(Vendors, RenderCorpus, testing::ValuesIn(CasesOfTheSet()), TestName);

TEST_P(RenderCorpus, EqualsClusterctl) {
  CAPI_NEED_RELEASES();
  if (GetParam() == nullptr) GTEST_SKIP() << "no release of components-corpus.json is in RELEASES_DIR";
  const Json& c = *GetParam();
  std::string id = c["id"].get<std::string>();
  api::Release release;
  release.components = ValueOrAbort(ReadFile(ReleasesDir() + "/" + id), id);
  api::VariableValues values = c.value("variables", api::VariableValues());
  RenderInput input;
  input.type = api::KindByName(c["provider"]["type"].get<std::string>())->type;
  input.name = c["provider"]["name"].get<std::string>();
  input.release = &release;
  input.variables = From(values);
  input.keep_namespace_object = true;
  auto result = Render(input);
  if (c.contains("error")) {
    ASSERT_TRUE(result.error.has_value());
    EXPECT_THAT(result.error->error.message, HasSubstr(c["error"].get<std::string>()));
    return;
  }
  if (!ReadReleaseText(release.components).CanBeInOneNamespace()) {  // I8: it prints both, we refuse them
    ASSERT_TRUE(result.error.has_value());
    EXPECT_THAT(result.error->error.message, HasSubstr("two objects would be one"));
    return;
  }
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  const Json& want = c["want"];
  EXPECT_EQ(result.output->target_namespace, want["namespace"].get<std::string>());
  EXPECT_EQ(result.output->variables, want["variables"].is_null() ? std::vector<std::string>()
                                                                  : want["variables"].get<std::vector<std::string>>());
  EXPECT_EQ(result.output->images, want["images"].get<std::vector<std::string>>());
  EXPECT_EQ(Lines(result.output->objects), want["objects"].get<std::vector<std::string>>());
}

}  // namespace
}  // namespace capi::templating
