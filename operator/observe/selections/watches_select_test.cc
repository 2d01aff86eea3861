// F11: what specs refer to, by name or labels, has few watches however many providers there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/testing/await.h"
#include "operator/observe/selections/select_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Purpose = Watches::Purpose;

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
