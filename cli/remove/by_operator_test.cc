// L22: what is asked of the API server where the operator deletes a provider, and what is told.
#include "cli/remove/by_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "cli/api_testing.h"

namespace capi::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPath[] = "/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/capa/infrastructureproviders/aws";
constexpr char kObject[] = R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",
  "metadata":{"name":"aws","namespace":"capa","resourceVersion":"7","uid":"u-1","annotations":{ANNOTATIONS},
    "finalizers":["other.example.com","provider.cluster.x-k8s.io"]},
  "status":{"conditions":[{"type":"Ready","status":"False","reason":"InUse","message":"clusters use it"}]}})";

// An API server with one provider object, or none.
class ByOperator : public ::testing::Test {
 protected:
  ByOperator() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      requests_.push_back(request.method + (request.method == "GET" ? "" : " " + request.body));
      EXPECT_EQ(request.path, kPath);
      auto refused = refused_.find(request.method);
      int status = refused != refused_.end() ? refused->second : there_ ? 200 : 404;
      if (request.method == "GET" && --reads_ == 0) there_ = false;
      std::string reason = status == 404 ? "NotFound" : status == 503 ? "ServiceUnavailable" : "Forbidden";
      return http::Response{.status = status,
                            .headers = {},
                            .body = status == 200 ? ReplaceAll(kObject, "ANNOTATIONS", annotations_)
                                                  : R"({"kind":"Status","reason":")" + reason + R"("})"};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "delete-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }
  std::vector<std::string> Requests() {
    MutexLock lock(mu_);
    return requests_;
  }
  DoomedObject Aws() { return {kAws, "u-1"}; }

  const api::ProviderId kAws{api::ProviderType::kInfrastructure, "capa", "aws"};
  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  std::unique_ptr<kube::Client> client_;
  std::ostringstream said_;
  Notes notes_{said_};
  Mutex mu_;
  std::vector<std::string> requests_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, int> refused_ CAPI_GUARDED_BY(mu_);  // method to status
  bool there_ CAPI_GUARDED_BY(mu_) = true;
  std::string annotations_ CAPI_GUARDED_BY(mu_);
  int reads_ CAPI_GUARDED_BY(mu_) = 0;  // until it is gone; 0 for never

 private:
  std::unique_ptr<http::Server> server_;
};

constexpr char kDelete[] =
    R"(DELETE {"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"},"propagationPolicy":"Background"})";

TEST_F(ByOperator, AnnotationsComeBeforeTheDeletion) {
  auto asked = RequestDeletion(ctx_, *client_, kAws, {true, true});
  ASSERT_TRUE(asked.ok() && *asked);
  EXPECT_EQ((*asked)->uid, "u-1");
  EXPECT_THAT(Requests(), ElementsAre("GET",
                                      R"(PATCH {"metadata":{"annotations":{)"
                                      R"("operator.cluster.x-k8s.io/delete-crds":"true",)"
                                      R"("operator.cluster.x-k8s.io/force-delete":"true"}}})",
                                      kDelete));
}

TEST_F(ByOperator, NoneIsSetThatNobodyAskedFor) {
  ASSERT_TRUE(RequestDeletion(ctx_, *client_, kAws, {}).ok());
  EXPECT_THAT(Requests(), ElementsAre("GET", kDelete));
}

// CRDs that an earlier run was to delete stay with a run that isn't.
TEST_F(ByOperator, WhatAnEarlierRunAskedForDoesntCount) {
  {
    MutexLock lock(mu_);
    annotations_ = R"("operator.cluster.x-k8s.io/delete-crds":"true","operator.cluster.x-k8s.io/force-delete":"true")";
  }
  ASSERT_TRUE(RequestDeletion(ctx_, *client_, kAws, {true, std::nullopt}).ok());
  EXPECT_THAT(Requests(), ElementsAre("GET", kDelete)) << "it is as it is to be";
  ASSERT_TRUE(RequestDeletion(ctx_, *client_, kAws, {}).ok());
  EXPECT_THAT(Requests()[3], R"(PATCH {"metadata":{"annotations":{)"
                             R"("operator.cluster.x-k8s.io/delete-crds":null,)"
                             R"("operator.cluster.x-k8s.io/force-delete":null}}})");
}

