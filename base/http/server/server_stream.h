// The body of an answer that has no end of its own, such as server-sent events: whoever has news sends it, and no
// thread waits in between.
#pragma once

#include <functional>
#include <string>

#include "base/mutex.h"

namespace capi::http {

// Thread-safe. Shared by whoever sends and the server's connection, which may end before each other.
class ServerStream {
 public:
  // `most`: bytes that may wait for the client. One that takes them more slowly than they come is sent away.
  explicit ServerStream(size_t most) : most_(most) {}

  // False, and nothing is sent: the client is gone, or was sent away.
  bool Send(std::string bytes);
  // What has been sent still goes to the client, then the connection ends.
  void End();
  bool ended() const;
  size_t held() const;  // bytes that wait for the client

  // For the connection. `wake` is called from any thread when there is something to take, or the end has come.
  void Attach(std::function<void()> wake);
  // The client is gone. `wake` isn't called any more.
  void Detach();
  bool HasNews() const;
  // What was sent since the last Take. `cut`: the client is to be sent away at once.
  struct Piece {
    std::string bytes;
    bool ended = false, cut = false;
  };
  Piece Take();

 private:
  const size_t most_;
  mutable Mutex mu_;
  std::string pending_ CAPI_GUARDED_BY(mu_);
  bool ended_ CAPI_GUARDED_BY(mu_) = false;
  bool cut_ CAPI_GUARDED_BY(mu_) = false;
  std::function<void()> wake_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::http
