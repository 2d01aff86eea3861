#include "base/expiring_map.h"

#include <gtest/gtest.h>

namespace capi {
namespace {

const MonoTime kStart(std::chrono::hours(1));

TEST(ExpiringMap, AnEntryIsThereForItsTime) {
  ExpiringMap<int> map(2, Seconds(10));
  EXPECT_EQ(map.Find("a", kStart), nullptr);
  map.Put("a", 1, kStart);
  ASSERT_NE(map.Find("a", kStart + Millis(9999)), nullptr);
  EXPECT_EQ(*map.Find("a", kStart), 1);
  EXPECT_EQ(map.Find("a", kStart + Seconds(10)), nullptr);
  map.Put("a", 2, kStart + Seconds(5));
  ASSERT_NE(map.Find("a", kStart + Seconds(14)), nullptr) << "its age began anew";
  EXPECT_EQ(*map.Find("a", kStart + Seconds(14)), 2);
  map.Erase("a");
  EXPECT_EQ(map.Find("a", kStart + Seconds(5)), nullptr);
}

// What was too old stayed, and the entry with the smallest key made room.
TEST(ExpiringMap, WhatIsTooOldMakesRoomAndThenTheOldest) {
  ExpiringMap<int> map(3, Seconds(10));
  auto has = [&](const char* key, int second) { return map.Find(key, kStart + Seconds(second)) != nullptr; };
  map.Put("z", 0, kStart);
  map.Put("b", 0, kStart + Seconds(6));
  map.Put("a", 0, kStart + Seconds(7));
  map.Put("y", 0, kStart + Seconds(10));
  EXPECT_TRUE(has("a", 10) && has("b", 10) && has("y", 10)) << "z was too old";
  map.Put("b", 0, kStart + Seconds(11));
  EXPECT_TRUE(has("a", 11) && has("b", 11) && has("y", 11)) << "an entry in its own place takes none of another";
  map.Put("c", 0, kStart + Seconds(12));
  EXPECT_FALSE(has("a", 12)) << "the oldest";
  EXPECT_TRUE(has("b", 12) && has("c", 12) && has("y", 12));
}

}  // namespace
}  // namespace capi
