#include "kube/client/rest_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>
#include <vector>

namespace capi::kube {
namespace {

constexpr std::string_view kApi =
    R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1",
  "freshness":"Current","resources":[{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},
  "scope":"Namespaced","verbs":["get","list"],"subresources":[{"subresource":"log"},{"subresource":"status"}]}]}]}]})";
constexpr std::string_view kApis = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"x.io"},"versions":[
    {"version":"v1beta2","freshness":"Current","resources":[
      {"resource":"foxes","responseKind":{"kind":"Fox"},"scope":"Cluster","verbs":["get"]}]},
    {"version":"v1beta1","freshness":"Current","resources":[
      {"resource":"foxes","responseKind":{"kind":"Fox"},"scope":"Cluster","verbs":["get"]},
      {"resource":"oxen","responseKind":{"kind":"Ox"},"scope":"Namespaced","verbs":["get"]},
      {"resource":"hidden","subresources":[{"subresource":"status"}]}]}]},
  {"metadata":{"name":"down.io"},"versions":[{"version":"v1","freshness":"Stale"}]}]})";

class RestMapperTest : public testing::Test {
 protected:
  Result<std::string> Answer(std::string_view path, std::string_view accept) {
    asked_.emplace_back(path);
    if (path == missing_) return Error{Code::kNotFound, "HTTP 404, with a body of 700 bytes", {}};
    auto it = answers_.find(std::string(path));
    if (it == answers_.end()) return Error{Code::kUnavailable, "503", {}};
    EXPECT_THAT(std::string(accept), testing::HasSubstr("application/json"));
    return it->second;
  }

  FakeClock clock_;
  Context ctx_;
  std::map<std::string, std::string> answers_ = {{"/api", std::string(kApi)}, {"/apis", std::string(kApis)}};
  std::vector<std::string> asked_;
  std::string missing_;
  RestMapper mapper_{
      [this](const Context&, std::string_view path, std::string_view accept) { return Answer(path, accept); }, clock_};
};

TEST_F(RestMapperTest, AsksTwiceForEverythingAndKeepsIt) {
  auto fox = mapper_.For(ctx_, {"x.io", "Fox"});
  ASSERT_TRUE(fox.ok()) << fox.error().message;
  EXPECT_EQ(fox->Path("", "a"), "/apis/x.io/v1beta2/foxes/a");
  EXPECT_EQ(mapper_.For(ctx_, {"x.io", "Fox"}, "v1beta1")->version, "v1beta1");
  auto ox = mapper_.For(ctx_, {"x.io", "Ox"});
  ASSERT_TRUE(ox.ok());
  EXPECT_EQ(ox->Path("n", ""), "/apis/x.io/v1beta1/namespaces/n/oxen") << "not at the group's preferred version";
  EXPECT_THAT(asked_, testing::ElementsAre("/api", "/apis"));
}

// F3: a gateway that answers everything with a 404 of its own would have had objects taken for gone.
TEST_F(RestMapperTest, A404OfDiscoveryIsNoAnswer) {
  for (const char* root : {"/api", "/apis"}) {
    missing_ = root;
    clock_.Advance(Seconds(2));
    mapper_.Invalidate();
    auto unknown = mapper_.For(ctx_, {"cert-manager.io", "Issuer"});
    EXPECT_EQ(unknown.code(), Code::kUnavailable);
    EXPECT_THAT(unknown.error().message, testing::HasSubstr(std::string("discovery of ") + root + ": HTTP 404"));
    clock_.Advance(Seconds(2));
    EXPECT_EQ(mapper_.ForAnew(ctx_, {"cert-manager.io", "Issuer"}).code(), Code::kUnavailable);
  }
  missing_.clear();
  clock_.Advance(Seconds(2));
  EXPECT_EQ(mapper_.For(ctx_, {"cert-manager.io", "Issuer"}).code(), Code::kNotFound);
}

TEST_F(RestMapperTest, AnswersForBuiltinKindsWithoutAsking) {
  EXPECT_EQ(mapper_.For(ctx_, {"apps", "Deployment"})->plural, "deployments");
  EXPECT_EQ(mapper_.For(ctx_, {"", "Secret"}, "v1")->plural, "secrets");
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(mapper_.For(ctx_, {"apps", "Deployment"}, "v1beta1").code(), Code::kNotFound);
}

