// F3: which calls are sent again, and when. Nobody waits: the clock jumps to the end of each wait, and writes down how
// long it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "base/http/testing.h"
#include "kube/client/client.h"

namespace capi::kube {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Answer(int status, std::string_view body, std::string_view more = "") {
  return "HTTP/1.1 " + std::to_string(status) + " x\r\nConnection: close\r\nContent-Type: application/json\r\n" +
         std::string(more) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
const std::string kObject = Answer(200, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
const std::string kLost = "";  // the connection breaks once the request has come
const std::string kLimited =
    Answer(429, R"({"kind":"Status","reason":"TooManyRequests","message":"slow"})", "Retry-After: 60\r\n");

struct Credentials : CredentialSource {
  Result<Credential> Get(const Context&, const Credential* refused) override {
    if (refused != nullptr) {
      ++refreshed;
      EXPECT_EQ(refused->authorization, "old");
    }
    return Credential{.authorization = refused != nullptr ? "new" : "old"};
  }
  int refreshed = 0;
};

// Thread-safe.
class JumpingClock : public Clock {
 public:
  WallTime Now() override { return WallTime(Seconds(1'800'000'000)); }
  MonoTime Monotonic() override {
    MutexLock lock(mu_);
    return now_;
  }
  // What has no nearer end than the call itself waits for something that comes: an address, say.
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    auto wait = std::chrono::duration_cast<Millis>(deadline - Monotonic());
    if (wait > Seconds(1800)) return cv.wait(mu, stop, ready);
    if (wait <= Millis(0)) return ready();
    if (on_wait) on_wait();
    MutexLock lock(mu_);
    waits_.push_back(wait);
    now_ = deadline;
    return ready();
  }
  void Advance(Millis by) {
    MutexLock lock(mu_);
    now_ += by;
  }
  std::vector<Millis> waits() {
    MutexLock lock(mu_);
    return waits_;
  }
  void Forget() {
    MutexLock lock(mu_);
    waits_.clear();
  }
  std::function<void()> on_wait;

 private:
  Mutex mu_;
  MonoTime now_ CAPI_GUARDED_BY(mu_) = MonoTime(std::chrono::hours(1));
  std::vector<Millis> waits_ CAPI_GUARDED_BY(mu_);
};

// A server that gives its answers one after the other, the last one for good, and a client of it.
class Retry : public ::testing::Test {
 protected:
  Retry() {
    ctx_.clock = &clock_;
    ctx_.stop = stop_.get_token();
    ctx_ = ctx_.WithTimeout(Seconds(3600));
  }
  Client& Connect(std::vector<std::string> answers, ClientOptions options = {},
                  std::shared_ptr<CredentialSource> credentials = nullptr) {
    client_.reset();
    server_.reset();
    requests_.clear();
    clock_.Forget();
    answers_ = std::move(answers);
    server_ = std::make_unique<RawServer>([this](Peer& peer, int index) {
      std::string request = peer.ReadRequest();
      const std::string& answer = answers_[std::min(static_cast<size_t>(index), answers_.size() - 1)];
      {
        MutexLock lock(mu_);
        requests_.push_back(std::move(request));
      }
      if (on_request) on_request();
      if (answer.empty()) return peer.Reset();
      peer.Write(answer);
    });
    auto client = Client::Connect({.server = server_->url(), .credentials = std::move(credentials)}, options);
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    return *client_;
  }

  std::function<void()> on_request;  // before it is answered
  std::vector<std::string> requests() {
    MutexLock lock(mu_);
    return requests_;
  }
  const Resource& map_ = Builtin("ConfigMap");
  Object object_{Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"namespace", "n"}}}}};
  JumpingClock clock_;
  std::stop_source stop_;
  Context ctx_;

