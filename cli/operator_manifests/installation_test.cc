#include "cli/operator_manifests/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"
#include "cli/api_testing.h"
#include "cli/operator_manifests/manifests.h"

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

Answer Says(const kube::Object& object) { return {200, ToJsonText(object.json())}; }
Answer ListOf(const std::vector<kube::Object>& items) {
  Json json = {{"kind", "List"}, {"metadata", Json::object()}, {"items", Json::array()}};
  for (const kube::Object& item : items) json["items"].push_back(item.json());
  return {200, ToJsonText(json)};
}
const Answer kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};

TEST(FindOperator, LooksInAllNamespaces) {  // L10
  const std::string path = "GET /apis/apps/v1/deployments?labelSelector=";
  FakeApi api({{path + "app.kubernetes.io%2Fname", {ListOf({Deployment("ops", "x:v1")})}},
               {path + "clusterctl", {ListOf({})}}});
  auto found = FindOperator(Context{}, api.client());
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->ns, "ops");
  FakeApi without_rights({{path, {kForbidden}}});
  EXPECT_EQ(FindOperator(Context{}, without_rights.client()).code(), Code::kPermissionDenied);
}

// An object of the operator, whichever.
Answer Of(const std::string& version) {
  return Says(kube::Object(
      Json{{"kind", "X"}, {"metadata", {{"name", "x"}, {"labels", {{"app.kubernetes.io/version", version}}}}}}));
}

// L10, L11: what clusterctl began to install or to upgrade isn't whole.
TEST(IsHalfInstalled, WhereSomethingIsMissingOrOfAnotherVersion) {
  const std::string own(kProjectVersion), webhook = "/validatingwebhookconfigurations/", role = "/clusterroles/";
  const Answer missing = {404, R"({"kind":"Status","reason":"NotFound","message":"no"})"};
  struct Case {
    std::map<std::string, std::vector<Answer>> answers;
    std::string version;
    bool want;
  };
  for (const Case& c : {
           Case{{{"GET ", {Of(own)}}}, own, false},
           Case{{{"GET ", {Of(own)}}, {webhook, {missing}}}, own, true},
           Case{{{"GET ", {Of(own)}}, {webhook, {Of("v0.0.1")}}}, own, true},
           Case{{{"GET ", {Of(own)}}, {role, {missing}}}, own, true},
           Case{{{"GET ", {Of("v0.0.1")}}, {role, {missing}}}, "v0.0.1", false},
           Case{{{"GET ", {Of("v0.0.1")}}, {webhook, {missing}}}, "v0.0.1", true},
       }) {
    FakeApi api(c.answers);
    InstalledOperator there{
        .ns = "o", .image = "r.example.com/o:v1", .version = api::Version::Parse(c.version).value()};
    EXPECT_FALSE(IsHalfInstalled(Context{}, api.client(), there).value()) << "it is somebody else's";
    there.by_clusterctl = true;
    auto got = IsHalfInstalled(Context{}, api.client(), there);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(*got, c.want);
  }
}

kube::Object RollingOut(int available) {
  kube::Object out = Deployment("o", "x:v1");
  out.json()["metadata"]["generation"] = 1;
  out.json()["spec"]["replicas"] = 1;
  out.json()["status"] = {
      {"observedGeneration", 1}, {"replicas", 1}, {"updatedReplicas", 1}, {"availableReplicas", available}};
  out.json()["status"]["readyReplicas"] = available;
  out.json()["status"]["conditions"] = Json::array({{{"type", "Available"}, {"status", "True"}}});
  return out;
}

// L10, L11.
TEST(AwaitOperator, SaysWhatDeploymentAndPodsSay) {
  const std::string get = "GET /apis/apps/v1/namespaces/o/deployments/";
  kube::Object pod(Json{{"kind", "Pod"}, {"metadata", {{"name", "p"}}}});
  Json waiting = {{"waiting", {{"reason", "ImagePullBackOff"}, {"message", "no such image"}}}};
  pod.json()["status"]["containerStatuses"] = Json::array({{{"state", waiting}}});
  FakeApi up({{get, {Says(RollingOut(0)), Says(RollingOut(1))}}});
  EXPECT_TRUE(AwaitOperator(Context{}.WithTimeout(Seconds(60)), up.client(), "o").ok());
  FakeApi down({{get, {Says(RollingOut(0))}}, {"GET /api/v1/namespaces/o/pods", {ListOf({pod})}}});
  Status late = AwaitOperator(Context{}.WithTimeout(Millis(100)), down.client(), "o");
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(late.error().message, testing::HasSubstr("0 of 1"));
  EXPECT_THAT(late.error().message, testing::HasSubstr("Pod p: ImagePullBackOff: no such image"));
  FakeApi no({{get, {kForbidden}}});
  EXPECT_EQ(AwaitOperator(Context{}, no.client(), "o").code(), Code::kPermissionDenied);
}

// L11.
TEST(OperatorLeftovers, AreWhatThisVersionDoesNotHave) {
  auto role = [](const std::string& name) {
    return kube::Object(
        Json{{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", name}}}});
  };
  FakeApi api({{"/clusterroles?", {ListOf({role("kept"), role("former")})}}, {"GET ", {ListOf({})}}});
  auto left = OperatorLeftovers(Context{}, api.client(), {role("kept")});
  ASSERT_TRUE(left.ok()) << left.error().message;
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ(left->front(), role("former").id());
  for (const std::string& request : api.Asked("GET"))
    EXPECT_THAT(request, testing::HasSubstr("managed-by%3Dclusterctl")) << "what others installed stays";
}

}  // namespace
}  // namespace capi::cli
