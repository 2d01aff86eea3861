#include "operator/act/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/http/server/server.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CrdState Things() {
  CrdState crd;
  crd.name = "things.x";
  crd.group = "x";
  crd.kind = "Thing";
  crd.plural = "things";
  crd.namespaced = true;
  crd.storage = "v2";
  crd.versions = crd.served = {"v1", "v2"};
  crd.stored = {"v1", "v2"};
  return crd;
}

// A server with things n/a, n/b and so on, in pages of two, and their CRD.
class StorageMigrationTest : public ::testing::Test {
 protected:
  StorageMigrationTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      return Answer(request);
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "migrations-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }
  Status Migrate(MigrationCursor& cursor) {
    return StorageMigration(*client_).Migrate(Context{}.WithTimeout(Seconds(30)), Things(), cursor);
  }
  std::vector<std::string> Written() {
    MutexLock lock(mu_);
    return written_;
  }

  Mutex mu_;
  std::vector<std::string> things_ CAPI_GUARDED_BY(mu_) = {"a", "b", "c", "d", "e"};
  std::map<std::string, int> refused_ CAPI_GUARDED_BY(mu_);  // name to status
  int token_expires_ CAPI_GUARDED_BY(mu_) = 0;               // pages until then; 0 for never
  int generation_ CAPI_GUARDED_BY(mu_) = 1;
  bool trimmed_ CAPI_GUARDED_BY(mu_) = false;

 private:
  http::Response Answer(const http::ServerRequest& request) CAPI_REQUIRES(mu_) {
    http::Response response{.status = 200, .headers = {}, .body = "{}"};
    if (request.path.starts_with("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x")) {
      if (request.method == "PATCH") trimmed_ = true;
      Json crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
                  {"kind", "CustomResourceDefinition"},
                  {"metadata", {{"name", "things.x"}, {"generation", generation_}, {"resourceVersion", "1"}}},
                  {"spec", {{"versions", {{{"name", "v1"}}, {{"name", "v2"}, {"storage", true}}}}}},
                  {"status", {{"storedVersions", trimmed_ ? Json::array({"v2"}) : Json::array({"v1", "v2"})}}}};
      response.body = ToJsonText(crd);
      return response;
    }
    if (request.method == "PATCH") {
      std::string name = request.path.substr(request.path.rfind('/') + 1);
      written_.push_back(name);
      if (refused_.contains(name)) response.status = refused_[name];
      return response;
    }
    size_t at = request.query.find("continue=");
    size_t first = at == std::string::npos ? 0 : std::stoul("0" + request.query.substr(at + 9));
    if (first > 0 && token_expires_ > 0 && --token_expires_ == 0) {
      response.status = 410;
      return response;
    }
    Json items = Json::array();
    for (size_t i = first; i < std::min(first + 2, things_.size()); ++i) {
      items.push_back({{"metadata", {{"namespace", "n"}, {"name", things_[i]}}}});
    }
    Json page = {{"items", items}, {"metadata", Json::object()}};
    if (first + 2 < things_.size()) page["metadata"]["continue"] = std::to_string(first + 2);
    response.body = ToJsonText(page);
    return response;
  }

  std::vector<std::string> written_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
};

// U3: all objects, and storedVersions in the end. One that went, or that somebody writes, is as good as written.
TEST_F(StorageMigrationTest, ObjectsThatVanishOrConflictAreNoError) {
  {
    MutexLock lock(mu_);
    refused_ = {{"b", 404}, {"d", 409}};
  }
  MigrationCursor cursor;
  auto done = Migrate(cursor);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(cursor.objects, 5u);
  MutexLock lock(mu_);
  EXPECT_TRUE(trimmed_);
}

// U3: beyond some 30,000 objects the token of a page was always too old before the last, and all began anew.
TEST_F(StorageMigrationTest, AnOldTokenGoesOnWhereItWas) {
  {
    MutexLock lock(mu_);
    token_expires_ = 2;
  }
  MigrationCursor cursor;
  ASSERT_TRUE(Migrate(cursor).ok());
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e"));
}

// U3: one object that can't be written holds up no other, and is all that the next try has to do.
TEST_F(StorageMigrationTest, GoesOnAfterOneThatFails) {
  {
    MutexLock lock(mu_);
    refused_ = {{"b", 500}};
  }
  MigrationCursor cursor;
  auto failed = Migrate(cursor);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("Thing n/b"));
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e"));
  {
    MutexLock lock(mu_);
    EXPECT_FALSE(trimmed_);
    refused_.clear();
    things_.push_back("f");
  }
  ASSERT_TRUE(Migrate(cursor).ok());
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e", "b", "f"));
  MutexLock lock(mu_);
  EXPECT_TRUE(trimmed_);
}

