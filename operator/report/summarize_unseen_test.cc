// What is said of a pass that saw or tried nothing, and of when the next one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/decide/rules.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/next_pass.h"
#include "operator/report/summarize.h"
#include "operator/report/summarize_testing.h"

namespace capi::ops {
namespace {

using testing::Applied;
using testing::Get;
using ::testing::HasSubstr;
using testing::Observed;
using testing::StatusOf;

// F1, F5, F6: a message has a time where there is one to keep, and else says what is looked at again, and when.
TEST(Summarize, WordsAreWhatHappens) {
  for (Retry retry : {Retry::kOnChange, Retry::kWaiting, Retry::kPolled, Retry::kBackoff, Retry::kRefused, Retry::kAt,
                      Retry::kTurn}) {
    SCOPED_TRACE(static_cast<int>(retry));
    Observation o = Observed();
    Done done{.hold = Hold{"ProviderInstalled", "InstallFailed", "why", retry}};
    NextPass next = NextPassOf(o, done, false, std::chrono::hours(10));
    if (next.told) done.hold->next_try = o.now + Seconds(1);
    const std::string message = Get(Summarize(o, done), "Ready")->message;
    bool now_and_then = message.find("now and then") != message.npos;
    EXPECT_EQ(message.find("next try at") != message.npos, next.told);
    EXPECT_EQ(now_and_then, retry == Retry::kOnChange);
    EXPECT_TRUE(!now_and_then || (next.backoff && next.backoff->base == kNowAndThen.base));
  }
}

// What a former try came to stays told, of this declaration alone, and nothing that was looked at before the wait.
TEST(Summarize, AWaitForATurnIsToldWhereNothingElseIs_T13) {
  const Hold no_turn{"ProviderInstalled", "WaitingForSource", "isn't asked yet", Retry::kTurn, Seconds(5)};
  struct Case {
    const char* reason;
    Retry retry;
    std::int64_t generation;
    bool stays;
    const char* condition = "ProviderInstalled";
  };
  const Case cases[] = {
      {"SourceUnreachable", Retry::kBackoff, 1, true},
      {"VerificationFailed", Retry::kRefused, 1, true},
      {"VersionNotFound", Retry::kAt, 1, true},
      {"VersionNotFound", Retry::kAt, 2, false},
      {"InvalidMetadata", Retry::kOnChange, 1, true},
      {"InvalidComponents", Retry::kOnChange, 1, true},
      {"MissingVariables", Retry::kOnChange, 1, true},
      {"MissingVariables", Retry::kOnChange, 2, false},
      {"CAPIVersionIncompatibility", Retry::kWaiting, 1, true},
      {"WaitingForOrder", Retry::kWaiting, 1, true, "PreflightCheckPassed"},
      {"WaitingForPause", Retry::kWaiting, 1, true, "PreflightCheckPassed"},
      {"MissingKinds", Retry::kWaiting, 1, true, "PreflightCheckPassed"},
      {"PermissionsMissing", Retry::kRefused, 1, true, "PreflightCheckPassed"},
      {"DryRunFailed", Retry::kRefused, 1, true},
      {"InstallFailed", Retry::kRefused, 1, true},
      {"APIServerUnavailable", Retry::kBackoff, 1, false},
      {"WaitingForCoreProviderReady", Retry::kWaiting, 1, false, "PreflightCheckPassed"},
      {"SecretNotFound", Retry::kWaiting, 1, false, "PreflightCheckPassed"},
      {"MoreThanOneExists", Retry::kWaiting, 1, false, "PreflightCheckPassed"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.reason);
    Observation o = Observed();
    o.provider.generation = 1;
    o.provider.status = Summarize(o, {.hold = Hold{c.condition, c.reason, "why", c.retry}});
    const api::ProviderStatus was = o.provider.status;
    o.provider.generation = c.generation;
    o.provider.status = Summarize(o, {.hold = no_turn});
    EXPECT_EQ(o.provider.status == was, c.stays);
    EXPECT_THAT(Get(o.provider.status, "Ready")->message, HasSubstr(c.stays ? "why" : "isn't asked yet"));
    EXPECT_EQ(Summarize(o, {.hold = no_turn}), o.provider.status) << "once";
  }
}

// Who is Ready has asked for its turn anew (reconcile-at), and is no worse for that others are at work.
TEST(Summarize, WhoIsReadyStaysSoWhileItWaitsForATurn_T13) {
  const Hold no_turn{"ProviderInstalled", "WaitingForSource", "isn't asked yet", Retry::kTurn, Seconds(5)};
  Observation o = Observed();
  o.provider.generation = 1;
  o.provider.status = Summarize(o, Applied());
  const api::ProviderStatus ready = o.provider.status;
  ASSERT_EQ(StatusOf(ready, "Ready"), "True");
  EXPECT_EQ(Summarize(o, {.hold = no_turn}), ready);
  o.provider.status =
      SummarizeUnseen(o.provider, Hold{"Ready", "APIServerUnavailable", "away", Retry::kBackoff}, o.now);
  ASSERT_EQ(StatusOf(o.provider.status, "Reconciling"), "True");
  EXPECT_EQ(Summarize(o, {.hold = no_turn}), ready) << "the API server is there again";
  Observation changed = o, sick = o;
  changed.provider.generation = 2;
  sick.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  for (const Observation* other : {&changed, &sick}) {
    EXPECT_EQ(StatusOf(Summarize(*other, {.hold = no_turn}), "Ready"), "False");
  }
}

// F1: and so it has its event.
TEST(Summarize, WhatFollowsAWaitForATurnIsNews_T13) {
  Observation o = Observed();
  o.provider.status = Summarize(o, {.hold = Hold{"ProviderInstalled", "WaitingForSource", "why", Retry::kTurn}});
  const Done away{.hold = Hold{"ProviderInstalled", "SourceUnreachable", "why", Retry::kBackoff}};
  const auto events = EventsOf(o.provider.status, Summarize(o, away), away);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type + " " + events[0].reason, "Warning SourceUnreachable");
}

// F1: what can't even be observed is said, and nothing else is unsaid. A server that stumbles leaves Ready alone.
TEST(Summarize, WhatCannotBeSeenIsSaid) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  Hold away{"Ready", "APIServerUnavailable", "away", Retry::kBackoff, {}, o.now + Seconds(4)};
  auto status = SummarizeUnseen(o.provider, away, o.now);
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_EQ(StatusOf(status, "Reconciling"), "True");
  EXPECT_EQ(Get(status, "Reconciling")->message, "away (next try at 2027-01-15T08:00:04Z)");
  EXPECT_EQ(StatusOf(status, "ProviderInstalled"), "True");
  Hold forbidden{"Ready", "APIServerUnavailable", "watching secrets: forbidden", Retry::kRefused,
                 {},      o.now + Seconds(15)};
  o.provider.status.observed_generation = -1;  // as the API server makes it
  EXPECT_EQ(SummarizeUnseen(o.provider, away, o.now).observed_generation, -1) << "Ready is of another one";
  status = SummarizeUnseen(o.provider, forbidden, o.now);
  EXPECT_EQ(status.observed_generation, o.provider.generation) << "or kstatus took it for InProgress for good";
  EXPECT_EQ(StatusOf(status, "Ready"), "False");
  EXPECT_EQ(StatusOf(status, "Stalled"), "True");
  EXPECT_EQ(StatusOf(status, "ProviderInstalled"), "True");
  EXPECT_EQ(SummarizeUnseen(testing::Observed().provider, away, o.now).conditions.size(), 2u)
      << "of one that never was ready, Ready says so too";
  o.provider.status = status;
  EXPECT_EQ(StatusOf(Summarize(o, Applied()), "Stalled"), "") << "and it ends with the next pass that sees";
}

