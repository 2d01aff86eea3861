#include "base/http/response_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/http/grammar.h"
#include "base/http/sockets.h"
#include "base/strings.h"

namespace capi::http {
namespace {

constexpr size_t kBuffer = 4u << 10;  // each open watch has one
constexpr size_t kMaxHead = 256u << 10;
constexpr size_t kMaxLine = 8u << 10;
constexpr int kMaxInterim = 16;

// "HTTP/1.1 200 OK"; the reason may be missing.
bool ParseStatusLine(std::string_view line, Head& head) {
  bool versioned = line.substr(0, 7) == "HTTP/1." && line.size() >= 12 && line[8] == ' ';
  if (!versioned || (line[7] != '0' && line[7] != '1') || (line.size() > 12 && line[12] != ' ')) return false;
  auto [end, error] = std::from_chars(line.data() + 9, line.data() + 12, head.status);
  head.http_1_0 = line[7] == '0';
  return error == std::errc() && end == line.data() + 12 && head.status >= 100;
}

Result<std::uint64_t> ParseLength(const std::vector<std::string_view>& lengths) {
  std::uint64_t size = 0;
  std::string_view text = lengths[0];
  if (!ReadNumber(text, 10, size)) return Broken("bad Content-Length");
  if (std::any_of(lengths.begin(), lengths.end(), [&](std::string_view other) { return other != text; }))
    return Broken("the answer has two lengths");
  return size;
}

// "1a", or "1a;extension"
bool ParseChunkSize(std::string_view line, std::uint64_t& size) {
  return ReadNumber(Trim(line.substr(0, line.find(';'))), 16, size);
}

}  // namespace

Result<Framing> Framing::Of(const Head& head, std::string_view method) {
  std::vector<std::string_view> encodings = Values(head.headers, "transfer-encoding");
  std::vector<std::string_view> lengths = Values(head.headers, "content-length");
  if (!encodings.empty() && !lengths.empty()) return Broken("the answer has both a length and a transfer encoding");
  Framing framing{Kind::kToEnd};
  if (!encodings.empty()) {
    if (encodings.size() > 1 || ToLower(encodings[0]) != "chunked" || head.http_1_0)
      return Broken("the answer has a transfer encoding that nobody asked for");
    framing = {Kind::kChunked};
  } else if (!lengths.empty()) {
    auto length = TRY(ParseLength(lengths));
    framing = {Kind::kSized, length};
  }
  if (method == "HEAD" || head.status == 204 || head.status == 304) return Framing();
  return framing;
}

bool KeepsConnection(const Head& head, const Framing& framing) {
  if (framing.kind == Framing::Kind::kToEnd || HasItem(head.headers, "connection", "close")) return false;
  return !head.http_1_0 || HasItem(head.headers, "connection", "keep-alive");
}

// What is in the buffer, read first where it is empty; empty at the end of the stream.
Result<std::string_view> ResponseReader::Peek() {
  if (at_ == end_) {
    if (!buffer_) buffer_ = std::make_unique<char[]>(kBuffer);
    end_ = TRY(source_.Read(buffer_.get(), kBuffer));
    at_ = 0;
    any_ = any_ || end_ > 0;
  }
  return std::string_view(buffer_.get() + at_, end_ - at_);
}

// Without its CRLF or LF.
Result<std::string> ResponseReader::Line(size_t max) {
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
    if (line.find_first_of(std::string_view("\r\0", 2)) != line.npos) return Broken("control character in a line");
    return line;
  }
}

Status ResponseReader::ReadHeaders(Headers* into) {
  size_t left = kMaxHead;
  while (true) {
    std::string line = TRY(Line(left));
    if (line.empty()) return Ok();
    if (line.size() + 2 > left) return Broken("line too long");
    left -= line.size() + 2;
    std::string_view text = line;
    size_t colon = text.find(':');
    // A line that begins with white space would go on with the one before it.
    if (colon == text.npos || !IsToken(text.substr(0, colon))) return Broken("bad header line");
    if (into != nullptr) into->Add(text.substr(0, colon), Trim(text.substr(colon + 1)));
  }
}

Result<Head> ResponseReader::ReadOneHead() {
  Head head;
  if (!ParseStatusLine(TRY(Line(kMaxLine)), head)) return Broken("answer is not HTTP/1.x");
  TRY(ReadHeaders(&head.headers));
  return head;
}

Result<Head> ResponseReader::ReadHead() {
  for (int interim = 0; interim <= kMaxInterim; ++interim) {
    Head head = TRY(ReadOneHead());
    if (head.status >= 200) return head;
    if (head.status == 101) return Broken("the server switched protocols unasked");
  }
  return Broken("too many interim answers");
}

Status ResponseReader::ReadSized(std::uint64_t size, BodySink& sink) {
  std::uint64_t left = size;
  while (left > 0) {
    std::string_view piece = TRY(Peek());
    if (piece.empty()) return Broken(fmt::format("body cut off after {} of {} bytes", size - left, size));
    piece = piece.substr(0, static_cast<size_t>(std::min<std::uint64_t>(piece.size(), left)));
    TRY(sink.Take(piece));
    Consume(piece.size());
    left -= piece.size();
  }
  return Ok();
}

Status ResponseReader::ReadChunked(BodySink& sink) {
  while (true) {
    auto line = Line(kMaxLine);
    if (!line.ok()) return line.code() == Code::kUnavailable ? line.error().With("body cut off") : line.error();
    std::uint64_t size = 0;
    if (!ParseChunkSize(*line, size)) return Broken("bad chunk in the body");
    if (size == 0) break;
    TRY(ReadSized(size, sink));
    if (!TRY_WITH(Line(kMaxLine), "body cut off").empty()) return Broken("bad chunk in the body");
  }
  TRY_WITH(ReadHeaders(nullptr), "body cut off");
  return Ok();
}

Status ResponseReader::ReadToEnd(BodySink& sink) {
  while (true) {
    std::string_view piece = TRY(Peek());
    if (piece.empty()) return Ok();
    TRY(sink.Take(piece));
    Consume(piece.size());
  }
}

Status ResponseReader::ReadBody(const Framing& framing, BodySink& sink) {
  switch (framing.kind) {
    case Framing::Kind::kNone: return Ok();
    case Framing::Kind::kSized: return ReadSized(framing.size, sink);
    case Framing::Kind::kChunked: return ReadChunked(sink);
    case Framing::Kind::kToEnd: return ReadToEnd(sink);
  }
  return Ok();
}

}  // namespace capi::http
