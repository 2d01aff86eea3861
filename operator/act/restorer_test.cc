// D1: what is restored, from what, and what isn't known.
#include "operator/act/restorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

const kube::ObjectId kId{"", "ConfigMap", "aws-system", "settings"};

kube::Manifest SettingsMap() {
  return kube::ToManifest(kube::Object(*ParseJson(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"aws-system"},"data":{}})")));
}

// A server that has nothing, and what a restorer works with.
class Restoring : public ::testing::Test {
 protected:
  Restoring() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      asked_.push_back(request.method + " " + request.path);
      return http::Response{.status = 404, .headers = {}, .body = ""};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *kube::Client::Connect({.server = "http://" + server_->address()}, {});
    watches_.emplace(*client_, [](const auto&...) {});
    use_.emplace(*client_, *watches_);
    observer_.emplace(Observer::Needs{*client_, providers_, *watches_, settings_, fights_, *use_, clock_,
                                      [](const std::string&) { return MigrationProgress{}; },
                                      [this](const std::string& key) { return rendered_.InputsOf(key); },
                                      [] { return std::vector<std::string>(); }, nullptr});
    o_.inventory.Put(kId, {"v1", SettingsMap().hash, "fields", false});
    o_.rendered = "inputs";
  }
  ~Restoring() override { watches_->Stop(); }

  Done Restore(bool missing) {
    Restorer restorer({*client_, *observer_, rendered_, fights_});
    return restorer.Run(Context{}.WithTimeout(Seconds(30)), o_, {{{kId, missing, {.fields = "others"}, {}}}, {}});
  }
  std::vector<std::string> Asked() {
    MutexLock lock(mu_);
    return asked_;
  }

  FakeClock clock_;
  ProviderCache providers_{[](const ProviderCache::Change&) {}};
  Settings settings_;
  Fights fights_{clock_};
  RenderedCache rendered_;
  std::unique_ptr<kube::Client> client_;
  std::optional<Watches> watches_;
  std::optional<UseFinder> use_;
  std::optional<Observer> observer_;
  Observation o_ = testing::Observed();

 private:
  Mutex mu_;
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

// D1: a render that had to make room says nothing of the release: a deleted object stays in the inventory, a changed
// one isn't accepted, and another pass follows.
TEST_F(Restoring, WithoutARenderNothingChanges) {
  for (bool missing : {true, false}) {
    Done done = Restore(missing);
    EXPECT_FALSE(done.inventory) << "the next pass sees the same drift";
    EXPECT_TRUE(done.again_after);
    EXPECT_FALSE(done.hold);
  }
  rendered_.Put(o_.provider.id.Key(), "other inputs", {}, {});
  EXPECT_FALSE(Restore(true).inventory) << "the render of other inputs";
  EXPECT_THAT(Asked(), ElementsAre());
}

// What the release no longer has (a CRD that stays) is gone, or is as somebody made it.
TEST_F(Restoring, WhatTheReleaseLacksIsNotRestored) {
  rendered_.Put(o_.provider.id.Key(), "inputs", {}, {});
  Done gone = Restore(true);
  ASSERT_TRUE(gone.inventory);
  EXPECT_FALSE(gone.inventory->Contains(kId));
  Done changed = Restore(false);
  ASSERT_TRUE(changed.inventory);
  EXPECT_EQ(changed.inventory->Find(kId)->fields, "others");
}

}  // namespace
}  // namespace capi::ops
