// An informer that keeps some of a collection, and is told later to keep more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

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
  Status Include(const std::string& name, const std::function<Result<ObjectList>()>& list) {
    return informer.Include(
        ctx().WithTimeout(Seconds(1)), [&] { wanted.insert(name); }, list);
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

  std::set<std::string> wanted;
  std::vector<std::string> told;  // "was>is"

 private:
  Context ctx() {
    Context out;
    out.clock = &clock_;
    out.stop = stop_.get_token();
    return out;
  }
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

  JumpClock clock_;
  std::stop_source stop_;
  std::vector<Session> sessions_;

 public:
  Informer informer{
      {.list = [](const Context&) { return Result<ObjectList>(ObjectList()); },
       .watch = [this](const Context&, const std::string&, bool, const Deliver& deliver) { return Watch(deliver); }},
      std::make_shared<ServerState>([](const Context&) { return Ok(); }, 1),
      Builtin("ConfigMap"),
      {.keep = [this](const Object& object) { return wanted.contains(object.name()); }},
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

// F11: everything is listed anew while the answer is on its way: that has the last word.
TEST(InformerOfAPart, AListingMeanwhileCounts) {
  Driven d;
  std::promise<void> asked, listed;
  std::thread other;
  d.Run({[&](const auto& deliver) -> Status {
           TRY(Driven::Initial(deliver, {}));
           other = std::thread([&] {
             Status included = d.Include("b", [&]() -> Result<ObjectList> {
               asked.set_value();
               listed.get_future().wait();
               return ListOf("b", "8");
             });
             EXPECT_TRUE(included.ok());
           });
           asked.get_future().wait();
           return Error{Code::kGone, "too old", {}};
         },
         [&](const auto& deliver) -> Status {
           TRY(Driven::Initial(deliver, {Event(kAdded, "foreign", "9")}));
           listed.set_value();
           other.join();
           return Ok();
         }});
  EXPECT_THAT(d.told, IsEmpty()) << "it is gone by then";
  EXPECT_THAT(d.Stored(), IsEmpty());
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

// F11: whoever shares a watch learns that it is refused, also later.
TEST(InformerOfAPart, SaysThatItIsDenied) {
  Driven d;
  const Error no{Code::kPermissionDenied, "no", {}};
  EXPECT_FALSE(d.informer.denied());
  d.Run({[&](const auto&) { return Status(no); },
         [&](const auto& deliver) -> Status {
           EXPECT_TRUE(d.informer.denied());
           TRY(Driven::Initial(deliver, {}));
           EXPECT_FALSE(d.informer.denied());
           return no;
         },
         [&](const auto& deliver) -> Status {
           EXPECT_TRUE(d.informer.denied()) << "a right that was taken away";
           TRY(deliver(Event(kBookmark, "", "9")));
           EXPECT_FALSE(d.informer.denied());
           return Ok();
         }});
}

}  // namespace
}  // namespace capi::kube
