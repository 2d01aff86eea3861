#include "cli/operator_manifests/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

kube::Object Deployment(const std::string& ns, const std::string& image, const Json& labels = Json::object()) {
  Json json = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
  json["metadata"] = {{"name", "capi-operator-controller-manager"}, {"namespace", ns}, {"labels", labels}};
  json["spec"]["template"]["spec"]["containers"] =
      Json::array({{{"name", "sidecar"}, {"image", "a:v9.9.9"}}, {{"name", "manager"}, {"image", image}}});
  return kube::Object(std::move(json));
}

// L10, L11.
TEST(OperatorOf, TellsItsVersionByTheLabelOrElseTheTag) {
  struct Case {
    std::string image, label, want;
  };
  for (const Case& c : {
           Case{"capi-operator:v0.1.0", "", "v0.1.0"},
           Case{"r.example.com:5000/capi-operator:v0.2.0@sha256:aa", "", "v0.2.0"},
           Case{"r.example.com:5000/capi-operator", "", ""},
           Case{"r.example.com/capi-operator:dev", "", ""},
           Case{"r.example.com/capi-operator:dev", "v1.2.3", "v1.2.3"},
           Case{"r.example.com/capi-operator:v9.9.9", "v1.2.3", "v1.2.3"},
       }) {
    Json labels = c.label.empty() ? Json::object() : Json{{"app.kubernetes.io/version", c.label}};
    auto found = OperatorOf({Deployment("ops", c.image, labels)}, {});
    ASSERT_TRUE(found.ok() && *found) << c.image;
    EXPECT_EQ((*found)->version ? (*found)->version->ToString() : "", c.want) << c.image;
    EXPECT_EQ((*found)->ns, "ops");
    EXPECT_EQ((*found)->image, c.image);
    EXPECT_FALSE((*found)->by_helm);
  }
  EXPECT_TRUE((*OperatorOf({Deployment("ops", "a:v1", {{"app.kubernetes.io/managed-by", "Helm"}})}, {}))->by_helm);
  EXPECT_FALSE(*OperatorOf({}, {}));
  EXPECT_EQ((*OperatorOf({kube::Object(Json{{"metadata", {{"namespace", "x"}}}})}, {}))->image, "");
}

TEST(OperatorOf, RefusesTwoAndThePeer) {
  auto two = OperatorOf({Deployment("a", "x:v1"), Deployment("b", "x:v1")}, {});
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().message, testing::HasSubstr("namespaces a and b"));
  auto peer = OperatorOf({}, {Deployment("capi-operator-system", "x:v1")});
  ASSERT_FALSE(peer.ok());
  EXPECT_EQ(peer.code(), Code::kFailedPrecondition);
  EXPECT_THAT(peer.error().message, testing::HasSubstr("docs/adopting.md"));
}

}  // namespace
}  // namespace capi::cli
