#include "operator/webhooks/certificates.h"

#include <gtest/gtest.h>

namespace capi::ops {
namespace {

TEST(DataOf, LeavesOutWhatIsNoBase64) {
  kube::Object secret(Json{{"data", {{"a", "YQ=="}, {"b", "%"}, {"c", 5}, {"d", ""}}}});
  EXPECT_EQ(DataOf(secret), (SecretData{{"a", "a"}, {"c", ""}, {"d", ""}}));
  EXPECT_TRUE(DataOf(kube::Object()).empty());
  EXPECT_TRUE(DataOf(kube::Object(Json{{"data", "x"}})).empty());
}

TEST(ActPace, GivesTenAtOnceAndThenOneInFifteenSeconds) {
  const MonoTime start(std::chrono::hours(1));
  ActPace pace;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(start), start) << i;
    pace.Acted(start);
  }
  EXPECT_EQ(pace.Next(start), start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(14)), start + Seconds(15));
  pace.Acted(start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(15)), start + Seconds(30));
  const MonoTime later = start + Seconds(1000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(later), later) << i;
    pace.Acted(later);
  }
  EXPECT_GT(pace.Next(later), later);
}

}  // namespace
}  // namespace capi::ops
