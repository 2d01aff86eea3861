// An informer that keeps some of a collection, and is told later to keep more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "base/http/server/server.h"
#include "kube/cache/informer.h"
#include "kube/cache/testing.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kAdded = WatchEvent::Type::kAdded, kModified = WatchEvent::Type::kModified,
               kDeleted = WatchEvent::Type::kDeleted, kBookmark = WatchEvent::Type::kBookmark;

Object Thing(const std::string& name, const std::string& version) {
  return Object(Json{{"metadata", {{"namespace", "n"}, {"name", name}, {"resourceVersion", version}, {"uid", name}}}});
}
WatchEvent Event(WatchEvent::Type type, const std::string& name, const std::string& version) {
  return {type, Thing(name, version)};
}

ObjectList ListOf(const std::string& name, const std::string& version) {
  ObjectList list;
  list.items.push_back(Thing(name, version));
  return list;
}

// An informer in the thread of the test, which says what comes in the middle of each watch. It keeps the names in
// `wanted`.
class Driven {
 public:
  using Deliver = CollectionSource::OnEvent;
  using Session = std::function<Status(const Deliver&)>;

  void Run(std::vector<Session> sessions) {
    sessions_ = std::move(sessions);
    informer.Run(ctx());
  }
  // `list` is asked in the middle.
  Status Include(const std::string& name, const std::function<Result<ObjectList>()>& list,
                 Seconds patience = Seconds(1)) {
    return informer.Include(
        ctx().WithTimeout(patience), [&] { wanted.insert(name); }, list);
  }
  std::vector<std::string> Stored() const {
    std::vector<std::string> out;
    for (const auto& o : informer.List("n")) out.push_back(o->name() + "@" + o->resource_version());
    return out;
  }
  // All that is there at version 5.
  static Status Initial(const Deliver& deliver, std::vector<WatchEvent> events) {
    for (WatchEvent& event : events) TRY(deliver(std::move(event)));
    return deliver({kBookmark, Thing("", "5"), true});
  }

  Context ctx() {
    Context out;
    out.clock = &clock;
    out.stop = stop_.get_token();
    return out;
  }

  JumpClock clock;
  std::set<std::string> wanted;
  std::vector<std::string> told;   // "was>is"
  std::optional<Millis> given_up;  // when

 private:
  Status Watch(const Deliver& deliver) {
    Session session = std::move(sessions_.front());
    sessions_.erase(sessions_.begin());
    Status end = session(deliver);
    if (sessions_.empty()) stop_.request_stop();
    return end;
  }
  void Tell(const ObjectPtr& was, const ObjectPtr& is) {
    auto text = [](const ObjectPtr& o) { return o ? o->name() + "@" + o->resource_version() : "-"; };
    told.push_back(text(was) + ">" + text(is));
  }

  std::stop_source stop_;
  std::vector<Session> sessions_;

 public:
  Informer informer{
      {.list = [](const Context&) { return Result<ObjectList>(ObjectList()); },
       .watch = [this](const Context&, const std::string&, bool, const Deliver& deliver) { return Watch(deliver); }},
      std::make_shared<ServerState>([](const Context&) { return Ok(); }, 1),
      Builtin("ConfigMap"),
      {.keep = [this](const Object& object) { return wanted.contains(object.name()); },
       .give_up = [this](const Context&, const Error&) { given_up = clock.Elapsed(); }},
      [this](const auto& was, const auto& is) { Tell(was, is); }};
};

// F11: what nobody wants isn't stored, whether it is there at first or comes later.
TEST(InformerOfAPart, ForeignObjectsAreNeitherStoredNorTold) {
  Driven d;
  d.wanted = {"a", "b"};
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {Event(kAdded, "a", "1"), Event(kAdded, "foreign", "2"), Event(kAdded, "b", "3")}));
    TRY(deliver(Event(kModified, "foreign", "6")));
    TRY(deliver(Event(kAdded, "other", "7")));
    TRY(deliver(Event(kDeleted, "foreign", "8")));
    TRY(deliver(Event(kModified, "a", "9")));
    d.wanted.erase("a");
    TRY(deliver(Event(kModified, "a", "10")));
    TRY(deliver(Event(kDeleted, "b", "11")));
    return Ok();
  }});
  EXPECT_THAT(d.told, ElementsAre("->a@1", "->b@3", "a@1>a@9", "a@9>-", "b@11>-"));
  EXPECT_THAT(d.Stored(), IsEmpty());
}

