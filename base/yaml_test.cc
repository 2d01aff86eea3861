#include "base/yaml.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"

namespace capi {
namespace {

// What the vectors call an object list: every document a map.
Result<Json> Objects(std::string_view text) {
  Json out = Json::array();
  for (YamlDocument& document : TRY(ParseYamlStream(text))) {
    if (!document.value.is_object()) return Error{Code::kInvalidArgument, "cannot unmarshal into a map", {}};
    out.push_back(std::move(document.value));
  }
  return out;
}

std::string Render(const Json& objects) {
  std::string out;
  for (const Json& object : objects) out += (out.empty() ? "" : "---\n") + ToYaml(object);
  if (!out.empty()) out.pop_back();
  return out;
}

// The reference reads numbers as doubles and loses digits of integers beyond 2^53; we keep them.
Json AsTheReference(Json value) {
  if (value.is_structured())
    for (Json& item : value) item = AsTheReference(std::move(item));
  return value.is_number() ? Json(value.get<double>()) : value;
}

TEST(Yaml, DoesWhatTheGoToolsDoWithEveryVector) {
  const char* folder = std::getenv("VECTORS_DIR");
  if (folder == nullptr) GTEST_SKIP() << "VECTORS_DIR is not set";
  auto text = ReadFile(std::string(folder) + "/yaml-split.json");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const Json vectors = *ParseJson(*text);
  ASSERT_GT(vectors["cases"].size(), 40u);
  for (const Json& c : vectors["cases"]) {
    SCOPED_TRACE(c["id"].get<std::string>() + ": " + c["what"].get<std::string>());
    auto got = Objects(c["yaml"].get<std::string>());
    EXPECT_EQ(got.ok(), !c.contains("error")) << (got.ok() ? got->dump() : got.error().message);
    if (!got.ok() || c.contains("error")) continue;
    EXPECT_EQ(AsTheReference(*got), AsTheReference(c["want"]));
    if (*got == c["want"]) {
      EXPECT_EQ(Render(*got), c["rendered"].get<std::string>());
    } else {
      EXPECT_TRUE(c["id"] == "Y24" || c["id"] == "Y36");
    }
  }
}

}  // namespace
}  // namespace capi