TEST_F(RestMapperTest, AnUnknownKindAsksAgainAtMostOnceASecond) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(mapper_.For(ctx_, {"y.io", "New"}).code(), Code::kNotFound);
  EXPECT_EQ(asked_.size(), 2u);
  answers_["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"y.io"},"versions":[
    {"version":"v1","resources":[{"resource":"news","responseKind":{"kind":"New"},"scope":"Cluster"}]}]}]})";
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(mapper_.For(ctx_, {"y.io", "New"}).ok());
  EXPECT_EQ(asked_.size(), 4u);
}

TEST_F(RestMapperTest, AGroupThatIsDownIsUnavailableNotAbsent) {
  EXPECT_EQ(mapper_.For(ctx_, {"down.io", "Thing"}).code(), Code::kUnavailable);
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
}

TEST_F(RestMapperTest, AGroupThatGoesDownKeepsWhatItSaid) {
  ASSERT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  answers_["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.io"},"versions":[
    {"version":"v1beta2","freshness":"Stale"}]}]})";
  clock_.Advance(Seconds(1));
  EXPECT_EQ(mapper_.For(ctx_, {"z.io", "Other"}).code(), Code::kNotFound);
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
}

TEST_F(RestMapperTest, FallsBackToPlainDiscovery) {
  answers_ = {
      {"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
      {"/api/v1", R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
         {"name":"pods/log","namespaced":true,"kind":"Pod"},
         {"name":"pods","namespaced":true,"kind":"Pod","verbs":["get"]}]})"},
      {"/apis", R"({"kind":"APIGroupList","groups":[
         {"name":"x.io","versions":[{"version":"v1alpha1"},{"version":"v1beta1"}],
          "preferredVersion":{"version":"v1beta1"}},
         {"name":"down.io","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]})"},
      {"/apis/x.io/v1alpha1", R"({"resources":[{"name":"foxes","kind":"Fox"},{"name":"owls","kind":"Owl"}]})"},
      {"/apis/x.io/v1beta1", R"({"resources":[{"name":"foxes","kind":"Fox"},{"name":"foxes/status","kind":"Fox"}]})"},
  };
  auto fox = mapper_.For(ctx_, {"x.io", "Fox"});
  ASSERT_TRUE(fox.ok()) << fox.error().message;
  EXPECT_EQ(fox->version, "v1beta1");
  EXPECT_THAT(fox->subresources, testing::ElementsAre("status"));
  EXPECT_EQ(mapper_.For(ctx_, {"x.io", "Owl"})->version, "v1alpha1");
  EXPECT_EQ(mapper_.For(ctx_, {"down.io", "Thing"}).code(), Code::kUnavailable);
  std::set<std::string> away;
  auto all = mapper_.All(ctx_, &away);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 4u);
  EXPECT_THAT(away, testing::ElementsAre("down.io")) << "what it has isn't among them";
}

Resource Cat(std::string version) {
  return {.group = "new.io", .version = std::move(version), .plural = "cats", .kind = "Cat"};
}

TEST_F(RestMapperTest, WhatIsLearnedNeedsNoRequestAndOutlivesDiscoveryThatLagsBehind) {
  mapper_.Learn({"new.io", "Cat"}, {Cat("v1beta1"), Cat("v1"), Cat("v2alpha1")});
  EXPECT_EQ(mapper_.For(ctx_, {"new.io", "Cat"})->version, "v1");
  EXPECT_EQ(mapper_.Known({"new.io", "Cat"}, "v2alpha1")->version, "v2alpha1");
  EXPECT_FALSE(mapper_.Known({"x.io", "Fox"}).has_value());
  EXPECT_TRUE(asked_.empty());
  ASSERT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  EXPECT_TRUE(mapper_.Known({"new.io", "Cat"}).has_value());
  mapper_.Invalidate();
  clock_.Advance(Seconds(29));
  EXPECT_FALSE(mapper_.For(ctx_, {"y.io", "New"}).ok());
  EXPECT_TRUE(mapper_.Known({"new.io", "Cat"}).has_value()) << "discovery may lag behind still";
}