// F11: a name that comes into use later. What the watch tells while it is asked for, and after, in every order.
TEST(InformerOfAPart, NoEventIsLostWhileMoreIsIncluded) {
  struct Case {
    std::string_view name;
    std::vector<WatchEvent> meanwhile;
    std::vector<std::string> listed;  // versions of "b"
    std::vector<WatchEvent> later;
    std::vector<std::string> told, stored;
  };
  const Case cases[] = {
      {"it is there", {}, {"7"}, {}, {"->b@7"}, {"b@7"}},
      {"it isn't", {}, {}, {}, {}, {}},
      {"changes are followed",
       {},
       {"7"},
       {Event(kModified, "b", "8"), Event(kDeleted, "b", "9")},
       {"->b@7", "b@7>b@8", "b@9>-"},
       {}},
      {"it comes later", {}, {}, {Event(kAdded, "b", "8")}, {"->b@8"}, {"b@8"}},
      {"it goes before the answer is read", {Event(kDeleted, "b", "8")}, {"7"}, {}, {}, {}},
      {"it changes before the answer is read", {Event(kModified, "b", "8")}, {"7"}, {}, {"->b@8"}, {"b@8"}},
      {"it comes before the answer is read", {Event(kAdded, "b", "8")}, {}, {}, {"->b@8"}, {"b@8"}},
      {"the watch is behind: nothing older comes back",
       {},
       {"12"},
       {Event(kModified, "b", "8"), Event(kDeleted, "b", "9"), Event(kAdded, "b", "12"), Event(kModified, "b", "13")},
       {"->b@12", "b@12>b@13"},
       {"b@13"}},
      {"the watch is behind, and goes first",
       {Event(kModified, "b", "8")},
       {"10"},
       {Event(kModified, "b", "10")},
       {"->b@8", "b@8>b@10"},
       {"b@10"}},
      {"the watch is behind: it went, and is there again",
       {Event(kDeleted, "b", "8")},
       {"10"},
       {Event(kAdded, "b", "10")},
       {"->b@10"},
       {"b@10"}},
      {"a foreign one at the same time", {Event(kAdded, "c", "8")}, {"7"}, {}, {"->b@7"}, {"b@7"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Driven d;
    d.Run({[&](const auto& deliver) -> Status {
      TRY(Driven::Initial(deliver, {Event(kAdded, "b", "4")}));
      EXPECT_THAT(d.Stored(), IsEmpty());
      TRY(d.Include("b", [&]() -> Result<ObjectList> {
        for (const WatchEvent& event : c.meanwhile) TRY(deliver(event));
        ObjectList list;
        for (const std::string& version : c.listed) list.items.push_back(Thing("b", version));
        return list;
      }));
      for (const WatchEvent& event : c.later) TRY(deliver(event));
      return Ok();
    }});
    EXPECT_EQ(d.told, c.told);
    EXPECT_EQ(d.Stored(), c.stored);
  }
}

// F11: what was stored for somebody else, at an older version: who selects by a label that it has by now would miss it.
TEST(InformerOfAPart, WhatIsStoredAtAnOlderVersionIsReplaced) {
  Driven d;
  d.wanted = {"b"};
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {Event(kAdded, "b", "4")}));
    TRY(deliver(Event(kModified, "b", "8")));
    d.told.clear();
    TRY(d.Include("b", [] { return Result<ObjectList>(ListOf("b", "7")); }));
    EXPECT_THAT(d.Stored(), ElementsAre("b@8"));
    TRY(d.Include("b", [] { return Result<ObjectList>(ListOf("b", "12")); }));
    EXPECT_THAT(d.Stored(), ElementsAre("b@12"));
    TRY(deliver(Event(kModified, "b", "10")));
    return deliver(Event(kModified, "b", "12"));
  }});
  EXPECT_THAT(d.told, ElementsAre("b@8>b@12"));
  EXPECT_THAT(d.Stored(), ElementsAre("b@12"));
}

