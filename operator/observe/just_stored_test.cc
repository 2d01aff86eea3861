#include "operator/observe/just_stored.h"

#include <gtest/gtest.h>

namespace capi::ops {
namespace {

// I14: a release that was just stored counts before the watch shows it.
TEST(JustStored, CountsUntilTheWatchShowsIt) {
  FakeClock clock;
  JustStored stored(clock);
  const StoredRelease release{"n", "aws-v1.0.0", "v1.0.0", *api::Version::Parse("v1.0.0"), "uid/10"};
  auto shows = [](const char* version) {
    return [version](const std::string& ns, const std::string& name) {
      EXPECT_EQ(ns + "/" + name, "n/aws-v1.0.0");
      return std::make_shared<const kube::Object>(Json{{"metadata", {{"resourceVersion", version}}}});
    };
  };
  auto nothing = [](const std::string&, const std::string&) -> kube::ObjectPtr { return nullptr; };
  EXPECT_FALSE(stored.Awaited("aws", nothing).has_value());
  stored.Put("aws", release);
  EXPECT_FALSE(stored.Awaited("azure", nothing).has_value());
  auto awaited = stored.Awaited("aws", nothing);
  ASSERT_TRUE(awaited.has_value());
  EXPECT_EQ(awaited->name, release.name);
  EXPECT_TRUE(stored.Awaited("aws", shows("9")).has_value()) << "an older one of that name";
  EXPECT_FALSE(stored.Awaited("aws", shows("10")).has_value());
  EXPECT_FALSE(stored.Awaited("aws", nothing).has_value()) << "it was seen";

  stored.Put("aws", release);
  EXPECT_FALSE(stored.Awaited("aws", shows("11")).has_value());
  stored.Put("aws", release);
  stored.Forget("aws");
  EXPECT_FALSE(stored.Awaited("aws", nothing).has_value());
}

// A ConfigMap that was deleted before a pass saw it was taken to be there for good.
TEST(JustStored, CountsForHalfAMinuteAtMost) {
  FakeClock clock;
  JustStored stored(clock);
  stored.Put("aws", {"n", "aws-v1.0.0", "v1.0.0", {}, "uid/10"});
  auto nothing = [](const std::string&, const std::string&) -> kube::ObjectPtr { return nullptr; };
  clock.Advance(Seconds(29));
  EXPECT_TRUE(stored.Awaited("aws", nothing).has_value());
  clock.Advance(Seconds(1));
  EXPECT_FALSE(stored.Awaited("aws", nothing).has_value());
}

}  // namespace
}  // namespace capi::ops
