// F11: what specs refer to, by name or labels, has few watches however many providers there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <thread>

#include "base/testing/await.h"
#include "operator/observe/server_testing.h"
#include "operator/observe/watches.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Purpose = Watches::Purpose;

constexpr int kAlone = Watches::kAlone;
constexpr const char* kAll = "/api/v1/secrets";

std::string Of(const std::string& ns) { return "/api/v1/namespaces/" + ns + "/secrets"; }

Json Secret(const std::string& ns, const std::string& name, int version, const Json& labels = Json::object()) {
  return {{"metadata",
           {{"namespace", ns},
            {"name", name},
            {"uid", ns + name},
            {"resourceVersion", std::to_string(version)},
            {"labels", labels}}}};
}

Watches::Key ByName(const std::string& ns, const std::string& name, const char* kind = "Secret") {
  return {Purpose::kReferenced, kube::Builtin(kind), ns, "", "metadata.name=" + name, true};
}

Watches::Key ByLabels(const std::string& ns, const std::string& labels) {
  return {Purpose::kReleases, kube::Builtin("Secret"), ns, labels, "", true};
}

// The system's, which a test can put forward. Thread-safe.
class LaterClock : public Clock {
 public:
  WallTime Now() override { return SystemClock().Now() + by_.load(); }
  MonoTime Monotonic() override { return SystemClock().Monotonic() + by_.load(); }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    return SystemClock().WaitUntil(cv, mu, stop, deadline == MonoTime::max() ? deadline : deadline - by_.load(), ready);
  }
  void Advance(Seconds by) { by_ = by_.load() + by; }

 private:
  std::atomic<Seconds> by_ = Seconds(0);
};

// A server with Secrets, and what the watches told of them, as "NAMESPACE/NAME@VERSION USER USER". Each refusal takes a
// second.
class SelectTest : public ::testing::Test {
 protected:
  SelectTest() {
    ctx_.clock = &clock_;
    auto keep = [](void* self, std::string_view line) { static_cast<SelectTest*>(self)->Keep(line); };
    ctx_.log = Logger::ToSink(LogLevel::kInfo, LogFormat::kText, keep, this);
    server_.Has(kAll, {});
    server_.OnRefusal([this] { clock_.Advance(Seconds(1)); });
  }
  ~SelectTest() override { watches_.Stop(); }

  // In the list of its namespace first: a real server's list has what its watch has told.
  void Change(const char* type, const Json& secret) {
    server_.Change(Of(GetString(secret, {"metadata", "namespace"})), type, secret);
    server_.Change(kAll, type, secret);
  }

  // What is watched is so no more.
  void RefuseNow(const std::string& collection) {
    server_.Refuse(collection);
    server_.Send(collection, "ERROR", {{"kind", "Status"}, {"reason", "Forbidden"}, {"code", 403}});
  }

  // Stamps of what is selected, "!CODE" where that fails.
  std::vector<std::string> Select(const Watches::Key& key, const std::string& user) {
    auto objects = watches_.Select(ctx_, key, user);
    if (!objects.ok()) return {"!" + std::string(CodeName(objects.code()))};
    std::vector<std::string> out;
    for (const auto& object : *objects) out.push_back(object->name() + "@" + object->resource_version());
    return out;
  }
  // So many that the next one shares a watch: each in a namespace of its own, or all in `ns`.
  void UseUp(const std::string& ns = "") {
    for (int i = 0; i < kAlone; ++i) {
      const std::string in = ns.empty() ? "alone" + std::to_string(i) : ns;
      server_.Change(Of(in), "ADDED", Secret(in, "s" + std::to_string(i), 1));
      EXPECT_THAT(Select(ByName(in, "s" + std::to_string(i)), "alone"), ElementsAre("s" + std::to_string(i) + "@1"));
    }
    TakeTold();
  }

