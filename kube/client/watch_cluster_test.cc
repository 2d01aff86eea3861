// The client on a real API server: watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "kube/client/client.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::kube {
namespace {

using Type = WatchEvent::Type;

Object ConfigMap(const std::string& name, const std::string& label, size_t bytes = 1) {
  return Object(Json{{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"test", label}}}}},
                     {"data", {{"key", std::string(bytes, 'x')}}}});
}

// The error with which a watch callback says that it has seen enough.
Error Enough() { return {Code::kCancelled, "enough", {}}; }

class WatchTest : public testing::Test {
 protected:
  WatchTest() : client_(ControlPlane::Shared(false).NewClient("watch-test")) {
    label_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : label_) c = static_cast<char>(std::tolower(c));
    ctx_ = Context{}.WithTimeout(Seconds(60));
  }

  Object Make(const std::string& name, size_t bytes = 1) {
    auto made = client_->Create(ctx_, map_, ConfigMap(label_ + "-" + name, label_, bytes));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : Object();
  }
  WatchOptions Mine(std::string resource_version = "") {
    return {.label_selector = "test=" + label_, .resource_version = std::move(resource_version)};
  }
  std::string Now() {
    auto list = client_->List(ctx_, map_, "default", {.label_selector = "test=" + label_});
    EXPECT_TRUE(list.ok());
    return list->resource_version;
  }

  Context ctx_;
  std::unique_ptr<Client> client_;
  std::string label_;
  const Resource& map_ = Builtin("ConfigMap");
};

TEST_F(WatchTest, TellsOfEachChangeSinceAResourceVersion) {
  std::string from = Now();
  Object made = Make("m");
  Ensure(made.json(), {"data", "key"}) = "y";
  ASSERT_TRUE(client_->Update(ctx_, map_, made).ok());
  ASSERT_TRUE(client_->Delete(ctx_, map_, "default", made.name()).ok());

  std::vector<WatchEvent> seen;
  Status ended = client_->Watch(ctx_, map_, "default", Mine(from), [&](WatchEvent e) -> Status {
    if (e.type != Type::kBookmark) seen.push_back(std::move(e));
    return seen.size() == 3 ? Status(Enough()) : Ok();
  });
  EXPECT_EQ(ended.code(), Code::kCancelled);
  EXPECT_EQ(ended.error().message, "enough") << "the callback's own error";
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].type, Type::kAdded);
  EXPECT_EQ(seen[1].type, Type::kModified);
  EXPECT_EQ(GetString(seen[1].object.json(), {"data", "key"}), "y");
  EXPECT_EQ(seen[2].type, Type::kDeleted);
  EXPECT_EQ(seen[2].object.id(), (ObjectId{"", "ConfigMap", "default", label_ + "-m"}));
}

TEST_F(WatchTest, SendsInitialEventsAndSaysWhereTheyEnd) {
  Make("a");
  Make("b");
  for (bool metadata_only : {false, true}) {
    WatchOptions options = Mine();
    options.send_initial_events = true;
    options.metadata_only = metadata_only;
    std::vector<std::string> before, after;
    bool ended = false;
    Status status = client_->Watch(ctx_, map_, "default", options, [&](WatchEvent e) -> Status {
      EXPECT_EQ(e.object.kind(), "ConfigMap");
      EXPECT_EQ(e.object.api_version(), "v1");
      if (e.type == Type::kBookmark) {
        EXPECT_FALSE(e.object.resource_version().empty());
        ended = ended || e.initial_events_end;
        if (e.initial_events_end) {
          Object next = ConfigMap(label_ + (metadata_only ? "-c2" : "-c1"), label_);
          EXPECT_TRUE(client_->Create(ctx_, map_, next).ok());
        }
        return Ok();
      }
      EXPECT_EQ(e.object.json().contains("data"), !metadata_only);
      (ended ? after : before).push_back(e.object.name());
      return ended ? Status(Enough()) : Ok();
    });
    EXPECT_EQ(status.code(), Code::kCancelled) << status.error().message;
    EXPECT_THAT(before, testing::IsSupersetOf({label_ + "-a", label_ + "-b"}));
    EXPECT_THAT(after, testing::ElementsAre(label_ + (metadata_only ? "-c2" : "-c1")));
  }
}

TEST_F(WatchTest, EndsWhenTheServerEndsIt) {
  WatchOptions options = Mine(Now());
  options.timeout = Seconds(1);
  Status ended = client_->Watch(ctx_, map_, "default", options, [](WatchEvent) { return Ok(); });
  EXPECT_TRUE(ended.ok()) << ended.error().message;
}

TEST_F(WatchTest, AResourceVersionFromBeforeTheServersMemoryIsGone) {
  Make("m");
  ASSERT_TRUE(ControlPlane::Shared(false).RestartApiServer().ok());  // it remembers from its start on
  Status ended = client_->Watch(ctx_, map_, "default", Mine("1"), [](WatchEvent) { return Ok(); });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.code(), Code::kGone) << ended.error().message;
}

TEST_F(WatchTest, AStopEndsAWatchThatWaits) {
  std::stop_source stop;
  Context ctx = ctx_.WithStop(stop.get_token());
  WatchOptions options = Mine();
  options.send_initial_events = true;
  auto begin = std::chrono::steady_clock::now();
  std::jthread stopper;
  Status ended = client_->Watch(ctx, map_, "default", options, [&](WatchEvent e) {
    // From here on nothing more comes.
    if (e.initial_events_end) stopper = std::jthread([&] { stop.request_stop(); });
    return Ok();
  });
  EXPECT_EQ(ended.code(), Code::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, Seconds(20));
}

TEST_F(WatchTest, ReadsEventsOfAMegabyte) {
  std::string from = Now();
  Make("big", 900'000);
  size_t bytes = 0;
  Status ended = client_->Watch(ctx_, map_, "default", Mine(from), [&](WatchEvent e) -> Status {
    bytes = GetString(e.object.json(), {"data", "key"}).size();
    return Enough();
  });
  EXPECT_EQ(bytes, 900'000u);
}

TEST_F(WatchTest, ACutConnectionIsUnavailable) {
  auto proxy = FaultProxy::Start(ControlPlane::Shared(false).config());
  ASSERT_TRUE(proxy.ok()) << proxy.error().message;
  auto client = Client::Connect((*proxy)->config(), {.user_agent = "watch-test"});
  ASSERT_TRUE(client.ok());
  std::string from = Now();
  Make("m", 100'000);
  int events = 0;
  auto count = [&](WatchEvent) { return ++events, Ok(); };

  (*proxy)->SetFaults([](const ProxyRequest& r) { return r.watch ? Fault{.cut_after = 50'000} : Fault{}; });
  Status cut = (*client)->Watch(ctx_, map_, "default", Mine(from), count);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.code(), Code::kUnavailable) << cut.error().message;
  EXPECT_EQ(events, 0) << "no half event";

  (*proxy)->SetFaults(nullptr);
  Status again = (*client)->Watch(ctx_, map_, "default", Mine(from), [&](WatchEvent) {
    ++events;
    (*proxy)->CutAllConnections();
    return Ok();
  });
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.code(), Code::kUnavailable) << again.error().message;
  EXPECT_EQ(events, 1) << "resumed from the same version";
}

}  // namespace
}  // namespace capi::kube
