// For tests: an actor without an operator around it.
#pragma once

#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "operator/act/actor.h"

namespace capi::ops {

// An actor on a server that has nothing, and remembers what it was asked for. Thread-compatible.
class ActorTest : public ::testing::Test {
 protected:
  ActorTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      asked_.push_back(request.path.substr(request.path.rfind('/') + 1));
      if (auto no = refusals_.find(asked_.back()); request.method != "GET" && no != refusals_.end()) return no->second;
      if (takes_ && request.method != "GET") return Written(request);
      if (auto found = objects_.find(request.path); request.method == "GET" && found != objects_.end()) {
        const bool watch = request.query.find("watch=") != request.query.npos;  // of a list, which is all there is
        return http::Response{.status = watch ? 400 : 200, .headers = {}, .body = watch ? "" : found->second};
      }
      if (refuse_) return http::Response{.status = 403, .headers = {}, .body = ""};
      return http::Response{.status = 404, .headers = {}, .body = R"({"kind":"Status","reason":"NotFound"})"};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "actor-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    watches_.emplace(*client_, nullptr);
    use_.emplace(*client_, *watches_);
    observer_.emplace(Observer::Needs{*client_, cache_, *watches_, settings_, fights_, *use_, SystemClock(),
                                      [](const std::string&) { return MigrationProgress{}; },
                                      [](const std::string&) { return std::string(); },
                                      [] { return std::vector<std::string>(); }, nullptr});
    writer_.emplace(*client_, cache_, masks_);
    secrets_.emplace(*client_, cache_, masks_, settings_, nullptr);
    Start();
  }
  // A process of the operator: the next one has no render at hand, and reads the key of inventories anew.
  void Start() { Start(sources_); }
  void Start(const Sources& sources) {
    actor_.reset();
    key_.emplace(*client_, "own");
    actor_.emplace(Actor::Needs{*client_, *observer_, cache_, *writer_, settings_, sources, masks_, *secrets_, fights_,
                                SystemClock(), *key_, [this](const std::string& key) {
                                  MutexLock lock(mu_);
                                  woken_.push_back(key);
                                  changed_.notify_all();
                                }});
  }
  // `o` becomes what Report takes from there.
  Actor::Acted Act(Observation& o, const Step& step) {
    auto acted = actor_->Act(ctx_, o, step);
    if (acted.ok() && *acted && (*acted)->now) o = *(*acted)->now;
    return acted;
  }
  // Every migration that is asked for runs; returns the CRDs that were looked at when `last` has ended.
  std::vector<std::string> MigrateUntil(const std::string& last) {
    std::stop_source stop;
    Context ctx = ctx_.WithStop(stop.get_token());
    std::thread worker([&] { actor_->RunMigrations(ctx); });
    {
      MutexLock lock(mu_);
      EXPECT_TRUE(changed_.wait_for(mu_, Seconds(30), [&] {
        mu_.AssertHeld();
        return !woken_.empty() && woken_.back() == last;
      }));
    }
    stop.request_stop();
    worker.join();
    MutexLock lock(mu_);
    return asked_;
  }

  // As it was sent, by the operator.
  http::Response Written(const http::ServerRequest& request) CAPI_REQUIRES(mu_) {
    if (request.query.find("dryRun") == std::string::npos) written_.push_back(asked_.back());
    auto object = ParseJson(request.body);
    EXPECT_TRUE(object.ok()) << request.body;
    Json& metadata = (*object)["metadata"];
    metadata["resourceVersion"] = std::to_string(written_.size());
    metadata["managedFields"] = {
        {{"manager", api::kFieldManager}, {"operation", "Apply"}, {"fieldsV1", {{"f:data", Json::object()}}}}};
    return {.status = 200, .headers = {}, .body = ToJsonText(*object)};
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  Mutex mu_;
  std::condition_variable_any changed_;
  bool refuse_ CAPI_GUARDED_BY(mu_) = false, takes_ CAPI_GUARDED_BY(mu_) = false;
  std::map<std::string, std::string> objects_ CAPI_GUARDED_BY(mu_);      // by path
  std::map<std::string, http::Response> refusals_ CAPI_GUARDED_BY(mu_);  // of writes, by the object's name
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_), written_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> woken_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  std::optional<Watches> watches_;
  Settings settings_;
  Sources sources_{settings_, {}};
  SecretMasks masks_;
  std::optional<KnownSecrets> secrets_;
  Fights fights_{SystemClock()};
  std::optional<UseFinder> use_;
  std::optional<Observer> observer_;
  std::optional<StatusWriter> writer_;
  std::optional<InventoryKey> key_;
  std::optional<Actor> actor_;
};

}  // namespace capi::ops
