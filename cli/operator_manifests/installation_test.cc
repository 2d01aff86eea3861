#include "cli/operator_manifests/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/api_testing.h"

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

std::string List(const std::vector<std::pair<std::string, std::string>>& ns_and_name) {
  Json items = Json::array();
  for (const auto& [ns, name] : ns_and_name) items.push_back({{"metadata", {{"namespace", ns}, {"name", name}}}});
  return ToJsonText({{"kind", "List"}, {"metadata", Json::object()}, {"items", items}});
}

// X5, L22: what was interrupted is found again by the Deployment, and nothing of others goes.
TEST(RemoveOperator, TheDeploymentGoesLastAndWhatIsElsewhereStays) {
  const std::string object = R"({"metadata":{"name":"x","uid":"u"}})";
  FakeApi api({{"/apis/apps/v1/deployments?", {{200, List({{"ops", "operator"}})}}},
               {"/apis/apps/v1/namespaces/ops/deployments/operator", {{200, object}}},
               {"/api/v1/services?", {{200, List({{"ops", "its"}, {"elsewhere", "another"}})}}},
               {"/api/v1/namespaces/ops/services/its", {{200, object}}},
               {"/customresourcedefinitions/coreproviders.operator.cluster.x-k8s.io", {{200, object}}},
               {"?labelSelector", {{200, List({})}}}});
  Status removed = RemoveOperator(Context{}, api.client(), "ops", {true, false});
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  std::vector<std::string> paths;
  for (const std::string& request : api.Asked("DELETE")) paths.push_back(request.substr(7, request.find(" HTTP") - 7));
  EXPECT_THAT(paths,
              testing::ElementsAre(
                  "/api/v1/namespaces/ops/services/its",
                  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coreproviders.operator.cluster.x-k8s.io",
                  "/apis/apps/v1/namespaces/ops/deployments/operator"));
  ASSERT_EQ(api.Asked("PATCH").size(), 1U);
  EXPECT_THAT(api.Asked("PATCH")[0], testing::HasSubstr(R"({"spec":{"replicas":0}})"));
}

}  // namespace
}  // namespace capi::cli
