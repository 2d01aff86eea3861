// F3: etcd was restored from a backup to what a watch had shown before our last write, so that no watch tells of it.
#include "operator/observe/unseen_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/http/server/server.h"
#include "base/testing/await.h"
#include "base/testing/recording_clock.h"
#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

constexpr auto kType = api::ProviderType::kInfrastructure;

kube::Object Provider(const std::string& name, int version, int generation = 1) {
  return kube::Object(Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                           {"kind", "InfrastructureProvider"},
                           {"metadata",
                            {{"name", name},
                             {"namespace", "n"},
                             {"uid", "u-" + name},
                             {"generation", generation},
                             {"resourceVersion", std::to_string(version)}}},
                           {"spec", {{"version", "v1.0.0"}}}});
}

kube::ObjectPtr Shared(kube::Object object) { return std::make_shared<const kube::Object>(std::move(object)); }

// A server that has Providers, and a cache that its watches fill; the watches have shown each at 200.
class UnseenWritesTest : public ::testing::Test {
 protected:
  UnseenWritesTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      const std::string name = request.path.substr(request.path.rfind('/') + 1);
      MutexLock lock(mu_);
      ++reads_;
      if (status_ != 200) return http::Response{.status = status_, .headers = {}, .body = R"({"kind":"Status"})"};
      auto found = has_.find(name);
      if (found == has_.end()) return http::Response{.status = 404, .headers = {}, .body = R"({"kind":"Status"})"};
      return http::Response{.status = 200, .headers = {}, .body = ToJsonText(found->second.json())};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *kube::Client::Connect({.server = "http://" + server_->address()}, {.max_retries = 0});
    Has("aws", 200);
    cache_.OnEvent(kType, nullptr, Shared(Provider("aws", 200)));
  }

  void Has(const std::string& name, int version, int generation = 1) {
    MutexLock lock(mu_);
    has_[name] = Provider(name, version, generation);
  }
  void AnswerWith(int status) {
    MutexLock lock(mu_);
    status_ = status;
  }
  int Reads() {
    MutexLock lock(mu_);
    return reads_;
  }
  // Two looks: a write before the first of them is half a minute old at the second.
  void LookTwice() {
    UnseenWrites unseen(*client_, cache_);
    unseen.Look(ctx_);
    unseen.Look(ctx_);
  }
  std::string Version(const std::string& name = "aws") {
    return cache_.Get("InfrastructureProvider/n/" + name)->Object().resource_version();
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  int passes_ = 0;  // that changes ask for
  ProviderCache cache_{[this](const ProviderCache::Change& change) { passes_ += change.spec ? 1 : 0; }};
  std::unique_ptr<kube::Client> client_;
  Mutex mu_;
  int reads_ = 0;

 private:
  int status_ = 200;
  std::map<std::string, kube::Object> has_;
  std::unique_ptr<http::Server> server_;
};

// Where nothing else was to be written, the server kept the old status for good: each pass decided on what the cache
// had, and found it written.
TEST_F(UnseenWritesTest, ARestoreIsNoticedWithoutAnotherWrite) {
  cache_.OnWrite(kType, Provider("aws", 205));
  UnseenWrites unseen(*client_, cache_);
  passes_ = 0;
  unseen.Look(ctx_);
  EXPECT_EQ(Reads(), 0) << "the watch has had no time to show it";
  EXPECT_EQ(Version(), "205");
  unseen.Look(ctx_);
  EXPECT_EQ(Version(), "200");
  EXPECT_EQ(passes_, 1);
  unseen.Look(ctx_);
  EXPECT_EQ(Reads(), 1) << "what was read is what the watch has shown";
}

// An edit after the restore had a smaller version than our write that was no more: it counted as old, and was dropped.
TEST_F(UnseenWritesTest, AnEditAfterARestoreIsNotLost) {
  cache_.OnWrite(kType, Provider("aws", 205));
  Has("aws", 203, 2);
  cache_.OnEvent(kType, Shared(Provider("aws", 200)), Shared(Provider("aws", 203, 2)));
  EXPECT_EQ(Version(), "205") << "it may be an old one";
  passes_ = 0;
  LookTwice();
  EXPECT_EQ(Version(), "203");
  EXPECT_EQ(passes_, 1);
  cache_.OnEvent(kType, Shared(Provider("aws", 203, 2)), Shared(Provider("aws", 204, 3)));
  EXPECT_EQ(Version(), "204");
  EXPECT_EQ(passes_, 2);
}