  bool WasTold(const std::string& line) {
    MutexLock lock(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(60), [&] {
      mu_.AssertHeld();
      return std::find(told_.begin(), told_.end(), line) != told_.end();
    });
  }
  void Keep(std::string_view line) {
    MutexLock lock(mu_);
    if (line.find("one by one") != line.npos) said_.emplace_back(line);
  }
  // What was logged of watches that are refused, since the last question.
  std::vector<std::string> TakeSaid() {
    MutexLock lock(mu_);
    return std::exchange(said_, {});
  }
  std::vector<std::string> TakeTold() {
    MutexLock lock(mu_);
    return std::exchange(told_, {});
  }

  testing::WatchServer server_;
  LaterClock clock_;
  Context ctx_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<std::string> told_ CAPI_GUARDED_BY(mu_), said_ CAPI_GUARDED_BY(mu_);
  Watches watches_{*server_.client, [this](const Watches::Event& event) {
                     const kube::ObjectPtr& object = event.is ? event.is : event.was;
                     std::string line = event.watch.ns + "/";
                     line += object ? object->name() : event.watch.field_selector + event.watch.label_selector;
                     line += event.is ? "@" + object->resource_version() : object ? " is gone" : " is lost";
                     for (const std::string& user : event.users) line += " " + user;
                     MutexLock lock(mu_);
                     told_.push_back(line);
                     changed_.notify_all();
                   }};
};