TEST_F(ByOperator, WhatIsGoneIsAsItShouldBe) {
  {
    MutexLock lock(mu_);
    there_ = false;
  }
  auto asked = RequestDeletion(ctx_, *client_, kAws, {true, false});
  EXPECT_TRUE(asked.ok() && !*asked);
  EXPECT_TRUE(ReleaseObject(ctx_, *client_, kAws).ok());
  EXPECT_TRUE(AwaitGone(ctx_, *client_, {Aws()}, Seconds(30), notes_).ok());
  EXPECT_EQ(said_.str(), "Deleted provider=\"InfrastructureProvider capa/aws\"\n");
}

TEST_F(ByOperator, ARightThatIsMissingIsTold) {
  {
    MutexLock lock(mu_);
    refused_ = {{"PATCH", 403}};
  }
  auto asked = RequestDeletion(ctx_, *client_, kAws, {true, false});
  EXPECT_EQ(asked.code(), Code::kPermissionDenied);
  EXPECT_THAT(asked.error().message, HasSubstr("failed to annotate InfrastructureProvider capa/aws"));
  EXPECT_THAT(Requests(), testing::SizeIs(2)) << "no deletion without what goes before it";
  {
    MutexLock lock(mu_);
    refused_ = {{"GET", 403}};
  }
  EXPECT_EQ(AwaitGone(ctx_, *client_, {Aws()}, Seconds(30), notes_).code(), Code::kPermissionDenied);
  EXPECT_EQ(ReleaseObject(ctx_, *client_, kAws).code(), Code::kPermissionDenied);
}

TEST_F(ByOperator, WhatItWaitsForIsToldInTheOperatorsWordsAndOnce) {
  {
    MutexLock lock(mu_);
    reads_ = 3;
  }
  EXPECT_TRUE(AwaitGone(ctx_, *client_, {Aws()}, Seconds(30), notes_).ok());
  EXPECT_EQ(said_.str(),
            "Waiting provider=\"InfrastructureProvider capa/aws\" reason=\"InUse\" message=\"clusters use it\"\n"
            "Deleted provider=\"InfrastructureProvider capa/aws\"\n");
}

