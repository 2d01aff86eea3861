// For tests: clients that do to a server what no client should.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
// second, some a header, a chunk's extension or a body without end, some ask and never read, some ask one thing after
// the other and never wait for the answers. Who is sent away comes back a little later. Thread-safe.
class HostileClients {
 public:
  HostileClients(const std::string& address, size_t count);
  ~HostileClients();
  HostileClients(const HostileClients&) = delete;
  HostileClients& operator=(const HostileClients&) = delete;

  // Until that many connections were made, each client's first among them when it is their number.
  void AwaitConnections(size_t count) const;

 private:
  struct One;
  void Run(const std::string& address, size_t count);
  std::atomic<size_t> connections_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Lets the process have that many descriptors, as far as its hard limit goes.
void AllowDescriptors(size_t count);

// Takes all descriptors that the process may have, a few hundred, until it is destroyed. Thread-compatible.
class AllDescriptors {
 public:
  AllDescriptors();
  ~AllDescriptors();
  AllDescriptors(const AllDescriptors&) = delete;
  AllDescriptors& operator=(const AllDescriptors&) = delete;
  void Release();  // one of them

 private:
  rlimit before_ = {};
  std::vector<int> taken_;
};

}  // namespace capi::http_testing