 private:
  Mutex mu_;
  std::vector<std::string> requests_, answers_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(Retry, WhatDoesNoHarmTwiceIsSentAgainWhenTheConnectionIsLost) {
  struct Case {
    std::string_view name;
    bool repeated;
    std::function<Status(Client&)> call;
  };
  auto status = [](const auto& result) { return result.ok() ? Ok() : Status(result.error()); };
  const Json patch = {{"data", {{"a", "b"}}}};
  const Case cases[] = {
      {"get", true, [&](Client& c) { return status(c.Get(ctx_, map_, "n", "a")); }},
      {"apply", true, [&](Client& c) { return status(c.Apply(ctx_, map_, object_, {})); }},
      {"delete", true, [&](Client& c) { return c.Delete(ctx_, map_, "n", "a"); }},
      {"create", false, [&](Client& c) { return status(c.Create(ctx_, map_, object_)); }},
      {"create, dry", true, [&](Client& c) { return status(c.Create(ctx_, map_, object_, {.dry_run = true})); }},
      {"update", false, [&](Client& c) { return status(c.Update(ctx_, map_, object_)); }},
      {"update, dry", true, [&](Client& c) { return status(c.Update(ctx_, map_, object_, {.dry_run = true})); }},
      {"update of one state", true,
       [&](Client& c) { return status(c.Update(ctx_, map_, object_, {.repeatable = true})); }},
      {"merge patch", true, [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kMerge, patch)); }},
      {"JSON patch", false, [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kJson, patch)); }},
      {"JSON patch, dry", true,
       [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kJson, patch, {.dry_run = true})); }},
      {"JSON patch of one state", true,
       [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kJson, patch, {.repeatable = true})); }},
      {"raw GET", true, [&](Client& c) { return status(c.Raw(ctx_, "GET", "/version")); }},
      {"raw HEAD", true, [&](Client& c) { return status(c.Raw(ctx_, "HEAD", "/version")); }},
      {"raw POST", false, [&](Client& c) { return status(c.Raw(ctx_, "POST", "/version", "{}")); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Status done = c.call(Connect({kLost, kObject}));
    EXPECT_EQ(done.ok(), c.repeated);
    if (!done.ok()) {
      EXPECT_EQ(done.code(), Code::kUnavailable) << done.error().message;
    }
    EXPECT_EQ(requests().size(), c.repeated ? 2u : 1u);
  }
}

// F8: on a kept connection that the server closes just then, nobody can tell what was done.
TEST_F(Retry, AStaleConnectionRepeatsOnlyWhatDoesNoHarmTwice) {
  struct Case {
    std::string_view name;
    bool repeated;
    std::function<void(Client&)> call;
  };
  const Case cases[] = {
      {"get", true, [&](Client& c) { EXPECT_TRUE(c.Get(ctx_, map_, "n", "a").ok()); }},
      {"watch", true, [&](Client& c) { (void)c.Watch(ctx_, map_, "", {}, [](WatchEvent) { return Ok(); }); }},
      {"apply", true, [&](Client& c) { EXPECT_TRUE(c.Apply(ctx_, map_, object_, {}).ok()); }},
      {"update", false, [&](Client& c) { EXPECT_FALSE(c.Update(ctx_, map_, object_).ok()); }},
      {"create", false, [&](Client& c) { EXPECT_FALSE(c.Create(ctx_, map_, object_).ok()); }},
  };
  constexpr std::string_view kKept = "HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\n{}";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<int> seen = 0;
    RawServer server([&](Peer& peer, int index) {
      for (int i = 0; !peer.ReadRequest().empty(); ++i) {
        ++seen;
        if (index == 0 && i == 1) return;
        peer.Write(kKept);
      }
    });
    auto client = *Client::Connect({.server = server.url()}, {.max_retries = 0});
    ASSERT_TRUE(client->Get(ctx_, map_, "n", "a").ok());
    c.call(*client);
    EXPECT_EQ(seen, c.repeated ? 3 : 2);
  }
}

TEST_F(Retry, DiscoveryIsSentAgainWhenTheConnectionIsLost) {
  Client& client = Connect({kLost, Answer(404, "")});
  (void)client.mapper().For(ctx_, {"example.org", "Example"});
  EXPECT_GT(requests().size(), 1u);
}

// The first repeat comes at once, each further one half a second later.
TEST_F(Retry, GivesUpOnAServerThatStaysAway) {
  Client& client = Connect({kLost}, {.max_retries = 3});
  EXPECT_EQ(client.Get(ctx_, map_, "n", "a").code(), Code::kUnavailable);
  EXPECT_EQ(requests().size(), 4u);
  EXPECT_THAT(clock_.waits(), ElementsAre(Millis(500), Millis(500)));
}

