// The digest of bytes that come piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace capi::fetch {

// Thread-compatible.
class RunningDigest {
 public:
  RunningDigest();
  ~RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;

  void Add(std::string_view piece);
  std::string Text();  // "sha256:...", of all so far; call once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capi::fetch
