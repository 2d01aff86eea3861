#include "kube/runtime/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/testing/await.h"
#include "kube/cache/testing.h"
#include "kube/runtime/event_queue.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Object Provider(const std::string& name = "aws", const std::string& ns = "capi") {
  Json metadata = {{"name", name}, {"uid", "u-" + name}, {"resourceVersion", "12"}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return Object(Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                     {"kind", "InfrastructureProvider"},
                     {"metadata", metadata}});
}

// Keeps what a recorder writes. Run writes all that was recorded and returns.
struct Written {
  Written() { ctx.clock = &clock; }
  EventApi Api() {
    return {
        .create = [this](const Context&, const Object& event) -> Status {
          TRY(Next());
          for (const Object& other : created) {
            if (other.name() == event.name()) return Error{Code::kAlreadyExists, "it is there", {}};
          }
          created.push_back(event);
          if (lost_answers == 0) return Ok();
          --lost_answers;
          return Error{Code::kCancelled, "stopped", {}};
        },
        .patch = [this](const Context&, const std::string& ns, const std::string& name, const Json& patch) -> Status {
          TRY(Next());
          patches.push_back(ns + "/" + name + " " + ToJsonText(patch));
          return Ok();
        }};
  }
  Status Next() {
    MutexLock lock(mu);
    ++times_made;
    times.push_back(clock.Elapsed());
    if (faults.empty()) return Ok();
    Status fault = faults.front();
    faults.erase(faults.begin());
    return fault;
  }
  // With a context that stops when `requests` were made in all.
  void Run(EventRecorder& recorder, size_t requests) {
    std::stop_source stop;
    std::thread thread([&] { recorder.Run(ctx.WithStop(stop.get_token())); });
    EXPECT_TRUE(Await([&] { return made() >= requests; }));
    stop.request_stop();
    thread.join();
  }
  // Writes only what is queued.
  void Flush(EventRecorder& recorder) {
    std::stop_source stop;
    stop.request_stop();
    recorder.Run(ctx.WithStop(stop.get_token()));
  }
  size_t made() {
    MutexLock lock(mu);
    return times_made;
  }

  Mutex mu;
  size_t times_made = 0;
  JumpClock clock;
  Context ctx;
  std::vector<Object> created;
  std::vector<std::string> patches;
  std::vector<Status> faults;
  int lost_answers = 0;  // creations that are done, and fail
  std::vector<Millis> times;
};

TEST(EventRecorder, WritesWhatPeopleRead) {
  Written w;
  EventRecorder recorder(w.Api(), "capi-operator", w.clock);
  recorder.Record(Provider(), "Normal", "Installed", "v1.2.3 is installed");
  w.Flush(recorder);
  ASSERT_EQ(w.created.size(), 1u);
  Json event = w.created[0].json();
  std::string name = w.created[0].name();
  EXPECT_THAT(name, testing::MatchesRegex("aws\\.[0-9a-f]{16}"));
  event["metadata"].erase("name");
  EXPECT_EQ(event, *ParseJson(R"({
    "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "capi"},
    "involvedObject": {"apiVersion": "operator.cluster.x-k8s.io/v1alpha2", "kind": "InfrastructureProvider",
      "namespace": "capi", "name": "aws", "uid": "u-aws", "resourceVersion": "12"},
    "type": "Normal", "reason": "Installed", "message": "v1.2.3 is installed",
    "source": {"component": "capi-operator"}, "reportingComponent": "capi-operator", "reportingInstance": "",
    "firstTimestamp": "2023-11-14T22:13:20Z", "lastTimestamp": "2023-11-14T22:13:20Z", "count": 1})"));
}

TEST(EventRecorder, AboutAClusterScopedObjectGoesToDefault) {
  Written w;
  EventRecorder recorder(w.Api(), "c", w.clock);
  recorder.Record(Provider("crd", ""), "Normal", "R", "m");
  w.Flush(recorder);
  EXPECT_EQ(w.created.at(0).ns(), "default");
  EXPECT_EQ(Find(w.created[0].json(), {"involvedObject", "namespace"}), nullptr);
}

TEST(EventRecorder, TheSameEventRaisesTheCount) {
  Written w;
  EventRecorder recorder(w.Api(), "c", w.clock);
  recorder.Record(Provider(), "Warning", "Failed", "m");
  w.Flush(recorder);
  w.clock.Advance(std::chrono::minutes(9));
  recorder.Record(Provider(), "Warning", "Failed", "m");
  recorder.Record(Provider(), "Warning", "Failed", "m");
  w.Flush(recorder);
  ASSERT_EQ(w.created.size(), 1u);
  EXPECT_THAT(w.patches,
              ElementsAre("capi/" + w.created[0].name() + R"( {"count":3,"lastTimestamp":"2023-11-14T22:22:20Z"})"));
  w.clock.Advance(std::chrono::minutes(10));
  recorder.Record(Provider(), "Warning", "Failed", "m");
  w.Flush(recorder);
  EXPECT_EQ(w.created.size(), 2u) << "after ten minutes it is told anew";
  EXPECT_NE(w.created[0].name(), w.created[1].name());
}