TEST_F(Retry, AnAnswerEndsTheOutage) {
  Client& client = Connect({kLost, kObject});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(client.Get(ctx_, map_, "n", "a").ok());
  EXPECT_EQ(requests().size(), 5u);
  EXPECT_THAT(clock_.waits(), IsEmpty());
}

// Each request of a call, when its answer begins.
TEST_F(Retry, EachAnswerIsTold) {
  std::vector<std::string> told;
  ClientOptions options;
  options.on_answer = [&](const std::string& method, int status, MonoTime::duration took) {
    EXPECT_GE(took, MonoTime::duration(0));
    told.push_back(method + " " + std::to_string(status));
  };
  Client& client = Connect({kLost, kObject}, options);
  ASSERT_TRUE(client.Get(ctx_, map_, "n", "a").ok());
  EXPECT_THAT(told, ElementsAre("GET 0", "GET 200")) << "the lost one, and the one that was sent again";
  client.GuardWrites([](const Context&) -> Status { return Error{Code::kFailedPrecondition, "no leader", {}}; });
  EXPECT_FALSE(client.Apply(ctx_, map_, object_, {}).ok());
  EXPECT_EQ(told.size(), 2u) << "it was never sent";
  EXPECT_EQ(client.Get(ctx_.WithTimeout(Millis(0)), map_, "n", "a").code(), Code::kDeadlineExceeded);
  EXPECT_EQ(told.size(), 2u) << "its time was over before it was sent";
  auto nobody = Client::Connect({.server = "http://127.0.0.1:9"}, options);
  ASSERT_TRUE(nobody.ok());
  Context soon = ctx_.WithTimeout(Seconds(1));
  EXPECT_FALSE((*nobody)->Get(soon, map_, "n", "a").ok());
  ASSERT_GT(told.size(), 2u);
  EXPECT_EQ(told.back(), "GET 0") << "nobody listens";
}

TEST_F(Retry, AWatchThatBreaksIsNotSentAgain) {
  auto ignore = [](WatchEvent) { return Ok(); };
  Client& client = Connect({kLost, kObject});
  EXPECT_EQ(client.Watch(ctx_, map_, "", {}, ignore).code(), Code::kUnavailable);
  EXPECT_EQ(requests().size(), 1u);
  Client& limited = Connect({kLimited, kObject});
  EXPECT_EQ(limited.Watch(ctx_, map_, "", {}, ignore).code(), Code::kRateLimited);
  EXPECT_EQ(requests().size(), 1u);
}

// What arrived on it is an answer: it ends an outage while the watch goes on, and its later end begins none.
TEST_F(Retry, AWatchThatBreaksAfterItsFirstEventSaysNothingOfTheServer) {
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})";
  std::string cut = "HTTP/1.1 200 x\r\nContent-Length: 5000\r\n\r\n" + event + "\n";
  Client& client = Connect({kLost, cut, kObject});
  EXPECT_FALSE(client.Watch(ctx_, map_, "", {}, [](WatchEvent) { return Ok(); }).ok());
  int read = 0;
  Status ended = client.Watch(ctx_, map_, "", {}, [&](WatchEvent) {
    for (int i = 0; i < 3; ++i) read += client.Get(ctx_, map_, "n", "a").ok();
    return Ok();
  });
  EXPECT_EQ(ended.code(), Code::kUnavailable);
  EXPECT_EQ(read, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.Get(ctx_, map_, "n", "a").ok());
  EXPECT_THAT(clock_.waits(), IsEmpty());
}

