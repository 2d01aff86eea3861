// T5: who may read the metrics, asked of an API server of our own that answers reviews.
#include "operator/metrics_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/encoding.h"
#include "base/testing/await.h"
#include "operator/webhooks/access_server_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A review that a test holds ends when the test says so, however slow the machine is.
constexpr Millis kPatient = Seconds(600);

class MetricsReadersTest : public ::testing::Test {
 protected:
  int Refusal(const std::string& token = "prometheus") { return readers_.Refusal({}, "Bearer " + token).status; }
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
  EXPECT_EQ(readers_.Refusal({}, "Basic x").status, 401);
  EXPECT_EQ(readers_.Refusal({}, "").status, 401);
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
  EXPECT_EQ(Refusal(), 0);
  clock_.Advance(Seconds(600));
  EXPECT_EQ(readers_.Refusal({}, "Bearer prometheus").status, 0);
  clock_.Advance(Seconds(60));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(readers_.Refusal(stop.get_token(), "Bearer another").status, 500) << "it has no turn";
  EXPECT_EQ(readers_.Refusal(stop.get_token(), "Bearer prometheus").status, 0) << "it needs none, and its review ends";
  EXPECT_EQ(log_, "");
}

// Tokens that are rotated filled the store once and for all. Then the smallest digest went for each new one: two live
// readers took each other's place at each scrape, and neither had its minute nor its ten.
TEST_F(MetricsReadersTest, TokensOfThePastTakeNobodysPlace) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 102; ++i) tokens.push_back("token-" + std::to_string(i));
  std::sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return Sha256Hex(a) > Sha256Hex(b); });
  const std::vector<std::string> live(tokens.end() - 2, tokens.end());
  tokens.resize(100);
  for (const std::string& token : tokens) EXPECT_EQ(Refusal(token), 0);
  clock_.Advance(Seconds(600));
  for (const std::string& token : live) EXPECT_EQ(Refusal(token), 0);
  server_.Fail(503);
  clock_.Advance(Seconds(599));
  for (const std::string& token : live) EXPECT_EQ(Refusal(token), 0) << token;
}

TEST_F(MetricsReadersTest, OfAHundredLiveReadersTheOldestMakesRoom) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Refusal(std::to_string(i)), 0);
    clock_.Advance(Millis(1));
  }
  EXPECT_EQ(Refusal("another"), 0);
  server_.Fail(503);
  EXPECT_EQ(Refusal("0"), 500);
  for (int i = 1; i < 100; ++i) EXPECT_EQ(Refusal(std::to_string(i)), 0) << i;
  EXPECT_EQ(Refusal("another"), 0);
}

// T5a: while the API server hangs, strangers held all threads, and kept out everybody who may.
TEST_F(MetricsReadersTest, StrangersTakeFourTurnsAndGiveThemBack) {
  testing::SilentApiServer api;
  MetricsReaders readers(*api.client, clock_, Log(), kPatient);
  constexpr int kAtOnce = ReviewTurns::kAtOnce;
  for (int round = 1; round <= 2; ++round) {
    std::stop_source stop;
    std::vector<std::jthread> strangers;
    for (int i = 0; i < kAtOnce; ++i) {
      strangers.emplace_back([&, i] { readers.Refusal(stop.get_token(), "Bearer " + std::to_string(i)); });
    }
    ASSERT_TRUE(Await([&] { return api.asked() == round * kAtOnce; }));
    clock_.Advance(Seconds(1));
    const MetricsRefusal refusal = readers.Refusal(stop.get_token(), "Bearer another");
    EXPECT_EQ(refusal.status, 500);
    EXPECT_THAT(refusal.text, HasSubstr("too many clients with unknown tokens ask for /metrics"));
    EXPECT_EQ(api.asked(), round * kAtOnce) << "nobody asks for it";
    stop.request_stop();
  }
}

// Nothing told the operator's people why a scraper was kept out.
TEST_F(MetricsReadersTest, ThatTooManyAskIsLogged) {
  testing::SilentApiServer api;
  MetricsReaders readers(*api.client, clock_, Log(), kPatient);
  std::stop_source stop;
  std::vector<std::jthread> strangers;
  for (size_t i = 0; i < ReviewTurns::kAtOnce; ++i) {
    strangers.emplace_back([&, i] { readers.Refusal(stop.get_token(), "Bearer " + std::to_string(i)); });
  }
  ASSERT_TRUE(Await([&] { return api.asked() == static_cast<int>(ReviewTurns::kAtOnce); }));
  clock_.Advance(Seconds(1));
  const std::string words = "too many clients with unknown tokens ask for /metrics, or the API server is slow";
  for (int minute = 0; minute < 2; ++minute) {
    EXPECT_EQ(readers.Refusal({}, "Bearer another").status, 500);
    EXPECT_THAT(log_, HasSubstr(words));
    log_.clear();
    clock_.Advance(Seconds(59));
    EXPECT_EQ(readers.Refusal({}, "Bearer another").status, 500);
    EXPECT_EQ(log_, "") << "once a minute";
    clock_.Advance(Seconds(1));
  }
  stop.request_stop();
}

