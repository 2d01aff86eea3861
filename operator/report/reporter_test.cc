#include "operator/report/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "base/http/server/server.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Millis kDay = std::chrono::hours(24);

// Of a machine with much to do: it may be a moment later each time that somebody looks. Thread-safe.
class BusyClock : public FakeClock {
 public:
  MonoTime Monotonic() override {
    if (busy_) Advance(Millis(1));
    return FakeClock::Monotonic();
  }
  void Busy(bool busy) { busy_ = busy; }

 private:
  std::atomic<bool> busy_ = false;
};

// A reporter of one provider, and the server that its status is written to.
class ReporterTest : public ::testing::Test {
 protected:
  ReporterTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      auto body = ParseJson(request.body);
      if (body.ok() && answer_ == 200) Take(*body);
      clock_.Advance(takes_);
      const Json refusal = {{"kind", "Status"}, {"code", answer_}};
      return http::Response{.status = answer_, .headers = {}, .body = ToJsonText(answer_ == 200 ? Answer() : refusal)};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "reporter-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    masks_.Put(key_, SecretValues());
    writer_.emplace(*client_, cache_, masks_);
    reporter_.emplace(
        Reporter::Needs{cache_, *writer_, masks_, queue_, metrics_, events_, clock_, std::chrono::hours(10)});
    MutexLock lock(mu_);
    cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(Answer()));
  }

  // What the cache has, and a pass that began now.
  Observation Begin() {
    Observation o = testing::Observed();
    o.provider = *cache_.Get(key_)->provider;
    o.now = clock_.Now();
    return o;
  }
  kube::Outcome Report(Observation o, Done done) {
    auto outcome = reporter_->Report(ctx_, o, std::move(done));
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : kube::Outcome{};
  }
  // A pass that nothing but time asked for has seen what there is.
  void BeginByTime() {
    queue_.AddAfter(key_, Millis(1));
    clock_.Advance(Millis(1));
    EXPECT_EQ(queue_.Get({}), key_);
    reporter_->Begin(key_);
  }
  // A pass that an event asked for sees that there is something to wait for: the next one by time is a resync.
  void WaitsForEvents() {
    reporter_->Begin(key_);
    Report(Begin(), Waiting("ConfigMapNotFound"));
  }
  static Done Waiting(const char* why) {
    return {.hold = Hold{"PreflightCheckPassed", why, "why", Retry::kWaiting, {}}};
  }
  bool Counted(int changes) {
    return metrics_.Text().find("changes_found_by_resync_total " + std::to_string(changes) + "\n") != std::string::npos;
  }
  void AnswerWith(int status) {
    MutexLock lock(mu_);
    answer_ = status;
  }
  std::string Said(std::string_view type, std::string_view field = "message") {
    MutexLock lock(mu_);
    if (written_.empty()) return "";
    for (const Json& condition : written_.back()["status"]["conditions"]) {
      if (condition["type"] == type) return condition[std::string(field)].get<std::string>();
    }
    return "";
  }
  // Reasons of the events so far.
  std::vector<std::string> Events() {
    std::stop_source stop;
    stop.request_stop();
    Context ctx;
    ctx.stop = stop.get_token();
    ctx.clock = &clock_;
    events_.Run(ctx);
    MutexLock lock(mu_);
    return reasons_;
  }

  BusyClock clock_;
  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  Mutex mu_;
  int answer_ CAPI_GUARDED_BY(mu_) = 200;
  Millis takes_ CAPI_GUARDED_BY(mu_){0};            // an answer
  std::vector<Json> written_ CAPI_GUARDED_BY(mu_);  // each with what was there before
  std::vector<std::string> reasons_ CAPI_GUARDED_BY(mu_);
  Json last_event_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<kube::Client> client_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  SecretMasks masks_;
  kube::WorkQueue queue_{clock_, {}, 1};
  kube::Metrics metrics_;
  kube::EventRecorder events_{
      {.create = [this](const Context&, const kube::Object& event) -> Status {
         MutexLock lock(mu_);
         reasons_.push_back(GetString(event.json(), {"reason"}));
         last_event_ = event.json();
         return Ok();
       },
       .patch = [](const Context&, const std::string&, const std::string&, const Json&) -> Status { return Ok(); }},
      "test",
      clock_};
  std::optional<StatusWriter> writer_;
  std::optional<Reporter> reporter_;
  const std::string key_ = testing::Observed().provider.id.Key();

 private:
  // A merge patch keeps what it doesn't name.
  void Take(const Json& patch) CAPI_REQUIRES(mu_) {
    Json is = written_.empty() ? Json::object() : written_.back();
    is.merge_patch(patch);
    written_.push_back(std::move(is));
  }
  Json Answer() CAPI_REQUIRES(mu_) {
    Json object = {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                   {"kind", "InfrastructureProvider"},
                   {"metadata",
                    {{"name", "aws"},
                     {"namespace", "aws-system"},
                     {"uid", "u"},
                     {"generation", 1},
                     {"resourceVersion", std::to_string(written_.size() + 1)}}},
                   {"spec", {{"version", "v1.12.0"}}}};
    if (!written_.empty()) object["status"] = written_.back()["status"];
    return object;
  }

  std::unique_ptr<http::Server> server_;
};

