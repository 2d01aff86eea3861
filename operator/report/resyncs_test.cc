#include "operator/report/resyncs.h"

#include <gtest/gtest.h>

#include "api/reasons.h"

namespace capi::ops {
namespace {

// F6: time alone began it, and the pass before said that nothing was due.
TEST(Resyncs, AreBegunByTimeAloneWithNothingDue) {
  struct Case {
    std::string_view name;
    bool next, by_time, resync;
  };
  const Case cases[] = {
      {"nothing was due, and its time came", true, true, true},
      {"an event came first", true, false, false},
      {"something was due", false, true, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Resyncs resyncs;
    resyncs.Begin("a", false);
    resyncs.Next("a", c.next);
    EXPECT_FALSE(resyncs.Found("a"));
    resyncs.Begin("a", c.by_time);
    EXPECT_EQ(resyncs.Found("a"), c.resync);
    EXPECT_FALSE(resyncs.Found("a")) << "once";
    resyncs.Begin("a", true);
    EXPECT_FALSE(resyncs.Found("a")) << "a pass that ended without a word";
  }
}

TEST(Resyncs, OfWhatIsGoneAreForgotten) {
  Resyncs resyncs;
  resyncs.Next("a", true);
  resyncs.Forget("a");
  resyncs.Begin("a", true);
  EXPECT_FALSE(resyncs.Found("a"));
}

TEST(Turned, ByMoreThanWords) {
  auto with = [](const char* status, const char* reason, const char* message) {
    api::ProviderStatus made;
    made.conditions.push_back(
        {.type = std::string(api::condition::kReady), .status = status, .reason = reason, .message = message});
    return made;
  };
  const api::ProviderStatus waits = with("False", "SecretNotFound", "a");
  EXPECT_FALSE(Turned(waits, with("False", "SecretNotFound", "b")));
  EXPECT_FALSE(Turned({}, {}));
  EXPECT_TRUE(Turned(waits, with("False", "MissingVariables", "a")));
  EXPECT_TRUE(Turned(waits, with("True", "SecretNotFound", "a")));
  EXPECT_TRUE(Turned({}, waits));
}

}  // namespace
}  // namespace capi::ops