// 2,000 watches became 18; and each change is told to whom it concerns, once.
TEST_F(SelectTest, AThousandProvidersHaveAFewWatches) {
  constexpr int kProviders = 1'000;
  const char* kinds[] = {"Secret", "ConfigMap"};
  for (const char* kind : kinds) {
    const std::string plural = kube::Builtin(kind).plural;
    std::vector<Json> all = {Secret("foreign", "helm", 50)};
    for (int i = 0; i < kProviders; ++i) {
      const std::string ns = "n" + std::to_string(i);
      all.push_back(Secret(ns, "s", 7));
      server_.Has("/api/v1/namespaces/" + ns + "/" + plural, {all.back()});
    }
    server_.Has("/api/v1/" + plural, std::move(all));
  }
  std::atomic<int> next = 0;
  auto work = [&] {
    for (int i = next++; i < kProviders; i = next++) {
      const std::string user = "p" + std::to_string(i);
      watches_.BeginUse(user);
      for (const char* kind : kinds) {
        EXPECT_THAT(Select(ByName("n" + std::to_string(i), "s", kind), user), ElementsAre("s@7"));
      }
      watches_.EndUse(user);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back(work);
  }
  EXPECT_EQ(server_.open(), 2u * (kAlone + 1));
  EXPECT_EQ(server_.watched(kAll), 1);
  EXPECT_THAT(TakeTold().size(), 2u * kAlone) << "those that are alone tell of their first state, as ever";

  server_.Send(kAll, "MODIFIED", Secret("foreign", "helm", 51));
  server_.Send(kAll, "MODIFIED", Secret("n998", "another", 52));
  server_.Send(kAll, "MODIFIED", Secret("n998", "s", 53));
  server_.Send(kAll, "DELETED", Secret("n999", "s", 54));
  ASSERT_TRUE(WasTold("n999/s is gone p999"));
  EXPECT_THAT(TakeTold(), ElementsAre("n998/s@53 p998", "n999/s is gone p999"));
}

TEST_F(SelectTest, OnesThatComeLaterAreReadOnceAndFollowed) {
  UseUp();
  Change("ADDED", Secret("m", "a", 1));
  EXPECT_THAT(Select(ByName("m", "a"), "first"), ElementsAre("a@1"));
  Change("ADDED", Secret("m", "b", 101));
  Change("ADDED", Secret("m", "c", 102));
  TakeTold();
  EXPECT_THAT(Select(ByName("m", "b"), "u"), ElementsAre("b@101"));
  EXPECT_THAT(Select(ByName("m", "b"), "u"), ElementsAre("b@101"));
  server_.Has(Of("empty"), {});
  EXPECT_THAT(Select(ByName("empty", "x"), "v"), IsEmpty());
  EXPECT_EQ(server_.listed(Of("m")), 2) << "once for each";
  EXPECT_THAT(TakeTold(), IsEmpty()) << "who asked knows";

  Change("DELETED", Secret("m", "b", 103));
  ASSERT_TRUE(WasTold("m/b is gone u"));
  EXPECT_THAT(Select(ByName("m", "b"), "u"), IsEmpty());
  Change("ADDED", Secret("empty", "x", 104));
  ASSERT_TRUE(WasTold("empty/x@104 v"));
  EXPECT_THAT(Select(ByName("empty", "x"), "v"), ElementsAre("x@104"));
  EXPECT_EQ(server_.listed(Of("m")), 2);
}

TEST_F(SelectTest, EndWithTheirUsers) {
  UseUp();
  const size_t alone = server_.open();
  for (const char* name : {"a", "b"}) Change("ADDED", Secret("m", name, 1));
  for (const char* user : {"u", "v"}) {
    watches_.BeginUse(user);
    EXPECT_THAT(Select(ByName("m", "a"), user), ElementsAre("a@1"));
    if (user == std::string("u")) Select(ByName("m", "b"), user);
    watches_.EndUse(user);
  }
  Change("MODIFIED", Secret("m", "a", 102));
  EXPECT_TRUE(WasTold("m/a@102 u v"));
  watches_.BeginUse("u");
  Select(ByName("m", "b"), "u");
  watches_.EndUse("u");
  Change("MODIFIED", Secret("m", "a", 103));
  EXPECT_TRUE(WasTold("m/a@103 v"));
  watches_.BeginUse("v");
  watches_.EndUse("v");
  TakeTold();
  Change("MODIFIED", Secret("m", "a", 104));
  Change("MODIFIED", Secret("m", "b", 105));
  EXPECT_TRUE(WasTold("m/b@105 u"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/b@105 u")) << "nobody wants the other";
  EXPECT_THAT(Select(ByName("m", "a"), "v"), ElementsAre("a@104")) << "read anew";
  EXPECT_EQ(server_.open(), alone + 1);
  for (const char* user : {"u", "v"}) {
    watches_.BeginUse(user);
    watches_.EndUse(user);
  }
  EXPECT_TRUE(Await([&] { return server_.open() == alone; })) << "nobody shares it any more";
  EXPECT_THAT(Select(ByName("m", "a"), "v"), ElementsAre("a@104"));
  EXPECT_EQ(server_.watched(kAll), 2);
}

// Which watch is shared, by where those are that have their own, and by what is refused (which is said once).
TEST_F(SelectTest, OneOfTheNamespaceThatHasMostElseOfAllIsShared) {
  struct Case {
    std::string_view name;
    bool one_namespace;
    std::vector<std::string> refused;
    std::string shared;  // "" for none
    size_t more, said;
  };
  const Case cases[] = {
      {"each has its namespace", false, {}, kAll, 1, 0},
      {"one has them all", true, {}, Of("m"), 1, 0},
      {"of one alone", true, {kAll}, Of("m"), 1, 0},
      {"not of this one", true, {Of("m")}, kAll, 1, 1},
      {"of none", true, {Of("m"), kAll}, "", 3, 1},
      {"of none, and each has its own", false, {Of("m"), kAll}, "", 3, 0},
      {"of one alone, where a second one is there", false, {kAll}, Of("m"), 2, 0},
      {"of all again", false, {}, kAll, 1, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::string& path : {std::string(kAll), Of("m")}) {
      server_.Refuse(path, std::find(c.refused.begin(), c.refused.end(), path) != c.refused.end() ? 403 : 0);
    }
    TakeSaid();
    UseUp(c.one_namespace ? "m" : "");
    for (const char* name : {"x", "y", "z"}) {
      Change("ADDED", Secret("m", name, 60));
      EXPECT_THAT(Select(ByName("m", name), "u"), ElementsAre(std::string(name) + "@60"));
    }
    EXPECT_TRUE(Await([&] { return server_.open() == kAlone + c.more; }));
    for (const std::string& path : {std::string(kAll), Of("m")}) EXPECT_EQ(server_.IsWatched(path), path == c.shared);
    EXPECT_EQ(TakeSaid().size(), c.said);
    Change("MODIFIED", Secret("m", "y", 170));
    EXPECT_TRUE(WasTold("m/y@170 u"));
    for (const char* user : {"u", "alone"}) {
      watches_.BeginUse(user);
      watches_.EndUse(user);
    }
    ASSERT_TRUE(Await([&] { return server_.open() == 0; }));
    for (const char* name : {"x", "y", "z"}) Change("DELETED", Secret("m", name, 180));
    TakeTold();
    clock_.Advance(std::chrono::minutes(10));
  }
}

// A right that is taken away later: by their names they may be watched still. Who doesn't ask by himself is told to,
// and misses no end of anything.
TEST_F(SelectTest, WhoseSharedWatchIsRefusedLaterIsWatchedByName) {
  UseUp();
  for (const char* name : {"a", "b"}) Change("ADDED", Secret("m", name, 1));
  for (const char* user : {"u", "v"}) EXPECT_THAT(Select(ByName("m", "a"), user), ElementsAre("a@1"));
  EXPECT_THAT(Select(ByName("m", "b"), "idle"), ElementsAre("b@1"));
  server_.OnRefusal([this] { clock_.Advance(Seconds(20)); });
  RefuseNow(kAll);
  ASSERT_TRUE(WasTold("m/metadata.name=a is lost u v"));
  ASSERT_TRUE(WasTold("m/metadata.name=b is lost idle"));
  EXPECT_THAT(TakeSaid(), ElementsAre(HasSubstr("secrets")));
  server_.Change(Of("m"), "DELETED", Secret("m", "a", 102));
  for (const char* user : {"u", "v"}) EXPECT_THAT(Select(ByName("m", "a"), user), IsEmpty());
  server_.Change(Of("m"), "ADDED", Secret("m", "a", 103));
  EXPECT_TRUE(WasTold("m/a@103 u v"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);

  // What is named for the first time, at once, and when it is tried again, though somebody hasn't asked anew.
  server_.Refuse(Of("m"));
  for (const char* name : {"c", "d"}) {
    Change("ADDED", Secret("m", name, 1));
    EXPECT_THAT(Select(ByName("m", name), "new"), ElementsAre(std::string(name) + "@1"));
    server_.Change(Of("m"), "MODIFIED", Secret("m", name, 104));
    EXPECT_TRUE(WasTold(std::string("m/") + name + "@104 new"));
    clock_.Advance(std::chrono::minutes(11));
  }
  EXPECT_EQ(server_.open(), size_t{kAlone} + 3);
}

// What a shared watch asks for may fail where what is named doesn't: a foreign object that can't be read.
TEST_F(SelectTest, WhatTheServerCannotGiveIsNotShared) {
  UseUp();
  server_.Refuse(kAll, 500);
  Change("ADDED", Secret("m", "a", 1));
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
  EXPECT_EQ(TakeSaid().size(), 1u);
}

// An API server that starts may refuse what it allows a moment later.
TEST_F(SelectTest, ARefusalThatPassesChangesNothing) {
  UseUp();
  server_.OnRefusal([this] { server_.Refuse(kAll, 0); });
  server_.Refuse(kAll);
  for (const char* name : {"a", "b"}) {
    Change("ADDED", Secret("m", name, 1));
    EXPECT_THAT(Select(ByName("m", name), "u"), ElementsAre(std::string(name) + "@1"));
  }
  TakeTold();
  RefuseNow(kAll);
  ASSERT_TRUE(Await([&] { return server_.watched(kAll) == 2 && server_.IsWatched(kAll); }));
  Change("MODIFIED", Secret("m", "a", 101));
  EXPECT_TRUE(WasTold("m/a@101 u"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/a@101 u"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
  EXPECT_THAT(TakeSaid(), IsEmpty());
}

// Once it goes well again, they share a watch as they are looked at, and the first few stay as they are.
TEST_F(SelectTest, AWatchIsSharedAgainOnceItIsAllowed) {
  UseUp();
  server_.Refuse(kAll);
  for (const char* ns : {"m", "n", "o"}) {
    Change("ADDED", Secret(ns, "a", 1));
    EXPECT_THAT(Select(ByName(ns, "a"), "u"), ElementsAre("a@1"));
  }
  EXPECT_THAT(Select(ByName("m", "a"), "other"), ElementsAre("a@1"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 3);
  // A try that fails takes nothing from anybody.
  clock_.Advance(std::chrono::minutes(11));
  TakeTold();
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  server_.Refuse(kAll, 0);
  clock_.Advance(std::chrono::minutes(11));
  ASSERT_TRUE(Await([&] {
    EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
    MutexLock lock(mu_);
    return !told_.empty();
  }));
  for (const char* ns : {"m", "n", "o"}) EXPECT_THAT(Select(ByName(ns, "a"), "u"), ElementsAre("a@1"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/metadata.name=a is lost other"));
  EXPECT_TRUE(Await([&] { return server_.open() == size_t{kAlone} + 1; }));
  EXPECT_THAT(Select(ByName("m", "a"), "other"), ElementsAre("a@1"));
  Change("MODIFIED", Secret("m", "a", 102));
  EXPECT_TRUE(WasTold("m/a@102 other u"));
  for (int i = 0; i < kAlone; ++i) {
    EXPECT_EQ(Select(ByName("alone" + std::to_string(i), "s" + std::to_string(i)), "alone").size(), 1u);
  }
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
}

// What is told of the end of a shared watch needs who is told: its thread was the last to hold it, and joined itself.
TEST_F(SelectTest, AStopWaitsForWhatIsTold) {
  std::promise<void> lost, go_on;
  std::atomic<bool> telling = false;
  Watches watches{*server_.client, [&](const Watches::Event& event) {
                    if (event.was || event.is) return;
                    telling = true;
                    lost.set_value();
                    go_on.get_future().wait();
                    telling = false;
                  }};
  for (int i = 0; i <= kAlone; ++i) {
    const std::string ns = "n" + std::to_string(i);
    server_.Has(Of(ns), {});
    ASSERT_TRUE(watches.Select(ctx_, ByName(ns, "a"), "u").ok());
  }
  server_.OnRefusal([this] { clock_.Advance(Seconds(20)); });
  RefuseNow(kAll);
  lost.get_future().wait();
  std::jthread stopping([&] {
    watches.Stop();
    EXPECT_FALSE(telling);
  });
  EXPECT_TRUE(Await([&] { return server_.open() == 0; }));
  go_on.set_value();
}

// However the few that have their own come and go: after one namespace, all are watched together.
TEST_F(SelectTest, NotEachNamespaceHasASharedWatch) {
  for (const char* ns : {"m", "n", "o"}) {
    UseUp(ns);
    Change("ADDED", Secret(ns, "shared", 1));
    EXPECT_THAT(Select(ByName(ns, "shared"), std::string("of ") + ns), ElementsAre("shared@1"));
    watches_.BeginUse("alone");
    watches_.EndUse("alone");
  }
  EXPECT_TRUE(Await([&] { return server_.open() == 2; }));
  EXPECT_TRUE(server_.IsWatched(Of("m")));
  EXPECT_TRUE(server_.IsWatched(kAll));
}

// What no shared watch could have isn't counted among the few that have their own.
TEST_F(SelectTest, WhatIsNoSelectionTakesNoPlace) {
  server_.Has(Of("m"), {Secret("m", "a", 1)});
  for (int i = 0; i < 2 * kAlone; ++i) {
    EXPECT_THAT(Select({Purpose::kReferenced, kube::Builtin("Secret"), "", "", "metadata.name=none", true}, "u"),
                IsEmpty());
    watches_.BeginUse("u");
    watches_.EndUse("u");
  }
  EXPECT_THAT(Select(ByName("m", "a"), "v"), ElementsAre("a@1"));
  EXPECT_TRUE(Await([&] { return server_.open() == 1; }));
  EXPECT_FALSE(server_.IsWatched(kAll));
}

// Releases that a selector finds share the watch with what is named: an object comes and goes with its labels.
TEST_F(SelectTest, LabelsSelectAsTheServerDoes) {
  UseUp();
  Change("ADDED", Secret("m", "a", 1, {{"x", "1"}}));
  EXPECT_THAT(Select(ByLabels("m", "x=1"), "one"), ElementsAre("a@1"));
  EXPECT_THAT(Select(ByLabels("m", "x in (1,2)"), "both"), ElementsAre("a@1"));
  EXPECT_THAT(Select(ByName("m", "a"), "named"), ElementsAre("a@1"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
  TakeTold();
  Change("MODIFIED", Secret("m", "a", 101, {{"x", "2"}}));
  ASSERT_TRUE(WasTold("m/a is gone one"));
  ASSERT_TRUE(WasTold("m/a@101 both"));
  ASSERT_TRUE(WasTold("m/a@101 named"));
  EXPECT_EQ(TakeTold().size(), 3u);
  EXPECT_THAT(Select(ByLabels("m", "x=1"), "one"), IsEmpty());
  EXPECT_THAT(Select(ByLabels("m", "x in (1,2)"), "both"), ElementsAre("a@101"));
  Change("ADDED", Secret("m", "b", 102, {{"x", "1"}}));
  ASSERT_TRUE(WasTold("m/b@102 both"));
  ASSERT_TRUE(WasTold("m/b@102 one"));
  EXPECT_THAT(Select(ByLabels("m", "x=1"), "one"), ElementsAre("b@102"));
  EXPECT_EQ(TakeTold().size(), 2u);
}

// What is included for one is news for another, whose watch hasn't told of it yet.
TEST_F(SelectTest, WhatIsReadForOneIsToldToTheOthers) {
  UseUp();
  server_.Has(Of("m"), {});
  EXPECT_THAT(Select(ByLabels("m", "x"), "labels"), IsEmpty());
  const Json late = Secret("m", "a", 101, {{"x", "1"}});
  server_.Change(Of("m"), "ADDED", late);
  EXPECT_THAT(Select(ByName("m", "a"), "named"), ElementsAre("a@101"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/a@101 labels"));
  EXPECT_THAT(Select(ByLabels("m", "x"), "labels"), ElementsAre("a@101"));
  server_.Send(kAll, "ADDED", late);
  server_.Send(kAll, "MODIFIED", Secret("m", "a", 102, {{"x", "1"}}));
  for (const char* user : {"labels", "named"}) ASSERT_TRUE(WasTold(std::string("m/a@102 ") + user));
  EXPECT_THAT(TakeTold(), ::testing::UnorderedElementsAre("m/a@102 labels", "m/a@102 named"));
}

// No change between the answer and the watch is lost, whoever is first.
TEST_F(SelectTest, EachUserKnowsTheLastStateOrIsToldOfIt) {
  constexpr int kNames = 300;
  UseUp();
  auto name = [](int i) { return "s" + std::to_string(i); };
  server_.Has(Of("m"), {});
  for (int i = 0; i < kNames; ++i) Change("ADDED", Secret("m", name(i), 1000 + i));
  std::vector<std::vector<std::string>> seen(kNames);
  {
    std::jthread writer([&] {
      for (int i = 0; i < kNames; ++i) Change("MODIFIED", Secret("m", name(i), 5000 + i));
    });
    std::vector<std::jthread> workers;
    for (int w = 0; w < 4; ++w) {
      workers.emplace_back([&, w] {
        for (int i = w; i < kNames; i += 4) seen[i] = Select(ByName("m", name(i)), "u" + std::to_string(i));
      });
    }
  }
  for (int i = 0; i < kNames; ++i) {
    const std::string last = name(i) + "@" + std::to_string(5000 + i);
    const std::string told = "m/" + last + " u" + std::to_string(i);
    EXPECT_TRUE(seen[i] == std::vector<std::string>{last} || WasTold(told)) << told << " after " << seen[i][0];
    EXPECT_THAT(Select(ByName("m", name(i)), "u" + std::to_string(i)), ElementsAre(last));
  }
}

}  // namespace
}  // namespace capi::ops
