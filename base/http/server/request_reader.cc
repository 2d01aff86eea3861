#include "base/http/server/request_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/http/grammar.h"
#include "base/strings.h"

namespace capi::http {
namespace {

// A chunk's size with its extensions, which nobody sends.
constexpr size_t kMaxChunkLine = 256;
// What chunked coding may add to each byte of a body: enough for chunks of one byte, each with its size and line ends.
constexpr size_t kFramingPerByte = 16;

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

}  // namespace

size_t RequestReader::Take(std::string_view bytes) {
  size_t size = bytes.size();
  while (!bytes.empty() && at_ < At::kWhole) {
    bool in_data = at_ == At::kSizedBody || at_ == At::kChunk;
    bytes.remove_prefix(in_data ? TakeBody(bytes) : TakeLine(bytes));
  }
  return size - bytes.size();
}

void RequestReader::Restart() { *this = RequestReader(limits_); }

bool RequestReader::TakeContinue() { return std::exchange(continue_, false) && in_body(); }

size_t RequestReader::TakeBody(std::string_view bytes) {
  size_t size = static_cast<size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  request_.body.append(bytes.substr(0, size));
  left_ -= size;
  if (left_ == 0) at_ = at_ == At::kChunk ? At::kChunkEnd : At::kWhole;
  return size;
}

size_t RequestReader::LongestLine() const {
  if (at_ == At::kChunkEnd) return 2;
  return at_ == At::kChunkSize ? kMaxChunkLine : head_left_;
}

size_t RequestReader::TakeLine(std::string_view bytes) {
  size_t newline = bytes.find('\n');
  size_t size = newline == bytes.npos ? bytes.size() : newline + 1;
  if (size > LongestLine() - line_.size()) {
    bool in_chunks = at_ == At::kChunkSize || at_ == At::kChunkEnd;
    Refuse(in_chunks ? 400 : 431, in_chunks ? "bad chunk" : fmt::format("a head of more than {} bytes", limits_.head));
    return size;
  }
  line_.append(bytes.substr(0, size));
  if (newline == bytes.npos) return size;
  std::string line = std::exchange(line_, {});
  if (at_ == At::kChunkSize || at_ == At::kChunkEnd) {
    framing_ += line.size();
  } else {
    head_left_ -= line.size();
  }
  // A lone LF ends a line for some readers and not for others.
  if (!line.ends_with("\r\n")) {
    Refuse(400, "a line doesn't end with CR LF");
  } else {
    EndLine(std::string_view(line).substr(0, line.size() - 2));
  }
  return size;
}

void RequestReader::EndLine(std::string_view line) {
  switch (at_) {
    case At::kRequestLine: return ReadRequestLine(line);
    case At::kHeader: return line.empty() ? EndHead() : ReadHeader(line);
    case At::kChunkSize: return ReadChunkSize(line);
    case At::kChunkEnd:
      at_ = At::kChunkSize;
      if (!line.empty()) Refuse(400, "bad chunk");
      return;
    case At::kTrailer:  // nobody reads trailers
      if (line.empty()) at_ = At::kWhole;
      return;
    default: return;
  }
}

void RequestReader::ReadRequestLine(std::string_view line) {
  size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last) return Refuse(400, "the first line isn't that of a request");
  std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Refuse(version.starts_with("HTTP/") ? 505 : 400, "the first line doesn't end with HTTP/1.1");
  }
  http_1_0_ = version == "HTTP/1.0";
  auto fits = [](char c) { return c > ' ' && c < 0x7f; };
  if (!IsToken(method)) return Refuse(400, "bad method");
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), fits)) return Refuse(400, "bad target");
  size_t query = std::min(target.find('?'), target.size());
  request_.method = method;
  request_.path = target.substr(0, query);
  if (query < target.size()) request_.query = target.substr(query + 1);
  at_ = At::kHeader;
}

// A line that begins with white space would go on with the one before it: it has no name, and is refused as such.
void RequestReader::ReadHeader(std::string_view line) {
  if (++header_lines_ > limits_.header_lines) {
    return Refuse(431, fmt::format("more than {} headers", limits_.header_lines));
  }
  size_t colon = line.find(':');
  if (colon == line.npos || !IsToken(line.substr(0, colon))) return Refuse(400, "bad header");
  std::string_view value = line.substr(colon + 1);
  auto bad = [](char c) { return IsControl(c) && c != '\t'; };
  if (std::any_of(value.begin(), value.end(), bad)) return Refuse(400, "bad header");
  request_.headers.Add(line.substr(0, colon), Trim(value));
}

void RequestReader::EndHead() {
  const Headers& headers = request_.headers;
  size_t hosts = Values(headers, "host").size();
  if (hosts > 1 || (hosts == 0 && !http_1_0_)) return Refuse(400, "there has to be one Host");
  size_t lengths = Values(headers, "content-length").size(), codings = Values(headers, "transfer-encoding").size();
  if (lengths + codings > 1) return Refuse(400, "the body has more than one length");
  std::string expect = ToLower(headers.Get("Expect"));
  if (!expect.empty() && expect != "100-continue") return Refuse(417, "no such expectation can be met");
  continue_ = !expect.empty() && !http_1_0_;
  keep_alive_ = !http_1_0_ && !HasItem(headers, "connection", "close");
  if (lengths > 0) return BeginSizedBody(headers.Get("Content-Length"));
  if (codings == 0) {
    at_ = At::kWhole;
  } else if (http_1_0_) {
    Refuse(400, "HTTP/1.0 has no Transfer-Encoding");
  } else if (ToLower(headers.Get("Transfer-Encoding")) != "chunked") {
    Refuse(501, "of transfer codings there is chunked alone");
  } else {
    at_ = At::kChunkSize;
  }
}

void RequestReader::BeginSizedBody(const std::string& length) {
  if (!ReadNumber(length, 10, left_)) return Refuse(400, "bad Content-Length");
  if (left_ > limits_.body) return Refuse(413, fmt::format("a body of more than {} bytes", limits_.body));
  at_ = left_ > 0 ? At::kSizedBody : At::kWhole;
}

void RequestReader::ReadChunkSize(std::string_view line) {
  std::string_view size = line.substr(0, line.find(';'));
  while (size.ends_with(' ') || size.ends_with('\t')) size.remove_suffix(1);
  if (!ReadNumber(size, 16, left_)) return Refuse(400, "bad chunk");
  if (left_ > limits_.body - request_.body.size()) {
    return Refuse(413, fmt::format("a body of more than {} bytes", limits_.body));
  }
  if (framing_ > limits_.head + kFramingPerByte * request_.body.size()) {
    return Refuse(400, "chunks that hold hardly any data");
  }
  at_ = left_ > 0 ? At::kChunk : At::kTrailer;
}

void RequestReader::Refuse(int status, std::string why) {
  at_ = At::kRefused;
  refusal_ = status;
  why_ = std::move(why);
  line_.clear();
}

}  // namespace capi::http
