// An answer out of a stream of bytes: its head, then its body by the framing that the head tells of.
//
// Strict where two readers might disagree about where an answer ends: two lengths, a length beside chunks, a transfer
// encoding other than "chunked", folded header lines, a space before a colon and stray carriage returns are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/http/body.h"
#include "base/http/client.h"
#include "base/result.h"

namespace capi::http {

// Where an answer's bytes come from. Thread-compatible.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte, or 0 at the orderly end.
  virtual Result<size_t> Read(char* into, size_t size) = 0;
};

struct Head {
  int status = 0;
  bool http_1_0 = false;
  Headers headers;
};

struct Framing {
  enum class Kind { kNone, kSized, kChunked, kToEnd } kind = Kind::kNone;
  std::uint64_t size = 0;  // of kSized

  // How the body of the answer to a request of `method` ends.
  static Result<Framing> Of(const Head& head, std::string_view method);
};

// The connection can carry another request once the body has been read.
bool KeepsConnection(const Head& head, const Framing& framing);

// Errors are kUnavailable, but for those of the source and the sink. Thread-compatible.
class ResponseReader {
 public:
  explicit ResponseReader(ByteSource& source) : source_(source) {}

  // Skips interim answers ("100 Continue"), of which there may be a few.
  Result<Head> ReadHead();
  Status ReadBody(const Framing& framing, BodySink& sink);

  bool any() const { return any_; }           // a byte has come
  bool empty() const { return at_ == end_; }  // nothing came that wasn't consumed

 private:
  Result<std::string_view> Peek();
  void Consume(size_t size) { at_ += size; }
  Result<std::string> Line(size_t max);
  Result<Head> ReadOneHead();
  // Header lines up to the empty one; nobody asks for trailers.
  Status ReadHeaders(Headers* into);
  Status ReadSized(std::uint64_t size, BodySink& sink);
  Status ReadChunked(BodySink& sink);
  Status ReadToEnd(BodySink& sink);

  ByteSource& source_;
  std::unique_ptr<char[]> buffer_;
  size_t at_ = 0, end_ = 0;
  bool any_ = false;
};

}  // namespace capi::http
