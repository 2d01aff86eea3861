#include "operator/report/next_pass.h"

#include <gtest/gtest.h>

#include <set>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using testing::Observed;

constexpr Millis kSync = std::chrono::hours(10);

Hold HeldBy(Retry retry, std::optional<Millis> after = std::nullopt) {
  return Hold{"ProviderInstalled", "InstallFailed", "", retry, after};
}

// F5, F6: what a pass came to, and when the next one is.
TEST(NextPassOf, EveryEndHasANext) {
  struct Case {
    std::string_view name;
    std::optional<Hold> hold;
    bool ready = false, hands_off = false;
    std::optional<Millis> base;  // of the back-off
    Millis at_least{0};
    std::optional<Millis> at;
    bool told = false;
    bool keeps_backoff = false;
  };
  const Case cases[] = {
      {"the source is away", HeldBy(Retry::kBackoff), false, false, kSoon.base, {}, {}, true},
      {"the source says when", HeldBy(Retry::kBackoff, Seconds(60)), false, false, kSoon.base, Seconds(60), {}, true},
      {"403, 422, a webhook", HeldBy(Retry::kRefused), false, false, kNowAndThen.base, {}, {}, true},
      {"a finalizer that nobody removes", HeldBy(Retry::kPolled), false, false, kNowAndThen.base, {}, {}, true},
      {"a broken spec", HeldBy(Retry::kOnChange), false, false, kNowAndThen.base, {}, {}, false},
      {"the core comes first", HeldBy(Retry::kWaiting), false, false, kNowAndThen.base, {}, {}, false},
      {"a time of its own", HeldBy(Retry::kAt, Seconds(5)), false, false, {}, {}, Seconds(5), true},
      {"a time that was forgotten", HeldBy(Retry::kAt), false, false, {}, {}, kNowAndThen.max, true},
      {"no turn", HeldBy(Retry::kTurn, Seconds(5)), false, false, {}, {}, Seconds(5), false, true},
      {"at work", {}, false, false, kNowAndThen.base, {}, {}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Done done{.hold = c.hold, .hands_off = c.hands_off};
    NextPass next = NextPassOf(Observed(), done, c.ready, kSync);
    EXPECT_EQ(next.backoff.has_value(), c.base.has_value());
    if (next.backoff && c.base) {
      EXPECT_EQ(next.backoff->base, *c.base);
    }
    EXPECT_EQ(next.at_least, c.at_least);
    EXPECT_EQ(next.at, c.at);
    EXPECT_EQ(next.told, c.told);
    EXPECT_EQ(next.keeps_backoff, c.keeps_backoff) << "T13";
    EXPECT_EQ(next.keeps_source, c.hold.has_value()) << "F5: it may not have been asked";
    EXPECT_EQ(next.resync, !c.told && !c.keeps_backoff) << "what is told is done then, the rest looked at";
    EXPECT_EQ(next.priority(), next.resync ? kube::Priority::kLater : kube::Priority::kNormal) << "F10";
  }
}

// F5: what fails once the source has answered, or is the API server's, has nothing of the source's back-off.
TEST(NextPassOf, ASourceHasABackoffOfItsOwn) {
  for (const char* why : {"SourceUnreachable", "RateLimited", "SourceCredentialsRejected", "APIServerUnavailable",
                          "InstallFailed", "DryRunFailed"}) {
    SCOPED_TRACE(why);
    Done done{.hold = Hold{"ProviderInstalled", why, "", Retry::kBackoff}};
    const NextPass before = NextPassOf(Observed(), done, false, kSync);
    EXPECT_EQ(before.of_source, std::string_view(why).starts_with("Source") || done.hold->reason == "RateLimited");
    EXPECT_TRUE(before.keeps_source) << "it hasn't been asked";
  }
  for (Retry retry : {Retry::kBackoff, Retry::kWaiting, Retry::kOnChange, Retry::kRefused, Retry::kPolled, Retry::kAt,
                      Retry::kTurn}) {
    SCOPED_TRACE(static_cast<int>(retry));
    Done done{.hold = HeldBy(retry)};
    EXPECT_TRUE(NextPassOf(Observed(), done, false, kSync).keeps_source) << "it hasn't been asked";
    done.loaded = true;
    EXPECT_FALSE(NextPassOf(Observed(), done, false, kSync).keeps_source);
  }
}

// U5: the time of a change ends while what is gone isn't taken back: that is noticed then, not at the next look.
TEST(NextPassOf, TheEndOfAChangesTimeIsNotMissed) {
  for (bool open : {true, false}) {
    Observation o = Observed();
    api::HistoryEntry entry{"v1.12.0", "v1beta2", ""};
    entry.started = FormatTime(o.now - Seconds(60));
    entry.outcome = open ? api::outcome::kRollingOut : api::outcome::kFailed;
    o.provider.status.history = {entry};
    const auto at = [&](Hold hold) { return NextPassOf(o, Done{.hold = std::move(hold)}, false, kSync).at; };
    const auto end = open ? std::optional<Millis>(Seconds(540)) : std::nullopt;
    EXPECT_EQ(at(HeldBy(Retry::kRefused)), end);
    EXPECT_EQ(at(HeldBy(Retry::kBackoff)), end) << "a webhook is away";
    EXPECT_EQ(at(HeldBy(Retry::kBackoff, Seconds(600))), open ? std::optional<Millis>(Seconds(600)) : std::nullopt)
        << "F5: no earlier than a server asks for";
    EXPECT_EQ(at({"ProviderInstalled", "APIServerUnavailable", "", Retry::kBackoff}), std::nullopt);
    EXPECT_FALSE(NextPassOf(o, Done{.hold = HeldBy(Retry::kRefused)}, false, kSync).resync);
    // U13: of what a policy has begun, whatever holds it.
    const Hold lacks{"ProviderInstalled", "MissingVariables", "", Retry::kOnChange};
    EXPECT_EQ(at(lacks), std::nullopt) << "a person's";
    o.declared_version = "v1.11.0";
    o.provider.status.history.front().instead_of = "v1.11.0";
    EXPECT_EQ(at(lacks), end);
  }
}

// F6: what is Ready too, and what nobody may touch, once in a period; not all in one moment.
TEST(NextPassOf, WhatIsReadyIsLookedAtOncePerPeriod) {
  std::set<Millis> times;
  for (int i = 0; i < 200; ++i) {
    Observation o = Observed();
    o.provider.id.name = "p" + std::to_string(i);
    NextPass next = NextPassOf(o, {}, true, kSync);
    EXPECT_FALSE(next.backoff);
    ASSERT_TRUE(next.at);
    EXPECT_GE(*next.at, kSync * 9 / 10);
    EXPECT_LE(*next.at, kSync * 11 / 10);
    EXPECT_EQ(NextPassOf(o, {.hands_off = true}, false, kSync).at, next.at);
    times.insert(*next.at);
  }
  EXPECT_GT(times.size(), 100u);
}

// D2: a fight that is due gave a pass each millisecond where nothing was restored, past every back-off.
TEST(NextPassOf, AFightHasATimeWhereItIsRestored) {
  const std::optional<Millis> sync = NextPassOf(Observed(), {}, true, kSync).at;
  struct Case {
    std::string_view name;
    Fight fight;
    Done done;
    bool ready;
    std::optional<Millis> base, at;
  };
  const Fight due{.waiting = true}, waits{.waiting = true, .next = Seconds(5)}, over{.next = Seconds(60)};
  const Case cases[] = {
      {"its turn comes", waits, {}, true, {}, Seconds(5) + Millis(1)},
      {"it may be over then", over, {}, true, {}, Seconds(60) + Millis(1)},
      {"its turn comes before a refusal's",
       waits,
       {.hold = HeldBy(Retry::kRefused)},
       false,
       kNowAndThen.base,
       Seconds(5) + Millis(1)},
      {"restored just now", due, {.restored = {"what"}}, true, {}, Millis(1)},
      {"P4 hands off", due, {.hands_off = true}, true, {}, sync},
      {"P4 hands off, before its turn", waits, {.hands_off = true}, true, {}, sync},
      {"P2 paused", due, {}, false, kNowAndThen.base, {}},
      {"F5 the server refuses it", due, {.hold = HeldBy(Retry::kRefused)}, false, kNowAndThen.base, {}},
      {"another time is told", due, {.hold = HeldBy(Retry::kAt, Seconds(5))}, false, {}, Seconds(5)},
      {"F5 the server is away", due, {.hold = HeldBy(Retry::kBackoff)}, false, kSoon.base, {}},
      {"nobody restored it, all else is well", due, {}, true, kNowAndThen.base, sync},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    o.fights = {c.fight};
    NextPass next = NextPassOf(o, c.done, c.ready, kSync);
    EXPECT_EQ(next.at, c.at);
    EXPECT_EQ(next.backoff ? std::optional(next.backoff->base) : std::nullopt, c.base);
  }
}

// What no event will tell comes no later than its time (D1, D2, U5).
TEST(NextPassOf, TheEarliestCounts) {
  Observation o = Observed();
  o.fleet.blind = true;
  EXPECT_EQ(NextPassOf(o, {}, true, kSync).at, Seconds(30));
  EXPECT_FALSE(NextPassOf(o, {}, true, kSync).resync);
  o.fleet.awaited = Seconds(25);
  EXPECT_EQ(NextPassOf(o, {}, true, kSync).at, Seconds(25)) << "its event may never come";
  o.fleet.blind = false;
  EXPECT_FALSE(NextPassOf(o, {}, true, kSync).resync);
  const Done sent{.fleet = Fleet{.awaited = Seconds(30)}};
  EXPECT_EQ(NextPassOf(o, sent, true, kSync).at, Seconds(30)) << "what was applied since then counts";
  o.fights = {Fight{.next = Seconds(20)}, Fight{.next = Seconds(10)}};
  EXPECT_EQ(NextPassOf(o, {}, true, kSync).at, Seconds(10) + Millis(1));
  EXPECT_EQ(NextPassOf(o, {.again_after = Seconds(5)}, false, kSync).at, Seconds(5));
  EXPECT_FALSE(NextPassOf(Observed(), {.again_after = Seconds(5)}, false, kSync).resync) << "pods are read by time";
  Done held{.hold = HeldBy(Retry::kAt, Seconds(3)), .again_after = Seconds(5)};
  EXPECT_EQ(NextPassOf(o, held, false, kSync).at, Seconds(3));
  EXPECT_TRUE(NextPassOf(o, {.hold = HeldBy(Retry::kBackoff)}, false, kSync).backoff)
      << "a fight goes on beside a source that is away";
}

// I19: a certificate is renewed in time, whatever else is told of the provider.
TEST(NextPassOf, ACertificateIsLookedAtWhenItIsDue) {
  struct Case {
    std::string name;
    void (*change)(Observation&, Done&);
    std::optional<Millis> at;
  };
  const Case cases[] = {
      {"held", [](Observation&, Done& done) { done.hold = HeldBy(Retry::kOnChange); }, Seconds(100)},
      {"paused", [](Observation& o, Done&) { o.provider.spec.paused = true; }, std::nullopt},
      {"it failed", [](Observation& o, Done&) { o.certificate_trouble.wait = Seconds(200); }, Seconds(200)},
      {"a hand-over failed, and it has none",
       [](Observation& o, Done& done) {
         o.fleet.certificates.clear();
         o.certificate_trouble = {Error{Code::kUnavailable, "away", {}}, Seconds(10)};
         done.hold = HeldBy(Retry::kOnChange);
       },
       Seconds(10)},
      {"over, and nobody has looked", [](Observation& o, Done&) { o.now += Seconds(200); }, std::nullopt},
      {"cert-manager is away", [](Observation& o, Done&) { o.cert_manager_until = Seconds(9); },
       Seconds(9) + Millis(1)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    o.fleet.certificates = {{{"", "Secret", "aws-system", "s"}, {"serving", "ca", o.now + Seconds(100), {}}, 3}};
    Done done;
    c.change(o, done);
    EXPECT_EQ(NextPassOf(o, done, false, kSync).at, c.at);
  }
}

}  // namespace
}  // namespace capi::ops