// U3, I13: what an apply once taught was there until the process ended.
TEST_F(RestMapperTest, WhatIsLearnedEnds) {
  const GroupKind cat{"new.io", "Cat"}, fox{"x.io", "Fox"};
  ASSERT_EQ(mapper_.For(ctx_, fox)->version, "v1beta2");
  mapper_.Learn(fox, {{.group = "x.io", .version = "v1beta1", .plural = "foxes", .kind = "Fox"}});
  EXPECT_EQ(mapper_.For(ctx_, fox)->version, "v1beta1") << "a downgrade";
  EXPECT_EQ(mapper_.For(ctx_, fox, "v1beta2").code(), Code::kNotFound);
  mapper_.Learn(cat, {Cat("v1"), Cat("v1beta1")});
  mapper_.Learn(cat, {Cat("v1beta1")});
  EXPECT_EQ(mapper_.For(ctx_, cat)->version, "v1beta1") << "its CRD has lost the other one";
  mapper_.Forget(cat);
  clock_.Advance(Seconds(1));
  EXPECT_EQ(mapper_.For(ctx_, cat).code(), Code::kNotFound) << "its CRD was deleted";

  mapper_.Learn(cat, {Cat("v1")});
  mapper_.Learn({"down.io", "Thing"}, {{.group = "down.io", .version = "v1", .plural = "things", .kind = "Thing"}});
  clock_.Advance(Seconds(30));
  EXPECT_TRUE(mapper_.For(ctx_, cat).ok()) << "nobody has asked since";
  EXPECT_FALSE(mapper_.For(ctx_, {"y.io", "New"}).ok());
  EXPECT_EQ(mapper_.For(ctx_, cat).code(), Code::kNotFound) << "discovery would have it by now";
  EXPECT_EQ(mapper_.For(ctx_, fox)->version, "v1beta2") << "somebody else has changed it";
  EXPECT_TRUE(mapper_.For(ctx_, {"down.io", "Thing"}).ok()) << "nobody says that it has gone";
}

// X1: the server refuses the path that is known.
TEST_F(RestMapperTest, WhatIsInDoubtIsAskedForAnew) {
  ctx_.clock = &clock_;
  const GroupKind fox{"x.io", "Fox"};
  ASSERT_EQ(mapper_.For(ctx_, fox)->version, "v1beta2");
  answers_["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.io"},"versions":[
    {"version":"v1","resources":[{"resource":"foxes","responseKind":{"kind":"Fox"},"scope":"Cluster"}]}]}]})";
  std::jthread caller([&] { EXPECT_EQ(mapper_.ForAnew(ctx_, fox)->version, "v1"); });
  clock_.AwaitWaiters(1);
  EXPECT_EQ(asked_.size(), 2u);
  clock_.Advance(Seconds(1));
  caller.join();
  EXPECT_EQ(asked_.size(), 4u);
}

// F3: a server that answers discovery with errors isn't asked again by each of many callers.
TEST_F(RestMapperTest, AFailureIsPassedOnForASecondAndThenTriedAgain) {
  auto apis = answers_.extract("/apis");
  for (int i = 0; i < 5; ++i) {
    auto failed = mapper_.For(ctx_, {"x.io", "Fox"});
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.code(), Code::kUnavailable);
    EXPECT_EQ(failed.error().message, "discovery of /apis: 503");
  }
  EXPECT_THAT(asked_, testing::ElementsAre("/api", "/apis"));
  answers_.insert(std::move(apis));
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
}

// F8: each event of a CRD made each of those who wait for a kind ask at once. Whoever asks after an invalidation waits
// for the rest of the second, and all have one answer; a failure is no exception.
TEST_F(RestMapperTest, AnInvalidationIsAskedForOnceASecond) {
  ctx_.clock = &clock_;
  auto apis = answers_.extract("/apis");
  EXPECT_FALSE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  answers_.insert(std::move(apis));
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    mapper_.Invalidate();
    callers.emplace_back([&] { EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok()); });
    clock_.AwaitWaiters(callers.size());
  }
  EXPECT_EQ(asked_.size(), 2u);
  clock_.Advance(Seconds(1));
  callers.clear();
  EXPECT_EQ(asked_.size(), 4u);
}

