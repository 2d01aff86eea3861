// Newer versions on a real control plane: what is told of them (behaviour.md U12).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "base/http/server/server.h"
#include "base/strings.h"
#include "e2e/releases/tiny_core.h"
#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class Updates : public UnmanagedCluster {
 protected:
  void TearDown() override {
    UnmanagedCluster::TearDown();
    if (!cluster_) return;
    for (const std::string& version : stored_) {
      (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-" + version);
    }
  }
  void Store(const TinyCore& small) {
    stored_.push_back(small.version);
    StoreTiny(*cluster_, kCore.ns, small);
  }
  bool Install(const std::string& version, Json more = Json::object()) {
    cluster_->CreateNamespace(kCore.ns);
    Store({.version = version});
    more["version"] = version;
    more["fetchConfig"] = TinySource();
    cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, more);
    return AwaitReady(kCore);
  }
  std::vector<std::string> Available() {
    std::vector<std::string> out;
    for (const auto& one : See(kCore).provider.status.available_upgrades) out.push_back(one.version + one.needs);
    return out;
  }
  bool AwaitAvailable(const std::vector<std::string>& versions) {
    const bool there = kube::Eventually([&] { return Available() == versions; });
    EXPECT_TRUE(there) << ToJsonText(api::StatusToJson(See(kCore).provider.status));
    return there;
  }
  // How often each message of that reason was told: the recorder counts equal ones in one Event.
  std::map<std::string, std::int64_t> EventsOf(std::string_view reason) {
    auto events = cluster_->client().List(cluster_->ctx(), kube::Builtin("Event"), kCore.ns);
    EXPECT_TRUE(events.ok());
    std::map<std::string, std::int64_t> out;
    if (!events.ok()) return out;
    const std::string uid = See(kCore).provider.uid;
    for (const kube::Object& event : events->items) {
      const Json& json = event.json();
      if (GetString(json, {"reason"}) != reason || GetString(json, {"involvedObject", "uid"}) != uid) continue;
      const Json* count = Find(json, {"count"});
      out[GetString(json, {"type"}) + " " + GetString(json, {"message"})] +=
          count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 1;
    }
    return out;
  }

  std::vector<std::string> stored_;
};

// U12: told, and nothing else; without a source that is asked.
TEST_F(Updates, ANewConfigMapIsTold_U12) {
  StartOperator({"--check-updates=0"});
  ASSERT_TRUE(Install("v1.0.0"));
  const auto before = Versions(kCore);
  Store({.version = "v1.0.1"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.1"}));
  Store({.version = "v1.1.0"});
  Store({.version = "v1.2.0-rc.0"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.1", "v1.1.0"}));
  Seen seen = See(kCore);
  EXPECT_EQ(seen.Status("UpgradeAvailable"), "True");
  EXPECT_THAT(seen.Message("UpgradeAvailable"), HasSubstr("v1.1.0 (contract v1beta2)"));
  EXPECT_EQ(seen.Status("Ready"), "True");
  EXPECT_EQ(seen.provider.status.installed_version, "v1.0.0");
  EXPECT_EQ(Versions(kCore), before) << "nothing was written but the status";
  EXPECT_TRUE(kube::Eventually([&] { return EventsOf("UpgradeAvailable").size() >= 2; }));
  EXPECT_THAT(EventsOf("UpgradeAvailable"),
              ElementsAre(Pair(HasSubstr("Normal v1.0.1"), 1), Pair(HasSubstr("Normal v1.1.0"), 1)));
  EXPECT_THAT(operator_->Metrics(), HasSubstr("capi_operator_provider_available_upgrades{kind=\"CoreProvider\",name="
                                              "\"cluster-api\",namespace=\"capi-system\"} 2"));
  operator_->Restart();
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).provider.status, seen.provider.status) << "a restart has nothing new to say";

  // Who only labels a ConfigMap has no version to tell of.
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-v1.1.0", kube::PatchType::kMerge,
                         Json{{"metadata", {{"labels", {{"touched", "1"}}}}}})
                  .ok());
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).provider.status, seen.provider.status);
  EXPECT_THAT(EventsOf("UpgradeAvailable"), ElementsAre(Pair(testing::_, 1), Pair(testing::_, 1)));
}

// GitHub, for a core of three releases: how often it was asked for the list, and whether it answers. Thread-safe.
class GitHub {
 public:
  GitHub() {
    auto started = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
  }
  std::string url() const { return "http://" + server_->address(); }
  void Publish() { published_ = true; }
  void BreakDown() { broken_ = true; }
  int lists() const { return lists_; }

 private:
  http::Response Answer(const http::ServerRequest& request) {
    http::Response response;
    response.status = broken_ ? 503 : 404;
    if (broken_) return response;
    if (request.path.ends_with("/releases")) {
      ++lists_;
      response.status = 200;
      response.body = published_ ? R"([{"tag_name":"v1.0.1"},{"tag_name":"v1.0.0"}])" : R"([{"tag_name":"v1.0.0"}])";
    } else if (request.path.find("/releases/download/") != std::string::npos) {
      const auto parts = Split(request.path, '/');
      const TinyCore small{.version = parts[5]};
      response.status = 200;
      response.body = parts[6] == "metadata.yaml" ? small.Metadata() : small.Components();
    }
    return response;
  }
  std::unique_ptr<http::Server> server_;
  std::atomic<bool> published_ = false, broken_ = false;
  std::atomic<int> lists_ = 0;
};

// U12: a source on the network is asked now and then; one that is away makes nobody ill.
TEST_F(Updates, ASourceIsAskedNowAndThen_U12) {
  GitHub github;
  StartOperator({"--check-updates=10s", "--github-api-url=" + github.url(), "--github-url=" + github.url()});
  cluster_->CreateNamespace(kCore.ns);
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.0.0"}});
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_TRUE(kube::Eventually([&] { return github.lists() >= 2; }, Seconds(60)));
  EXPECT_EQ(See(kCore).Status("UpgradeAvailable"), "") << "there is nothing to tell";
  github.Publish();
  EXPECT_TRUE(kube::Eventually([&] { return Available() == std::vector<std::string>{"v1.0.1"}; }, Seconds(60)))
      << See(kCore).Describe();
  github.BreakDown();
  ASSERT_TRUE(AwaitReason(kCore, "UpgradeAvailable", "UpdateCheckFailed", Seconds(60)));
  EXPECT_EQ(See(kCore).Status("Ready"), "True");
  EXPECT_EQ(Available(), std::vector<std::string>{"v1.0.1"}) << "what was known is so still";
}

}  // namespace
}  // namespace capi::e2e