TEST_F(Retry, FreshCredentialsAreTriedOnce) {
  const std::string refused = Answer(401, R"({"kind":"Status","reason":"Unauthorized","message":"who?"})");
  Client& client = Connect({refused, kObject}, {}, std::make_shared<Credentials>());
  EXPECT_TRUE(client.Create(ctx_, map_, object_).ok());
  ASSERT_EQ(requests().size(), 2u);
  EXPECT_THAT(requests()[0], HasSubstr("Authorization: old\r\n"));
  EXPECT_THAT(requests()[1], HasSubstr("Authorization: new\r\n"));

  Client& never = Connect({refused}, {}, std::make_shared<Credentials>());
  EXPECT_EQ(never.Get(ctx_, map_, "n", "a").code(), Code::kUnauthenticated);
  EXPECT_EQ(requests().size(), 2u);

  auto counted = std::make_shared<Credentials>();
  EXPECT_TRUE(Connect({refused, kLost, kObject}, {}, counted).Get(ctx_, map_, "n", "a").ok());
  EXPECT_EQ(requests().size(), 3u);
  EXPECT_EQ(counted->refreshed, 1) << "nobody has refused the new ones";

  Client& none = Connect({refused});
  EXPECT_EQ(none.Get(ctx_, map_, "n", "a").code(), Code::kUnauthenticated);
  EXPECT_EQ(requests().size(), 1u) << "there are none to refresh";
}

// F8: the time of a call begins when it has its credentials. A plugin that ran for a long time, though only before the
// call was sent again, left it none.
TEST_F(Retry, CredentialsThatComeLateCostTheCallNoTime) {
  struct Slow : CredentialSource {
    Result<Credential> Get(const Context& ctx, const Credential*) override {
      if (++asked == 2) {
        for (int i = 0; i < 5; ++i) ctx.clock->Sleep(ctx.stop, Seconds(1000));
      }
      return Credential{.authorization = "token", .generation = asked};
    }
    std::uint64_t asked = 0;
  };
  Context unbounded;
  unbounded.clock = &clock_;
  Client& client = Connect({kLost, kObject}, {.timeout = Seconds(3600)}, std::make_shared<Slow>());
  auto read = client.Get(unbounded, map_, "n", "a");
  EXPECT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(requests().size(), 2u);
}

// F3: sending again makes no call longer than it may be.
TEST_F(Retry, AllThatIsSentForACallHasItsTimeTogether) {
  Context unbounded;
  unbounded.clock = &clock_;
  on_request = [&] { clock_.Advance(Seconds(40)); };
  Client& client = Connect({kLost, kLost, kObject}, {.timeout = Seconds(60)});
  EXPECT_EQ(client.Get(unbounded, map_, "n", "a").code(), Code::kDeadlineExceeded);
  EXPECT_EQ(requests().size(), 2u);
}

TEST_F(Retry, ComesBackWhenTheServerSaysSo) {
  const std::string away = R"({"kind":"Status","reason":"ServiceUnavailable","message":"later"})";
  const std::pair<std::string, Millis> cases[] = {{kLimited, Seconds(60)},
                                                  {Answer(503, away, "Retry-After: 7\r\n"), Seconds(7)},
                                                  {Answer(503, away, "Retry-After: 0\r\n"), Millis(50)}};
  for (const auto& [answer, wait] : cases) {
    Client& client = Connect({answer, kObject});
    EXPECT_TRUE(client.Create(ctx_, map_, object_).ok());
    EXPECT_EQ(requests().size(), 2u);
    EXPECT_THAT(clock_.waits(), ElementsAre(wait));
  }
}

TEST_F(Retry, WhatTheCallerHasToJudgeIsNotSentAgain) {
  struct Case {
    std::string answer;
    Code code;
  };
  const Case cases[] = {
      {Answer(409, R"({"kind":"Status","reason":"Conflict"})", "Retry-After: 1\r\n"), Code::kConflict},
      {Answer(500, R"({"kind":"Status","reason":"InternalError"})", "Retry-After: 1\r\n"), Code::kInternal},
      {Answer(404, R"({"kind":"Status","reason":"NotFound"})"), Code::kNotFound},
      {Answer(409, R"({"kind":"Status","reason":"Conflict"})"), Code::kConflict},
      {Answer(500, R"({"kind":"Status","message":"failed to create typed patch object (n/a; /v1, Kind=ConfigMap): )"
                   R"(.dataa: field not declared in schema"})"),
       Code::kFailedPrecondition},
      {Answer(304, ""), Code::kInternal},
      {Answer(200, "<html>"), Code::kInternal},
      {Answer(200, "[]"), Code::kInternal},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.answer);
    auto read = Connect({c.answer, kObject}).Get(ctx_, map_, "n", "a");
    EXPECT_EQ(requests().size(), 1u);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.code(), c.code);
  }
  EXPECT_EQ(Connect({kLimited}, {.max_retries = 0}).Get(ctx_, map_, "n", "a").code(), Code::kRateLimited);
  EXPECT_EQ(requests().size(), 1u);
}