// F11: a listing that began before would be missing it.
TEST(InformerOfAPart, NothingIsIncludedWhileAListingIsUnderWay) {
  Driven d;
  bool asked = false;
  auto list = [&]() -> Result<ObjectList> {
    asked = true;
    return ObjectList();
  };
  d.Run({[&](const auto& deliver) -> Status {
    TRY(deliver(Event(kAdded, "b", "4")));
    EXPECT_EQ(d.Include("b", list).code(), Code::kUnavailable);
    EXPECT_FALSE(asked);
    EXPECT_TRUE(d.wanted.empty());
    TRY(Driven::Initial(deliver, {}));
    EXPECT_TRUE(d.Include("b", list).ok());
    return Ok();
  }});
  EXPECT_TRUE(asked);
}

// F11: who waits for a long listing doesn't hold up the workers again and again.
TEST(InformerOfAPart, AListingIsWaitedForOnce) {
  Driven d;
  auto none = [] { return Result<ObjectList>(ObjectList()); };
  const Error slow{Code::kRateLimited, "slowly", {}};
  d.Run({[&](const auto& deliver) -> Status {
           TRY(Driven::Initial(deliver, {}));
           d.clock.Advance(Seconds(60));  // the next listing has 20 seconds of its own
           return Error{Code::kGone, "too old", {}};
         },
         [&](const auto&) -> Status {
           const Millis begun = d.clock.Elapsed();
           for (const char* name : {"b", "c"}) {
             EXPECT_EQ(d.Include(name, none, Seconds(60)).code(), Code::kUnavailable);
             EXPECT_EQ(d.clock.Elapsed() - begun, Seconds(20)) << name;
           }
           return slow;
         },
         [&](const auto& deliver) -> Status {
           const Millis again = d.clock.Elapsed();
           EXPECT_EQ(d.Include("d", none, Seconds(60)).code(), Code::kUnavailable);
           EXPECT_EQ(d.clock.Elapsed(), again) << "it is the same listing, tried again";
           TRY(Driven::Initial(deliver, {}));
           return d.Include("e", none);
         },
         [&](const auto& deliver) -> Status {
           EXPECT_TRUE(d.wanted.contains("e"));
           return Driven::Initial(deliver, {});
         }});
}

// F11: what was told while another name was asked for doesn't count for one that is asked for later.
TEST(InformerOfAPart, EachPartHasItsOwnEvents) {
  Driven d;
  d.wanted = {"b"};
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {}));
    return d.Include("c", [&]() -> Result<ObjectList> {
      TRY(deliver(Event(kModified, "b", "8")));
      d.wanted.erase("b");
      d.informer.Prune("n");
      EXPECT_TRUE(d.Include("b", [] { return Result<ObjectList>(ListOf("b", "8")); }).ok());
      return ObjectList();
    });
  }});
  EXPECT_THAT(d.Stored(), ElementsAre("b@8"));
}

// F11: what the watch tells of an object that isn't wanted as it is then may be newer than what was listed, or older.
TEST(InformerOfAPart, WhatIsNotWantedAnyMoreIsNotIncluded) {
  for (const char* listed : {"8", "12"}) {
    Driven d;
    d.Run({[&](const auto& deliver) -> Status {
      TRY(Driven::Initial(deliver, {}));
      return d.Include("b", [&]() -> Result<ObjectList> {
        d.wanted.erase("b");  // as with labels that it has no more, or has yet to get
        TRY(deliver(Event(kModified, "b", "9")));
        d.wanted.insert("b");
        return ListOf("b", listed);
      });
    }});
    EXPECT_EQ(d.Stored(), listed == std::string("8") ? std::vector<std::string>() : std::vector<std::string>{"b@12"});
  }
  Driven d;
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {}));
    return d.Include("b", [&] {
      d.wanted.erase("b");
      return Result<ObjectList>(ListOf("b", "8"));
    });
  }});
  EXPECT_THAT(d.Stored(), IsEmpty());
}