Done Held(Retry retry, std::optional<Millis> after = std::nullopt) {
  return {.hold = Hold{"ProviderInstalled", "RateLimited", "why", retry, after}};
}

// F5: what a source asked for, an hour or a day, was waited for before a status that met a conflict was written.
TEST_F(ReporterTest, AStatusThatIsNotWrittenIsTriedAgainSoon) {
  EXPECT_GE(*Report(Begin(), Held(Retry::kBackoff, kDay)).again_after, kDay);
  Done other = Held(Retry::kBackoff, kDay);
  other.hold->message = "other";
  for (int status : {409, 403}) {
    SCOPED_TRACE(status);
    AnswerWith(status);
    kube::Outcome next = Report(Begin(), other);
    EXPECT_LE(*next.again_after, Millis(500));
    EXPECT_GE(*next.again_after, Millis(100));
    EXPECT_EQ(next.end, status == 403 ? kube::Outcome::End::kError : kube::Outcome::End::kBacksOff)
        << "the back-off of the hold goes on, and somebody else's write is no error";
    clock_.Advance(*next.again_after);
  }
  AnswerWith(200);
  EXPECT_GE(*Report(Begin(), other).again_after, kDay - Seconds(2));
  EXPECT_THAT(Said("Ready"), HasSubstr("other"));
  AnswerWith(409);
  EXPECT_LE(*Report(Begin(), Held(Retry::kBackoff, kDay)).again_after, Millis(240)) << "from the start";
}

// F5: what failed next waited as long as the source had been away, or had asked for: two minutes, or a day.
TEST_F(ReporterTest, WhatFailsAfterTheSourceHasAnsweredBeginsAnew) {
  auto other = [](bool loaded) {
    return Done{.hold = Hold{"ProviderInstalled", "APIServerUnavailable", "why", Retry::kBackoff}, .loaded = loaded};
  };
  auto away = [&](int tries) {
    Millis last{0};
    for (int i = 0; i < tries; ++i) {
      last = *Report(Begin(), Held(Retry::kBackoff)).again_after;
      clock_.Advance(last);
    }
    return last;
  };
  EXPECT_GE(away(10), Seconds(80));
  EXPECT_LE(*Report(Begin(), other(true)).again_after, Millis(240));
  clock_.Advance(Millis(240));
  EXPECT_LE(away(1), Millis(240)) << "and the source, too";

  EXPECT_GE(*Report(Begin(), Held(Retry::kBackoff, kDay)).again_after, kDay);
  EXPECT_GE(*Report(Begin(), other(true)).again_after, Millis(320)) << "the second of its own";
  EXPECT_LE(*Report(Begin(), other(true)).again_after, Millis(480)) << "and not in a day";

  // A source that isn't asked in between hasn't answered.
  clock_.Advance(Millis(480));
  EXPECT_GE(away(6), Seconds(5));
  EXPECT_LE(*Report(Begin(), other(false)).again_after, Seconds(1));
  EXPECT_GE(away(1), Seconds(10));
  // Nor did it where the core isn't ready for a moment, a Secret can't be read, or the pass met a bug.
  Report(Begin(), Waiting("WaitingForCoreProviderReady"));
  Report(Begin(), Held(Retry::kRefused));
  EXPECT_TRUE(reporter_->ReportFailed(ctx_, key_, Error{Code::kPermissionDenied, "no", {}}).ok());
  EXPECT_TRUE(reporter_->ReportThrown(ctx_, key_, "vector::at").ok());
  EXPECT_GE(away(1), Seconds(20));
  // Another one has; and so has the one of a provider that is gone.
  Observation moved = Begin();
  moved.source = "url https://elsewhere.example";
  EXPECT_LE(*Report(moved, Held(Retry::kBackoff)).again_after, Millis(240));
  reporter_->Forget(Begin().provider.id);
  EXPECT_LE(away(1), Millis(240));
}

