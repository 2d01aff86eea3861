#include "base/http/exchange.h"

#include <fmt/core.h>

#include "base/http/body.h"
#include "base/http/grammar.h"
#include "base/http/response_reader.h"
#include "base/http/sockets.h"
#include "base/strings.h"

namespace capi::http {
namespace {

constexpr size_t kOnePacket = 4u << 10;

// What comes on a connection, until `limit` or until nothing has come for `silence`; one of the two at most is given.
// Thread-compatible.
class FromConnection : public ByteSource {
 public:
  FromConnection(Waiter& waiter, Connection& connection, std::optional<MonoTime> limit, std::optional<Millis> silence)
      : waiter_(waiter), connection_(connection), limit_(limit), silence_(silence) {}

  Result<size_t> Read(char* into, size_t size) override {
    std::optional<MonoTime> end = limit_;
    if (silence_) end = waiter_.ctx().clock->Monotonic() + *silence_;
    auto got = connection_.Read(waiter_, into, size, end);
    if (got.ok() || !silence_ || got.code() != Code::kUnavailable) return got;
    silent_ = waiter_.ctx().clock->Monotonic() >= *end;
    if (!silent_) return got;
    return Broken(fmt::format("nothing came for {} s", std::chrono::duration<double>(*silence_).count()));
  }

  bool silent() const { return silent_; }  // the last read waited in vain

 private:
  Waiter& waiter_;
  Connection& connection_;
  const std::optional<MonoTime> limit_;
  const std::optional<Millis> silence_;
  bool silent_ = false;
};

std::string RequestHead(const Request& request, std::string_view target, const Headers& headers, bool unpack) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", request.method, target);
  for (const auto& [name, value] : headers.all()) head += fmt::format("{}: {}\r\n", name, value);
  if (unpack) head += "Accept-Encoding: gzip\r\n";
  bool has_body =
      !request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (has_body) head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n";
}

Status Send(Waiter& waiter, Connection& connection, const std::string& head, const std::string& body) {
  // Large bodies aren't copied.
  if (body.size() <= kOnePacket) return connection.Write(waiter, head + body);
  TRY(connection.Write(waiter, head));
  return connection.Write(waiter, body);
}

bool Interrupted(Code code) { return code == Code::kCancelled || code == Code::kDeadlineExceeded; }

// Whether the body is packed with gzip, the one encoding that is asked for. Of several lines each would be one more
// layer.
Result<bool> IsPacked(const Headers& headers) {
  std::vector<std::string_view> encodings = Values(headers, "content-encoding");
  if (encodings.size() > 1) return Broken("the answer has more than one content encoding");
  std::string encoding = encodings.empty() ? "" : ToLower(encodings[0]);
  if (encoding.empty() || encoding == "identity") return false;
  if (encoding == "gzip" || encoding == "x-gzip") return true;
  return Broken("the answer has a content encoding that nobody asked for");
}

bool IsIdempotent(const Request& request) {
  if (request.idempotent) return *request.idempotent;
  return request.method == "GET" || request.method == "HEAD" || request.method == "PUT" || request.method == "DELETE";
}

// Fills in what the body of an answer whose head has come makes of the exchange.
void TakeBody(const FromConnection& source, ResponseReader& reader, const Request& request, bool unpack, Head head,
              Exchange& exchange) {
  auto packed = unpack ? IsPacked(head.headers) : false;
  auto framing = Framing::Of(head, request.method);
  bool stream = request.on_data && head.status / 100 == 2;
  BodySink sink(packed.ok() && *packed, stream ? &request.on_data : nullptr, request.max_body);
  Status read = [&]() -> Status {
    TRY(packed);
    TRY(framing);
    if (!stream && framing->size > request.max_body)
      return Error{Code::kInvalidArgument, fmt::format("body is larger than {} bytes", request.max_body), {}};
    TRY(reader.ReadBody(*framing, sink));
    return sink.Finish();
  }();
  if (!read.ok() && !(stream && source.silent())) {
    exchange.refused = sink.refused();
    exchange.response = read.error();
    return;
  }
  exchange.reusable = read.ok() && reader.empty() && KeepsConnection(head, *framing);
  if (*packed) {
    head.headers.Remove("Content-Encoding");
    head.headers.Remove("Content-Length");
  }
  exchange.response = Response{head.status, std::move(head.headers), std::move(sink.collected())};
}

}  // namespace

Exchange DoExchange(Waiter& waiter, Connection& connection, const Request& request, std::string_view target,
                    const Headers& headers) {
  Exchange exchange{Response()};
  bool unpack = !headers.Has("Accept-Encoding");
  std::uint64_t before = connection.written();
  Status sent = Send(waiter, connection, RequestHead(request, target, headers, unpack), request.body);
  exchange.written = connection.written() != before;
  if (!sent.ok() && Interrupted(sent.code())) {
    exchange.response = sent.error();
    return exchange;
  }
  FromConnection source(waiter, connection, {}, request.max_silence);
  ResponseReader reader(source);
  // A server may refuse a request before it has read all of it; then its answer says why.
  auto head = reader.ReadHead();
  exchange.answered = reader.any();
  if (!head.ok()) {
    exchange.response = sent.ok() || Interrupted(head.code()) ? head.error() : sent.error();
    return exchange;
  }
  if (request.on_head) request.on_head(head->status);
  TakeBody(source, reader, request, unpack, *std::move(head), exchange);
  exchange.reusable = exchange.reusable && sent.ok();
  return exchange;
}

bool MaySendAgain(const Request& request, const Exchange& exchange) {
  if (exchange.response.ok() || exchange.response.code() != Code::kUnavailable) return false;
  return !exchange.answered && (IsIdempotent(request) || !exchange.written);
}

Status OpenTunnel(Waiter& waiter, Connection& connection, std::string_view host_port,
                  const std::string& proxy_authorization, MonoTime limit) {
  std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", host_port);
  if (!proxy_authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", proxy_authorization);
  TRY(connection.Write(waiter, head + "\r\n", limit));
  FromConnection source(waiter, connection, limit, {});
  ResponseReader reader(source);
  Head answer = TRY(reader.ReadHead());
  if (answer.status / 100 != 2)
    return Broken(fmt::format("CONNECT {}: the proxy answers {}", host_port, answer.status));
  if (!reader.empty()) return Broken("the proxy sent more than its answer");
  return Ok();
}

}  // namespace capi::http
