#include "lifecycle/storage_migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/http/server/server.h"
#include "base/mutex.h"

namespace capi::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "migrations-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }
  Status Migrate(MigrationCursor& cursor) {
    TRY(StorageMigration(*client_).Migrate(Context{}.WithTimeout(Seconds(30)), "things.x", cursor, go_on_));
    return Ok();
  }
  bool ReadsCrds() {
    kube::Manifest crd;
    crd.id = {"apiextensions.k8s.io", "CustomResourceDefinition", "", "things.x"};
    return LiveCrds(Context{}.WithTimeout(Seconds(30)), *client_, {crd}).ok();
  }
  std::vector<std::string> Written() {
    MutexLock lock(mu_);
    return written_;
  }

  GoOn go_on_;
  Mutex mu_;
  std::vector<std::string> things_ CAPI_GUARDED_BY(mu_) = {"a", "b", "c", "d", "e"};
  std::map<std::string, int> refused_ CAPI_GUARDED_BY(mu_);  // name to status
  std::set<std::string> gone_ CAPI_GUARDED_BY(mu_);
  bool has_status_ CAPI_GUARDED_BY(mu_) = false;
  bool served_ CAPI_GUARDED_BY(mu_) = true;     // at the path of an object
  int token_expires_ CAPI_GUARDED_BY(mu_) = 0;  // pages until then; 0 for never
  int generation_ CAPI_GUARDED_BY(mu_) = 1;
  bool trimmed_ CAPI_GUARDED_BY(mu_) = false;
  std::string no_crd_ CAPI_GUARDED_BY(mu_);    // with a 404
  bool endless_ CAPI_GUARDED_BY(mu_) = false;  // the second page is the next one again

 private:
  http::Response Answer(const http::ServerRequest& request) CAPI_REQUIRES(mu_) {
    http::Response response{.status = 200, .headers = {}, .body = "{}"};
    if (request.path.starts_with("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x")) {
      if (!no_crd_.empty()) return {.status = 404, .headers = {}, .body = no_crd_};
      if (request.method == "PATCH") trimmed_ = true;
      Json versions = {{{"name", "v1"}, {"served", true}}, {{"name", "v2"}, {"served", true}, {"storage", true}}};
      if (has_status_) versions[1]["subresources"] = {{"status", Json::object()}};
      Json crd = {
          {"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "things.x"}, {"generation", generation_}, {"resourceVersion", trimmed_ ? "2" : "1"}}},
          {"spec",
           {{"group", "x"},
            {"scope", "Namespaced"},
            {"names", {{"kind", "Thing"}, {"plural", "things"}}},
            {"versions", versions}}},
          {"status", {{"storedVersions", trimmed_ ? Json::array({"v2"}) : Json::array({"v1", "v2"})}}}};
      response.body = ToJsonText(crd);
      return response;
    }
    if (request.method == "PATCH") {
      std::string path = request.path;
      const bool status = path.ends_with("/status");
      if (status) path.resize(path.rfind('/'));
      std::string name = path.substr(path.rfind('/') + 1);
      written_.push_back(name);
      if (status && !has_status_) response.status = 404;
      if (refused_.contains(name)) response.status = refused_[name];
      return response;
    }
    if (size_t item = request.path.find("/things/"); item != std::string::npos) {
      response.body = R"({"apiVersion":"x/v2","kind":"Thing","metadata":{"name":"b","namespace":"n"}})";
      if (gone_.contains(request.path.substr(item + 8))) {
        response = {.status = 404, .headers = {}, .body = R"({"kind":"Status","reason":"NotFound","message":"gone"})"};
      }
      if (!served_) response = {.status = 404, .headers = {}, .body = "404 page not found\n"};
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
    if (first + 2 < things_.size()) page["metadata"]["continue"] = std::to_string(endless_ ? 2 : first + 2);
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
    gone_ = {"b"};
  }
  MigrationCursor cursor;
  auto done = Migrate(cursor);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(cursor.objects, 5u);
  MutexLock lock(mu_);
  EXPECT_TRUE(trimmed_);
}

// U3: a CRD that is gone has nothing to migrate, which a proxy's 404 doesn't say.
TEST_F(StorageMigrationTest, ACrdThatIsGoneNeedsNone) {
  for (bool gone : {true, false}) {
    {
      MutexLock lock(mu_);
      no_crd_ = gone ? R"({"kind":"Status","reason":"NotFound","message":"gone"})" : "404 page not found";
    }
    MigrationCursor cursor;
    EXPECT_EQ(Migrate(cursor).ok(), gone);
    EXPECT_EQ(ReadsCrds(), gone);
  }
  EXPECT_THAT(Written(), IsEmpty());
}

// U3: a 404 may be that of a version or a subresource. An object that is still there was not written. So is, of two API
// servers, one that hasn't heard of the version: its 404 says nothing of the object, which would be stored for good at
// a version that storedVersions lacks.
TEST_F(StorageMigrationTest, WhatIsStillThereHasNotGone) {
  for (bool served : {true, false}) {
    SCOPED_TRACE(served);
    {
      MutexLock lock(mu_);
      refused_ = {{"b", 404}};
      served_ = served;
    }
    MigrationCursor cursor;
    auto failed = Migrate(cursor);
    ASSERT_FALSE(failed.ok());
    EXPECT_THAT(failed.error().message, HasSubstr("Thing n/b"));
    MutexLock lock(mu_);
    EXPECT_FALSE(trimmed_);
  }
}

// U3: what a CRD has is what it has when the work begins, not what was seen when it was asked for.
TEST_F(StorageMigrationTest, GoesByTheCrdAsItIsNow) {
  for (bool has_status : {false, true}) {
    {
      MutexLock lock(mu_);
      trimmed_ = false;
      has_status_ = has_status;
    }
    MigrationCursor cursor;
    auto done = Migrate(cursor);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(cursor.objects, 5u);
  }
}

// P4, P1: the next object isn't touched, and storedVersions isn't; it goes on from there.
TEST_F(StorageMigrationTest, StopsWhereNobodyNeedsTheRest) {
  int left = 3;  // the listing, and two objects
  go_on_ = [&]() -> Status { return left-- > 0 ? Ok() : Status(Error{Code::kCancelled, "not needed", {}}); };
  MigrationCursor cursor;
  auto stopped = Migrate(cursor);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.code(), Code::kCancelled);
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c"));
  left = 6;  // the listing, three that it passes by, and two objects
  ASSERT_FALSE(Migrate(cursor).ok());
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d", "e")) << "and asked once more before storedVersions";
  {
    MutexLock lock(mu_);
    EXPECT_FALSE(trimmed_);
  }
  go_on_ = nullptr;
  ASSERT_TRUE(Migrate(cursor).ok());
  EXPECT_EQ(Written().size(), 5u);
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

// F8: a list that has no end ends.
TEST_F(StorageMigrationTest, APageThatComesAgainIsAnError) {
  {
    MutexLock lock(mu_);
    endless_ = true;
  }
  MigrationCursor cursor;
  auto failed = Migrate(cursor);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), Code::kInternal);
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d"));
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

}  // namespace
}  // namespace capi::lifecycle
