// One client of a server, from its first byte to its last: handshake, requests and answers, each with its deadline.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/http/server/request_reader.h"
#include "base/http/server/server.h"
#include "base/http/server/server_socket.h"

namespace capi::http {

// Never blocks: its owner waits until the socket has `events`, calls Step, and closes it (destroys it) once it is over
// or its deadline has passed. Thread-compatible.
class ServerConnection {
 public:
  ServerConnection(int fd, SSL_CTX* tls, const ServerLimits& limits, MonoTime now);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  // Goes on as far as the socket and a fair share of the owner's time allow, and never beyond the end of an answer:
  // what comes next may wait for others. Once a request is whole nothing happens until its Answer.
  void Step(MonoTime now);
  // The request that is whole: somebody makes its answer from now on.
  ServerRequest TakeRequest();
  // `bytes`: the answer as FormatAnswer made it. Without `keep_alive` the connection ends with it.
  void Answer(std::string bytes, bool keep_alive, MonoTime now);
  // `head`: as FormatStreamHead made it. What is sent to `stream` follows, and `wake` is called for it, in any thread.
  void Answer(std::string head, std::shared_ptr<ServerStream> stream, std::function<void()> wake, MonoTime now);

  void HurryUp(MonoTime deadline) { deadline_ = std::min(deadline_, deadline); }
  void End() { phase_ = Phase::kOver; }

  int fd() const { return socket_.fd(); }
  short events() const { return events_; }  // of poll
  // Can go on at once, whatever poll says of the socket.
  bool busy() const { return busy_ || (phase_ == Phase::kStreaming && stream_->HasNews()); }
  MonoTime deadline() const { return deadline_; }
  bool over() const { return phase_ == Phase::kOver; }
  bool whole() const { return phase_ == Phase::kWhole; }  // a request is, and nobody has taken it
  bool answering() const { return phase_ == Phase::kAnswering; }
  bool writing() const { return phase_ == Phase::kWriting; }
  bool streaming() const { return stream_ != nullptr; }
  bool leaving() const { return phase_ == Phase::kLeaving; }
  bool keep_alive() const { return keep_alive_; }  // does the client of the request that was taken want to?
  // The memory that its requests and answers take up, about.
  size_t held() const {
    return reader_.held() + handed_ + pending_.capacity() + out_.capacity() + TlsHolds() + StreamHolds();
  }

 private:
  enum class Phase { kHandshake, kReading, kWhole, kAnswering, kWriting, kStreaming, kLeaving, kOver };
  using Io = ServerSocket::Io;

  size_t TlsHolds() const;
  size_t StreamHolds() const { return stream_ ? stream_->held() : 0; }
  bool GoOn(MonoTime now);
  bool Handshake();
  bool Read(MonoTime now);
  void Feed(std::string_view bytes, MonoTime now);
  void SendContinue();
  bool Write(MonoTime now);
  bool Stream(MonoTime now);
  bool Skip();
  bool Await(Io io);

  ServerSocket socket_;
  const ServerLimits limits_;
  Phase phase_ = Phase::kHandshake;
  MonoTime deadline_;
  short events_;
  bool busy_ = false;
  bool idle_ = false;  // has answered a request and got nothing since
  bool last_ = false;  // what is being written is the last answer
  bool keep_alive_ = false;
  RequestReader reader_;
  size_t handed_ = 0;    // held by the request that is being answered
  std::string pending_;  // came after the request that is being answered
  std::string out_;
  size_t written_ = 0;  // of out_
  size_t skipped_ = 0;
  std::shared_ptr<ServerStream> stream_;  // from its head's first byte on
};

}  // namespace capi::http