TEST_F(ByOperator, AWaitThatEndsSaysWhatIsLeft) {
  Status waited = AwaitGone(ctx_, *client_, {Aws()}, Seconds(0), notes_);
  EXPECT_EQ(waited.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(
      waited.error().message,
      "not gone after 0 s: InfrastructureProvider capa/aws: InUse: clusters use it; the deletion goes on, and the "
      "same command waits for it again");
}

TEST_F(ByOperator, OneThatWasMadeAnewIsAnother) {
  EXPECT_TRUE(AwaitGone(ctx_, *client_, {{kAws, "u-0"}}, Seconds(30), notes_).ok());
  EXPECT_THAT(said_.str(), HasSubstr("InfrastructureProvider capa/aws is there again"));
}

TEST_F(ByOperator, WhyItCantBeReadIsTold) {
  {
    MutexLock lock(mu_);
    refused_ = {{"GET", 503}};
  }
  Status waited = AwaitGone(ctx_, *client_, {Aws()}, Seconds(0), notes_);
  ASSERT_EQ(waited.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(waited.error().message, HasSubstr("InfrastructureProvider capa/aws: it can't be read: "));
}

TEST_F(ByOperator, OthersFinalizersStay) {
  ASSERT_TRUE(ReleaseObject(ctx_, *client_, kAws).ok());
  EXPECT_THAT(
      Requests(),
      ElementsAre("GET", R"(PATCH {"metadata":{"finalizers":["other.example.com"],"resourceVersion":"7"}})", kDelete));
}

constexpr char kOurs[] = "operator.cluster.x-k8s.io/v1alpha2";
constexpr char kListMaps[] = "GET /api/v1/configmaps?", kGetMap[] = "GET /api/v1/namespaces/ns/configmaps/",
               kDeleteMap[] = "DELETE /api/v1/namespaces/ns/configmaps/";

Json MapOf(const std::string& name, const std::vector<std::string>& owners, const std::string& version = "3") {
  Json out = {{"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "u"}, {"resourceVersion", version}}}};
  for (const std::string& api_version : owners)
    out["metadata"]["ownerReferences"].push_back({{"apiVersion", api_version}, {"kind", "X"}, {"uid", "x"}});
  return out;
}

Answer ListOf(const std::vector<Json>& maps) {
  return {200, ToJsonText(
                   {{"kind", "PartialObjectMetadataList"}, {"metadata", {{"resourceVersion", "9"}}}, {"items", maps}})};
}

// L22: killed between the last provider and its kind, the command left release ConfigMaps for good.
TEST(RemoveOwnedReleases, GoWhereNobodyElseOwnsThem) {
  FakeApi api({{kListMaps,
                {ListOf({MapOf("ours", {kOurs}), MapOf("shared", {kOurs, "apps/v1"}), MapOf("free", {}),
                         MapOf("others", {"operator.cluster.x-k8s.io.example.com/v1"})})}},
               {kDeleteMap, {{200, "{}"}}}});
  ASSERT_TRUE(RemoveOwnedReleases(Context{}, api.client()).ok());
  const auto asked = api.Asked("DELETE");
  ASSERT_EQ(asked.size(), 1u);
  for (const char* has : {"/configmaps/ours", R"("uid":"u")", R"("resourceVersion":"3")"})
    EXPECT_THAT(asked[0], HasSubstr(has));
  FakeApi away({{kListMaps, {{503, "{}"}}}});
  Status left = RemoveOwnedReleases(Context{}, away.client());
  ASSERT_FALSE(left.ok());
  EXPECT_THAT(left.error().message, HasSubstr("failed to remove the releases of providers that are gone"));
}

// L22: what somebody changes meanwhile goes all the same, unless it is somebody else's, too, by then.
TEST(RemoveOwnedReleases, AreReadAgainWhereTheyHaveChanged) {
  const Answer list = ListOf({MapOf("ours", {kOurs})}), conflict = {409, R"({"kind":"Status","reason":"Conflict"})"};
  auto now = [](const std::vector<std::string>& owners) { return Answer{200, ToJsonText(MapOf("ours", owners, "4"))}; };
  FakeApi changed({{kListMaps, {list}}, {kGetMap, {now({kOurs})}}, {kDeleteMap, {conflict, {200, "{}"}}}});
  EXPECT_TRUE(RemoveOwnedReleases(Context{}, changed.client()).ok());
  ASSERT_EQ(changed.Asked("DELETE").size(), 2U);
  EXPECT_THAT(changed.Asked("DELETE")[1], HasSubstr(R"("resourceVersion":"4")"));
  FakeApi taken({{kListMaps, {list}}, {kGetMap, {now({kOurs, "apps/v1"})}}, {kDeleteMap, {conflict}}});
  EXPECT_TRUE(RemoveOwnedReleases(Context{}, taken.client()).ok());
  EXPECT_EQ(taken.Asked("DELETE").size(), 1U);
  FakeApi gone({{kListMaps, {list}}, {kDeleteMap, {conflict}}});
  EXPECT_TRUE(RemoveOwnedReleases(Context{}, gone.client()).ok());
  FakeApi busy({{kListMaps, {list}}, {kGetMap, {now({kOurs})}}, {kDeleteMap, {conflict}}});
  EXPECT_EQ(RemoveOwnedReleases(Context{}, busy.client()).code(), Code::kConflict);
  EXPECT_EQ(busy.Asked("DELETE").size(), 5U);
}

}  // namespace
}  // namespace capi::cli
