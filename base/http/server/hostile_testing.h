// For tests: clients that do to a server what no client should.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace capi::http_testing {

// A connection on which a test sends what it likes. What doesn't come within half a minute never comes.
// Thread-compatible.
class RawClient {
 public:
  explicit RawClient(const std::string& address);  // "127.0.0.1:41234"
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False once the server has closed the connection.
  bool Write(std::string_view bytes);
  void EndWriting();  // and go on reading
  // Up to and with the next answer's end, a body of its Content-Length included.
  std::string ReadAnswer();
  // Whatever comes until the server closes, or "timed out".
  std::string ReadToEnd();
  int fd() const { return fd_; }

 private:
  bool Receive();
  int fd_;
  std::string buffered_;
  bool timed_out_ = false;
};

// Many clients that are slow or never end, driven by one thread until destroyed: some say nothing, some send a byte a
// second, some a header, a chunk's extension or a body without end, some ask and never read. Who is sent away comes
// back after `pause`. Thread-safe.
class HostileClients {
 public:
  HostileClients(const std::string& address, size_t count, Millis pause = Millis(200));
  ~HostileClients();
  HostileClients(const HostileClients&) = delete;
  HostileClients& operator=(const HostileClients&) = delete;

  // Until that many connections were made, each client's first among them when it is their number.
  void AwaitConnections(size_t count) const;
  size_t connections() const { return connections_; }

 private:
  struct One;
  void Run(std::string address, size_t count, Millis pause);
  std::atomic<size_t> connections_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Lets the process have that many descriptors, as far as its hard limit goes.
void AllowDescriptors(size_t count);

// Of the process, now, in bytes.
size_t ResidentMemory(int pid);

}  // namespace capi::http_testing
