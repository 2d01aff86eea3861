// T5: who may read the metrics, asked of an API server of our own that answers reviews.
#include "operator/metrics_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/http/testing.h"
#include "base/testing/await.h"
#include "operator/webhooks/access_server_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricsReadersTest : public ::testing::Test {
 protected:
  int Refusal(const std::string& token = "prometheus") { return readers_.Refusal({}, "Bearer " + token); }
  size_t Asked() { return server_.asked().size(); }

  std::atomic<bool> known_ = true, allowed_ = true;
  FakeClock clock_;
  std::string log_;
  testing::AccessServer server_{[this](const Json&) { return allowed_.load(); },
                                [this](const std::string&) { return known_.load(); }};
  MetricsReaders readers_{*server_.client, clock_, Log()};

  Logger Log() {
    auto keep = [](void* log, std::string_view line) { static_cast<std::string*>(log)->append(line) += '\n'; };
    return Logger::ToSink(LogLevel::kInfo, LogFormat::kText, keep, &log_);
  }
};

// Each scrape asked the API server twice.
TEST_F(MetricsReadersTest, AnAnswerCountsForAMinute) {
  EXPECT_EQ(Refusal(), 0);
  const size_t asked = Asked();
  clock_.Advance(Seconds(59));
  EXPECT_EQ(Refusal(), 0);
  EXPECT_EQ(Asked(), asked);
  known_ = false;
  clock_.Advance(Seconds(1));
  EXPECT_EQ(Refusal(), 401) << "it was taken back";
  EXPECT_GT(Asked(), asked);
}

TEST_F(MetricsReadersTest, ARefusalIsNotKept) {
  allowed_ = false;
  EXPECT_EQ(Refusal(), 403);
  clock_.Advance(Seconds(60));  // that of the access review is
  allowed_ = true;
  EXPECT_EQ(Refusal(), 0);
  EXPECT_EQ(readers_.Refusal({}, "Basic x"), 401);
  EXPECT_EQ(readers_.Refusal({}, ""), 401);
}

// While the API server was away, the metrics that tell of it couldn't be read.
TEST_F(MetricsReadersTest, ItCountsForTenWhileNobodyCanTell) {
  EXPECT_EQ(Refusal(), 0);
  server_.Fail(503);
  EXPECT_EQ(Refusal("another"), 500);
  clock_.Advance(Seconds(599));
  EXPECT_EQ(Refusal(), 0);
  clock_.Advance(Seconds(1));
  EXPECT_EQ(Refusal(), 500);
  server_.Fail(0);
  EXPECT_EQ(Refusal(), 0);
}

TEST_F(MetricsReadersTest, WhoMayNotAnyMoreIsForgotten) {
  EXPECT_EQ(Refusal(), 0);
  clock_.Advance(Seconds(60));
  known_ = false;
  EXPECT_EQ(Refusal(), 401);
  server_.Fail(503);
  EXPECT_EQ(Refusal(), 500) << "what it was once counts no more";
}

// An operator that may not ask answered 500 to each scrape, and nobody was told why.
TEST_F(MetricsReadersTest, WhyNobodyCanTellIsLogged) {
  server_.Fail(403, "tokenreviews is forbidden: not for prometheus-token");
  EXPECT_EQ(Refusal("prometheus-token"), 500);
  EXPECT_THAT(log_, HasSubstr("can't ask the API server who may get /metrics"));
  EXPECT_THAT(log_, HasSubstr("tokenreviews is forbidden: not for ***"));
  EXPECT_THAT(log_, Not(HasSubstr("prometheus-token")));
  log_.clear();
  clock_.Advance(Seconds(59));
  EXPECT_EQ(Refusal("prometheus-token"), 500);
  EXPECT_EQ(log_, "") << "once a minute";
  clock_.Advance(Seconds(1));
  EXPECT_EQ(Refusal("prometheus-token"), 500);
  EXPECT_THAT(log_, HasSubstr("is forbidden"));
}

// A graceful stop of the operator was told as an error.
TEST_F(MetricsReadersTest, AnEndIsNoFailure) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(readers_.Refusal(stop.get_token(), "Bearer another"), 500);
  EXPECT_EQ(log_, "");
}

// While the API server hangs, four strangers kept out everybody who may.
TEST_F(MetricsReadersTest, StrangersTakeFourTurnsAndGiveThemBack) {
  std::atomic<int> hanging = 0;
  http_testing::RawServer api(
      [&](http_testing::Peer& peer, int) {
        peer.ReadRequest();
        ++hanging;
        peer.WaitForEnd();
      },
      /*parallel=*/true);
  auto client = kube::Client::Connect({.server = api.url()}, {.user_agent = "metrics-readers-test"});
  ASSERT_TRUE(client.ok()) << client.error().message;
  MetricsReaders readers(**client, clock_, Log());
  for (int round = 1; round <= 2; ++round) {
    std::stop_source stop;
    std::vector<std::jthread> strangers;
    for (int i = 0; i < MetricsReaders::kMostAsked; ++i) {
      strangers.emplace_back([&, i] { readers.Refusal(stop.get_token(), "Bearer " + std::to_string(i)); });
    }
    ASSERT_TRUE(Await([&] { return hanging == round * MetricsReaders::kMostAsked; }));
    EXPECT_EQ(readers.Refusal(stop.get_token(), "Bearer another"), 500);
    EXPECT_EQ(hanging, round * MetricsReaders::kMostAsked) << "nobody asks for it";
    stop.request_stop();
  }
}

}  // namespace
}  // namespace capi::ops