// F3: one failure of many calls isn't the failure of all.
TEST_F(Retry, WhatDoesNoHarmTwiceIsSentAgainSoonWhenTheServerFails) {
  for (int status : {429, 500, 502, 503, 504}) {
    SCOPED_TRACE(status);
    const std::string answer = Answer(status, "{}");
    EXPECT_TRUE(Connect({answer, answer, answer, kObject}).Get(ctx_, map_, "n", "a").ok());
    EXPECT_EQ(requests().size(), 4u);
    EXPECT_THAT(clock_.waits(), ElementsAre(Millis(100), Millis(200), Millis(400)));
    EXPECT_FALSE(Connect({answer, answer, answer, answer, kObject}).Get(ctx_, map_, "n", "a").ok());
    EXPECT_FALSE(Connect({answer, kObject}).Create(ctx_, map_, object_).ok());
    EXPECT_EQ(requests().size(), 1u);
    EXPECT_TRUE(Connect({answer, Answer(200, R"({"kind":"ConfigMapList","items":[]})")}).List(ctx_, map_, "n").ok());
    EXPECT_EQ(requests().size(), 2u);
  }
}

// F3: a worker waits for it.
TEST_F(Retry, WhatFailsSlowlyIsNotSentAgain) {
  const std::string answer = Answer(500, "{}");
  on_request = [&] { clock_.Advance(Millis(2000)); };
  EXPECT_FALSE(Connect({answer}).Get(ctx_, map_, "n", "a").ok());
  EXPECT_EQ(requests().size(), 1u);
  on_request = [&] { clock_.Advance(Millis(1999)); };
  EXPECT_FALSE(Connect({answer}).Get(ctx_, map_, "n", "a").ok());
  EXPECT_EQ(requests().size(), 4u) << "each answer for itself";
}

// F3: the time that a call waits for its credentials, or for its turn, isn't the server's.
TEST_F(Retry, WhatWaitedBeforeItWasSentHasNotFailedSlowly) {
  struct Slow : CredentialSource {
    Result<Credential> Get(const Context& ctx, const Credential*) override {
      ctx.clock->Sleep(ctx.stop, Seconds(5));
      return Credential{.authorization = "token"};
    }
  };
  EXPECT_TRUE(Connect({Answer(500, "{}"), kObject}, {}, std::make_shared<Slow>()).Get(ctx_, map_, "n", "a").ok());
  EXPECT_EQ(requests().size(), 2u);
}

