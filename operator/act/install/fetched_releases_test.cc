#include "operator/act/install/fetched_releases.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace capi::ops {
namespace {

api::Release NewRelease(const std::string& components) {
  return {*api::Version::Parse("v1.0.0"), "metadata", components, "source"};
}

// F6, F1: what is held back is looked at again now and then, and fetched again after ten minutes alone.
TEST(FetchedReleases, AreKeptForTenMinutes) {
  FakeClock clock;
  FetchedReleases releases;
  releases.Put("aws", "inputs", NewRelease("text"), clock.Monotonic());
  clock.Advance(std::chrono::minutes(10) - Millis(1));
  auto kept = releases.Get("aws", "inputs", clock.Monotonic());
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->components, "text");
  EXPECT_EQ(kept->metadata, "metadata");
  EXPECT_EQ(kept->source, "source");
  EXPECT_EQ(kept->version.ToString(), "v1.0.0");
  clock.Advance(Millis(1));
  EXPECT_FALSE(releases.Get("aws", "inputs", clock.Monotonic()));
}

// T14: with what they were verified by, which is stored with them; it counts as they do.
TEST(FetchedReleases, AreKeptWithTheirSignatures) {
  FetchedReleases releases(1'000);
  api::Release release = NewRelease("text");
  release.signatures = {{"metadata.sig", std::string(500, 'a')}};
  releases.Put("aws", "inputs", release, MonoTime{});
  auto kept = releases.Get("aws", "inputs", MonoTime{});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->signatures, release.signatures);
  releases.Put("azure", "inputs", release, MonoTime{} + Seconds(1));
  EXPECT_FALSE(releases.Get("aws", "inputs", MonoTime{} + Seconds(1))) << "there is no room for both";
}

TEST(FetchedReleases, AreOfTheirInputsAlone) {
  MonoTime now{};
  FetchedReleases releases;
  releases.Put("aws", "inputs", NewRelease("text"), now);
  EXPECT_FALSE(releases.Get("azure", "inputs", now));
  EXPECT_FALSE(releases.Get("aws", "another token", now));
  EXPECT_FALSE(releases.Get("aws", "inputs", now)) << "what was asked with other inputs goes";
  releases.Put("aws", "inputs", NewRelease("text"), now);
  releases.Drop("aws");
  EXPECT_FALSE(releases.Get("aws", "inputs", now));
}

// F2: however many providers are held back, they take no more than this.
TEST(FetchedReleases, TheOldestMakesRoom) {
  const std::string text = Sha256Hex("1") + Sha256Hex("2") + Sha256Hex("3");  // compresses little
  const size_t one = Gzip(text).size() + NewRelease("").metadata.size();
  FetchedReleases releases(2 * one);
  MonoTime now{};
  for (const char* provider : {"a", "b", "c"}) releases.Put(provider, "inputs", NewRelease(text), now += Seconds(1));
  EXPECT_FALSE(releases.Get("a", "inputs", now));
  EXPECT_TRUE(releases.Get("b", "inputs", now));
  EXPECT_TRUE(releases.Get("c", "inputs", now));
  releases.Put("c", "inputs", NewRelease("short"), now);
  releases.Put("d", "inputs", NewRelease("short"), now);
  EXPECT_TRUE(releases.Get("b", "inputs", now)) << "what was replaced takes no room";
  FetchedReleases none(1);
  none.Put("a", "inputs", NewRelease(text), now);
  EXPECT_FALSE(none.Get("a", "inputs", now));
}

}  // namespace
}  // namespace capi::ops
