#include "kube/testing/http_wire.h"

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"

namespace capi::kube {

Result<bool> WireReader::Fill() {
  if (wait_ && !stream_.pending()) TRY(wait_());
  char piece[16 * 1024];
  size_t n = TRY(stream_.Read(piece, sizeof piece));
  buffer_.append(piece, n);
  any_ = any_ || n > 0;
  return n > 0;
}

Result<std::string> WireReader::Until(std::string_view end) {
  size_t found;
  while ((found = buffer_.find(end)) == std::string::npos) {
    bool more = TRY(Fill());
    if (!more) return Error{Code::kUnavailable, "the stream ended", {}};
  }
  std::string out = buffer_.substr(0, found + end.size());
  buffer_.erase(0, out.size());
  return out;
}

Result<std::string> WireReader::Some(size_t most) {
  if (buffer_.empty()) TRY(Fill());
  std::string out = buffer_.substr(0, most);
  buffer_.erase(0, out.size());
  return out;
}

std::string HeaderOf(std::string_view head, std::string_view lower_name) {
  for (const std::string& line : Split(head, '\n')) {
    size_t colon = line.find(':');
    if (colon == std::string::npos || ToLower(line.substr(0, colon)) != lower_name) continue;
    return std::string(Trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

Framing RequestFraming(std::string_view head) {
  if (ToLower(HeaderOf(head, "transfer-encoding")) == "chunked") return {Framing::Kind::kChunked, 0};
  return {Framing::Kind::kLength, std::strtoull(HeaderOf(head, "content-length").c_str(), nullptr, 10)};
}

Framing ResponseFraming(std::string_view head, std::string_view request_method) {
  std::string_view status = head.substr(std::min<size_t>(9, head.size()), 3);
  if (request_method == "HEAD" || status == "204" || status == "304") return {};
  Framing framing = RequestFraming(head);
  if (framing.kind == Framing::Kind::kLength && HeaderOf(head, "content-length").empty()) {
    framing.kind = Framing::Kind::kUntilClose;
  }
  return framing;
}

namespace {

using Sink = std::function<Status(std::string_view, bool)>;

Status ReadExactly(WireReader& reader, size_t size, const Sink& sink) {
  while (size > 0) {
    std::string piece = TRY(reader.Some(size));
    if (piece.empty()) return Error{Code::kUnavailable, "the stream ended", {}};
    size -= piece.size();
    TRY(sink(piece, true));
  }
  return Ok();
}

Status ReadChunks(WireReader& reader, const Sink& sink) {
  for (;;) {
    std::string line = TRY(reader.Until("\r\n"));
    TRY(sink(line, false));
    size_t size = std::strtoull(line.c_str(), nullptr, 16);
    TRY(ReadExactly(reader, size, sink));
    std::string end = TRY(reader.Until("\r\n"));  // trailers are not used by an API server
    TRY(sink(end, false));
    if (size == 0) return Ok();
  }
}

}  // namespace

Status ReadBody(WireReader& reader, const Framing& framing, const Sink& sink) {
  if (framing.kind == Framing::Kind::kLength) return ReadExactly(reader, framing.length, sink);
  if (framing.kind == Framing::Kind::kChunked) return ReadChunks(reader, sink);
  for (;;) {
    std::string piece = TRY(reader.Some(64 * 1024));
    if (piece.empty()) return Ok();
    TRY(sink(piece, true));
  }
}

}  // namespace capi::kube
