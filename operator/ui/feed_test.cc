// B4: what is new reaches whoever looks, and nobody else.
#include "operator/ui/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/testing/await.h"
#include "operator/ui/ui_testing.h"

namespace capi::ops::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A feed that runs.
struct Running : Watched {
  using Watched::Watched;
  std::jthread thread{[this](std::stop_token stop) { (void)feed.Run(Context{}.WithStop(stop)); }};
};

// All that a stream was sent so far.
class Reader {
 public:
  explicit Reader(std::shared_ptr<http::ServerStream> stream) : stream_(std::move(stream)) {}
  bool AwaitText(const std::string& text, Millis limit = Seconds(20)) {
    return ::capi::Await([&] { return (seen_ += stream_->Take().bytes).find(text) != std::string::npos; }, limit);
  }
  const std::string& seen() const { return seen_; }
  void Forget() { seen_.clear(); }

 private:
  std::shared_ptr<http::ServerStream> stream_;
  std::string seen_;
};

Json Snapshot(Feed& feed, const Sees& sees = SeesAll) { return *ParseJson(feed.Snapshot(sees)); }

TEST(Feed, SnapshotHasAllThatIsSeen) {
  Watched watched;
  watched.Put(Core());
  watched.Put({});
  EXPECT_THAT(Snapshot(watched.feed)["providers"], SizeIs(2));
  const Json some = Snapshot(watched.feed, [](const api::ProviderId& id) { return id.ns == "n"; });
  ASSERT_THAT(some["providers"], SizeIs(1));
  EXPECT_EQ(some["providers"][0]["name"], "aws");
  EXPECT_TRUE(some["fleet"]["leads"].get<bool>());
  watched.Remove({});
  EXPECT_THAT(Snapshot(watched.feed)["providers"], SizeIs(1));
}

// B4: within a second of the cluster's change.
TEST(Feed, NewsReachViewersWithinASecond) {
  Running running;
  running.Put(Core());
  Reader reader(running.feed.Join(SeesAll));
  ASSERT_TRUE(reader.AwaitText("event: hello"));
  const std::pair<std::string, std::function<void()>> changes[] = {
      {"\"name\":\"aws\"", [&] { running.Put({}); }},
      {"\"reason\":\"InvalidSpec\"", [&] { running.Put(Held("aws", api::reason::kInvalidSpec, "bad")); }},
      {"\"drifted\":1",
       [&] {
         Fleet fleet;
         fleet.drifts.push_back({{"", "Service", "n", "s"}, true, {}, {}});
         running.Pass({}, fleet);
       }},
      {"\"restoredInTheLastHour\":", [&] { running.feed.OnRestored({}, 3); }},
      {"event: gone", [&] { running.Remove({}); }},
  };
  // The best of a few: a busy machine may hold up any one of them.
  std::map<std::string, MonoTime::duration> took;
  for (int round = 0; round < 4; ++round) {
    for (const auto& [text, change] : changes) {
      reader.Forget();
      const MonoTime before = SystemClock().Monotonic();
      change();
      ASSERT_TRUE(reader.AwaitText(text)) << text;
      const auto now = SystemClock().Monotonic() - before;
      took[text] = round == 0 ? now : std::min(took[text], now);
    }
  }
  for (const auto& [text, best] : took) EXPECT_LT(best, Seconds(1)) << text;
}

// B5: not even that there is another.
TEST(Feed, NobodyHearsOfWhatHeMayNotSee) {
  Running running;
  Reader some(running.feed.Join([](const api::ProviderId& id) { return id.ns != "n"; }));
  Reader all(running.feed.Join(SeesAll));
  running.Put({});
  ASSERT_TRUE(all.AwaitText("\"name\":\"aws\""));
  running.Remove({});
  ASSERT_TRUE(all.AwaitText("event: gone"));
  running.Put(Core());
  ASSERT_TRUE(some.AwaitText("cluster-api"));
  EXPECT_THAT(some.seen(), Not(HasSubstr("aws")));
}