TEST(EventRecorder, WhatDiffersIsAnEventOfItsOwn) {
  Written w;
  EventRecorder recorder(w.Api(), "c", w.clock);
  recorder.Record(Provider(), "Normal", "R", "m");
  recorder.Record(Provider("gcp"), "Normal", "R", "m");
  recorder.Record(Provider(), "Warning", "R", "m");
  recorder.Record(Provider(), "Normal", "S", "m");
  recorder.Record(Provider(), "Normal", "R", "n");
  w.Flush(recorder);
  EXPECT_EQ(w.created.size(), 5u);
  std::set<std::string> names;
  for (const Object& event : w.created) names.insert(event.ns() + "/" + event.name());
  EXPECT_EQ(names.size(), 5u) << "also within one instant";
}

TEST(EventRecorder, AnEventThatExpiredOnTheServerStartsAnew) {
  Written w;
  EventRecorder recorder(w.Api(), "c", w.clock);
  recorder.Record(Provider(), "Normal", "R", "m");
  w.Flush(recorder);
  w.faults = {Error{Code::kNotFound, "expired", {}}};
  recorder.Record(Provider(), "Normal", "R", "m");
  w.Flush(recorder);
  EXPECT_EQ(w.created.size(), 2u);
  EXPECT_EQ(GetInt(w.created[1].json(), {"count"}), 1);
}

TEST(EventRecorder, RefusalsForGoodBlockNobody) {
  for (Code code : {Code::kPermissionDenied, Code::kFailedPrecondition, Code::kNotFound, Code::kInvalidArgument}) {
    SCOPED_TRACE(CodeName(code));
    Written w;
    w.faults = {Error{code, "namespace capi is being terminated", {}}};
    EventRecorder recorder(w.Api(), "c", w.clock);
    recorder.Record(Provider(), "Normal", "R", "lost");
    recorder.Record(Provider(), "Normal", "R", "written");
    w.Flush(recorder);
    ASSERT_EQ(w.created.size(), 1u);
    EXPECT_EQ(GetString(w.created[0].json(), {"message"}), "written");
  }
}

TEST(EventRecorder, WaitsForAServerThatIsAway) {
  Written w;
  for (int i = 0; i < 8; ++i) w.faults.push_back(Error{Code::kUnavailable, "away", {}});
  EventRecorder recorder({.create = [&](const Context&, const Object& event) -> Status {
                           Status next = w.Next();
                           if (next.ok()) w.created.push_back(event);
                           return next;
                         }},
                         "c", w.clock);
  recorder.Record(Provider(), "Normal", "R", "m");
  w.Run(recorder, 9);
  ASSERT_EQ(w.created.size(), 1u);
  for (size_t i = 1; i < w.times.size(); ++i) EXPECT_GE(w.times[i] - w.times[i - 1], Seconds(2)) << "F3";
}

// A stop cut the answer to a creation off; the last words had the event a second time.
TEST(EventRecorder, WhatWasWrittenWithoutAnAnswerIsNotWrittenAgain) {
  Written w;
  EventRecorder recorder(w.Api(), "capi-operator", w.clock);
  w.lost_answers = 1;
  recorder.Record(Provider(), "Warning", "LastWords", "m");
  w.Run(recorder, 1);
  ASSERT_EQ(w.created.size(), 1u);
  EXPECT_THAT(w.patches, ElementsAre(HasSubstr("capi/" + w.created[0].name() + " {\"count\":1,")));
}

TEST(EventRecorder, ANameStaysAName) {
  Written w;
  EventRecorder recorder(w.Api(), "c", w.clock);
  recorder.Record(Provider(std::string(235, 'a') + "-." + std::string(16, 'b')), "Normal", "R", "m");
  w.Flush(recorder);
  EXPECT_EQ(w.created.at(0).name().substr(0, 236), std::string(235, 'a') + ".");
  EXPECT_LE(w.created[0].name().size(), 253u);
}

TEST(EventQueue, DropsTheOldest) {
  EventQueue queue(3);
  auto event = [](const std::string& message) { return QueuedEvent{.key = KeyOf(Provider(), "Normal", "R", message)}; };
  for (const char* m : {"1", "2", "3"}) EXPECT_TRUE(queue.Push(event(m)));
  EXPECT_TRUE(queue.Push(event("2"))) << "merged";
  EXPECT_FALSE(queue.Push(event("4")));
  std::vector<std::string> left;
  while (auto e = queue.Pop()) left.push_back(e->key.message + "x" + std::to_string(e->count));
  EXPECT_THAT(left, ElementsAre("2x2", "3x1", "4x1"));
}

TEST(CutUtf8, CutsBetweenCharacters) {
  struct Case {
    std::string_view text;
    size_t most;
    std::string_view expected;
  };
  for (const Case& c : {Case{"abc", 3, "abc"}, Case{"abcd", 3, "abc"}, Case{"aä", 3, "aä"}, Case{"aä", 2, "a"},
                        Case{"€", 2, ""}, Case{"a€b", 4, "a€"}, Case{"😀x", 4, "😀"}, Case{"", 0, ""}}) {
    EXPECT_EQ(CutUtf8(c.text, c.most), c.expected) << c.text << " " << c.most;
  }
  EXPECT_EQ(KeyOf(Provider(), "Normal", "R", std::string(1023, 'x') + "ä").message.size(), 1023u);
}

}  // namespace
}  // namespace capi::kube