// T5: strangers never keep out those who are known, also where these have to be asked about again.
TEST_F(MetricsReadersTest, AKnownReaderWaitsForNoStranger) {
  std::atomic<bool> held = true;
  testing::AccessServer server([](const Json&) { return true; },
                               [&](const std::string& token) {
                                 if (token != "prometheus") held.wait(true);
                                 return token == "prometheus";
                               });
  MetricsReaders readers(*server.client, clock_, Log(), kPatient);
  EXPECT_EQ(readers.Refusal({}, "Bearer prometheus").status, 0);
  clock_.Advance(Seconds(60));
  constexpr size_t kStrangers = ReviewTurns::kAtOnce + ReviewTurns::kInLine;
  std::vector<std::jthread> strangers;
  for (size_t i = 0; i < kStrangers; ++i) {
    strangers.emplace_back([&, i] { readers.Refusal({}, "Bearer " + std::to_string(i)); });
  }
  clock_.AwaitWaiters(ReviewTurns::kInLine);
  EXPECT_EQ(readers.Refusal({}, "Bearer prometheus").status, 0);
  const std::vector<Json> asked = server.asked();
  const auto about = std::count_if(asked.begin(), asked.end(),
                                   [](const Json& spec) { return GetString(spec, {"token"}) == "prometheus"; });
  EXPECT_EQ(about, 2) << "it was asked about again";
  held = false;
  held.notify_all();
}

// T5: the second of two scrapers with one token stood in line while the first one was asked about, and was refused.
TEST_F(MetricsReadersTest, WhoBecomesKnownInLineIsNotRefused) {
  std::atomic<bool> held = true, first_held = true;
  testing::AccessServer server([](const Json&) { return true; },
                               [&](const std::string& token) {
                                 (token == "prometheus" ? first_held : held).wait(true);
                                 return token == "prometheus";
                               });
  MetricsReaders readers(*server.client, clock_, Log(), kPatient);
  std::vector<std::jthread> strangers;
  for (size_t i = 0; i + 1 < ReviewTurns::kAtOnce; ++i) {
    strangers.emplace_back([&, i] { readers.Refusal({}, "Bearer " + std::to_string(i)); });
  }
  ASSERT_TRUE(Await([&] { return server.asked().size() == ReviewTurns::kAtOnce - 1; }));
  int first = -1, second = -1;
  std::jthread one([&] { first = readers.Refusal({}, "Bearer prometheus").status; });
  ASSERT_TRUE(Await([&] { return server.asked().size() == ReviewTurns::kAtOnce; }));
  for (size_t i = 0; i + 1 < ReviewTurns::kInLine; ++i) {  // before it: its turn doesn't come
    strangers.emplace_back([&, i] { readers.Refusal({}, "Bearer more-" + std::to_string(i)); });
    clock_.AwaitWaiters(i + 1);
  }
  std::jthread other([&] { second = readers.Refusal({}, "Bearer prometheus").status; });
  clock_.AwaitWaiters(ReviewTurns::kInLine);
  first_held = false;
  first_held.notify_all();
  one.join();
  EXPECT_EQ(first, 0);
  clock_.Advance(Seconds(1));
  other.join();
  EXPECT_EQ(second, 0);
  held = false;
  held.notify_all();
}

// T5a: a scraper whose token was new, after a restart of either, got 500 as long as strangers' tokens were asked about.
TEST_F(MetricsReadersTest, AReaderBesideStrangersIsAnswered) {
  std::atomic<bool> held = true;
  testing::AccessServer server([](const Json& spec) { return spec["user"] == "prometheus"; },
                               [&](const std::string& token) {
                                 held.wait(true);
                                 return token == "prometheus";
                               });
  MetricsReaders readers(*server.client, clock_, Log(), kPatient);
  constexpr size_t kStrangers = ReviewTurns::kAtOnce + ReviewTurns::kInLine - 1;
  std::vector<std::jthread> others;
  std::atomic<size_t> refused = 0;
  for (size_t i = 0; i < kStrangers; ++i) {
    others.emplace_back([&, i] { refused += readers.Refusal({}, "Bearer " + std::to_string(i)).status == 401; });
  }
  clock_.AwaitWaiters(kStrangers - ReviewTurns::kAtOnce);
  int status = -1;
  others.emplace_back([&] { status = readers.Refusal({}, "Bearer prometheus").status; });
  clock_.AwaitWaiters(kStrangers - ReviewTurns::kAtOnce + 1);
  held = false;
  held.notify_all();
  others.clear();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(refused, kStrangers) << "each in its turn";
}

}  // namespace
}  // namespace capi::ops
