// SHA-1, by which git names what it keeps.
#pragma once

#include <array>
#include <memory>
#include <string_view>

namespace capi {

using Sha1Digest = std::array<char, 20>;

// Thread-compatible.
class Sha1 {
 public:
  Sha1();
  ~Sha1();
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;

  void Add(std::string_view bytes);
  Sha1Digest Finish();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// RFC 2104.
Sha1Digest HmacSha1(std::string_view key, std::string_view bytes);

}  // namespace capi
