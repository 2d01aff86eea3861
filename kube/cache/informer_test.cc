#include "kube/cache/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>
#include <thread>

#include "kube/cache/testing.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kAdded = WatchEvent::Type::kAdded, kModified = WatchEvent::Type::kModified,
               kDeleted = WatchEvent::Type::kDeleted, kBookmark = WatchEvent::Type::kBookmark;

Object Thing(const std::string& name, const std::string& version) {
  return Object(Json{{"metadata", {{"namespace", "n"}, {"name", name}, {"resourceVersion", version}, {"uid", name}}}});
}
WatchEvent Added(const std::string& name, const std::string& version) { return {kAdded, Thing(name, version)}; }
WatchEvent Modified(const std::string& name, const std::string& version) { return {kModified, Thing(name, version)}; }
WatchEvent Deleted(const std::string& name, const std::string& version) { return {kDeleted, Thing(name, version)}; }
WatchEvent Bookmark(const std::string& version) { return {kBookmark, Thing("", version)}; }
WatchEvent InitialEnd(const std::string& version) { return {kBookmark, Thing("", version), true}; }

Error Fault(Code code) { return {code, "made by the test", {}}; }

// One answer of the server: the events of a watch or the items of a list (added ones, and a bookmark for the version).
struct Answer {
  std::vector<WatchEvent> events;
  Status end = Ok();
  Millis lasts = Seconds(60);
};

// Answers requests in order, then lets the last watch hang until the test ends; and an informer that asks it.
class Scripted {
 public:
  explicit Scripted(std::vector<Answer> script, InformerOptions options = {})
      : script_(script.begin(), script.end()),
        server_(std::make_shared<ServerState>([this](const Context&) { return Probe(); }, 1)),
        informer({.list = [this](const Context&) { return List(); },
                  .watch = [this](const Context& ctx, const std::string& version, bool initial,
                                  const auto& on_event) { return Watch(ctx, version, initial, on_event); }},
                 server_, Builtin("ConfigMap"), std::move(options), [this](const auto& was, const auto& is) {
                   auto text = [](const ObjectPtr& o) { return o ? o->name() + "@" + o->resource_version() : "-"; };
                   if (on_change) on_change(text(is));
                   changes.push_back(text(was) + ">" + text(is));
                 }) {}

  // Runs through the script.
  void Run() {
    Context ctx;
    ctx.clock = &clock;
    ctx.stop = stop_.get_token();
    std::thread thread([&] { informer.Run(ctx); });
    {
      MutexLock lock(mu_);
      changed_.wait(mu_, [this] { return over_; });
    }
    synced_at_end = informer.Synced();
    stop_.request_stop();
    thread.join();
  }

  std::vector<std::string> Stored() const {
    std::vector<std::string> out;
    for (const auto& o : informer.List()) out.push_back(o->name() + "@" + o->resource_version());
    return out;
  }
  bool streams_lists() const { return server_->streams_lists(); }

  JumpClock clock;
  std::vector<std::string> requests;  // "stream", "watch 7", "list", "probe"
  std::vector<Millis> times;          // of each request
  std::vector<std::string> changes;   // "was>is" as the handler saw them
  std::function<void(const Scripted&)> before_end_mark;
  std::function<void(const std::string& is)> on_change;  // before it is noted
  Status probe = Ok();
  bool synced_at_end = false;

 private:
  void Note(std::string request) {
    requests.push_back(std::move(request));
    times.push_back(clock.Elapsed());
  }

  Status Probe() {
    Note("probe");
    return probe;
  }

  Result<ObjectList> List() {
    Note("list");
    Answer answer = std::move(script_.front());
    script_.pop_front();
    if (!answer.end.ok()) return answer.end.error();
    ObjectList out;
    for (auto& event : answer.events) {
      if (event.type == kBookmark) out.resource_version = event.object.resource_version();
      if (event.type == kAdded) out.items.push_back(std::move(event.object));
    }
    return out;
  }

  Status Watch(const Context& ctx, const std::string& version, bool initial,
               const CollectionSource::OnEvent& on_event) {
    Note(initial ? "stream" : "watch " + version);
    if (script_.empty()) {
      MutexLock lock(mu_);
      over_ = true;
      changed_.notify_all();
      changed_.wait(mu_, ctx.stop, [] { return false; });
      return Fault(Code::kCancelled);
    }
    Answer answer = std::move(script_.front());
    script_.pop_front();
    for (auto& event : answer.events) {
      if (event.initial_events_end && before_end_mark) before_end_mark(*this);
      TRY(on_event(std::move(event)));
    }
    clock.Advance(answer.lasts);
    return answer.end;
  }

