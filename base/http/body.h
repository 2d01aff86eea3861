// Where the bytes of an answer's body go: unpacked where they are packed, to the caller's function or into a string.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/http/client.h"
#include "base/result.h"

namespace capi::http {

// Thread-compatible.
class BodySink {
 public:
  // `on_data` may be null: then the body is collected, up to `max_body` bytes.
  BodySink(bool gzip, const std::function<Status(std::string_view)>* on_data, size_t max_body);
  ~BodySink();
  BodySink(const BodySink&) = delete;
  BodySink& operator=(const BodySink&) = delete;

  Status Take(std::string_view piece);
  // kUnavailable when packed data ends too early. Call once, at the end of the body.
  Status Finish();
  std::string& collected() { return collected_; }
  bool refused() const { return refused_; }  // the caller's function returned an error

 private:
  class Inflater;
  Status Pass(std::string_view piece);
  std::unique_ptr<Inflater> inflater_;
  const std::function<Status(std::string_view)>* on_data_;
  size_t max_body_;
  std::string collected_;
  bool refused_ = false;
};

}  // namespace capi::http
