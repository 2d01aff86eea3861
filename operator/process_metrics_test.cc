#include "operator/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProcessMetrics, RequestsAreCountedAsClientGoDoes) {
  kube::Metrics metrics;
  auto count = CountRequests(metrics, "https://10.96.0.1");
  count("GET", 200, Millis(30));
  count("GET", 200, Millis(10));
  count("PATCH", 0, Seconds(30));
  std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="200",host="10.96.0.1:443",method="GET"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="<error>",host="10.96.0.1:443",method="PATCH"} 1)"));
  EXPECT_THAT(
      text, HasSubstr(R"(rest_client_request_duration_seconds_bucket{host="10.96.0.1:443",verb="GET",le="0.025"} 1)"));
}

// In an outage connections are refused within a millisecond: the dashboard's slowest requests got fast.
TEST(ProcessMetrics, WhatGotNoAnswerHasNoDuration) {
  kube::Metrics metrics;
  auto count = CountRequests(metrics, "https://10.96.0.1");
  count("GET", 0, Millis(1));
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(code="<error>")"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("rest_client_request_duration_seconds_count")));
  count("GET", 503, Seconds(3));
  count("GET", 0, Millis(1));
  EXPECT_THAT(metrics.Text(),
              HasSubstr(R"(rest_client_request_duration_seconds_count{host="10.96.0.1:443",verb="GET"} 1)"));
}

// F4: who has lost its lease, or not heard of it for too long, doesn't count as leading.
TEST(ProcessMetrics, TheLeadIsShownWhileItIsSure) {
  FakeClock clock;
  kube::Metrics metrics;
  kube::Object lease;
  auto keep = [&](const Context&, const kube::Object& object) -> Result<kube::Object> { return lease = object; };
  kube::LeaderElector elector({.get = [](const Context&) -> Result<kube::Object> {
                                 return Error{Code::kNotFound, "none", {}};
                               },
                               .create = keep,
                               .update = [](const Context&, const kube::Object&) -> Result<kube::Object> {
                                 return Error{Code::kUnavailable, "away", {}};
                               }},
                              {.ns = "n", .name = "lease", .identity = "me"});
  auto look = ShowLead(metrics, "lease", elector, clock);
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(leader_election_master_status{name="lease"} 0)"));
  std::stop_source stop;
  Context ctx;
  ctx.clock = &clock;
  ctx.stop = stop.get_token();
  ASSERT_TRUE(elector.Acquire(ctx).ok());
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(leader_election_master_status{name="lease"} 1)"));
  stop.request_stop();
  clock.Advance(Seconds(15));
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(leader_election_master_status{name="lease"} 0)"));
}

}  // namespace
}  // namespace capi::ops