TEST_F(RestMapperTest, AnInvalidationIsOfKindsThatHaveGoneToo) {
  ctx_.clock = &clock_;
  ASSERT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  answers_["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  mapper_.Invalidate();
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok()) << "nobody waits for a kind that is known";
  EXPECT_EQ(asked_.size(), 2u);
  clock_.Advance(Seconds(1));
  EXPECT_EQ(mapper_.For(ctx_, {"x.io", "Fox"}).code(), Code::kNotFound);
  EXPECT_EQ(asked_.size(), 4u);
}

// F8: what was known was gone while discovery failed, and all who needed it with it. All that there is can't be told
// from an old answer.
TEST_F(RestMapperTest, WhatIsKnownOutlivesDiscoveryThatFails) {
  ctx_.clock = &clock_;
  ASSERT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  auto apis = answers_.extract("/apis");
  mapper_.Invalidate();
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(mapper_.Known({"x.io", "Fox"}).has_value());
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  EXPECT_EQ(asked_.size(), 4u) << "it was asked whether that is still so";
  EXPECT_EQ(mapper_.For(ctx_, {"y.io", "New"}).code(), Code::kUnavailable);
  EXPECT_EQ(mapper_.All(ctx_).code(), Code::kUnavailable);
  answers_.insert(std::move(apis));
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(mapper_.For(ctx_, {"x.io", "Fox"}).ok());
  EXPECT_EQ(asked_.size(), 6u) << "a failure is no answer to an invalidation";
  EXPECT_EQ(mapper_.All(ctx_)->size(), 4u);
}

TEST_F(RestMapperTest, WhoWaitsToAskEndsByItself) {
  ctx_.clock = &clock_;
  EXPECT_FALSE(mapper_.For(ctx_, {"y.io", "New"}).ok());
  mapper_.Invalidate();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(mapper_.For(ctx_.WithStop(stop.get_token()), {"y.io", "New"}).code(), Code::kCancelled);
  std::jthread caller([&] {
    EXPECT_EQ(mapper_.For(ctx_.WithTimeout(Millis(500)), {"y.io", "New"}).code(), Code::kDeadlineExceeded);
  });
  clock_.AwaitWaiters(1);
  clock_.Advance(Millis(500));
}

// A kind that can't be told now is told apart from discovery that fails.
TEST_F(RestMapperTest, SaysWhetherTheServerOfAGroupIsAway) {
  auto down = mapper_.Look(ctx_, {"down.io", "Thing"});
  ASSERT_TRUE(down.ok());
  EXPECT_FALSE(down->resource.has_value());
  EXPECT_TRUE(down->group_is_stale);
  auto none = mapper_.Look(ctx_, {"x.io", "Nothing"});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->resource.has_value());
  EXPECT_FALSE(none->group_is_stale);
  answers_.clear();
  clock_.Advance(Seconds(1));
  EXPECT_EQ(mapper_.Look(ctx_, {"down.io", "Thing"}).code(), Code::kUnavailable);
}

// A getter that hangs until it is told to go on.
struct Hanging {
  std::promise<void> asked, go;
  std::future<void> may_go = go.get_future();
  std::atomic<int> rounds = 0;
  std::function<Result<std::string>(std::string_view)> answer;
  FakeClock clock;
  RestMapper mapper{[this](const Context&, std::string_view path, std::string_view) -> Result<std::string> {
                      if (path == "/api" && ++rounds == 1) {
                        asked.set_value();
                        may_go.wait();
                      }
                      return answer(path);
                    },
                    clock};
};

