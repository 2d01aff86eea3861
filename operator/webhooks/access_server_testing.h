// For tests: an API server that answers SubjectAccessReviews and TokenReviews, and remembers them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/http/server/server.h"
#include "base/http/testing.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace capi::ops::testing {

// `allowed` says who may do what, by the review's spec, and `known` whether a token is somebody's: that of a user who
// is called as the token is; both in several threads at once. Thread-safe.
class AccessServer {
 public:
  explicit AccessServer(
      std::function<bool(const Json& spec)> allowed,
      std::function<bool(const std::string& token)> known = [](const std::string&) { return false; })
      : allowed_(std::move(allowed)), known_(std::move(known)) {
    auto server =
        http::Server::Start({.threads = 16}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto connected = kube::Client::Connect({.server = "http://" + server_->address()},
                                           {.user_agent = "access-test", .max_retries = 0});
    EXPECT_TRUE(connected.ok()) << connected.error().message;
    client = std::move(*connected);
  }

  // From now on it can't tell, and says so; 0: it can again.
  void Fail(int status, const std::string& message = "not now") {
    MutexLock lock(mu_);
    failing_ = status;
    message_ = message;
  }
  std::vector<Json> asked() {
    MutexLock lock(mu_);
    return asked_;
  }

  std::unique_ptr<kube::Client> client;

 private:
  http::Response Answer(const http::ServerRequest& request) {
    const bool token = request.path == "/apis/authentication.k8s.io/v1/tokenreviews";
    if (!token && request.path != "/apis/authorization.k8s.io/v1/subjectaccessreviews") return {.status = 404};
    Json body = *ParseJson(request.body);
    {
      MutexLock lock(mu_);
      asked_.push_back(body["spec"]);
      if (failing_ != 0) {
        const Json status = {{"kind", "Status"}, {"status", "Failure"}, {"message", message_}};
        return {.status = failing_, .body = ToJsonText(status)};
      }
    }
    if (token) {
      const std::string name = GetString(body, {"spec", "token"});
      body["status"] = {{"authenticated", known_(name)}, {"user", {{"username", name}}}};
    } else {
      body["status"] = {{"allowed", allowed_(body["spec"])}};
    }
    return {.status = 201, .body = ToJsonText(body)};
  }

  const std::function<bool(const Json&)> allowed_;
  const std::function<bool(const std::string&)> known_;
  Mutex mu_;
  int failing_ CAPI_GUARDED_BY(mu_) = 0;
  std::string message_ CAPI_GUARDED_BY(mu_);
  std::vector<Json> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

// An API server that never answers. Thread-safe.
class SilentApiServer {
 public:
  SilentApiServer() {
    auto connected = kube::Client::Connect({.server = server_.url()}, {.user_agent = "access-test"});
    EXPECT_TRUE(connected.ok()) << connected.error().message;
    client = std::move(*connected);
  }
  int asked() const { return asked_; }

  std::unique_ptr<kube::Client> client;

 private:
  std::atomic<int> asked_ = 0;
  http_testing::RawServer server_{[this](http_testing::Peer& peer, int) {
                                    peer.ReadRequest();
                                    ++asked_;
                                    peer.WaitForEnd();
                                  },
                                  /*parallel=*/true};
};

}  // namespace capi::ops::testing