// F11: everything is listed anew while the answer is on its way, from before or after it: nobody can tell, so it is
// asked for again.
TEST(InformerOfAPart, AListingMeanwhileCounts) {
  struct Case {
    std::string_view name;
    std::vector<std::string> answers;  // versions of "b", "" for none
    bool listing_ends;                 // before the first answer
    std::vector<std::string> told;
  };
  const Case cases[] = {
      {"it is gone by then", {"8", ""}, true, {}},
      {"it came after the listing", {"8", "8"}, true, {"->b@8"}},
      {"the listing lasts", {"8"}, false, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Driven d;
    std::promise<void> asked, listed;
    std::thread other;
    size_t answered = 0;
    auto list = [&]() -> Result<ObjectList> {
      if (answered == 0) {
        asked.set_value();
        listed.get_future().wait();
      }
      const std::string version = answered < c.answers.size() ? c.answers[answered] : "";
      ++answered;
      return version.empty() ? ObjectList() : ListOf("b", version);
    };
    auto answer = [&] {
      listed.set_value();
      other.join();
    };
    d.Run({[&](const auto& deliver) -> Status {
             TRY(Driven::Initial(deliver, {}));
             other = std::thread([&] { EXPECT_EQ(d.Include("b", list).ok(), c.listing_ends); });
             asked.get_future().wait();
             return Error{Code::kGone, "too old", {}};
           },
           [&](const auto& deliver) -> Status {
             if (!c.listing_ends) answer();
             TRY(Driven::Initial(deliver, {Event(kAdded, "foreign", "9")}));
             if (c.listing_ends) answer();
             return Ok();
           }});
    EXPECT_EQ(answered, c.answers.size());
    EXPECT_EQ(d.told, c.told);
    EXPECT_EQ(d.Stored().size(), c.told.size());
  }
}

// F11: what was included is missed by the next listing, though the watch never told of it.
TEST(InformerOfAPart, WhatWentUnheardOfIsGoneWithTheNextListing) {
  Driven d;
  d.Run({[&](const auto& deliver) -> Status {
           TRY(Driven::Initial(deliver, {}));
           TRY(d.Include("b", [] { return Result<ObjectList>(ListOf("b", "8")); }));
           return Error{Code::kGone, "too old", {}};
         },
         [&](const auto& deliver) { return Driven::Initial(deliver, {}); }});
  EXPECT_THAT(d.told, ElementsAre("->b@8", "b@8>-"));
}

// F11: what wasn't read is asked for again.
TEST(InformerOfAPart, AnAnswerThatFailsIncludesNothing) {
  Driven d;
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {}));
    auto fails = []() -> Result<ObjectList> { return Error{Code::kUnavailable, "away", {}}; };
    EXPECT_EQ(d.Include("b", fails).code(), Code::kUnavailable);
    TRY(deliver(Event(kAdded, "b", "7")));
    return d.Include("b", [] { return Result<ObjectList>(ListOf("b", "7")); });
  }});
  EXPECT_THAT(d.told, ElementsAre("->b@7"));
}

TEST(InformerOfAPart, WhatIsNoLongerWantedIsDropped) {
  Driven d;
  d.wanted = {"a", "b"};
  d.Run({[&](const auto& deliver) -> Status {
    TRY(Driven::Initial(deliver, {Event(kAdded, "a", "1"), Event(kAdded, "b", "2")}));
    d.told.clear();
    d.wanted = {"b"};
    d.informer.Prune("another");
    EXPECT_THAT(d.Stored(), ElementsAre("a@1", "b@2"));
    d.informer.Prune("n");
    EXPECT_THAT(d.Stored(), ElementsAre("b@2"));
    return Ok();
  }});
  EXPECT_THAT(d.told, IsEmpty());
}

