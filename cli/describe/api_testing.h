// An API server for tests, of a few answers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/server/server.h"
#include "kube/client/client.h"

namespace capi::cli::describe {

// An API server of a few answers, which keeps what it was asked. Thread-safe.
class FakeCluster {
 public:
  FakeCluster() {
    server_ = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); }).value();
    kube::Config config;
    config.server = "http://" + server_->address();
    client_ = kube::Client::Connect(config, {.max_retries = 0}).value();
  }

  // By path: an object's JSON; or, of a collection, those of its objects.
  std::map<std::string, Json> objects;
  std::map<std::string, std::vector<Json>> lists;
  std::map<std::string, int> failures;
  std::string selector = "labelSelector=";  // what each question for a collection has

  kube::Client& client() { return *client_; }
  std::string address() const { return server_->address(); }
  std::vector<std::string> asked() {
    std::lock_guard lock(mu_);
    return asked_;
  }
  void Forget() {
    std::lock_guard lock(mu_);
    asked_.clear();
  }

 private:
  http::Response Answer(const http::ServerRequest& request) {
    {
      std::lock_guard lock(mu_);
      asked_.push_back(request.path.substr(request.path.rfind('/') + 1));
    }
    http::Response out;
    out.status = 200;
    auto failure = failures.find(request.path);
    auto object = objects.find(request.path);
    auto list = lists.find(request.path);
    if (failure != failures.end() || (object == objects.end() && list == lists.end())) {
      out.status = failure == failures.end() ? 404 : failure->second;
      const std::map<int, const char*> reasons = {{400, "BadRequest"}, {403, "Forbidden"}, {404, "NotFound"}};
      auto known = reasons.find(out.status);
      const char* reason = known == reasons.end() ? "InternalError" : known->second;
      out.body = Json{{"kind", "Status"}, {"reason", reason}, {"message", "the server's words"}}.dump();
    } else if (object != objects.end()) {
      out.body = object->second.dump();
    } else {
      EXPECT_THAT(request.query, testing::HasSubstr(selector));
      out.body = Json{{"kind", "List"}, {"metadata", Json::object()}, {"items", list->second}}.dump();
    }
    return out;
  }

  std::mutex mu_;
  std::vector<std::string> asked_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
};

}  // namespace capi::cli::describe
