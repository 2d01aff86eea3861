#include "cli/declare/release_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kinds.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

kube::Object Map(std::string_view name, std::string_view label = "x") {
  return kube::Object(Json{{"kind", "ConfigMap"},
                           {"metadata", {{"name", name}, {"namespace", "n"}, {"labels", {{"release", label}}}}},
                           {"data", {{"metadata", "m"}, {"components", "c"}}}});
}

api::Provider Provider(const std::string& version) {
  api::Provider out;
  out.id = {api::ProviderType::kInfrastructure, "n", "aws"};
  out.spec.version = version;
  out.spec.fetch_config.emplace().selector = Json{{"matchLabels", {{"release", "x"}}}};
  return out;
}

Result<const kube::Object*> Select(const std::vector<const kube::Object*>& maps, const std::string& version,
                                   const std::vector<std::string>& contracts = {"v1beta2"}) {
  return SelectRelease({}, maps, Provider(version), contracts);
}

TEST(SelectRelease, ByLabelsAndVersion) {
  const kube::Object a = Map("v1.0.0"), b = Map("v1.1.0"), next = Map("v2.0.0-rc.1"), other = Map("v3.0.0", "y"),
                     none = Map("latest");
  const std::vector<const kube::Object*> maps = {&a, &b, &next, &other, &none};
  EXPECT_EQ((*Select(maps, "1.0.0"))->name(), "v1.0.0");
  EXPECT_EQ((*Select(maps, ""))->name(), "v1.1.0");  // stable ones first
  auto missing = Select(maps, "v3.0.0");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("versions there: v1.0.0, v1.1.0, v2.0.0-rc.1"));
}

TEST(SelectRelease, OfSeveralOfAVersionTheOneThatCounts_I14) {
  kube::Object z = Map("z"), a = Map("a"), own = Map("infrastructure-aws-v1.0.0"), late = Map("zz");
  for (kube::Object* map : {&z, &a, &own, &late})
    map->json()["metadata"]["labels"][std::string(api::kLabelReleaseVersion)] = "v1.0.0";
  for (const char* version : {"v1.0.0", ""}) {
    EXPECT_EQ((*Select({&z, &a, &own, &late}, version))->name(), own.name());
    EXPECT_EQ((*Select({&z, &a, &late}, version))->name(), "a") << "the first by its name";
  }
}

// As the operator chooses: one without metadata is none, and one of another contract doesn't fit.
TEST(SelectRelease, WithoutAVersionTheNewestThatFits_I3) {
  kube::Object old = Map("v1.9.0"), next = Map("v2.0.0"), empty = Map("v3.0.0");
  for (kube::Object* map : {&old, &next}) {
    map->json()["data"]["metadata"] =
        "releaseSeries: [{major: 1, minor: 9, contract: v1beta1}, {major: 2, minor: 0, contract: v1beta2}]";
  }
  empty.json()["data"].erase("metadata");
  EXPECT_EQ((*Select({&old, &next, &empty}, "", {"v1beta1"}))->name(), "v1.9.0");
  EXPECT_EQ((*Select({&old, &next, &empty}, "", {"v1beta2", "v1beta1"}))->name(), "v2.0.0");
  EXPECT_EQ(Select({&empty}, "").code(), Code::kInvalidArgument);
  EXPECT_EQ(Select({&next}, "", {"v1beta1"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(Select({}, "").code(), Code::kNotFound);
}

}  // namespace
}  // namespace capi::cli
