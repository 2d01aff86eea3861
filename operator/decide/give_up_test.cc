#include "operator/decide/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/rollout_testing.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using testing::Entry;
using ::testing::HasSubstr;
using testing::Name;
using testing::Upgrading;
namespace outcome = api::outcome;

TEST(GiveUpRollout, SaysWhatIsWrongAndRemembersIt) {
  Observation o = Upgrading();
  Fleet fleet = o.fleet;
  fleet.workloads[0].available = 1;
  fleet.workloads[0].health.message += "; pod capa-1: ImagePullBackOff: no such image";
  const GivenUp given_up = GiveUpRollout(o, fleet);
  Done done{.hold = given_up.hold, .fleet = fleet, .rollout = given_up.entry};
  ASSERT_TRUE(done.hold.has_value());
  EXPECT_EQ(done.hold->condition, "ProviderUpgraded");
  EXPECT_EQ(done.hold->reason, "RolloutTimedOut");
  EXPECT_THAT(done.hold->message, HasSubstr("v1.12.0 wasn't healthy within 10m"));
  EXPECT_THAT(done.hold->message, HasSubstr("ImagePullBackOff: no such image"));
  EXPECT_THAT(done.hold->message, HasSubstr("still serve"));
  o.provider.status = Summarize(o, done);
  EXPECT_EQ(o.provider.status.installed_version, "v1.11.0");
  EXPECT_EQ(o.provider.status.history.front().outcome, "Failed");
  EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "hold RolloutTimedOut");
  Done held;
  held.hold = std::get<Hold>(*FollowRollout(o, InputsDigest(o)));
  EXPECT_EQ(Summarize(o, held), o.provider.status) << "a second pass has nothing to write";
}

// U5: who asked for a rollback hears why there is none, except for a first installation, which has nowhere to go. There
// was one reason for all: that of a change which leaves the version as it is was false where another one was stored.
TEST(GiveUpRollout, SaysWhyItIsNotRolledBack) {
  struct Case {
    std::string_view name;
    void (*change)(Observation&);
    std::string_view why;  // "" for nothing
  };
  const Case cases[] = {
      {"it isn't asked for", [](Observation& o) { o.provider.spec.rollout.on_failure = api::OnFailure::kHold; }, ""},
      {"a first installation", [](Observation& o) { o.provider.status.history.pop_back(); }, ""},
      {"the same version with another spec",
       [](Observation& o) {
         auto& history = o.provider.status.history;
         history.insert(history.begin() + 1, Entry("v1.12.0", outcome::kSucceeded, "before"));
       },
       "; it is not rolled back: only a change of version is, and v1.12.0 was healthy before this change"},
      {"no other version", [](Observation& o) { o.provider.status.history[1].version = "v1.12.0"; },
       "; it is not rolled back: no release of another version was healthy before"},
      {"its release was deleted", [](Observation& o) { o.releases.pop_back(); },
       "; it is not rolled back: the release of v1.11.0, which was healthy before, isn't in the cluster any more"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Upgrading();
    o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
    o.now += std::chrono::minutes(10);
    c.change(o);
    EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "give up");
    std::string message = GiveUpRollout(o, o.fleet).hold.message;
    EXPECT_EQ(message.find("; it is not rolled back"), c.why.empty() ? message.npos : message.size() - c.why.size());
    EXPECT_TRUE(message.ends_with(c.why)) << message;
  }
}

// U5: "pods ... still serve" was said of a workload that was gone, and of its pods with it.
TEST(GiveUpRollout, SaysThatOldPodsServeWhereTheyCan) {
  struct Case {
    bool there, available, serve;
  };
  for (const Case& c : {Case{true, true, true}, {true, false, false}, {false, false, false}}) {
    Observation o = Upgrading();
    o.fleet.workloads.push_back(testing::NewWorkload(kube::HealthState::kInProgress));
    o.fleet.workloads.back().exists = c.there;
    o.fleet.workloads.back().available = c.available ? 1 : 0;  // none with strategy Recreate
    for (const std::string& message : {GiveUpRollout(o, o.fleet).entry.message, EndTime(o).message}) {
      EXPECT_EQ(message.find("still serve") != message.npos, c.serve) << message;
      EXPECT_EQ(message.find("doesn't exist") == message.npos, c.there) << message;
    }
  }
}

// U5, D1: what drifts after a rollback is put back as a rollback is. Each time the entry said that it was rolled back
// only then; and the words of the pods of a big release had no bound.
TEST(RollbackEntry, KeepsWhenItWasRolledBack) {
  Observation o = Upgrading(outcome::kRolledBack);
  o.provider.status.history.front().time = "2027-01-15T07:00:00Z";
  EXPECT_EQ(RollbackEntry(o).time, "2027-01-15T07:00:00Z");
  EXPECT_EQ(RollbackEntry(o).outcome, outcome::kRollingBack);
  for (auto how : {outcome::kRollingOut, outcome::kRollingBack}) {
    o.provider.status.history.front().outcome = how;
    EXPECT_EQ(RollbackEntry(o).time, FormatTime(o.now)) << how;
  }
  o.provider.status.history.front().message.clear();
  o.fleet.workloads[0].health.message = std::string(5000, 'x');
  EXPECT_EQ(RollbackEntry(o).message.size(), 2048u + 3);
}

TEST(GiveUpRollout, KeepsAnEntrySmall) {
  Observation o = Upgrading();
  o.fleet.workloads[0].health.message = std::string(5000, 'x');
  const GivenUp given_up = GiveUpRollout(o, o.fleet);
  EXPECT_EQ(given_up.entry.message.size(), 2048u + 3);
  EXPECT_TRUE(given_up.entry.message.ends_with("x..."));
}

// Why it isn't rolled back was cut off behind a pod's long last words.
TEST(GiveUpRollout, SaysOfBothWhatThereIsRoomFor) {
  Observation o = Upgrading();
  o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
  o.fleet.workloads[0].health.message = std::string(5000, 'x');
  const std::string message = GiveUpRollout(o, o.fleet, std::string(5000, 'y')).entry.message;
  EXPECT_NE(message.find("x...; it is not rolled back: yyy"), message.npos);
  EXPECT_LE(message.size(), 2048u + 100);
  o.fleet.workloads[0].health.message = "short";
  const std::string refusal(1500, 'y');
  EXPECT_TRUE(GiveUpRollout(o, o.fleet, refusal).entry.message.ends_with(": " + refusal));
}

// Where the cut fell into a character, nothing said that the message was cut.
TEST(GiveUpRollout, SaysThatAMessageIsCut) {
  for (const char* before : {"", "x"}) {
    Observation o = Upgrading();
    std::string& message = o.fleet.workloads[0].health.message = before;
    for (int i = 0; i < 2500; ++i) message += "\u00e9";
    const GivenUp given_up = GiveUpRollout(o, o.fleet);
    EXPECT_TRUE(given_up.entry.message.ends_with("\u00e9...")) << given_up.entry.message.substr(2000);
    EXPECT_LE(given_up.entry.message.size(), 2048u + 3);
    EXPECT_EQ(given_up.hold.message.find(given_up.entry.message) != std::string::npos, true);
  }
}

}  // namespace
}  // namespace capi::ops
