// For tests: an API server that has the objects that a test puts there, and nothing else.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/http/server/server.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/testing/value_or_abort.h"
#include "kube/client/client.h"

namespace capi::local {

// Answers GET with the object of that path, 404 where there is none; gives tokens that never end; takes every other
// write, and keeps its path. Thread-safe.
class ApiStandIn {
 public:
  ApiStandIn()
      : server_(
            ValueOrAbort(http::Server::Start({}, [this](const http::ServerRequest& asked) { return Answer(asked); }),
                         "the stand-in")),
        client_(ValueOrAbort(kube::Client::Connect({.server = "http://" + server_->address()}, {}), "its client")) {}

  kube::Client& client() { return *client_; }
  // "/api/v1/namespaces/n/secrets/s". Null: it isn't there.
  void Put(const std::string& path, Json object) {
    MutexLock lock(mu_);
    objects_[path] = std::move(object);
  }
  // "POST /api/v1/nodes" of each.
  std::vector<std::string> writes() const {
    MutexLock lock(mu_);
    return writes_;
  }

 private:
  http::Response Answer(const http::ServerRequest& asked) {
    MutexLock lock(mu_);
    auto object = objects_.find(asked.path);
    const bool is_there = object != objects_.end() && !object->second.is_null();
    http::Response out{.status = 200};
    out.headers.Set("Content-Type", "application/json");
    if (asked.path.ends_with("/token")) {
      out.body = R"({"status": {"token": "t", "expirationTimestamp": "2100-01-01T00:00:00Z"}})";
    } else if (asked.method != "GET") {
      writes_.push_back(asked.method + " " + asked.path);
      out.body = asked.body;
    } else if (is_there) {
      out.body = ToJsonText(object->second);
    } else {
      out.status = 404;
      out.body = R"({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})";
    }
    return out;
  }

  mutable Mutex mu_;
  std::map<std::string, Json> objects_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> writes_ CAPI_GUARDED_BY(mu_);
  const std::unique_ptr<http::Server> server_;
  const std::unique_ptr<kube::Client> client_;
};

}  // namespace capi::local
