#include "base/http/exchange.h"

#include <fmt/core.h>

#include <charconv>

#include "base/http/body.h"
#include "base/strings.h"

namespace capi::http {
namespace {

constexpr size_t kBuffer = 4u << 10;  // each open watch has one
constexpr size_t kMaxHead = 256u << 10;
constexpr size_t kMaxLine = 8u << 10;

Error Broken(std::string message) { return Error{Code::kUnavailable, std::move(message), {}}; }

// Reads lines and pieces from a connection. Thread-compatible.
class Reader {
 public:
  Reader(Waiter& waiter, Connection& connection, std::optional<MonoTime> limit = {})
      : waiter_(waiter), connection_(connection), limit_(limit) {}

  // What is in the buffer, read first where it is empty; empty at the end of the stream.
  Result<std::string_view> Peek() {
    if (at_ == end_) {
      if (!buffer_) buffer_ = std::make_unique<char[]>(kBuffer);
      end_ = TRY(connection_.Read(waiter_, buffer_.get(), kBuffer, limit_));
      at_ = 0;
      any_ = any_ || end_ > 0;
    }
    return std::string_view(buffer_.get() + at_, end_ - at_);
  }
  void Consume(size_t size) { at_ += size; }

  // Without its CRLF or LF.
  Result<std::string> Line(size_t max) {
    std::string line;
    while (true) {
      std::string_view piece = TRY(Peek());
      if (piece.empty()) return Broken("connection closed by the server");
      size_t newline = piece.find('\n');
      line += piece.substr(0, newline);
      if (line.size() > max + 1) return Broken("line too long");
      Consume(newline == piece.npos ? piece.size() : newline + 1);
      if (newline == piece.npos) continue;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
  }

  bool any() const { return any_; }           // a byte has come
  bool empty() const { return at_ == end_; }  // nothing came that wasn't consumed

 private:
  Waiter& waiter_;
  Connection& connection_;
  std::optional<MonoTime> limit_;
  std::unique_ptr<char[]> buffer_;
  size_t at_ = 0, end_ = 0;
  bool any_ = false;
};

struct Head {
  int status = 0;
  bool http_1_0 = false;
  Headers headers;
};

Result<Head> ReadHead(Reader& reader) {
  Head head;
  std::string line = TRY(reader.Line(kMaxLine));
  bool versioned = line.substr(0, 7) == "HTTP/1." && line.size() >= 12 && line[8] == ' ';
  if (versioned) std::from_chars(line.data() + 9, line.data() + 12, head.status);
  if (head.status < 100) return Broken("answer is not HTTP/1.x");
  head.http_1_0 = line[7] == '0';
  size_t left = kMaxHead;
  while (true) {
    line = TRY(reader.Line(left));
    if (line.empty()) return head;
    left -= std::min(left, line.size() + 2);
    size_t colon = line.find(':');
    if (colon == line.npos || colon == 0) return Broken("bad header line");
    head.headers.Add(Trim(std::string_view(line).substr(0, colon)), Trim(std::string_view(line).substr(colon + 1)));
  }
}

// Skips interim answers ("100 Continue").
Result<Head> ReadFinalHead(Reader& reader) {
  while (true) {
    Head head = TRY(ReadHead(reader));
    if (head.status >= 200) return head;
    if (head.status == 101) return Broken("the server switched protocols unasked");
  }
}

bool HasToken(const std::string& list, std::string_view token) {
  for (const std::string& item : Split(ToLower(list), ','))
    if (Trim(item) == token) return true;
  return false;
}

Status ReadSized(Reader& reader, std::uint64_t size, BodySink& sink) {
  std::uint64_t left = size;
  while (left > 0) {
    std::string_view piece = TRY(reader.Peek());
    if (piece.empty()) return Broken(fmt::format("body cut off after {} of {} bytes", size - left, size));
    piece = piece.substr(0, static_cast<size_t>(std::min<std::uint64_t>(piece.size(), left)));
    TRY(sink.Take(piece));
    reader.Consume(piece.size());
    left -= piece.size();
  }
  return Ok();
}

Status ReadChunked(Reader& reader, BodySink& sink) {
  while (true) {
    auto line = reader.Line(kMaxLine);
    if (!line.ok()) return line.code() == Code::kUnavailable ? line.error().With("body cut off") : line.error();
    std::uint64_t size = 0;
    auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), size, 16);
    bool ends_well = end == line->data() + line->size() || *end == ';' || *end == ' ';
    if (error != std::errc() || !ends_well) return Broken("bad chunk in the body");
    if (size == 0) break;
    TRY(ReadSized(reader, size, sink));
    if (!TRY_WITH(reader.Line(0), "body cut off").empty()) return Broken("bad chunk in the body");
  }
  while (!TRY_WITH(reader.Line(kMaxLine), "body cut off").empty()) {
  }
  return Ok();
}

Status ReadToEnd(Reader& reader, BodySink& sink) {
  while (true) {
    std::string_view piece = TRY(reader.Peek());
    if (piece.empty()) return Ok();
    TRY(sink.Take(piece));
    reader.Consume(piece.size());
  }
}

// The body by its framing; `reusable` says whether its end is known without the connection's.
Status ReadBody(Reader& reader, const Head& head, std::string_view method, size_t max_body, bool collect,
                BodySink& sink, bool& reusable) {
  reusable = !head.http_1_0 || HasToken(head.headers.Get("Connection"), "keep-alive");
  if (HasToken(head.headers.Get("Connection"), "close")) reusable = false;
  if (method == "HEAD" || head.status == 204 || head.status == 304) return Ok();
  if (HasToken(head.headers.Get("Transfer-Encoding"), "chunked")) return ReadChunked(reader, sink);
  std::string length = head.headers.Get("Content-Length");
  if (length.empty()) {
    reusable = false;
    return ReadToEnd(reader, sink);
  }
  std::uint64_t size = 0;
  auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), size);
  if (error != std::errc() || end != length.data() + length.size()) return Broken("bad Content-Length");
  if (collect && size > max_body)
    return Error{Code::kInvalidArgument, fmt::format("body is larger than {} bytes", max_body), {}};
  return ReadSized(reader, size, sink);
}

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
  // One packet for what is small; large bodies aren't copied.
  if (body.size() <= kBuffer) return connection.Write(waiter, head + body);
  TRY(connection.Write(waiter, head));
  return connection.Write(waiter, body);
}