TEST_F(UnseenWritesTest, WhatTheWatchShowsInTimeTakesNoRequest) {
  cache_.OnWrite(kType, Provider("aws", 205));
  UnseenWrites unseen(*client_, cache_);
  unseen.Look(ctx_);
  cache_.OnEvent(kType, Shared(Provider("aws", 200)), Shared(Provider("aws", 205)));
  unseen.Look(ctx_);
  cache_.OnWrite(kType, Provider("aws", 206));
  unseen.Look(ctx_);
  cache_.OnWrite(kType, Provider("aws", 207));
  unseen.Look(ctx_);
  EXPECT_EQ(Reads(), 0) << "206 was followed by another write, which is new";
  EXPECT_EQ(Version(), "207");
}

// A watch that is broken for minutes: the write is there, and may still be lost.
TEST_F(UnseenWritesTest, AWriteThatTheServerHasStays) {
  cache_.OnWrite(kType, Provider("aws", 205));
  Has("aws", 205);
  UnseenWrites unseen(*client_, cache_);
  for (int i = 0; i < 3; ++i) unseen.Look(ctx_);
  EXPECT_EQ(Reads(), 2);
  EXPECT_EQ(Version(), "205");
  Has("aws", 200);
  unseen.Look(ctx_);
  EXPECT_EQ(Version(), "200");
}

// F7: one that can't be read, or isn't there any more, holds up no other.
TEST_F(UnseenWritesTest, OneThatIsGoneHoldsUpNoOther) {
  cache_.OnEvent(kType, nullptr, Shared(Provider("a-gone", 200)));
  cache_.OnWrite(kType, Provider("a-gone", 205));
  cache_.OnWrite(kType, Provider("aws", 206));
  LookTwice();
  EXPECT_EQ(Version("a-gone"), "205") << "the watch tells of its end";
  EXPECT_EQ(Version(), "200");
}

// F3: at most two requests a second while the server is away.
TEST_F(UnseenWritesTest, AServerThatIsAwayIsAskedOnce) {
  struct Case {
    int status, reads;
  };
  cache_.OnEvent(kType, nullptr, Shared(Provider("azure", 200)));
  cache_.OnWrite(kType, Provider("aws", 205));
  cache_.OnWrite(kType, Provider("azure", 206));
  for (const Case& c : {Case{503, 1}, Case{429, 1}, Case{500, 1}, Case{403, 2}}) {
    SCOPED_TRACE(c.status);
    AnswerWith(c.status);
    const int before = Reads();
    LookTwice();
    EXPECT_EQ(Reads() - before, c.reads);
    EXPECT_EQ(Version(), "205");
  }
  AnswerWith(200);
  LookTwice();
  EXPECT_EQ(Version(), "200") << "and again once it is there";
}

// F3: a write is between 30 and 60 s old when it is looked for.
TEST_F(UnseenWritesTest, LooksEveryHalfMinute) {
  RecordingClock clock;
  Context run = ctx_;
  run.clock = &clock;
  run.deadline.reset();
  cache_.OnWrite(kType, Provider("aws", 205));
  UnseenWrites unseen(*client_, cache_);
  std::jthread running([&](const std::stop_token& stop) { unseen.Run(run.WithStop(stop)); });
  auto waits = [&](size_t count) {
    EXPECT_TRUE(Await([&] { return clock.waits().size() >= count; }));
    return clock.waits();
  };
  EXPECT_THAT(waits(1), ElementsAre(Seconds(30)));
  clock.Advance(Seconds(30));
  EXPECT_THAT(waits(2), ElementsAre(Seconds(30), Seconds(30)));
  EXPECT_EQ(Reads(), 0) << "it was just written";
  clock.Advance(Seconds(30));
  EXPECT_THAT(waits(3), ElementsAre(Seconds(30), Seconds(30), Seconds(30)));
  EXPECT_EQ(Reads(), 1);
}

}  // namespace
}  // namespace capi::ops
