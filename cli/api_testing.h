// An API server for tests of commands: fixed answers, and what it was asked.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/http/testing.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace capi::cli {

using Answer = std::pair<int, std::string>;  // status and body

// Each request whose first line holds a key gets that key's answers one after the other, and the last of them from then
// on; any other one gets 404. Thread-safe.
class FakeApi {
 public:
  explicit FakeApi(std::map<std::string, std::vector<Answer>> answers)
      : answers_(std::move(answers)), server_([this](http_testing::Peer& peer, int) { Serve(peer); }, true) {
    kube::Config config;
    config.server = server_.url();
    client_ = kube::Client::Connect(config, {.user_agent = "test", .max_retries = 0}).value();
  }
  ~FakeApi() { client_.reset(); }
  kube::Client& client() { return *client_; }

  // Whole requests of this method so far.
  std::vector<std::string> Asked(const std::string& method) {
    MutexLock lock(mu_);
    std::vector<std::string> out;
    for (const std::string& request : asked_) {
      if (request.starts_with(method + " ")) out.push_back(request);
    }
    return out;
  }

 private:
  Answer Next(const std::string& request) {
    MutexLock lock(mu_);
    asked_.push_back(request);
    std::string line = request.substr(0, request.find("\r\n"));
    for (auto& [key, answers] : answers_) {
      if (line.find(key) == std::string::npos) continue;
      Answer answer = answers.front();
      if (answers.size() > 1) answers.erase(answers.begin());
      return answer;
    }
    return {404, R"({"kind":"Status","reason":"NotFound","message":"it isn't there"})"};
  }

  void Serve(http_testing::Peer& peer) {
    while (true) {
      std::string request = peer.ReadRequest();
      if (request.empty()) return;
      auto [status, body] = Next(request);
      peer.Write(fmt::format("HTTP/1.1 {} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
                             body.size(), body));
    }
  }

  Mutex mu_;
  std::map<std::string, std::vector<Answer>> answers_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  http_testing::RawServer server_;
  std::unique_ptr<kube::Client> client_;
};

}  // namespace capi::cli
