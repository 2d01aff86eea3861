#include "cli/declare/release_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

using testing::HasSubstr;

kube::Object Map(std::string_view name, std::string_view label = "x") {
  return kube::Object(Json{{"kind", "ConfigMap"},
                           {"metadata", {{"name", name}, {"namespace", "n"}, {"labels", {{"release", label}}}}},
                           {"data", {{"metadata", "m"}, {"components", "c"}}}});
}

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

}  // namespace
}  // namespace capi::cli