// Two minutes are reached though each try is waited for; and the waits say nothing of their own, so that the source's
// fault stays told.
TEST_F(ReporterTest, AWaitForATurnIsNoTry_T13) {
  auto written = [&] {
    MutexLock lock(mu_);
    return written_.size();
  };
  Millis last{0};
  for (int round = 0; round < 14; ++round) {
    SCOPED_TRACE(round);
    last = *Report(Begin(), Held(Retry::kBackoff)).again_after;
    const size_t before = written();
    const std::string told = Said("Ready");
    EXPECT_THAT(told, HasSubstr("why (next try at "));
    clock_.Advance(last);
    for (int wait = 0; wait < 3; ++wait) {
      Done no_turn = Held(Retry::kTurn, Seconds(5));
      no_turn.hold->reason = "WaitingForSource";
      no_turn.hold->message = "its source isn't asked yet";
      kube::Outcome next = Report(Begin(), no_turn);
      EXPECT_EQ(next.again_after, Seconds(5));
      if (next.end == kube::Outcome::End::kFine) queue_.Forget(key_);  // as the controller does
      clock_.Advance(Seconds(5));
    }
    EXPECT_EQ(written(), before);
    EXPECT_EQ(Said("Ready"), told);
  }
  EXPECT_GE(last, Seconds(96));
}

// F5: the pass came a moment before the time that the queue had for it. It was made, and told, and made again.
TEST_F(ReporterTest, ATryIsNotBeforeItsTime) {
  const Error away{Code::kUnavailable, "away", {}};
  const struct {
    const char* name;
    std::function<kube::Outcome()> report;
    Millis second;  // at least
  } cases[] = {
      {"a hold", [&] { return Report(Begin(), Held(Retry::kBackoff)); }, Millis(320)},
      {"no hold", [&] { return Report(Begin(), {}); }, Seconds(24)},
      {"nothing seen", [&] { return *reporter_->ReportFailed(ctx_, key_, away); }, Millis(320)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    clock_.Busy(true);
    kube::Outcome next = c.report();
    clock_.Busy(false);
    clock_.Advance(*next.again_after);
    next = c.report();
    EXPECT_GE(*next.again_after, c.second) << "it is the second try, and not one before its time";
    clock_.Advance(*next.again_after);
  }
}

// F5: a pass of half a minute told a time in the past; and a write of seconds made the next one late.
TEST_F(ReporterTest, TimesAreCountedFromTheReport) {
  Observation o = Begin();
  o.fights = {Fight{.what = "x", .waiting = true, .next = Seconds(40)}};
  clock_.Advance(Seconds(30));
  const std::string told = FormatTime(clock_.Now() + Seconds(5)), turn = FormatTime(clock_.Now() + Seconds(10));
  {
    MutexLock lock(mu_);
    takes_ = Seconds(2);
  }
  kube::Outcome next = Report(o, Held(Retry::kAt, Seconds(5)));
  EXPECT_THAT(Said("Ready"), HasSubstr("next try at " + told));
  EXPECT_THAT(Said("Drifted"), HasSubstr("next at " + turn)) << "D2";
  EXPECT_EQ(next.again_after, Seconds(3)) << "the write took two of the five";
}

// F3, D1: what was done in the cluster is told, whatever becomes of the status; what it would have said is not.
TEST_F(ReporterTest, WhatWasDoneIsToldWithoutAStatus) {
  AnswerWith(409);
  Done done = Held(Retry::kRefused);
  done.restored = {"spec.replicas of it was changed"};
  Report(Begin(), done);
  EXPECT_THAT(Events(), ElementsAre("DriftCorrected"));
  AnswerWith(200);
  Report(Begin(), Held(Retry::kRefused));
  EXPECT_THAT(Events(), ElementsAre("DriftCorrected", "RateLimited"));
}

// X1: the last pass ends the object, and the watch may say so before the pass is over.
TEST_F(ReporterTest, TheLastPassIsToldOfAnObjectThatIsGone) {
  Observation o = Begin();
  cache_.OnDelete(api::ProviderType::kInfrastructure, std::make_shared<const kube::Object>(cache_.Get(key_)->Object()));
  reporter_->ReportGone(
      ctx_, o, {.removing = true, .forget = true, .removed = {"Secret a/b"}, .kept = {"Role c (it is of another)"}});
  EXPECT_THAT(Events(), ElementsAre("Deleting", "Deleting"));
  MutexLock lock(mu_);
  EXPECT_EQ(GetString(last_event_, {"message"}), "Kept Role c (it is of another)");
  const Json about = {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                      {"kind", "InfrastructureProvider"},
                      {"name", "aws"},
                      {"namespace", "aws-system"},
                      {"uid", "u"},
                      {"resourceVersion", "1"}};
  EXPECT_EQ(last_event_["involvedObject"], about);
}

// The words of a rollout are written once a second; what was restored meanwhile is told.
TEST_F(ReporterTest, WordsWaitAndDeedsAreTold) {
  auto rolling = [&](const std::string& words) {
    Done done;
    done.rollout = api::HistoryEntry{"v1.12.0", "v1beta2", "sha256:1"};
    done.rollout->outcome = "RollingOut";
    done.fleet.emplace().workloads = {testing::NewWorkload(kube::HealthState::kInProgress, words)};
    return done;
  };
  Report(Begin(), rolling("0 of 2"));
  EXPECT_THAT(Said("Ready"), HasSubstr("0 of 2"));
  clock_.Advance(Millis(400));
  Done done = rolling("1 of 2");
  done.restored = {"spec.replicas of it was changed"};
  const kube::Outcome next = Report(Begin(), done);
  EXPECT_EQ(next.again_after, Millis(600));
  EXPECT_EQ(next.priority, kube::Priority::kNormal) << "F10: they are due then";
  EXPECT_THAT(Said("Ready"), HasSubstr("0 of 2"));
  EXPECT_THAT(Events(), ElementsAre("DriftCorrected"));
  clock_.Advance(Millis(600));
  Report(Begin(), rolling("1 of 2"));
  EXPECT_THAT(Said("Ready"), HasSubstr("1 of 2"));
}

// F6: what time alone found had no event; also where the status can't say it yet, and once then.
TEST_F(ReporterTest, WhatAResyncFindsIsCounted) {
  WaitsForEvents();
  BeginByTime();
  Report(Begin(), Waiting("ConfigMapNotFound"));
  EXPECT_TRUE(Counted(0)) << "it found nothing";
  queue_.Done(key_);
  BeginByTime();
  AnswerWith(409);
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(1));
  queue_.Done(key_);
  BeginByTime();
  AnswerWith(200);
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(1)) << "found before";
  queue_.Done(key_);
  BeginByTime();
  Done restored = Waiting("MissingVariables");
  restored.restored = {"spec.replicas of it was changed"};
  queue_.Add(key_, kube::Priority::kNow);  // the event of what it restored itself
  Report(Begin(), restored);
  EXPECT_TRUE(Counted(2)) << "once for a pass";
}

