// HTTP/1.1 as bytes on a TLS connection: just enough framing for the fault proxy to pass messages on and break them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/testing/tls.h"

namespace capi::kube {

// Thread-compatible.
class WireReader {
 public:
  explicit WireReader(TlsStream& stream) : stream_(stream) {}
  // Called before a read that may block; an error ends the read with it.
  void BeforeBlocking(std::function<Status()> wait) { wait_ = std::move(wait); }

  Result<std::string> Until(std::string_view end);  // with `end`; kUnavailable when the stream ends before it
  Result<std::string> Some(size_t most);            // at least a byte; "" at the end of the stream
  bool at_start() const { return !any_; }           // nothing was read since the last Mark
  void Mark() { any_ = !buffer_.empty(); }

 private:
  Result<bool> Fill();  // false at the end of the stream
  TlsStream& stream_;
  std::function<Status()> wait_;
  std::string buffer_;
  bool any_ = false;
};

// Value of the first such header in `head` (start line, headers, blank line), or "". Names in lower case.
std::string HeaderOf(std::string_view head, std::string_view lower_name);

// What follows a head.
struct Framing {
  enum class Kind { kLength, kChunked, kUntilClose };
  Kind kind = Kind::kLength;
  size_t length = 0;
};
Framing RequestFraming(std::string_view head);
Framing ResponseFraming(std::string_view head, std::string_view request_method);

// Reads a body and hands it on as it came, in pieces; `payload` is false for the marks of chunks.
Status ReadBody(WireReader& reader, const Framing& framing,
                const std::function<Status(std::string_view raw, bool payload)>& sink);

}  // namespace capi::kube