// What a new generation of the CRD stores may be something else.
TEST_F(StorageMigrationTest, AChangedCrdBeginsAnew) {
  MigrationCursor cursor{"v2", 1, "n/d", 4, {}};
  {
    MutexLock lock(mu_);
    generation_ = 2;
  }
  ASSERT_TRUE(Migrate(cursor).ok());
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e"));
}

// Where all fail it isn't theirs: a webhook is away. It doesn't wait for each of a hundred thousand.
TEST_F(StorageMigrationTest, ManyFailuresEndIt) {
  {
    MutexLock lock(mu_);
    things_.clear();
    for (int i = 100; i < 200; ++i) {
      things_.push_back("t" + std::to_string(i));
      refused_[things_.back()] = 500;
    }
  }
  MigrationCursor cursor;
  EXPECT_FALSE(Migrate(cursor).ok());
  EXPECT_EQ(Written().size(), 20u);
  EXPECT_FALSE(Migrate(cursor).ok());
  EXPECT_EQ(Written().size(), 21u) << "as long as the first still fails";
  {
    MutexLock lock(mu_);
    refused_.clear();
  }
  ASSERT_TRUE(Migrate(cursor).ok());
  EXPECT_EQ(Written().size(), 121u) << "the twenty, and what comes after them";
  EXPECT_EQ(cursor.objects, 100u);
}

// The worker, with a migration that the test ends.
class MigrationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ctx_.stop = stop_.get_token();
    ctx_.clock = &clock_;
    thread_ = std::thread([this] { migrations_.Run(ctx_); });
  }
  void TearDown() override {
    stop_.request_stop();
    End(Ok());
    thread_.join();
  }
  void End(Status status) {
    MutexLock lock(mu_);
    end_ = std::move(status);
    changed_.notify_all();
  }
  // Waits for a state of the worker's.
  bool Soon(const std::function<bool()>& done) {
    auto end = std::chrono::steady_clock::now() + Seconds(30);
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return done();
  }
  size_t Woken() {
    MutexLock lock(mu_);
    return woken_.size();
  }

  FakeClock clock_;
  std::stop_source stop_;
  Context ctx_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<Status> end_ CAPI_GUARDED_BY(mu_);
  int runs_ CAPI_GUARDED_BY(mu_) = 0;
  std::vector<std::string> woken_ CAPI_GUARDED_BY(mu_);
  Migrations migrations_{
      [this](const Context&, const CrdState&, MigrationCursor& cursor, const std::function<void()>& looked) -> Status {
        MutexLock lock(mu_);
        ++runs_;
        ++cursor.objects;
        looked();
        changed_.wait(mu_, [this] {
          mu_.AssertHeld();
          return end_.has_value();
        });
        Status status = *end_;
        end_.reset();
        return status;
      },
      [this](const std::string& key) {
        MutexLock lock(mu_);
        woken_.push_back(key);
      },
      clock_};
  std::thread thread_;
};

// U3: who asks doesn't wait, is told how it stands, and woken when it ends.
TEST_F(MigrationsTest, RunBesideThePasses) {
  EXPECT_EQ(migrations_.Ask("a", Things()).objects, 0u);
  migrations_.Ask("b", Things());
  ASSERT_TRUE(Soon([&] { return migrations_.ProgressOf("things.x").objects == 1; }));
  End(Ok());
  ASSERT_TRUE(Soon([&] { return Woken() == 2; }));
  MutexLock lock(mu_);
  EXPECT_EQ(runs_, 1) << "one for both";
  EXPECT_THAT(woken_, ElementsAre("a", "b"));
}

// U3: a failure is told, and tried again a minute later at the earliest, if it is still asked for.
TEST_F(MigrationsTest, AFailureIsTriedAgainLater) {
  migrations_.Ask("a", Things());
  End(Error{Code::kInternal, "no endpoints", {}});
  ASSERT_TRUE(Soon([&] { return Woken() == 1; }));
  MigrationProgress progress = migrations_.Ask("a", Things());
  ASSERT_TRUE(progress.error);
  EXPECT_EQ(progress.error->message, "no endpoints");
  EXPECT_EQ(progress.next, Seconds(60));
  clock_.AwaitWaiters(1);
  clock_.Advance(Seconds(60));
  {
    MutexLock lock(mu_);
    EXPECT_EQ(runs_, 1) << "nobody has asked since";
  }
  migrations_.Ask("a", Things());
  End(Ok());
  ASSERT_TRUE(Soon([&] { return Woken() == 2; }));
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error);
}

TEST_F(MigrationsTest, WhoIsGoneIsForgotten) {
  migrations_.Ask("a", Things());
  End(Error{Code::kInternal, "no endpoints", {}});
  ASSERT_TRUE(Soon([&] { return Woken() == 1; }));
  migrations_.Forget("a");
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error);
}

}  // namespace
}  // namespace capi::ops