// F6: the watch shows what is new a moment before its event is queued.
TEST_F(ReporterTest, AnEventThatComesWhileThePassRunsWasNotLost) {
  WaitsForEvents();
  BeginByTime();
  queue_.Add(key_, kube::Priority::kNow);
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(0));
}

// F6: words that waited for their second are due; what comes up beside them isn't found by a resync.
TEST_F(ReporterTest, APassForPostponedWordsIsNoResync) {
  WaitsForEvents();
  Done words = Waiting("ConfigMapNotFound");
  words.hold->message = "other";
  EXPECT_LE(*Report(Begin(), words).again_after, Seconds(1));
  BeginByTime();
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(0));
}

// F6, U12: the look that comes due is no event: what a pass by time finds beside it was lost.
TEST_F(ReporterTest, ADueLookHidesNoLostEvent) {
  kube::Outcome next = Report(Begin(), Waiting("ConfigMapNotFound"));
  EXPECT_EQ(next.priority, kube::Priority::kLater) << "F10: nothing is due then";
  EXPECT_EQ(Reporter::NoLaterThan(next, Seconds(2)).again_after, Seconds(2));
  EXPECT_EQ(Reporter::NoLaterThan(next, Seconds(2)).priority, kube::Priority::kNormal) << "F10: the look is";
  EXPECT_EQ(Reporter::NoLaterThan(next, kDay).again_after, next.again_after) << "what comes before it stays";
  EXPECT_EQ(Reporter::NoLaterThan(next, kDay).priority, kube::Priority::kLater);
  BeginByTime();
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(1));
}

// F6, U13: a window that opens is no event either, and what the pass then does it does for that.
TEST_F(ReporterTest, WhatAPolicyBeginsIsNoLostEvent) {
  kube::Outcome next = Report(Begin(), Waiting("ConfigMapNotFound"));
  EXPECT_EQ(reporter_->GoesOnBy(key_, next, kDay).again_after, next.again_after) << "which is a resync";
  EXPECT_EQ(reporter_->GoesOnBy(key_, next, kDay).priority, kube::Priority::kLater) << "F10";
  EXPECT_EQ(reporter_->GoesOnBy(key_, next, Seconds(2)).again_after, Seconds(2));
  EXPECT_EQ(reporter_->GoesOnBy(key_, next, Seconds(2)).priority, kube::Priority::kNormal) << "F10";
  BeginByTime();
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(0));
}

