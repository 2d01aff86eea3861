#include "base/http/server/server_connection.h"

#include <fmt/core.h>
#include <poll.h>

#include <utility>

#include "base/http/server/server_answer.h"

namespace capi::http {
namespace {

constexpr size_t kPiece = 16u << 10;  // a TLS record
// Pieces that one connection reads, writes or throws away before the others have their turn.
constexpr int kPiecesATurn = 2;
// How long, and for how many bytes, a client that was told to go is listened to: so that it reads why before the
// connection is reset.
constexpr Millis kLeaveTime = Seconds(1);
constexpr size_t kLeaveBytes = 64u << 10;

// What OpenSSL holds for a connection, as measured, during the handshake and after it.
constexpr size_t kHandshakeHolds = 48u << 10;
constexpr size_t kTlsHolds = 12u << 10;

}  // namespace

ServerConnection::ServerConnection(int fd, SSL_CTX* tls, const ServerLimits& limits, MonoTime now)
    : socket_(fd, tls), limits_(limits), deadline_(now + limits.head_time), events_(POLLIN), reader_(limits) {}

ServerConnection::~ServerConnection() {
  if (stream_) stream_->Detach();
}

void ServerConnection::Step(MonoTime now) {
  busy_ = false;
  for (int pieces = 0; pieces < kPiecesATurn; ++pieces) {
    if (!GoOn(now)) return;
  }
  busy_ = true;
}

ServerRequest ServerConnection::TakeRequest() {
  phase_ = Phase::kAnswering;
  handed_ = reader_.held();
  keep_alive_ = reader_.keep_alive();
  ServerRequest request = std::move(reader_.request());
  reader_.Restart();  // what it held is counted once
  return request;
}

size_t ServerConnection::TlsHolds() const {
  if (!socket_.tls()) return 0;
  return phase_ == Phase::kHandshake ? kHandshakeHolds : kTlsHolds;
}

// False when there is nothing more to do now.
bool ServerConnection::GoOn(MonoTime now) {
  switch (phase_) {
    case Phase::kHandshake: return Handshake();
    case Phase::kReading: return Read(now);
    case Phase::kWriting: return Write(now);
    case Phase::kStreaming: return Stream(now);
    case Phase::kLeaving: return Skip();
    case Phase::kWhole:
    case Phase::kAnswering:
    case Phase::kOver: break;
  }
  return false;
}

bool ServerConnection::Await(Io io) {
  if (io == Io::kEnded) {
    End();
  } else {
    events_ = io == Io::kWantsRead ? POLLIN : POLLOUT;
  }
  return false;
}

bool ServerConnection::Handshake() {
  Io io = socket_.Handshake();
  if (io != Io::kDone) return Await(io);
  phase_ = Phase::kReading;
  return true;
}

bool ServerConnection::Read(MonoTime now) {
  if (!pending_.empty()) {
    Feed(std::exchange(pending_, {}), now);
    return !whole();
  }
  char piece[kPiece];
  size_t got = 0;
  Io io = socket_.Read(piece, sizeof piece, got);
  if (io != Io::kDone) return Await(io);
  Feed(std::string_view(piece, got), now);
  return !whole();
}

void ServerConnection::Feed(std::string_view bytes, MonoTime now) {
  if (std::exchange(idle_, false)) deadline_ = now + limits_.head_time;
  bool in_body = reader_.in_body();
  size_t taken = reader_.Take(bytes);
  pending_ = bytes.substr(taken);
  if (reader_.refusal() != 0) {
    pending_.clear();
    Response why{.status = reader_.refusal(), .headers = {}, .body = reader_.why() + "\n"};
    Answer(FormatAnswer({}, std::move(why), false), false, now);
  } else if (reader_.whole()) {
    phase_ = Phase::kWhole;
  } else if (reader_.in_body() && !in_body) {
    deadline_ = now + limits_.body_time;
    if (reader_.TakeContinue()) SendContinue();
  }
}

// So few bytes that they fit into any socket that was just connected, or whose last answer has been taken.
void ServerConnection::SendContinue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  size_t sent = 0;
  if (socket_.Write(kContinue, sent) != Io::kDone || sent != kContinue.size()) End();
}

void ServerConnection::Answer(std::string bytes, bool keep_alive, MonoTime now) {
  out_ = std::move(bytes);
  written_ = handed_ = 0;
  last_ = !keep_alive;
  phase_ = Phase::kWriting;
  events_ = POLLOUT;
  deadline_ = now + limits_.write_time;
  reader_.Restart();
}

void ServerConnection::Answer(std::string head, std::shared_ptr<ServerStream> stream, std::function<void()> wake,
                              MonoTime now) {
  stream_ = std::move(stream);
  stream_->Attach(std::move(wake));
  Answer(std::move(head), /*keep_alive=*/true, now);
}

// Takes what was sent since, or listens for the client's end.
bool ServerConnection::Stream(MonoTime now) {
  ServerStream::Piece piece = stream_->Take();
  if (piece.cut) return End(), false;
  if (piece.bytes.empty() && !piece.ended) return Skip();
  out_ = std::move(piece.bytes);
  written_ = 0;
  last_ = piece.ended;
  phase_ = Phase::kWriting;
  events_ = POLLOUT;
  deadline_ = now + limits_.write_time;
  return true;
}

bool ServerConnection::Write(MonoTime now) {
  if (!out_.empty()) {
    size_t sent = 0;
    Io io = socket_.Write(std::string_view(out_).substr(written_), sent);
    if (io != Io::kDone) return Await(io);
    written_ += sent;
    if (written_ < out_.size()) return true;
  }
  std::string().swap(out_);
  if (last_) {
    socket_.EndWriting();
    phase_ = Phase::kLeaving;
    deadline_ = now + kLeaveTime;
    return true;
  }
  if (stream_) {
    phase_ = Phase::kStreaming;
    events_ = POLLIN;
    deadline_ = MonoTime::max();
    return true;
  }
  phase_ = Phase::kReading;
  events_ = POLLIN;
  idle_ = pending_.empty();
  busy_ = !idle_;
  deadline_ = now + (idle_ ? limits_.idle_time : limits_.head_time);
  return false;  // a client that has sent its next requests already gives way to others between two of them
}

// What a client says that is to go, or only listens, is thrown away, up to a bound.
bool ServerConnection::Skip() {
  size_t skipped = 0;
  Io io = socket_.Skip(skipped);
  if (io != Io::kDone) return Await(io);
  skipped_ += skipped;
  if (skipped_ > kLeaveBytes) End();
  return !over();
}

}  // namespace capi::http
