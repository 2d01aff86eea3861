#include "operator/observe/just_stored.h"

#include <gtest/gtest.h>

namespace capi::ops {
namespace {

StoredRelease Release() { return {"n", "aws-v1.0.0", "v1.0.0", *api::Version::Parse("v1.0.0"), "uid/10"}; }

kube::ObjectPtr Map(const char* version) {
  return std::make_shared<const kube::Object>(
      Json{{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"namespace", "n"}, {"name", "aws-v1.0.0"}, {"resourceVersion", version}}}});
}

// I14: a release that was just stored counts before the watch shows it.
TEST(JustStored, CountsUntilTheWatchShowsIt) {
  FakeClock clock;
  JustStored stored(clock);
  EXPECT_FALSE(stored.Awaited("aws").has_value());
  stored.Put("aws", Release());
  EXPECT_FALSE(stored.Awaited("azure").has_value());
  auto awaited = stored.Awaited("aws");
  ASSERT_TRUE(awaited.has_value());
  EXPECT_EQ(awaited->name, "aws-v1.0.0");
  stored.Saw(nullptr, Map("9"));
  EXPECT_TRUE(stored.Awaited("aws").has_value()) << "an older one of that name";
  stored.Saw(Map("9"), Map("10"));
  EXPECT_FALSE(stored.Awaited("aws").has_value());
  stored.Put("aws", Release());
  EXPECT_FALSE(stored.Awaited("aws").has_value()) << "it was seen before the answer was heard";

  stored.WatchEnds();
  stored.Put("aws", Release());
  EXPECT_TRUE(stored.Awaited("aws").has_value()) << "the next watch has still to show it";
  stored.Forget("aws");
  EXPECT_FALSE(stored.Awaited("aws").has_value());
}

// I14: a ConfigMap whose end the watch showed before the answer was heard was taken to be there for half a minute: each
// pass loaded it, and found nothing.
TEST(JustStored, WhatWentBeforeTheAnswerWasHeardIsNotAwaited) {
  FakeClock clock;
  JustStored stored(clock);
  stored.Saw(nullptr, Map("10"));
  stored.Saw(Map("11"), nullptr);
  stored.Put("aws", Release());
  EXPECT_FALSE(stored.Awaited("aws").has_value());
}

// A ConfigMap that was deleted before a pass saw it was taken to be there for good.
TEST(JustStored, CountsForHalfAMinuteAtMost) {
  FakeClock clock;
  JustStored stored(clock);
  stored.Put("aws", Release());
  clock.Advance(Seconds(29));
  EXPECT_TRUE(stored.Awaited("aws").has_value());
  clock.Advance(Seconds(1));
  EXPECT_FALSE(stored.Awaited("aws").has_value());
}

}  // namespace
}  // namespace capi::ops