// F6, I19: a certificate is renewed because it is time, and not because its event was lost.
TEST_F(ReporterTest, ACertificatesRenewalIsNoLostEvent) {
  Observation o = Begin();
  o.fleet.certificates = {{{"", "Secret", "aws-system", "s"}, {"serving", "ca", o.now + Seconds(2), {}}, 3}};
  const kube::Outcome next = Report(o, Waiting("ConfigMapNotFound"));
  EXPECT_EQ(next.again_after, Seconds(2));
  EXPECT_EQ(next.priority, kube::Priority::kNormal) << "F10";
  BeginByTime();
  Report(Begin(), Waiting("SecretNotFound"));
  EXPECT_TRUE(Counted(0));
}

// F6, F7: a pass that threw has found nothing, whatever the pass before it was.
TEST_F(ReporterTest, AnExceptionIsNoLostEvent) {
  WaitsForEvents();
  BeginByTime();
  Report(Begin(), Waiting("ConfigMapNotFound"));
  ASSERT_TRUE(reporter_->ReportThrown(ctx_, key_, "vector::at").ok());
  EXPECT_TRUE(Counted(0));
}

// F1, F7: an exception was a line in the log alone.
TEST_F(ReporterTest, AnExceptionIsTold) {
  auto next = reporter_->ReportThrown(ctx_, key_, "vector::at");
  ASSERT_TRUE(next.ok());
  EXPECT_GE(*next->again_after, Seconds(12));
  EXPECT_LE(*next->again_after, Seconds(18));
  EXPECT_EQ(next->end, kube::Outcome::End::kThrew);
  EXPECT_EQ(Said("Ready", "status"), "False");
  EXPECT_EQ(Said("Ready", "reason"), "InternalError");
  EXPECT_EQ(Said("Stalled", "reason"), "InternalError");
  EXPECT_THAT(Said("Ready"), HasSubstr("vector::at (next try at "));
  EXPECT_THAT(Events(), ElementsAre("InternalError"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("capi_operator_provider_stalled{kind=\"InfrastructureProvider\","
                                         "name=\"aws\",namespace=\"aws-system\"} 1"));
}

// F5: an exception whose words couldn't be written, either, counted as a bug that was no error.
TEST_F(ReporterTest, WhatCannotBeToldCountsAllTheSame) {
  for (int status : {404, 409, 403}) {
    SCOPED_TRACE(status);
    AnswerWith(status);
    EXPECT_EQ(reporter_->ReportThrown(ctx_, key_, "exception: vector::at")->end, kube::Outcome::End::kThrew);
    const Error refused{Code::kPermissionDenied, "setting the finalizer: forbidden", {}};
    EXPECT_EQ(reporter_->ReportFailed(ctx_, key_, refused)->end, kube::Outcome::End::kError);
    // Only a provider that is there, and is as it was seen, has metrics of it.
    EXPECT_EQ(metrics_.Text().find("provider_stalled{") != std::string::npos, status == 403);
  }
}

// F1, F5: so is what the server refused before anything could be decided; what passes by itself is decided anew.
TEST_F(ReporterTest, AFailedPassIsTold) {
  Context stopped = ctx_;
  std::stop_source stop;
  stop.request_stop();
  stopped.stop = stop.get_token();
  const Error refused{Code::kPermissionDenied, "setting the finalizer: forbidden", {}};
  EXPECT_FALSE(reporter_->ReportFailed(stopped, key_, refused).ok()) << "it was cut short";
  auto next = reporter_->ReportFailed(ctx_, key_, {Code::kConflict, "changed", {}});
  ASSERT_TRUE(next.ok());
  EXPECT_LE(*next->again_after, Millis(240));
  EXPECT_EQ(Said("Ready"), "");
  next = reporter_->ReportFailed(ctx_, key_, refused);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(Said("Ready", "reason"), "APIServerUnavailable");
  EXPECT_EQ(Said("Stalled", "status"), "True");
  EXPECT_THAT(Said("Ready"), HasSubstr("setting the finalizer: forbidden (next try at "));
  EXPECT_GE(*next->again_after, Seconds(12));
  next = reporter_->ReportFailed(ctx_, testing::NewCore().id.Key(), refused);
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(next->again_after) << "it is gone";
}

}  // namespace
}  // namespace capi::ops