// B5: whom he may see may wait for one that he may not.
TEST(Feed, NobodyHearsForWhomHisProvidersWait) {
  Watched watched;
  Sample core = Core();
  core.ready = false;
  core.reason = api::reason::kSecretNotFound;
  core.message = "no Secret";
  const Sample aws = Held("aws", api::reason::kWaitingForCoreProviderReady, "waits");
  auto sees = [](const api::ProviderId& id) { return id.ns == "n"; };
  Reader tenant(watched.feed.Join(sees)), admin(watched.feed.Join(SeesAll));
  watched.Put(core);
  watched.Put(aws);
  const std::string data = watched.feed.Snapshot(sees), details = *watched.feed.Details(aws.Key(), sees);
  ASSERT_TRUE(tenant.AwaitText("\"name\":\"aws\""));
  EXPECT_THAT(tenant.seen() + data + details, Not(HasSubstr(core.Key())));
  EXPECT_EQ((*ParseJson(details))["state"], "waiting");
  ASSERT_TRUE(admin.AwaitText("\"waitsFor\":[\"" + core.Key()));
  EXPECT_THAT(watched.feed.Snapshot(SeesAll), HasSubstr("\"root\":\"" + core.Key()));
  EXPECT_THAT(*watched.feed.Details(aws.Key(), SeesAll), HasSubstr("\"root\":\"" + core.Key()));
}

// B4: also what only the provider's own view has is news.
TEST(Feed, TellsOfWhatOnlyTheDetailsHave) {
  Watched watched;
  watched.Put({});
  watched.Pass({}, {});
  auto stream = watched.feed.Join(SeesAll);
  const std::string touched = "event: touched\ndata: {\"revision\":2,\"id\":\"" + Sample().Key() + "\"}";
  const std::string before = watched.feed.Snapshot(SeesAll);
  stream->Take();
  watched.Pass({}, {}, "v1.1.0");
  EXPECT_THAT(watched.feed.Snapshot(SeesAll), HasSubstr("\"revision\":2"));
  const std::string sent = stream->Take().bytes;
  EXPECT_THAT(sent, HasSubstr(touched));
  EXPECT_THAT(sent, Not(HasSubstr("event: provider")));
  watched.Put({});  // the object has changed, and nothing of it that the node has
  watched.feed.Snapshot(SeesAll);
  EXPECT_THAT(stream->Take().bytes, HasSubstr("event: touched"));
  watched.feed.Snapshot(SeesAll);
  EXPECT_EQ(stream->Take().bytes, "");
}

// B4: who may come to see it has to come again, for that to be asked.
TEST(Feed, WhatNobodyAskedAboutYetEndsTheStream) {
  Watched watched;
  watched.Put(Core());
  auto core = [](const api::ProviderId& id) { return id.ns == "capi-system"; };
  auto unasked = [](const api::ProviderId& id) { return id.ns == "n"; };
  auto stream = watched.feed.Join(core, unasked), other = watched.feed.Join(core);
  watched.Put(Core());
  watched.feed.Snapshot(SeesAll);
  EXPECT_FALSE(stream->ended());
  watched.Put({});
  watched.feed.Snapshot(SeesAll);
  EXPECT_TRUE(stream->ended());
  EXPECT_FALSE(other->ended());
  EXPECT_TRUE(watched.feed.Join(core, unasked)->ended()) << "it came before";
}

// What was sent before the data counts as old, by its revision.
TEST(Feed, RevisionsPutNewsBehindOrBeforeASnapshot) {
  Running running;
  Reader reader(running.feed.Join(SeesAll));
  running.Put({});
  ASSERT_TRUE(reader.AwaitText("\"name\":\"aws\""));
  const std::uint64_t before = Snapshot(running.feed)["revision"];
  running.Put(Held("aws", api::reason::kInvalidSpec, "bad"));
  ASSERT_TRUE(reader.AwaitText("InvalidSpec"));
  EXPECT_THAT(reader.seen(), HasSubstr("{\"revision\":" + std::to_string(before + 1) + ","));
  EXPECT_EQ(Snapshot(running.feed)["revision"], before + 1);
}

TEST(Feed, SoManyViewersAndNoMore) {
  Watched watched({.viewers = 2});
  auto first = watched.feed.Join(SeesAll), second = watched.feed.Join(SeesAll);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(watched.feed.Join(SeesAll), nullptr);
  first->Detach();  // the client is gone
  EXPECT_NE(watched.feed.Join(SeesAll), nullptr);
}

// B5: a right that was taken away ends what its holder sees.
TEST(Feed, AViewerHasToComeAgain) {
  Watched watched({.longest = Millis(0)});
  auto stream = watched.feed.Join(SeesAll);
  watched.feed.Snapshot(SeesAll);
  EXPECT_TRUE(stream->ended());
}

TEST(Feed, MuchAtOnceIsToBeFetchedAgain) {
  Watched watched;
  auto stream = watched.feed.Join(SeesAll);
  for (int i = 0; i < 100; ++i) watched.Put(Held("p" + std::to_string(i), api::reason::kInvalidSpec, "x"));
  watched.feed.Snapshot(SeesAll);
  const std::string sent = stream->Take().bytes;
  EXPECT_THAT(sent, HasSubstr("event: again"));
  EXPECT_LT(sent.size(), 1000U);
}

