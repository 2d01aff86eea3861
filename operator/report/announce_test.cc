#include "operator/report/announce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/reasons.h"
#include "base/http/server/server.h"
#include "base/mutex.h"

namespace capi::ops {
namespace {

constexpr std::string_view kProvider = R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2",
  "kind":"InfrastructureProvider","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"2"},
  "spec":{"version":"v1.1.0"},"status":{"applied":"0123","contract":"v1beta1"}})";

class AnnounceTest : public ::testing::Test {
 protected:
  AnnounceTest() {
    o_.provider = *api::ParseProvider(kube::Object(Json::parse(kProvider)));
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      sent_.push_back(Json::parse(request.body));
      Json answer = Json::parse(kProvider);
      answer["metadata"]["resourceVersion"] = "3";
      return http::Response{.status = 200, .headers = {}, .body = ToJsonText(answer)};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *kube::Client::Connect({.server = "http://" + server_->address()}, {});
    writer_.emplace(*client_, cache_, masks_);
  }
  std::vector<Json> Sent() {
    MutexLock lock(mu_);
    return sent_;
  }

  const Context ctx_ = Context{}.WithTimeout(Seconds(30));
  Observation o_;
  Mutex mu_;
  std::vector<Json> sent_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  const SecretMasks masks_;
  std::optional<StatusWriter> writer_;
};

// C3, U7, U11, X2: what each puts into the status, for the version that was seen, and no second time.
TEST_F(AnnounceTest, WritesOnceWhatOthersGoBy) {
  kube::Inventory inventory;
  inventory.Put({"apps", "Deployment", "n", "manager"}, {"v1", "", "", false});
  api::HistoryEntry rollout{"v1.1.0", "v1beta2", "sha256:1"};
  rollout.outcome = api::outcome::kApplying;
  struct Case {
    std::function<Status()> announce;
    std::function<bool(const Json& status)> says;
  };
  const Case cases[] = {
      {[&] { return AnnounceContract(ctx_, *writer_, o_.provider, "v1beta2"); },
       [](const Json& status) {
         return GetString(status, {"desiredVersion"}) == "v1.1.0" &&
                GetString(status, {"desiredContract"}) == "v1beta2";
       }},
      {[&] { return AnnounceChange(ctx_, *writer_, o_.provider, inventory, rollout); },
       [&](const Json& status) {
         return status.at("inventory") == inventory.ToJson() && status.at("applied").is_null() &&
                GetString(status.at("history")[0], {"outcome"}) == "Applying";
       }},
      {[&] {
         inventory.Put({"apps", "ReplicaSet", "n", "old"}, {"v1", "", "", true});
         return AnnounceInventory(ctx_, *writer_, o_.provider, inventory);
       },
       [&](const Json& status) { return status.at("inventory") == inventory.ToJson(); }},
      {[&] { return AnnounceRemoval(ctx_, *writer_, o_); },
       [](const Json& status) {
         const Json& conditions = status.at("conditions");
         return std::any_of(conditions.begin(), conditions.end(), [](const Json& c) {
           return GetString(c, {"type"}) == "Ready" && GetString(c, {"reason"}) == api::reason::kDeleting;
         });
       }},
  };
  size_t writes = 0;
  std::string seen = "2";
  for (const Case& c : cases) {
    SCOPED_TRACE(writes);
    ASSERT_TRUE(c.announce().ok());
    ASSERT_TRUE(c.announce().ok());
    ASSERT_EQ(Sent().size(), ++writes) << "the second time there is nothing to write";
    const Json sent = Sent().back();
    EXPECT_EQ(GetString(sent, {"metadata", "resourceVersion"}), seen);
    EXPECT_TRUE(c.says(sent.at("status"))) << ToJsonText(sent);
    seen = "3";
  }
  EXPECT_EQ(o_.provider.status.inventory.Unpack(), inventory.ToJson()) << "the pass goes on with what it wrote";
}

}  // namespace
}  // namespace capi::ops