// F11: what the server refuses for some time is given up, once there was a state, too; not what comes between outages.
TEST(InformerOfAPart, IsGivenUpWhereItIsRefused) {
  const Error kDenied{Code::kPermissionDenied, "no", {}}, kUnreadable{Code::kInternal, "no", {}},
      kAway{Code::kUnavailable, "away", {}}, kBusy{Code::kRateLimited, "slowly", {}}, kOk{Code::kCancelled, "", {}},
      kBegins{Code::kUnavailable, "storage is (re)initializing", {}};
  struct Case {
    std::string_view name;
    std::vector<Error> ends;  // of sessions, again and again; kOk for one that has brought all there is
    bool given_up;
  };
  const Case cases[] = {
      {"denied", {kDenied}, true},
      {"a foreign object can't be read", {kUnreadable}, true},
      {"denied and unreadable", {kDenied, kUnreadable}, true},
      {"away", {kAway}, false},
      {"the server's own cache isn't filled yet", {kBegins}, false},
      {"too busy", {kBusy}, false},
      {"denied between outages", {kDenied, kAway}, false},
      {"denied for a moment", {kDenied, kDenied, kOk}, false},
  };
  for (const Case& c : cases) {
    for (bool had_state : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (had_state ? ", later" : ""));
      Driven d;
      constexpr int kSessions = 20;
      std::vector<Driven::Session> sessions;
      int begun = 0;
      if (had_state) sessions.push_back([&](const auto& deliver) { return Driven::Initial(deliver, {}); });
      for (int i = 0; i < kSessions; ++i) {
        sessions.push_back([&, end = c.ends[i % c.ends.size()]](const auto& deliver) -> Status {
          ++begun;
          EXPECT_FALSE(d.given_up);
          if (end.code != kOk.code) return end;
          d.clock.Advance(Seconds(60));  // what comes then is no part of what was before
          return Driven::Initial(deliver, {});
        });
      }
      d.Run(std::move(sessions));
      EXPECT_EQ(d.given_up.has_value(), c.given_up);
      EXPECT_EQ(begun < kSessions, c.given_up);
      const Seconds patience(had_state ? 30 : 2);
      EXPECT_GE(d.given_up.value_or(patience), patience);
    }
  }
}

// F11: who waits isn't told of a refusal that may pass.
TEST(InformerOfAPart, WhoWaitsLearnsOfARefusalThatLasts) {
  Driven d;
  const Error no{Code::kPermissionDenied, "no", {}};
  std::vector<Driven::Session> sessions(20, [&](const auto&) -> Status {
    EXPECT_NE(d.informer.AwaitState(d.ctx().WithTimeout(Millis(0))).code(), no.code);
    return no;
  });
  d.Run(std::move(sessions));
  EXPECT_EQ(d.informer.AwaitState(d.ctx().WithTimeout(Seconds(1))).code(), no.code);
}

// F11: however many foreign objects there are, where the server doesn't stream lists: pages that nobody wants take no
// place. The watch tells what has changed since before the first of them.
TEST(InformerOfAPart, ReadsAsMuchAsThereIs) {
  constexpr int kPages = 2'500;
  std::atomic<int> version = 5;
  std::atomic<bool> watched = false;
  std::promise<std::string> watched_from;
  auto server = http::Server::Start({}, [&](const http::ServerRequest& request) -> http::Response {
    if (request.query.find("watch=true") != std::string::npos) {
      const size_t at = request.query.find("resourceVersion=");
      const bool initial = request.query.find("sendInitialEvents") != std::string::npos;
      if (!initial && !watched.exchange(true)) {
        watched_from.set_value(request.query.substr(at, request.query.find('&', at) - at));
      }
      return {.status = 400, .headers = {}, .body = R"({"kind":"Status","reason":"BadRequest","code":400})"};
    }
    const size_t at = request.query.find("continue=");
    const int page = at == std::string::npos ? 0 : std::stoi(request.query.substr(at + 9));
    Json list = {{"metadata", {{"resourceVersion", std::to_string(version++)}}}, {"items", Json::array()}};
    if (page + 1 < kPages) list["metadata"]["continue"] = std::to_string(page + 1);
    list["items"].push_back(Thing("s" + std::to_string(page), "3").json());
    return {.status = 200, .headers = {}, .body = ToJsonText(list)};
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  auto client = Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
  ASSERT_TRUE(client.ok()) << client.error().message;
  Informer informer(**client, Builtin("Secret"),
                    {.keep = [](const Object& object) { return object.name() == "s2400"; }}, nullptr);
  std::jthread thread([&](std::stop_token stop) { informer.Run(Context{}.WithStop(stop)); });
  EXPECT_TRUE(informer.AwaitState(Context{}.WithTimeout(Seconds(60))).ok());
  ASSERT_EQ(informer.List().size(), 1u);
  EXPECT_EQ(informer.List()[0]->name(), "s2400");
  auto from = watched_from.get_future();
  ASSERT_EQ(from.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(from.get(), "resourceVersion=5");
}

}  // namespace
}  // namespace capi::kube