// X2: a removal that was under way was forgotten while the server was away: what it had removed was restored.
TEST(Summarize, ARemovalThatBeganOutlivesAnOutage) {
  for (const char* said : {"Deleting", "DeletionFailed"}) {
    for (const char* why : {"APIServerUnavailable", "InternalError"}) {
      SCOPED_TRACE(std::string(said) + " " + why);
      Observation o = Observed();
      o.provider.deleting = true;
      o.provider.status.conditions = {{"Ready", "False", said, "", 1, ""}};
      Hold away{"Ready", why, "away", Retry::kBackoff};
      o.provider.status = SummarizeUnseen(o.provider, away, o.now);
      EXPECT_TRUE(RemovalBegan(o));
      EXPECT_EQ(Get(o.provider.status, "Ready")->message, "away");
      EXPECT_EQ(Get(o.provider.status, "Reconciling")->reason, why);
    }
  }
}

// P4: what a pass that saw nothing said stayed, with the time of a try that never came.
TEST(Summarize, HandsOffTakeBackWhatCouldNotBeSeen) {
  Observation o = Observed();
  for (Retry retry : {Retry::kBackoff, Retry::kRefused}) {
    Hold away{"Ready", "APIServerUnavailable", "away", retry, {}, o.now + Seconds(4)};
    o.provider.status = SummarizeUnseen(Observed().provider, away, o.now);
    auto status = Summarize(o, Done{.hands_off = true});
    EXPECT_EQ(StatusOf(status, "Reconciling"), "");
    EXPECT_EQ(StatusOf(status, "Stalled"), "");
    EXPECT_EQ(Get(status, "Ready")->reason, "HandsOff");
    EXPECT_EQ(Get(status, "Ready")->message.find("next try"), std::string::npos);
  }
}

}  // namespace
}  // namespace capi::ops
