#include "api/moves/upgrade_policy.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::api {
namespace {

constexpr auto kNone = UpgradeType::kNone, kPatch = UpgradeType::kPatch, kMinor = UpgradeType::kMinor;

TEST(UpgradePolicy, ReachesWhatItsTypeNames_U13) {
  const struct {
    UpgradeType type;
    const char *least, *to;
    bool reached;
  } cases[] = {
      {kNone, "v1.10.0", "v1.10.1", false},      {kPatch, "v1.10.0", "v1.10.1", true},
      {kPatch, "v1.10.0", "v1.11.0", false},     {kPatch, "v1.10.1", "v1.10.1", false},
      {kPatch, "v1.10.1", "v1.10.0", false},     {kMinor, "v1.10.0", "v1.12.3", true},
      {kMinor, "v1.10.0", "v1.10.1", true},      {kMinor, "v1.10.0", "v2.0.0", false},
      {kMinor, "v1.11.0", "v1.10.9", false},     {kMinor, "v1.10.0", "v1.11.0-rc.1", false},
      {kPatch, "v1.10.0-rc.0", "v1.10.0", true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(InReach(c.type, *Version::Parse(c.least), *Version::Parse(c.to)), c.reached) << c.least << " " << c.to;
  }
}

TEST(UpgradePolicy, WaitsForItsWindow_U13) {
  const auto at = [](const char* time) { return *ParseTime(time); };  // 2026-01-03 is a Saturday
  const Millis hour = std::chrono::hours(1);
  const MaintenanceWindow nightly{2 * hour, 2 * hour, {}}, saturdays{2 * hour, 2 * hour, {6}},
      over_midnight{23 * hour, 2 * hour, {6}}, always{Millis(0), 24 * hour, {}};
  const struct {
    MaintenanceWindow window;
    const char* now;
    Millis wait;
  } cases[] = {
      {nightly, "2026-01-03T01:59:59Z", Seconds(1)},
      {nightly, "2026-01-03T02:00:00Z", Millis(0)},
      {nightly, "2026-01-03T03:59:59Z", Millis(0)},
      {nightly, "2026-01-03T04:00:00Z", 22 * hour},
      {saturdays, "2026-01-03T02:00:00Z", Millis(0)},
      {saturdays, "2026-01-03T04:00:00Z", 7 * 24 * hour - 2 * hour},
      {saturdays, "2026-01-02T03:00:00Z", 23 * hour},
      {over_midnight, "2026-01-04T00:59:59Z", Millis(0)},
      {over_midnight, "2026-01-04T01:00:00Z", 6 * 24 * hour + 22 * hour},
      {over_midnight, "2026-01-03T00:30:00Z", 22 * hour + hour / 2},
      {always, "2026-01-03T23:59:59Z", Millis(0)},
  };
  for (const auto& c : cases) EXPECT_EQ(OpensIn({kPatch, c.window}, at(c.now)), c.wait) << c.now;
  EXPECT_EQ(OpensIn({kPatch, std::nullopt}, at("2026-01-03T12:00:00Z")), Millis(0));
}

// "v1.10.3 Succeeded < v1.10.0": that version, its outcome, and what spec.version was where a policy chose it. Newest
// first.
ProviderStatus Status(const std::vector<const char*>& history, const char* installed) {
  ProviderStatus status;
  status.installed_version = installed;
  for (const char* text : history) {
    const auto words = Split(text, ' ');
    HistoryEntry entry;
    entry.version = words[0];
    entry.outcome = words[1];
    if (words.size() == 4) entry.instead_of = words[3];
    status.history.push_back(entry);
  }
  return status;
}

constexpr const char *kOwn = "v1.10.0 Succeeded", *kFloor = "v1.10.1 Succeeded < v1.10.0";

const struct {
  const char* what;
  const char* declared;
  std::vector<const char*> history;
  const char* installed;
  bool alone;
  const char *runs, *floor;
} kStates[] = {
    {"no policy has moved it", "v1.10.0", {kOwn}, "v1.10.0", false, "v1.10.0", ""},
    {"it was moved", "v1.10.0", {kFloor, kOwn}, "v1.10.1", false, "v1.10.1", "v1.10.1"},
    {"written without v", "1.10.0", {kFloor, kOwn}, "v1.10.1", false, "v1.10.1", "v1.10.1"},
    {"the next one is under way",
     "v1.10.0",
     {"v1.10.2 Applying < v1.10.0", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.2",
     "v1.10.1"},
    {"and rolls out",
     "v1.10.0",
     {"v1.10.2 RollingOut < v1.10.0", kFloor, kOwn},
     "v1.10.2",
     false,
     "v1.10.2",
     "v1.10.1"},
    {"it failed and is left",
     "v1.10.0",
     {"v1.10.2 Failed < v1.10.0", kFloor, kOwn},
     "v1.10.2",
     false,
     "v1.10.2",
     "v1.10.1"},
    {"it is rolled back",
     "v1.10.0",
     {"v1.10.2 RollingBack < v1.10.0", kFloor, kOwn},
     "v1.10.2",
     false,
     "v1.10.2",
     "v1.10.1"},
    {"it was rolled back",
     "v1.10.0",
     {"v1.10.2 RolledBack < v1.10.0", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"the first one was", "v1.10.0", {"v1.10.1 RolledBack < v1.10.0", kOwn}, "v1.10.0", false, "v1.10.0", ""},
    {"somebody leaves what failed",
     "v1.10.1",
     {"v1.10.2 Failed < v1.10.0", kFloor, kOwn},
     "v1.10.2",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"somebody declares a patch of an older series than what failed",
     "v1.10.1",
     {"v1.11.0 Failed < v1.10.0", kOwn},
     "v1.11.0",
     false,
     "v1.11.0",
     ""},
    {"and that is meant", "v1.10.1", {"v1.11.0 Failed < v1.10.0", kOwn}, "v1.11.0", true, "v1.10.1", ""},
    {"one of the series that failed, below what came up there",
     "v1.10.1",
     {"v1.11.1 Failed < v1.10.0", "v1.11.0 Succeeded < v1.10.0", kOwn},
     "v1.11.1",
     false,
     "v1.11.0",
     "v1.11.0"},
    {"somebody changes his mind meanwhile",
     "v1.10.3",
     {"v1.10.2 RollingOut < v1.10.0", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.3",
     "v1.10.1"},
    {"one between is declared while it is sent",
     "v1.10.2",
     {"v1.10.3 Applying < v1.10.0", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.3",
     "v1.10.1"},
    {"or comes up", "v1.10.1", {"v1.11.0 RollingOut < v1.10.0", kOwn}, "v1.11.0", false, "v1.11.0", ""},
    {"or goes back", "v1.10.1", {"v1.11.0 RollingBack < v1.10.0", kOwn}, "v1.11.0", false, "v1.11.0", ""},
    {"or an older one than the least",
     "v1.9.0",
     {"v1.10.3 RollingOut < v1.10.0", kFloor, kOwn},
     "v1.10.3",
     false,
     "v1.10.3",
     "v1.10.1"},
    {"and that is meant",
     "v1.9.0",
     {"v1.10.3 RollingOut < v1.10.0", kFloor, kOwn},
     "v1.10.3",
     true,
     "v1.9.0",
     "v1.10.1"},
    {"the way back has ended meanwhile",
     "v1.10.1",
     {"v1.11.0 RolledBack < v1.10.1", kOwn},
     "v1.10.0",
     false,
     "v1.10.1",
     ""},
    {"a newer one is declared", "v1.11.0", {kFloor, kOwn}, "v1.10.1", false, "v1.11.0", "v1.10.1"},
    {"it was tried, and failed",
     "v1.11.0",
     {"v1.11.0 RolledBack", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.11.0",
     "v1.10.1"},
    {"and is taken back in git",
     "v1.10.0",
     {"v1.11.0 RolledBack", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"one that came up is taken back in git",
     "v1.10.0",
     {"v1.10.4 Succeeded", kFloor, kOwn},
     "v1.10.4",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"what was meant was rolled back",
     "v1.9.0",
     {"v1.9.0 RolledBack", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"an older one is declared", "v1.9.0", {kFloor, kOwn}, "v1.10.1", false, "v1.10.1", "v1.10.1"},
    {"and it is meant", "v1.9.0", {kFloor, kOwn}, "v1.10.1", true, "v1.9.0", "v1.10.1"},
    {"what was meant goes on", "v1.9.0", {"v1.9.0 RollingOut", kFloor, kOwn}, "v1.9.0", false, "v1.9.0", "v1.10.1"},
    {"and has come up", "v1.9.0", {"v1.9.0 Succeeded", kFloor, kOwn}, "v1.9.0", false, "v1.9.0", ""},
    {"and something newer came up since",
     "v1.10.0",
     {"v1.10.4 Succeeded", kOwn, "v1.10.2 Succeeded < v1.10.0", kOwn},
     "v1.10.4",
     false,
     "v1.10.0",
     ""},
    {"and a policy leads from there",
     "v1.10.0",
     {"v1.10.4 Succeeded", kFloor, kOwn, "v1.10.2 Succeeded < v1.10.0"},
     "v1.10.4",
     false,
     "v1.10.1",
     "v1.10.1"},
    {"a slip of the pen", "v1.10.x", {kFloor, kOwn}, "v1.10.1", false, "v1.10.x", "v1.10.1"},
    {"none is declared", "", {kFloor, kOwn}, "v1.10.1", false, "", "v1.10.1"},
    {"inputs of what the policy has installed changed",
     "v1.10.0",
     {"v1.10.1 Failed < v1.10.0", kFloor, kOwn},
     "v1.10.1",
     false,
     "v1.10.1",
     "v1.10.1"},
};

// The three facts, from a state that a policy has already moved once.
TEST(UpgradePolicy, NothingTakesAProviderBelowWhatItHasInstalled_U13) {
  for (const auto& c : kStates) {
    const ProviderStatus status = Status(c.history, c.installed);
    std::map<std::string, std::string> annotations;
    if (c.alone) annotations[std::string(kAnnotationAllowDowngrade)] = "true";
    EXPECT_EQ(VersionToRun(c.declared, status, annotations), c.runs) << c.what;
    EXPECT_EQ(PolicyFloor(status), c.floor) << c.what;
  }
}

// Where somebody has emptied spec.version.
TEST(UpgradePolicy, WhatRunsIsDeclaredWhereNothingIs_U13) {
  const struct {
    std::vector<const char*> history;
    const char* installed;
    UpgradeType type;
    const char* version;
  } cases[] = {
      {{}, "", kPatch, ""},
      {{kOwn}, "v1.10.0", kPatch, "v1.10.0"},
      {{kFloor, kOwn}, "v1.10.1", kPatch, "v1.10.1"},
      {{kFloor, kOwn}, "v1.10.1", kNone, ""},
      {{"v1.10.2 Applying < v1.10.0", kFloor, kOwn}, "v1.10.1", kMinor, "v1.10.0"},
      {{"v1.10.2 Failed < v1.10.0", kFloor, kOwn}, "v1.10.2", kMinor, "v1.10.0"},
      {{"v1.10.2 RolledBack < v1.10.0", kFloor, kOwn}, "v1.10.1", kMinor, "v1.10.1"},
      {{"v1.11.0 RollingOut", kOwn}, "v1.10.0", kMinor, "v1.11.0"},
      {{"v1.11.0 Failed", kOwn}, "v1.11.0", kMinor, "v1.11.0"},
  };
  for (const auto& c : cases) {
    const ProviderStatus status = Status(c.history, c.installed);
    const std::string version = VersionToDeclare(status, c.type);
    EXPECT_EQ(version, c.version) << c.installed;
    if (c.type == kNone || version.empty() || version == "v1.11.0") continue;
    EXPECT_EQ(VersionToRun(version, status, {}), VersionToRun("v1.10.0", status, {})) << "nothing else runs for it";
  }
}

TEST(UpgradePolicy, TheNewestChoiceThatFailedIsKnown_U13) {
  const struct {
    std::vector<const char*> history;
    const char* version;
  } cases[] = {{{kFloor, kOwn}, ""},
               {{"v1.11.0 Failed", kFloor, kOwn}, ""},
               {{"v1.11.0 Applying < v1.10.0", kFloor, kOwn}, ""},
               {{"v1.10.1 Failed < v1.10.0", kFloor, kOwn}, ""},
               {{"v1.10.2 RolledBack < v1.10.0", "v1.11.0 RolledBack < v1.10.0", kFloor, kOwn}, "v1.11.0"},
               {{"v1.11.0 RollingBack < v1.10.0", kOwn}, "v1.11.0"}};
  for (const auto& c : cases) {
    const ProviderStatus status = Status(c.history, "v1.10.1");
    const HistoryEntry* failed = NewestFailedChoice(status.history);
    EXPECT_EQ(failed == nullptr ? "" : failed->version, c.version);
  }
}

TEST(UpgradePolicy, WhatFailedLastHasFailed_U13) {
  const ProviderStatus status = Status({"v1.10.4 RollingOut < v1.10.0", "v1.10.3 Succeeded < v1.10.0",
                                        "v1.10.3 Failed < v1.10.0", "v1.10.2 RolledBack < v1.10.0", kFloor, kOwn},
                                       "v1.10.3");
  for (const char* version : {"v1.10.0", "v1.10.1", "v1.10.3", "v1.10.4", "v1.10.5"}) {
    EXPECT_FALSE(HasFailed(status, version)) << version;
  }
  EXPECT_TRUE(HasFailed(status, "v1.10.2"));
}

// It goes when no policy is in force, spec.version has reached it, and that is installed.
TEST(UpgradePolicy, TheFloorGoesOnceSpecVersionIsInstalled_U13) {
  const struct {
    std::vector<const char*> history;
    const char *declared, *installed;
    UpgradeType type;
    const char* floor;
  } cases[] = {{{kFloor, kOwn}, "v1.10.0", "v1.10.1", kNone, "v1.10.1"},
               {{kFloor, kOwn}, "v1.10.1", "v1.10.1", kNone, ""},
               {{kFloor, kOwn}, "v1.10.1", "v1.10.1", kPatch, "v1.10.1"},
               {{kFloor, kOwn}, "v1.10.2", "v1.10.1", kNone, "v1.10.1"},
               {{"v1.10.2 Succeeded", kFloor, kOwn}, "v1.10.2", "v1.10.2", kNone, ""},
               {{"v1.10.2 Succeeded", kFloor, kOwn}, "v1.10.2", "v1.10.2", kMinor, "v1.10.1"},
               {{"v1.10.2 Succeeded", kFloor, kOwn}, "v1.10.1", "v1.10.2", kNone, "v1.10.1"},
               {{kFloor, kOwn}, "v1.10.x", "v1.10.1", kNone, "v1.10.1"},
               {{kFloor, kOwn}, "v1.10.1", "v1.10.0", kNone, "v1.10.1"},
               {{kFloor, kOwn}, "", "v1.10.1", kNone, "v1.10.1"}};
  for (const auto& c : cases) {
    ProviderStatus status = Status(c.history, c.installed);
    SettleFloor(status, c.declared, c.type);
    EXPECT_EQ(PolicyFloor(status), c.floor) << c.declared << " " << c.installed;
  }
}

TEST(UpgradePolicy, KnowsWhenItsWindowOpened_U13) {
  const auto at = [](const char* time) { return *ParseTime(time); };  // 2026-01-03 is a Saturday
  const Millis hour = std::chrono::hours(1);
  const UpgradePolicy over_midnight{kPatch, MaintenanceWindow{23 * hour, 2 * hour, {6}}};
  EXPECT_EQ(OpenSince(over_midnight, at("2026-01-04T00:59:59Z")), at("2026-01-03T23:00:00Z"));
  EXPECT_EQ(OpenSince(over_midnight, at("2026-01-03T23:00:00Z")), at("2026-01-03T23:00:00Z"));
  EXPECT_EQ(OpenSince(over_midnight, at("2026-01-04T01:00:00Z")), std::nullopt);
  EXPECT_EQ(OpenSince({kPatch, std::nullopt}, at("2026-01-04T00:59:59Z")), std::nullopt);
}

}  // namespace
}  // namespace capi::api
