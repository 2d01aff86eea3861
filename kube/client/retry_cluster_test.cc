// The client against a real API server behind a proxy that makes faults (docs/behaviour.md F3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kube/client/client.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::kube {
namespace {

class RetryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto proxy = FaultProxy::Start(ControlPlane::Shared(false).config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(*proxy);
    auto client = Client::Connect(proxy_->config(), {.user_agent = "retry-test"});
    ASSERT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    ctx_ = Context{}.WithTimeout(Seconds(60));
    name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : name_) c = static_cast<char>(std::tolower(c));
  }

  Object Map() {
    return Object(
        Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name_}, {"namespace", "default"}}}});
  }
  // The first `count` requests meet `fault`.
  void Fail(int count, Fault fault) {
    proxy_->Reset();
    proxy_->SetFaults([=](const ProxyRequest& r) { return r.number <= count ? fault : Fault{}; });
  }
  size_t requests() { return proxy_->requests().size(); }

  Context ctx_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Client> client_;
  std::string name_;
  const Resource& map_ = Builtin("ConfigMap");
};

TEST_F(RetryTest, ReadsAndAppliesOutliveLostConnections) {
  Fail(2, {.drop = true});
  auto applied = client_->Apply(ctx_, map_, Map(), {.field_manager = "t"});
  EXPECT_TRUE(applied.ok()) << applied.error().message;

  Fail(1, {.drop = true, .after_server = true});  // done, but nobody said so
  auto again = client_->Apply(ctx_, map_, Map(), {.field_manager = "t"});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->resource_version(), applied->resource_version());

  Fail(1, {.cut_after = 10});
  auto read = client_->Get(ctx_, map_, "default", name_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->uid(), applied->uid());
}

TEST_F(RetryTest, ACreateIsNotSentAgainWhenNobodyKnowsWhetherItWasDone) {
  Fail(1, {.drop = true, .after_server = true});
  auto made = client_->Create(ctx_, map_, Map());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.code(), Code::kUnavailable) << made.error().message;
  EXPECT_TRUE(client_->Get(ctx_, map_, "default", name_).ok());
}

TEST_F(RetryTest, AnyCallComesBackWhenTheServerSaysSo) {
  Fail(1, {.status = 429, .retry_after = "1"});
  auto begin = std::chrono::steady_clock::now();
  auto made = client_->Create(ctx_, map_, Map());
  EXPECT_TRUE(made.ok()) << made.error().message;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, Millis(1000));
  EXPECT_EQ(requests(), 2u);
}

TEST_F(RetryTest, GivesUpAfterMaxRetriesOrWhenTheDeadlineIsNearer) {
  Fail(100, {.status = 429, .retry_after = "0"});
  auto limited = client_->Get(ctx_, map_, "default", name_);
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.code(), Code::kRateLimited);
  EXPECT_TRUE(limited.error().retry_after.has_value());
  EXPECT_EQ(requests(), 4u);

  Fail(100, {.status = 429, .retry_after = "60"});
  auto soon = client_->Get(ctx_.WithTimeout(Seconds(5)), map_, "default", name_);
  ASSERT_FALSE(soon.ok());
  EXPECT_EQ(soon.code(), Code::kRateLimited);
  EXPECT_EQ(requests(), 1u) << "waiting past the deadline helps nobody";

  Fail(100, {.status = 500});
  EXPECT_FALSE(client_->Get(ctx_, map_, "default", name_).ok());
  EXPECT_EQ(requests(), 4u) << "a read is sent again soon (F3)";
}

TEST_F(RetryTest, AnExpiredPageTokenStartsTheListingAgainOnce) {
  for (int i = 0; i < 3; ++i) {
    Object o = Map();
    o.json()["metadata"]["name"] = name_ + std::to_string(i);
    o.set_label("test", name_);
    ASSERT_TRUE(client_->Create(ctx_, map_, o).ok());
  }
  proxy_->Reset();
  proxy_->SetFaults([](const ProxyRequest& r) { return r.number == 2 ? Fault{.status = 410} : Fault{}; });
  ListOptions pages{.label_selector = "test=" + name_, .limit = 1};
  auto listed = client_->List(ctx_, map_, "default", pages);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->items.size(), 3u) << "none twice";

  proxy_->Reset();
  proxy_->SetFaults([](const ProxyRequest& r) {
    return r.target.find("continue=") != std::string::npos ? Fault{.status = 410} : Fault{};
  });
  auto refused = client_->List(ctx_, map_, "default", pages);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kGone);
}

TEST_F(RetryTest, AsksAtMostTwiceASecondInAllWhileTheServerIsAway) {
  Fail(1'000'000, {.drop = true});
  std::vector<std::jthread> callers;
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([this] {
      Context ctx = ctx_.WithTimeout(Seconds(3));
      while (ctx.Check().ok()) {
        auto answer = client_->Get(ctx, map_, "default", name_);
        EXPECT_FALSE(answer.ok());
        if (answer.code() == Code::kUnavailable) std::this_thread::yield();
      }
    });
  }
  callers.clear();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // The eight that were under way when it went away, then two a second.
  EXPECT_LE(requests(), 8 + 2 * seconds + 2);
  EXPECT_GE(requests(), 4u);

  proxy_->SetFaults(nullptr);
  EXPECT_EQ(client_->Get(ctx_, map_, "default", name_).code(), Code::kNotFound);
}

}  // namespace
}  // namespace capi::kube
