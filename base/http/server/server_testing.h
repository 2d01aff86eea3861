// For tests of the server: one that echoes, and one whose handlers wait until they are let go.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "base/testing/await.h"

namespace capi::http_testing {

inline constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
inline constexpr std::string_view kGetHeld = "GET /held HTTP/1.1\r\nHost: x\r\n\r\n";

inline http::Response Echo(const http::ServerRequest& request) {
  return {.status = 200, .headers = {}, .body = request.method + request.path + request.body};
}

inline std::unique_ptr<http::Server> Serve(http::ServerOptions options = {}, http::Server::Handler handler = Echo) {
  auto server = http::Server::Start(std::move(options), std::move(handler));
  if (!server.ok()) ADD_FAILURE() << server.error().message;
  return *std::move(server);
}

// What a client of its own gets for "/a".
inline Result<http::Response> Ask(const std::string& address) {
  return (*http::Client::Create("http://" + address, {}))->Do(Context().WithTimeout(Seconds(20)), {.target = "/a"});
}

// Echoes; requests for "/held" wait in their handlers until Open, or the end of this object. Thread-safe.
class HeldServer {
 public:
  explicit HeldServer(http::ServerOptions options = {})
      : server_(Serve(std::move(options), [this](const http::ServerRequest& request) {
          if (request.path == "/held") {
            Note(request.query);
            open_.wait(false);
          }
          return Echo(request);
        })) {}
  ~HeldServer() { Open(); }

  http::Server& server() { return *server_; }
  int held() const { return static_cast<int>(queries().size()); }  // requests that came so far
  std::vector<std::string> queries() const {                       // theirs
    MutexLock lock(mu_);
    return queries_;
  }
  [[nodiscard]] bool AwaitHeld(int count) const {
    return Await([&] { return held() >= count; });
  }
  void Open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  void Note(const std::string& query) {
    MutexLock lock(mu_);
    queries_.push_back(query);
  }

  mutable Mutex mu_;
  std::vector<std::string> queries_ CAPI_GUARDED_BY(mu_);
  std::atomic<bool> open_ = false;
  std::unique_ptr<http::Server> server_;
};

}  // namespace capi::http_testing
