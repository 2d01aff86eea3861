#include "cli/cert_manager/decision.h"

#include <gtest/gtest.h>

#include <map>

#include "api/types.h"
#include "base/testing/vectors.h"
#include "cli/cert_manager/release.h"

namespace capi::cli {
namespace {

kube::Object ObjectOf(const Json& facts) {
  const std::map<std::string, const char*> versions = {
      {"Deployment", "apps/v1"}, {"Endpoints", "v1"}, {"EndpointSlice", "discovery.k8s.io/v1"}};
  const std::string kind = GetString(facts, {"kind"});
  Json json = {{"kind", kind}, {"apiVersion", versions.at(kind)}, {"metadata", {{"name", "x"}}}};
  kube::Object object(std::move(json));
  std::string version = GetString(facts, {"version"}), image = GetString(facts, {"image"});
  if (!version.empty()) object.set_annotation(kCertManagerVersionAnnotation, version);
  if (!image.empty())
    object.json()["spec"]["template"]["spec"]["containers"] = Json::array({{{"name", "c"}, {"image", image}}});
  return object;
}

std::vector<kube::Object> ObjectsOf(const Json& list) {
  std::vector<kube::Object> out;
  for (const Json& facts : list) out.push_back(ObjectOf(facts));
  return out;
}

Result<CertManagerDecision> Decide(const Json& c) {
  auto installed = ObjectsOf(c.at("installed"));
  const Json& to_install = c.at("to_install");
  return DecideCertManager(GetString(c, {"desired"}), installed,
                           to_install.is_string() ? installed : ObjectsOf(to_install));
}

void CheckTimeout(const Json& c) {
  bool valid = false;
  std::string text = GetString(c, {"text"});
  Millis got = CertManagerTimeout(text, valid);
  EXPECT_EQ(got, api::ParseDuration(GetString(c, {"want"})).value());
  EXPECT_EQ(valid, text != "foo" && text != "10");
}

// L10, L13.
TEST(DecideCertManager, FollowsTheVectors) {
  auto reference = [](const Json&, const Json& c) {
    if (GetString(c, {"kind"}) == "timeout") return CheckTimeout(c);
    auto got = Decide(c);
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().message, GetString(c, {"error"}));
      return;
    }
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->from, GetString(c, {"want", "from"}));
    EXPECT_EQ(got->upgrade, GetBool(c, {"want", "upgrade"}));
  };
  auto ours = [](const Json&, const Json& c) {
    auto got = Decide(c);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->from, GetString(c, {"v1_14_0", "from"}));
    EXPECT_EQ(got->upgrade, GetBool(c, {"v1_14_0", "upgrade"}));
  };
  RunVectors("cert-manager-upgrade.json", reference, ours);
}

}  // namespace
}  // namespace capi::cli
