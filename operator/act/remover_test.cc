#include "operator/act/remover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kCrd = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"as.x","resourceVersion":"1"},"spec":{"group":"x","scope":"Namespaced",
  "names":{"kind":"A","plural":"as"},"versions":[{"name":"v1","served":true,"storage":false},
  {"name":"v2","served":true,"storage":true}]},"status":{"storedVersions":["v1","v2"]}})";

std::string Objects(int count) {
  Json items = Json::array();
  for (int i = 1; i <= count; ++i) items.push_back({{"metadata", {{"namespace", "ns"}, {"name", std::to_string(i)}}}});
  return ToJsonText(Json{{"items", items}, {"metadata", {{"continue", count > 5 ? "more" : ""}}}});
}

http::Response Ok200(std::string body) { return {.status = 200, .headers = {}, .body = std::move(body)}; }

// What Remove says of a provider that is deleted with its CRD, of which objects exist at version v1 alone.
class RemoverTest : public ::testing::Test {
 protected:
  Done RemoveBeside(int objects, const std::string& broken = "") {
    auto server = http::Server::Start({}, [&](const http::ServerRequest& request) {
      http::Response response{.status = 404, .headers = {}, .body = ""};
      if (request.path.ends_with("/customresourcedefinitions/as.x")) response = Ok200(std::string(kCrd));
      if (request.path == "/apis/x/v2/as") response.status = 500;
      if (request.path == "/apis/x/v1/as") response = Ok200(Objects(objects));
      if (!broken.empty() && request.path.ends_with(broken)) response.status = 500;
      MutexLock lock(mu_);
      const bool is_none = by_proxy_ && request.path.ends_with("/as.x");
      if (is_none) response = {.status = 404, .headers = {}, .body = "404 page not found"};
      if (!served_ && request.path.starts_with("/apis/x/")) response = {.status = 404, .headers = {}, .body = ""};
      if (request.method == "DELETE") deleted_.push_back(request.path);
      if (request.path.starts_with("/apis/x/")) listed_.push_back(request.path + "?" + request.query);
      return response;
    });
    EXPECT_TRUE(server.ok());
    auto client = kube::Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
    EXPECT_TRUE(client.ok());
    ProviderCache cache([](const ProviderCache::Change&) {});
    const SecretMasks masks;
    StatusWriter writer(**client, cache, masks);
    Observation o = testing::Observed();
    o.provider.deleting = true;
    o.provider.annotations["operator.cluster.x-k8s.io/delete-crds"] = "true";
    if (!broken.empty()) o.provider.status.conditions = {{"Ready", "False", "Deleting", "", 1, ""}};  // it has begun
    o.inventory.Put({"apiextensions.k8s.io", "CustomResourceDefinition", "", "as.x"}, {"v1", "", "", false});
    o.inventory.Put({"rbac.authorization.k8s.io", "ClusterRole", "", "aggregated"}, {"v1", "", "", false});
    return Remover(**client, writer).Remove(Context{}.WithTimeout(Seconds(30)), o);
  }

  Mutex mu_;
  bool served_ CAPI_GUARDED_BY(mu_) = true;
  bool by_proxy_ CAPI_GUARDED_BY(mu_) = false;  // the answer for the CRD
  std::vector<std::string> listed_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> deleted_ CAPI_GUARDED_BY(mu_);
};

// X1: objects keep their CRD. However many there are, a few are read; and it is looked at less and less often (F5).
TEST_F(RemoverTest, ObjectsKeepTheirCrd) {
  Done done = RemoveBeside(6);
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->reason, "DeletionBlocked");
  EXPECT_EQ(done.hold->retry, Retry::kPolled);
  EXPECT_THAT(done.hold->message, HasSubstr("A ns/1, A ns/2, A ns/3, A ns/4, A ns/5 and more; delete these first"));
  {
    MutexLock lock(mu_);
    EXPECT_THAT(listed_, ElementsAre("/apis/x/v2/as?limit=6", "/apis/x/v1/as?limit=6"));
  }
  done = RemoveBeside(1);
  ASSERT_TRUE(done.hold);
  EXPECT_THAT(done.hold->message, HasSubstr("exist: A ns/1; delete"));
}

// X1: of two API servers one hadn't heard of the CRD's versions yet. Its 404 counted as "no objects", and the CRD was
// deleted with all of them.
TEST_F(RemoverTest, ACrdThatIsNotServedIsKept) {
  {
    MutexLock lock(mu_);
    served_ = false;
  }
  Done done = RemoveBeside(1);
  ASSERT_TRUE(done.hold);
  EXPECT_THAT(done.hold->message, HasSubstr("as.x: an API server doesn't serve any of its versions"));
  MutexLock lock(mu_);
  EXPECT_THAT(listed_, ElementsAre("/apis/x/v2/as?limit=6", "/apis/x/v1/as?limit=6"));
  EXPECT_THAT(deleted_, ElementsAre());
}

// X1: a 404 of what stands before the API server says nothing of the CRD. It counted as "there is none, so no objects",
// and the CRD was deleted a moment later.
TEST_F(RemoverTest, A404OfAProxyKeepsTheCrd) {
  {
    MutexLock lock(mu_);
    by_proxy_ = true;
  }
  Done done = RemoveBeside(1);
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->retry, Retry::kBackoff);
  EXPECT_THAT(done.hold->message, HasSubstr("as.x: HTTP 404"));
  MutexLock lock(mu_);
  EXPECT_THAT(deleted_, ElementsAre());
}

// F1: what can't be read or written is named.
TEST_F(RemoverTest, AnErrorNamesItsObject) {
  for (const kube::ObjectId& id : {kube::ObjectId{"apiextensions.k8s.io", "CustomResourceDefinition", "", "as.x"},
                                   kube::ObjectId{"rbac.authorization.k8s.io", "ClusterRole", "", "aggregated"}}) {
    Done done = RemoveBeside(0, "/" + id.name);
    ASSERT_TRUE(done.hold) << id.ToString();
    EXPECT_EQ(done.hold->reason, "DeletionFailed");
    EXPECT_THAT(done.hold->message, HasSubstr(id.ToString() + ": "));
  }
}

TEST_F(RemoverTest, NoObjectsKeepNothing) {
  Done done = RemoveBeside(0);
  ASSERT_TRUE(done.hold) << "the status can't be written here";
  EXPECT_THAT(done.hold->message, Not(HasSubstr("delete-crds")));
}

}  // namespace
}  // namespace capi::ops