  std::deque<Answer> script_;
  std::shared_ptr<ServerState> server_;
  std::stop_source stop_;
  Mutex mu_;
  std::condition_variable_any changed_;
  bool over_ = false;

 public:
  Informer informer;
};

TEST(Informer, StartsWithOneRequestAndFollowsWhatHappens) {
  Scripted s({{{Added("a", "1"), Added("b", "2"), InitialEnd("5"), Modified("a", "6"), Deleted("b", "7"),
                Added("c", "8"), Bookmark("9")}}});
  s.before_end_mark = [](const Scripted& self) {
    EXPECT_FALSE(self.informer.Synced());
    EXPECT_THAT(self.Stored(), IsEmpty()) << "readers never see half of the initial state";
  };
  s.Run();
  EXPECT_THAT(s.requests, ElementsAre("stream", "watch 9"));
  EXPECT_THAT(s.changes, ElementsAre("->a@1", "->b@2", "a@1>a@6", "b@7>-", "->c@8"));
  EXPECT_THAT(s.Stored(), ElementsAre("a@6", "c@8"));
  EXPECT_TRUE(s.synced_at_end);
}

TEST(Informer, AsksAgainAsTheEndOfAWatchDemands) {
  const std::vector<WatchEvent> state = {Added("a", "1"), InitialEnd("5")};
  struct Case {
    std::string_view name;
    std::vector<Answer> after;
    std::vector<std::string> requests;
  };
  const Case cases[] = {
      {"ordinary end: from the last bookmark", {{{Bookmark("7")}}}, {"stream", "watch 5", "watch 7"}},
      {"quiet ordinary end: from the same version", {{{}}}, {"stream", "watch 5", "watch 5"}},
      {"cut: one probe, then from the last event",
       {{{Modified("a", "6")}, Fault(Code::kUnavailable)}},
       {"stream", "watch 5", "probe", "watch 6"}},
      {"410: everything again", {{{}, Fault(Code::kGone)}, {state}}, {"stream", "watch 5", "stream", "watch 5"}},
      {"ended at once with nothing said: as a cut", {{{}, Ok(), Millis(3)}}, {"stream", "watch 5", "probe", "watch 5"}},
      {"404: from the same version", {{{}, Fault(Code::kNotFound)}}, {"stream", "watch 5", "watch 5"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Answer> script = {{state}};
    script.insert(script.end(), c.after.begin(), c.after.end());
    Scripted s(std::move(script));
    s.Run();
    EXPECT_EQ(s.requests, c.requests);
  }
}

TEST(Informer, WhatWentWhileNobodyLookedIsDeletedAfter410) {
  Scripted s({{{Added("a", "1"), Added("b", "2"), Added("c", "3"), InitialEnd("5")}, Fault(Code::kGone)},
              {{Added("b", "2"), Added("c", "8"), Added("d", "9"), InitialEnd("10")}}});
  s.Run();
  EXPECT_THAT(s.changes, ElementsAre("->a@1", "->b@2", "->c@3", "a@1>-", "c@3>c@8", "->d@9"));
  EXPECT_THAT(s.Stored(), ElementsAre("b@2", "c@8", "d@9"));
}

TEST(Informer, EventsAmongTheInitialOnesCount) {
  Scripted s({{{Added("a", "1"), Added("b", "2"), Modified("a", "3"), Deleted("b", "4"), InitialEnd("5")}}});
  s.Run();
  EXPECT_THAT(s.changes, ElementsAre("->a@3"));
}

TEST(Informer, AStreamCutBeforeItsEndMarkChangesNothing) {
  Scripted s({{{Added("a", "1"), InitialEnd("5")}, Fault(Code::kGone)},
              {{Added("b", "8")}, Fault(Code::kUnavailable)},
              {{Added("b", "8")}},  // ends in order, but too early
              {{Added("a", "1"), Added("b", "8"), InitialEnd("9")}}});
  s.Run();
  EXPECT_THAT(s.changes, ElementsAre("->a@1", "->b@8"));
  EXPECT_THAT(s.requests, ElementsAre("stream", "stream", "probe", "stream", "probe", "stream", "watch 9"));
}

TEST(Informer, ListsAndWatchesWhereTheServerDoesNotStream) {
  struct Case {
    std::string_view name;
    Answer refusal;
  };
  const Case cases[] = {
      {"refused as forbidden field", {{}, Fault(Code::kInvalidArgument)}},
      {"refused as unknown", {{}, Fault(Code::kUnsupported)}},
      {"the question ignored: objects, then a common bookmark", {{Added("a", "1"), Bookmark("2")}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Scripted s({c.refusal,
                {{Added("a", "1"), Bookmark("5")}},    // list
                {{}, Fault(Code::kGone)},              // watch
                {{Added("b", "6"), Bookmark("7")}}});  // list
    s.Run();
    EXPECT_THAT(s.requests, ElementsAre("stream", "list", "watch 5", "list", "watch 7"));
    EXPECT_THAT(s.changes, ElementsAre("->a@1", "a@1>-", "->b@6"));
    EXPECT_FALSE(s.streams_lists()) << "the client's other informers need not ask";
  }
}

TEST(Informer, ABadSelectorIsNotTakenForAServerThatDoesNotStream) {
  Scripted s({{{}, Fault(Code::kInvalidArgument)}, {{}, Fault(Code::kInvalidArgument)}, {{Bookmark("5")}}});
  s.probe = Ok();
  s.Run();
  EXPECT_THAT(s.requests, ElementsAre("stream", "list", "list", "watch 5"));
}

TEST(Informer, TransformSeesWhatIsStored) {
  Scripted s({{{Added("a", "1"), InitialEnd("5"), Modified("a", "6")}}},
             {.transform = [](Object& o) { o.set_label("seen", o.resource_version()); }});
  s.Run();
  EXPECT_EQ(s.informer.Get("n", "a")->label("seen"), "6");
}

// F7: an exception in the thread of a watch ended the process. The object that met it is asked for again.
TEST(Informer, WhatATransformThrowsIsTheErrorOfItsSession) {
  int seen = 0;
  auto transform = [&](Object& o) {
    if (o.resource_version() == "6" && ++seen == 1) throw std::runtime_error("once");
  };
  Scripted s({{{Added("a", "1"), InitialEnd("5"), Modified("a", "6")}}, {{Modified("a", "6")}}},
             {.transform = transform});
  s.Run();
  EXPECT_THAT(s.requests, ElementsAre("stream", "watch 5", "watch 6"));
  EXPECT_THAT(s.changes, ElementsAre("->a@1", "a@1>a@6"));
}

TEST(Informer, ATransformThatAlwaysThrowsBacksOff) {
  std::vector<Answer> script = {{{InitialEnd("5")}}};
  for (int i = 0; i < 4; ++i) script.push_back({{Added("a", "6")}, Ok(), Millis(0)});
  Scripted s(std::move(script), {.transform = [](Object&) { throw std::runtime_error("always"); }});
  s.Run();
  EXPECT_THAT(s.requests, ElementsAre("stream", "watch 5", "watch 5", "watch 5", "watch 5", "watch 5"));
  EXPECT_GE(s.times[5] - s.times[1], Millis(500)) << "a delay that doubles";
}

TEST(Informer, AHandlerThatThrowsMissesThatChangeAlone) {
  Scripted s(
      {{{Added("a", "1"), Added("b", "2"), Added("c", "3"), InitialEnd("5"), Modified("b", "6"), Modified("a", "7")}}});
  s.on_change = [](const std::string& is) {
    if (is.starts_with("b")) throw std::runtime_error("b");
  };
  s.Run();
  EXPECT_THAT(s.changes, ElementsAre("->a@1", "->c@3", "a@1>a@7"));
  EXPECT_THAT(s.Stored(), ElementsAre("a@7", "b@6", "c@3"));
  EXPECT_THAT(s.requests, ElementsAre("stream", "watch 7")) << "F7: the watch goes on to its own end";
  EXPECT_TRUE(s.synced_at_end);
}

TEST(Informer, KeptFailuresBackOffAndListAgain) {
  std::vector<Answer> script = {{{Added("a", "1"), InitialEnd("5")}}};
  for (int i = 0; i < 12; ++i) script.push_back({{}, Fault(Code::kInternal), Millis(0)});
  Scripted s(std::move(script));
  s.Run();
  ASSERT_EQ(s.requests.size(), 14u);
  EXPECT_EQ(s.requests[5], "watch 5");
  EXPECT_EQ(s.requests[6], "stream") << "after five failures the version is given up";
  EXPECT_EQ(s.times[2] - s.times[1], Millis(0)) << "the first failure costs no time";
  for (size_t i = 3; i < s.times.size(); ++i) {
    Millis gap = s.times[i] - s.times[i - 1];
    double plain = std::min(100.0 * (1 << (i - 3)), 10'000.0);
    EXPECT_GE(static_cast<double>(gap.count()), std::max(plain * 0.74, 1.0)) << i;
    EXPECT_LE(static_cast<double>(gap.count()), plain * 1.26 + 1'000) << i;
  }
}

TEST(Informer, EndlessGoneIsNoHotLoop) {
  std::vector<Answer> script = {{{}, Fault(Code::kUnsupported), Millis(0)}};
  for (int i = 0; i < 8; ++i) {
    script.push_back({{Added("a", "1"), Bookmark("5")}});   // list
    script.push_back({{}, Fault(Code::kGone), Millis(0)});  // watch
  }
  script.push_back({{Added("a", "1"), Bookmark("5")}});
  Scripted s(std::move(script));
  s.Run();
  EXPECT_GE(s.times.back(), Seconds(9)) << "eight rounds";
}

TEST(Informer, RetryAfterIsHonoured) {
  Error slow_down = {Code::kRateLimited, "too many requests", Seconds(7)};
  Scripted s({{{InitialEnd("5")}, slow_down, Millis(0)}});
  s.Run();
  EXPECT_THAT(s.requests, ElementsAre("stream", "watch 5"));
  EXPECT_GE(s.times[1], Seconds(7));
}

// F7
TEST(Informer, SaysWhatKeepsItFromAFirstState) {
  struct Case {
    Code code;
    bool refused;
    std::string message = "fault";
  };
  const Case cases[] = {
      {Code::kNotFound, true},
      {Code::kPermissionDenied, true},
      {Code::kInternal, true},
      {Code::kUnavailable, false},
      {Code::kRateLimited, false},
      {Code::kUnauthenticated, false},
      // It may be our own, which comes when nobody waits for this kind any more.
      {Code::kUnavailable, true, "conversion webhook for a.b/v1, Kind=C failed: Post \"https://x\": EOF"},
      {Code::kUnavailable, true, "storage is (re)initializing"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(CodeName(c.code)) + " " + c.message);
    Scripted never({Answer{.end = Fault(Code::kPermissionDenied)}, Answer{.end = Error{c.code, c.message, {}}}});
    never.Run();
    auto refusal = never.informer.refusal();
    EXPECT_EQ(refusal ? CodeName(refusal->code) : "", c.refused ? CodeName(c.code) : "");
    Scripted later({Answer{.end = Fault(c.code)}, Answer{.events = {InitialEnd("5")}}, Answer{.end = Fault(c.code)}});
    later.Run();
    EXPECT_FALSE(later.informer.refusal().has_value()) << "it has a state";
  }
}

TEST(Informer, WaitForSyncEndsWithItsContext) {
  Scripted s(std::vector<Answer>(1));
  Context ctx;
  ctx.clock = &s.clock;
  EXPECT_EQ(s.informer.WaitForSync(ctx.WithTimeout(Seconds(1))).code(), Code::kDeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(s.informer.WaitForSync(ctx.WithStop(stop.get_token())).code(), Code::kCancelled);
}

// A kind that may not be watched held a worker for 20 s, in every pass: who waits is told by the first refusal.
TEST(Informer, AwaitStateEndsWithTheFirstRefusal) {
  std::vector<Status> states;
  Scripted s({{{}, Error{Code::kPermissionDenied, "configmaps is forbidden", {}}, Millis(0)}, {{InitialEnd("5")}}});
  s.before_end_mark = [&](const Scripted& self) {
    Context ctx;
    ctx.clock = &s.clock;
    states.push_back(self.informer.AwaitState(ctx.WithTimeout(Seconds(20))));
  };
  s.Run();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].code(), Code::kPermissionDenied);
  EXPECT_THAT(states[0].error().message, HasSubstr("watching configmaps: configmaps is forbidden"));
  EXPECT_TRUE(s.informer.AwaitState(Context{}).ok()) << "and it has its state in the end";
}

TEST(Informer, AwaitStateEndsWithItsContext) {
  Scripted s(std::vector<Answer>(1));
  Context ctx;
  ctx.clock = &s.clock;
  EXPECT_EQ(s.informer.AwaitState(ctx.WithTimeout(Seconds(1))).code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace capi::kube