// F8: one who waits for another's request ends by its own deadline, and when it is stopped.
TEST(RestMapper, WhoWaitsForAnothersQuestionEndsByItself) {
  Hanging hanging;
  hanging.answer = [](std::string_view path) { return std::string(path == "/api" ? kApi : kApis); };
  std::jthread first([&] { EXPECT_TRUE(hanging.mapper.For(Context{}, {"x.io", "Fox"}).ok()); });
  hanging.asked.get_future().wait();
  EXPECT_EQ(hanging.mapper.For(Context{}.WithTimeout(Millis(50)), {"x.io", "Fox"}).code(), Code::kDeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(hanging.mapper.For(Context{}.WithStop(stop.get_token()), {"x.io", "Fox"}).code(), Code::kCancelled);
  hanging.go.set_value();
  EXPECT_TRUE(hanging.mapper.For(Context{}.WithTimeout(Seconds(60)), {"x.io", "Ox"}).ok());
  EXPECT_EQ(hanging.rounds, 1) << "its answer is everybody's";
}

// What one caller's own end makes of its question says nothing of the server: who waited asks itself.
TEST(RestMapper, ACallerThatIsStoppedFailsAlone) {
  Hanging hanging;
  hanging.answer = [&](std::string_view path) -> Result<std::string> {
    if (hanging.rounds == 1) return Error{Code::kCancelled, "stopped", {}};
    return std::string(path == "/api" ? kApi : kApis);
  };
  std::stop_source stop;
  std::jthread first([&] {
    EXPECT_EQ(hanging.mapper.For(Context{}.WithStop(stop.get_token()), {"x.io", "Fox"}).code(), Code::kCancelled);
  });
  hanging.asked.get_future().wait();
  stop.request_stop();
  hanging.go.set_value();
  EXPECT_TRUE(hanging.mapper.For(Context{}.WithTimeout(Seconds(60)), {"x.io", "Fox"}).ok());
}

// I13: a CRD that comes while discovery is asked for isn't missed: the answer may be older.
TEST(RestMapper, AnAnswerFromBeforeAnInvalidationDoesNotStand) {
  Hanging hanging;
  hanging.answer = [&](std::string_view path) -> Result<std::string> {
    if (path == "/api") return std::string(kApi);
    return hanging.rounds == 1 ? R"({"kind":"APIGroupDiscoveryList","items":[]})" : std::string(kApis);
  };
  std::jthread first([&] { EXPECT_EQ(hanging.mapper.For(Context{}, {"x.io", "Fox"}).code(), Code::kNotFound); });
  hanging.asked.get_future().wait();
  hanging.mapper.Invalidate();
  hanging.go.set_value();
  first.join();
  hanging.clock.Advance(Seconds(1));
  EXPECT_TRUE(hanging.mapper.For(Context{}.WithTimeout(Seconds(60)), {"x.io", "Fox"}).ok());
}

// F8: CRDs change all the time. A caller waits for the answer that was asked for after it came, not for one that is
// newer than every event.
TEST(RestMapper, EventsWhileDiscoveryIsAskedForHoldUpNobody) {
  Hanging hanging;
  hanging.answer = [&](std::string_view path) {
    hanging.mapper.Invalidate();
    return std::string(path == "/api" ? kApi : kApis);
  };
  std::jthread first([&] { EXPECT_TRUE(hanging.mapper.For(Context{}, {"x.io", "Fox"}).ok()); });
  hanging.asked.get_future().wait();
  Context ctx;
  ctx.clock = &hanging.clock;
  std::vector<std::jthread> callers;
  callers.emplace_back([&] { EXPECT_EQ(hanging.mapper.For(ctx, {"y.io", "New"}).code(), Code::kNotFound); });
  callers.emplace_back([&] { EXPECT_TRUE(hanging.mapper.For(ctx, {"x.io", "Fox"}).ok()); });
  callers.emplace_back([&] { EXPECT_EQ(hanging.mapper.All(ctx)->size(), 4u); });
  hanging.clock.AwaitWaiters(callers.size());
  hanging.go.set_value();
  first.join();
  callers.clear();
  EXPECT_EQ(hanging.rounds, 1);
  hanging.clock.Advance(Seconds(1));
  EXPECT_EQ(hanging.mapper.For(ctx, {"y.io", "New"}).code(), Code::kNotFound);
  EXPECT_EQ(hanging.rounds, 2);
}

}  // namespace
}  // namespace capi::kube