TEST_F(Retry, AWaitThatTheDeadlineWouldEndIsNone) {
  Client& client = Connect({kLimited, kObject});
  EXPECT_EQ(client.Get(ctx_.WithTimeout(Seconds(60)), map_, "n", "a").code(), Code::kRateLimited);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(Retry, AStopEndsTheWait) {
  Client& client = Connect({kLimited, kObject});
  clock_.on_wait = [&] { stop_.request_stop(); };
  EXPECT_EQ(client.Get(ctx_, map_, "n", "a").code(), Code::kCancelled);
  EXPECT_EQ(requests().size(), 1u);
}

// P3: such an answer says a minute, and lasts a moment.
TEST_F(Retry, AsksForStorageAfterATenthOfASecondThenTwiceThat) {
  const std::string body = R"({"kind":"Status","reason":"TooManyRequests","message":"storage is (re)initializing"})";
  const std::vector<std::string> answers = {Answer(429, body, "Retry-After: 60\r\n"), Answer(429, body)};
  Client& client = Connect(answers, {.max_retries = 9});
  EXPECT_EQ(client.Get(ctx_, map_, "n", "a").code(), Code::kUnavailable);
  EXPECT_EQ(requests().size(), 10u);
  EXPECT_THAT(clock_.waits(), ElementsAre(Millis(100), Millis(200), Millis(400), Millis(800), Millis(1600),
                                          Millis(3200), Millis(6400), Millis(6400), Millis(6400)));
}

// F4: no write is sent, nor sent again, without a look at who leads; reads, and the lease itself, are.
TEST_F(Retry, AGuardIsAskedBeforeEachWriteIsSent) {
  struct Case {
    std::string_view name;
    bool guarded;
    std::function<Status(Client&)> call;
  };
  auto status = [](const auto& result) { return result.ok() ? Ok() : Status(result.error()); };
  const Json patch = {{"data", {{"a", "b"}}}};
  const WriteOptions own{.unguarded = true};
  const Case cases[] = {
      {"get", false, [&](Client& c) { return status(c.Get(ctx_, map_, "n", "a")); }},
      {"raw GET", false, [&](Client& c) { return status(c.Raw(ctx_, "GET", "/version")); }},
      {"apply", true, [&](Client& c) { return status(c.Apply(ctx_, map_, object_, {})); }},
      {"create", true, [&](Client& c) { return status(c.Create(ctx_, map_, object_)); }},
      {"update", true, [&](Client& c) { return status(c.Update(ctx_, map_, object_)); }},
      {"patch", true, [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kMerge, patch)); }},
      {"delete", true, [&](Client& c) { return c.Delete(ctx_, map_, "n", "a"); }},
      {"raw POST", true, [&](Client& c) { return status(c.Raw(ctx_, "POST", "/version", "{}")); }},
      {"own apply", false, [&](Client& c) { return status(c.Apply(ctx_, map_, object_, own)); }},
      {"own create", false, [&](Client& c) { return status(c.Create(ctx_, map_, object_, own)); }},
      {"own update", false, [&](Client& c) { return status(c.Update(ctx_, map_, object_, own)); }},
      {"own patch", false,
       [&](Client& c) { return status(c.Patch(ctx_, map_, "n", "a", PatchType::kMerge, patch, own)); }},
  };
  for (const Case& c : cases) {
    for (size_t allowed : {0u, 1u}) {
      SCOPED_TRACE(c.name);
      Client& client = Connect({kLimited, kObject});
      size_t asked = 0;
      client.GuardWrites([&](const Context&) {
        return asked++ < allowed ? Ok() : Status(Error{Code::kFailedPrecondition, "no leader", {}});
      });
      Status done = c.call(client);
      EXPECT_EQ(done.ok(), !c.guarded);
      if (!done.ok()) {
        EXPECT_EQ(done.code(), Code::kFailedPrecondition) << done.error().message;
      }
      EXPECT_EQ(requests().size(), c.guarded ? allowed : 2u);
      EXPECT_EQ(asked, c.guarded ? allowed + 1 : 0u);
    }
  }
}

TEST_F(Retry, WhatIsSentIsWhatWasAskedFor) {
  Client& client = Connect({kObject}, {.user_agent = "retry-test"});
  EXPECT_TRUE(client.Apply(ctx_, map_, object_, {.field_manager = "me"}).ok());
  EXPECT_TRUE(client.Raw(ctx_, "GET", "/metrics", "", "", "text/plain").ok());
  ASSERT_EQ(requests().size(), 2u);
  const std::string apply = requests()[0], raw = requests()[1];
  EXPECT_THAT(apply, HasSubstr("PATCH /api/v1/namespaces/n/configmaps/a?fieldManager=me&force=true"));
  EXPECT_THAT(apply, HasSubstr("\r\nContent-Type: application/apply-patch+yaml\r\n"));
  EXPECT_THAT(apply, HasSubstr("\r\nUser-Agent: retry-test\r\n"));
  EXPECT_THAT(apply, HasSubstr("\"name\":\"a\""));
  EXPECT_THAT(raw, HasSubstr("GET /metrics "));
  EXPECT_THAT(raw, HasSubstr("\r\nAccept: text/plain\r\n"));
}

}  // namespace
}  // namespace capi::kube
