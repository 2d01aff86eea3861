// An API server that keeps ConfigMaps, and a release for them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/release.h"
#include "api/types.h"
#include "base/http/server/server.h"
#include "base/json.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "releases/release_store.h"

namespace capi::releases::testing {

// Keeps ConfigMaps as an API server does. After `writes` writes it takes no more, as if the operator had ended there.
// Thread-safe.
class MapServer {
 public:
  explicit MapServer(std::string path = "/api/v1/namespaces/aws-system/configmaps") : path_(std::move(path)) {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client = *kube::Client::Connect({.server = "http://" + server_->address()}, {});
  }

  void Take(int writes) {
    MutexLock lock(mu_);
    left_ = writes;
  }
  // It has trouble with each GET of it.
  void Trouble(const std::string& name) {
    MutexLock lock(mu_);
    trouble_ = name;
  }
  std::map<std::string, Json> maps() {
    MutexLock lock(mu_);
    return maps_;
  }
  void Change(const std::string& name, const std::function<void(Json&)>& edit) {
    MutexLock lock(mu_);
    Edit(name, edit);
  }
  // Somebody comes between what the next replacement has seen and its write.
  void ChangeBeforePut(const std::string& name, std::function<void(Json&)> edit) {
    MutexLock lock(mu_);
    before_put_ = [this, name, edit = std::move(edit)] {
      mu_.AssertHeld();
      Edit(name, edit);
    };
  }
  // Somebody puts it there between a look and the write of that name.
  void PutBeforePost(Json map) {
    MutexLock lock(mu_);
    before_post_ = std::move(map);
  }

  std::unique_ptr<kube::Client> client;

 private:
  static http::Response Say(int status, const Json& body) {
    return {.status = status, .headers = {}, .body = ToJsonText(body)};
  }
  void Edit(const std::string& name, const std::function<void(Json&)>& edit) CAPI_REQUIRES(mu_) {
    edit(maps_.at(name));
    maps_.at(name)["metadata"]["resourceVersion"] = std::to_string(++version_);
  }
  // What a write says of it isn't so any more.
  static bool IsAnother(const Json& written, const Json& live) {
    for (const char* field : {"uid", "resourceVersion"}) {
      const std::string expected = GetString(written, {"metadata", field});
      if (!expected.empty() && expected != GetString(live, {"metadata", field})) return true;
    }
    return false;
  }
  http::Response Answer(const http::ServerRequest& request) {
    MutexLock lock(mu_);
    if (request.method == "GET" && request.path == path_) return List();
    std::string name = request.path.substr(path_.size());
    if (!name.empty()) name = name.substr(1);
    if (request.method == "GET" && name == trouble_) return Say(503, {{"kind", "Status"}, {"message", "later"}});
    if (request.method == "GET") return maps_.contains(name) ? Say(200, maps_[name]) : Say(404, Json::object());
    if (left_-- <= 0) return Say(403, {{"kind", "Status"}, {"reason", "Forbidden"}, {"message", "no more"}});
    if (request.method == "DELETE") return maps_.erase(name) > 0 ? Say(200, Json::object()) : Say(404, Json::object());
    Json map = *ParseJson(request.body);
    const std::string written = GetString(map, {"metadata", "name"});
    if (request.method == "POST" && written == GetString(before_post_, {"metadata", "name"}))
      maps_[written] = std::exchange(before_post_, Json());
    bool exists = maps_.contains(written);
    if (request.method == "POST" && exists) {
      return Say(409, {{"kind", "Status"}, {"reason", "AlreadyExists"}, {"message", "it is there"}});
    }
    if (auto first = std::exchange(before_put_, nullptr); request.method == "PUT" && first) first();
    if (exists && IsAnother(map, maps_[written])) {
      return Say(409, {{"kind", "Status"}, {"reason", "Conflict"}, {"message", "it has changed"}});
    }
    map["metadata"]["uid"] = "uid-" + written;
    map["metadata"]["resourceVersion"] = std::to_string(++version_);
    maps_[written] = map;
    return Say(exists ? 200 : 201, map);
  }
  http::Response List() CAPI_REQUIRES(mu_) {
    Json items = Json::array();
    for (const auto& [name, map] : maps_) {
      if (Find(map, {"metadata", "labels", api::kLabelPartOf}) != nullptr) items.push_back(map);
    }
    return Say(200, {{"kind", "ConfigMapList"}, {"metadata", Json::object()}, {"items", items}});
  }

  const std::string path_;
  Mutex mu_;
  std::map<std::string, Json> maps_ CAPI_GUARDED_BY(mu_);
  std::function<void()> before_put_ CAPI_GUARDED_BY(mu_);
  Json before_post_ CAPI_GUARDED_BY(mu_);
  std::string trouble_ CAPI_GUARDED_BY(mu_) = "-";
  int left_ CAPI_GUARDED_BY(mu_) = 1'000;
  int version_ CAPI_GUARDED_BY(mu_) = 0;
  std::unique_ptr<http::Server> server_;
};

inline api::Provider Owner() {
  api::Provider owner;
  owner.id = {api::ProviderType::kInfrastructure, "aws-system", "aws"};
  owner.uid = "uid-aws";
  return owner;
}

// A release whose gzip has two parts. Text that hardly compresses, different for each seed.
inline api::Release Large(unsigned seed) {
  api::Release release;
  release.version = *api::Version::Parse("v1.12.0");
  release.metadata = "kind: Metadata\n";
  for (unsigned x = seed * 2654435761u + 1; release.components.size() < 1'100'000;) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    release.components += static_cast<char>('!' + x % 90);
  }
  return release;
}

// For each step anew: one for all of the process would count whatever ran before (a slow machine, sanitizers).
inline Context Soon() { return Context{}.WithTimeout(Seconds(60)); }

}  // namespace capi::releases::testing
