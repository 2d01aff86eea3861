// Reads a request from its bytes as they come, strictly: what two readers could understand in two ways is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/http/server/server.h"

namespace capi::http {

// Thread-compatible. No more than the limits is kept, whatever comes.
class RequestReader {
 public:
  explicit RequestReader(const ServerLimits& limits) : limits_(limits), head_left_(limits.head) {}

  // Takes what belongs to this request from the front of `bytes`, and says how many that were; none any more once the
  // request is whole or refused.
  size_t Take(std::string_view bytes);

  bool whole() const { return at_ == At::kWhole; }
  // The status to refuse it with, and why; 0 while there is nothing against it. The connection can't be used further.
  int refusal() const { return refusal_; }
  const std::string& why() const { return why_; }

  bool in_body() const { return at_ > At::kHeader && at_ < At::kWhole; }
  bool keep_alive() const { return keep_alive_; }
  // True once, when the client waits for "100 Continue" before it sends the body.
  bool TakeContinue();
  // The memory that it takes up, about.
  size_t held() const { return limits_.head - head_left_ + line_.capacity() + request_.body.capacity(); }

  ServerRequest& request() { return request_; }
  // Forgets this request; the next one may come.
  void Restart();

 private:
  // In the order of a request.
  enum class At { kRequestLine, kHeader, kSizedBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kWhole, kRefused };

  size_t TakeLine(std::string_view bytes);
  size_t TakeBody(std::string_view bytes);
  size_t LongestLine() const;
  void EndLine(std::string_view line);
  void ReadRequestLine(std::string_view line);
  void ReadHeader(std::string_view line);
  void EndHead();
  void BeginSizedBody(const std::string& length);
  void ReadChunkSize(std::string_view line);
  void Refuse(int status, std::string why);

  ServerLimits limits_;
  At at_ = At::kRequestLine;
  size_t head_left_;  // bytes that request line, headers and trailers may still have
  size_t header_lines_ = 0;
  std::string line_;        // as far as it has come
  std::uint64_t left_ = 0;  // bytes of the body, or of this chunk
  size_t framing_ = 0;      // bytes of chunked coding that are no body
  bool http_1_0_ = false, keep_alive_ = true, continue_ = false;
  int refusal_ = 0;
  std::string why_;
  ServerRequest request_;
};

}  // namespace capi::http