bool Interrupted(Code code) { return code == Code::kCancelled || code == Code::kDeadlineExceeded; }

}  // namespace

Exchange DoExchange(Waiter& waiter, Connection& connection, const Request& request, std::string_view target,
                    const Headers& headers) {
  Exchange exchange{Response()};
  bool unpack = !headers.Has("Accept-Encoding");
  Status sent = Send(waiter, connection, RequestHead(request, target, headers, unpack), request.body);
  if (!sent.ok() && Interrupted(sent.code())) {
    exchange.response = sent.error();
    return exchange;
  }
  Reader reader(waiter, connection);
  // A server may refuse a request before it has read all of it; then its answer says why.
  auto head = ReadFinalHead(reader);
  exchange.answered = reader.any();
  if (!head.ok()) {
    exchange.response = sent.ok() || Interrupted(head.code()) ? head.error() : sent.error();
    return exchange;
  }
  bool gzip = unpack && HasToken(head->headers.Get("Content-Encoding"), "gzip");
  bool stream = request.on_data && head->status / 100 == 2;
  BodySink sink(gzip, stream ? &request.on_data : nullptr, request.max_body);
  Status read = ReadBody(reader, *head, request.method, request.max_body, !stream, sink, exchange.reusable);
  if (read.ok()) read = sink.Finish();
  if (!read.ok()) {
    exchange.reusable = false;
    exchange.refused = sink.refused();
    exchange.response = read.error();
    return exchange;
  }
  exchange.reusable = exchange.reusable && sent.ok() && reader.empty();
  if (gzip) {
    head->headers.Remove("Content-Encoding");
    head->headers.Remove("Content-Length");
  }
  exchange.response = Response{head->status, std::move(head->headers), std::move(sink.collected())};
  return exchange;
}

Status OpenTunnel(Waiter& waiter, Connection& connection, std::string_view host_port,
                  const std::string& proxy_authorization, MonoTime limit) {
  std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", host_port);
  if (!proxy_authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", proxy_authorization);
  TRY(connection.Write(waiter, head + "\r\n", limit));
  Reader reader(waiter, connection, limit);
  Head answer = TRY(ReadFinalHead(reader));
  if (answer.status / 100 != 2)
    return Broken(fmt::format("CONNECT {}: the proxy answers {}", host_port, answer.status));
  if (!reader.empty()) return Broken("the proxy sent more than its answer");
  return Ok();
}

}  // namespace capi::http
