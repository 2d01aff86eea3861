#include "operator/act/own_storage.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "base/testing/await.h"

namespace capi::ops {
namespace {

constexpr std::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

// A server with the seven CRDs, and no object of them.
class OwnStorageTest : public ::testing::Test {
 protected:
  OwnStorageTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "own-storage-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    running_ = std::jthread([this](std::stop_token stop) {
      Context ctx{.stop = std::move(stop)};
      ctx.clock = &clock_;
      MigrateOwnStorage(ctx, *client_);
    });
  }
  // Every CRD was looked at `times` times, and the next look is waited for.
  bool AwaitLooks(size_t times) {
    bool looked = Await([&] {
      MutexLock lock(mu_);
      return looks_ == 7 * times;
    });
    if (looked) clock_.AwaitWaiters(1);
    return looked;
  }

  Mutex mu_;
  bool away_ CAPI_GUARDED_BY(mu_) = true;
  size_t looks_ CAPI_GUARDED_BY(mu_) = 0;
  std::set<std::string> older_ CAPI_GUARDED_BY(mu_);  // CRDs with the former version in storedVersions
  FakeClock clock_;

 private:
  http::Response Answer(const http::ServerRequest& request) {
    MutexLock lock(mu_);
    http::Response response{.status = 200, .headers = {}, .body = R"({"items":[],"metadata":{}})"};
    if (!request.path.starts_with(kCrds)) return response;
    std::string name = request.path.substr(kCrds.size());
    if (request.method == "PATCH") {
      name.resize(name.find('/'));
      older_.erase(name);
    } else {
      ++looks_;
    }
    if (away_) response.status = 500;
    Json stored = Json::array({"v1alpha2"});
    if (older_.contains(name)) stored.insert(stored.begin(), "v1alpha1");
    response.body =
        ToJsonText(Json{{"apiVersion", "apiextensions.k8s.io/v1"},
                        {"kind", "CustomResourceDefinition"},
                        {"metadata", {{"name", name}, {"resourceVersion", "1"}}},
                        {"spec",
                         {{"group", "operator.cluster.x-k8s.io"},
                          {"scope", "Namespaced"},
                          {"names", {{"kind", "Provider"}, {"plural", name.substr(0, name.find('.'))}}},
                          {"versions", Json::array({{{"name", "v1alpha2"}, {"served", true}, {"storage", true}}})}}},
                        {"status", {{"storedVersions", stored}}}});
    return response;
  }

  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
  std::jthread running_;  // ends first
};

// U3: the operator of a new version may lead before its CRDs are applied.
TEST_F(OwnStorageTest, ACrdThatStoresAnotherVersionLaterIsMigratedToo) {
  ASSERT_TRUE(AwaitLooks(1));
  {
    MutexLock lock(mu_);
    away_ = false;
  }
  clock_.Advance(Seconds(1));
  ASSERT_TRUE(AwaitLooks(2)) << "after a failure soon again";
  {
    MutexLock lock(mu_);
    older_ = {"bootstrapproviders.operator.cluster.x-k8s.io"};
  }
  clock_.Advance(Seconds(600));
  EXPECT_TRUE(Await([&] {
    MutexLock lock(mu_);
    return older_.empty();
  }));
}

}  // namespace
}  // namespace capi::ops
