#include "cli/declare/release_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

kube::Object Map(std::string_view name, std::string_view label = "x") {
  return kube::Object(Json{{"kind", "ConfigMap"},
                           {"metadata", {{"name", name}, {"namespace", "n"}, {"labels", {{"release", label}}}}},
                           {"data", {{"metadata", "m"}, {"components", "c"}}}});
}

Result<kube::Object> NoOther(const std::string& name) { return Error{Code::kNotFound, name, {}}; }

const Json kSelector = {{"matchLabels", {{"release", "x"}}}};

TEST(SelectRelease, ByLabelsAndVersion) {
  const kube::Object a = Map("v1.0.0"), b = Map("v1.1.0"), next = Map("v2.0.0-rc.1"), other = Map("v3.0.0", "y"),
                     none = Map("latest");
  const std::vector<const kube::Object*> maps = {&a, &b, &next, &other, &none};
  EXPECT_EQ((*SelectRelease(maps, kSelector, "1.0.0"))->name(), "v1.0.0");
  EXPECT_EQ((*SelectRelease(maps, kSelector, ""))->name(), "v1.1.0");  // stable ones first
  auto missing = SelectRelease(maps, kSelector, "v3.0.0");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("versions there: v1.0.0, v1.1.0, v2.0.0-rc.1"));
}

TEST(ReadReleaseMap, PlainPackedAndInParts) {
  auto plain = ReadReleaseMap(Map("v1.0.0"), NoOther);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->components, "c");
  EXPECT_EQ(plain->source, "ConfigMap n/v1.0.0");
  const std::string packed = Gzip("a long text, a long text, a long text");
  kube::Object first = Map("v1.0.0");
  first.set_annotation("provider.cluster.x-k8s.io/compressed", "true");
  first.json()["binaryData"]["components"] = Base64Encode(packed);
  EXPECT_EQ(ReadReleaseMap(first, NoOther)->components, "a long text, a long text, a long text");
  first.json()["binaryData"]["components"] = Base64Encode(packed.substr(0, 9));
  EXPECT_FALSE(ReadReleaseMap(first, NoOther).ok());  // cut off
  first.set_annotation("operator.cluster.x-k8s.io/parts", "2");
  auto parts = ReadReleaseMap(first, [&](const std::string& name) -> Result<kube::Object> {
    kube::Object part = Map(name);
    part.json()["binaryData"]["components"] = Base64Encode(packed.substr(9));
    EXPECT_EQ(name, "v1.0.0-part-2");
    return part;
  });
  EXPECT_EQ(parts->components, "a long text, a long text, a long text");
  EXPECT_EQ(ReadReleaseMap(first, NoOther).code(), Code::kNotFound);
}

TEST(ReadReleaseMap, SaysWhatIsMissing) {
  const std::pair<const char*, const char*> cases[] = {{"metadata", "has no metadata under data"},
                                                       {"components", "has no components under data"}};
  for (const auto& [key, why] : cases) {
    kube::Object map = Map("v1.0.0");
    map.json()["data"].erase(key);
    EXPECT_THAT(ReadReleaseMap(map, NoOther).error().message, HasSubstr(why));
  }
  EXPECT_THAT(ReadReleaseMap(Map("latest"), NoOther).error().message, HasSubstr("has no version"));
}

}  // namespace
}  // namespace capi::cli
