// T5: who may read the metrics, asked of an API server of our own that answers reviews.
#include "operator/metrics_readers.h"

#include <gtest/gtest.h>

#include "base/http/server/server.h"

namespace capi::ops {
namespace {

class MetricsReadersTest : public ::testing::Test {
 protected:
  MetricsReadersTest() {
    auto api = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(api.ok()) << api.error().message;
    api_ = std::move(*api);
    client_ = *kube::Client::Connect({.server = "http://" + api_->address()}, {.user_agent = "test", .max_retries = 0});
    readers_.emplace(*client_, clock_);
  }
  int Refusal(const std::string& token = "token") { return readers_->Refusal({}, "Bearer " + token); }
  void Say(int status, bool authenticated = true, bool allowed = true) {
    MutexLock lock(mu_);
    status_ = status;
    said_ = {{"authenticated", authenticated}, {"user", {{"username", "prometheus"}}}, {"allowed", allowed}};
  }
  int Asked() {
    MutexLock lock(mu_);
    return asked_;
  }

  FakeClock clock_;
  std::optional<MetricsReaders> readers_;

 private:
  http::Response Answer(const http::ServerRequest& request) {
    MutexLock lock(mu_);
    ++asked_;
    if (status_ != 201) return {.status = status_, .headers = {}, .body = R"({"kind":"Status"})"};
    Json body = *ParseJson(request.body);
    body["status"] = said_;
    return {.status = 201, .headers = {}, .body = ToJsonText(body)};
  }

  Mutex mu_;
  int status_ CAPI_GUARDED_BY(mu_) = 201, asked_ CAPI_GUARDED_BY(mu_) = 0;
  Json said_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> api_;
  std::unique_ptr<kube::Client> client_;
};

// Each scrape asked the API server twice.
TEST_F(MetricsReadersTest, AnAnswerCountsForAMinute) {
  Say(201);
  EXPECT_EQ(Refusal(), 0);
  const int asked = Asked();
  clock_.Advance(Seconds(59));
  EXPECT_EQ(Refusal(), 0);
  EXPECT_EQ(Asked(), asked);
  Say(201, /*authenticated=*/false);
  clock_.Advance(Seconds(1));
  EXPECT_EQ(Refusal(), 401) << "it was taken back";
  EXPECT_GT(Asked(), asked);
}

TEST_F(MetricsReadersTest, ARefusalIsNotKept) {
  Say(201, true, /*allowed=*/false);
  EXPECT_EQ(Refusal(), 403);
  clock_.Advance(Seconds(60));  // that of the access review is
  Say(201);
  EXPECT_EQ(Refusal(), 0);
  EXPECT_EQ(readers_->Refusal({}, "Basic x"), 401);
  EXPECT_EQ(readers_->Refusal({}, ""), 401);
}

// While the API server was away, the metrics that tell of it couldn't be read.
TEST_F(MetricsReadersTest, ItCountsForTenWhileNobodyCanTell) {
  Say(201);
  EXPECT_EQ(Refusal(), 0);
  Say(503);
  EXPECT_EQ(Refusal("another"), 500);
  clock_.Advance(Seconds(599));
  EXPECT_EQ(Refusal(), 0);
  clock_.Advance(Seconds(1));
  EXPECT_EQ(Refusal(), 500);
  Say(201);
  EXPECT_EQ(Refusal(), 0);
}

TEST_F(MetricsReadersTest, WhoMayNotAnyMoreIsForgotten) {
  Say(201);
  EXPECT_EQ(Refusal(), 0);
  clock_.Advance(Seconds(60));
  Say(201, /*authenticated=*/false);
  EXPECT_EQ(Refusal(), 401);
  Say(503);
  EXPECT_EQ(Refusal(), 500) << "what it was once counts no more";
}

}  // namespace
}  // namespace capi::ops