TEST(Feed, TellsOfOneProvider) {
  Watched watched;
  watched.Put({});
  watched.Put(Held("aws", api::reason::kInvalidSpec, "bad"));
  auto details = watched.feed.Details(Sample().Key(), SeesAll);
  ASSERT_TRUE(details);
  EXPECT_EQ((*ParseJson(*details))["transitions"].size(), 1U);
  EXPECT_EQ(watched.feed.Details("CoreProvider/no/such", SeesAll), std::nullopt);
  auto nothing = [](const api::ProviderId&) { return false; };
  EXPECT_EQ(watched.feed.Details(Sample().Key(), nothing), std::nullopt);
  EXPECT_EQ(watched.feed.Object(Sample().Key(), nothing), nullptr);
  EXPECT_NE(watched.feed.Object(Sample().Key(), SeesAll), nullptr);
}

// B3: made again while the watch was away, which told of no deletion.
TEST(Feed, AnotherObjectHasNothingOfTheFormerOne) {
  Watched watched;
  auto details = [&] { return *ParseJson(*watched.feed.Details(Sample().Key(), SeesAll)); };
  watched.Put({});
  watched.Put(Held("aws", api::reason::kInvalidSpec, "bad"));
  watched.Pass({}, {});
  ASSERT_THAT(details()["transitions"], SizeIs(1));
  ASSERT_TRUE(details()["seen"].get<bool>());
  Sample another;
  another.uid = "another";
  watched.Put(another);
  EXPECT_THAT(details()["transitions"], SizeIs(0));
  EXPECT_FALSE(details()["seen"].get<bool>());
  watched.Pass({}, {});
  EXPECT_FALSE(details()["seen"].get<bool>()) << "a pass of the former one that ends late";
  watched.Pass(another, {});
  EXPECT_TRUE(details()["seen"].get<bool>());
}

// Throws once it is told to, and once alone. Thread-safe.
struct Leads {
  bool operator()() const {
    if (throws->exchange(false)) throw std::runtime_error("a bug");
    return true;
  }
  std::shared_ptr<std::atomic<bool>> throws = std::make_shared<std::atomic<bool>>(false);
};

// F7: whoever looks on comes again, and gets all; the operator goes on.
TEST(Feed, WhatItTripsOverEndsItsStreamsAlone) {
  const Leads leads;
  Running running({}, leads);
  auto stream = running.feed.Join(SeesAll);
  *leads.throws = true;
  running.Put({});
  EXPECT_TRUE(::capi::Await([&] { return stream->ended(); }));
  Reader reader(running.feed.Join(SeesAll));
  running.Put(Core());
  EXPECT_TRUE(reader.AwaitText("cluster-api"));
  EXPECT_THAT(Snapshot(running.feed)["providers"], SizeIs(2));
}

// F7: what one viewer's request trips over nobody else was told of.
TEST(Feed, ARequestThatFailsEndsTheStreamsOfOthers) {
  const Leads leads;
  Watched watched({}, leads);
  auto stream = watched.feed.Join(SeesAll);
  watched.Put({});
  *leads.throws = true;
  EXPECT_THROW(watched.feed.Snapshot(SeesAll), std::runtime_error);
  EXPECT_TRUE(stream->ended());
  EXPECT_THAT(Snapshot(watched.feed)["providers"], SizeIs(1));
}

// B4: by it a page knows that nothing is new, and a server that somebody is there.
TEST(Feed, TellsThatItIsStillThere) {
  Running running({.beat = Millis(20)});
  Reader reader(running.feed.Join(SeesAll));
  EXPECT_TRUE(reader.AwaitText(": still here"));
}

// B5: also where nothing changes.
TEST(Feed, AViewerOfAQuietFleetHasToComeAgain) {
  Running running({.beat = Millis(20), .longest = Millis(50)});
  auto stream = running.feed.Join(SeesAll);
  EXPECT_TRUE(::capi::Await([&] { return stream->ended(); }));
}

TEST(Feed, EndsItsStreamsWithItsRun) {
  std::shared_ptr<http::ServerStream> stream;
  {
    Running running;
    stream = running.feed.Join(SeesAll);
    EXPECT_FALSE(stream->ended());
  }
  EXPECT_TRUE(stream->ended());
}

}  // namespace
}  // namespace capi::ops::ui
