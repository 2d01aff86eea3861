// A port of loopback that stays its owner's also while nobody listens on it.
#pragma once

#include "base/result.h"

namespace capi {

// Bound, but never listening: it is chosen for nobody else, and a process of ours may listen beside it (SO_REUSEPORT),
// again and again. Thread-compatible.
class ReservedPort {
 public:
  // `wanted`, where nobody has it, else one that is free. kUnavailable where there is none.
  static Result<ReservedPort> Take(int wanted = 0);
  ReservedPort(ReservedPort&& other) noexcept;
  ReservedPort& operator=(ReservedPort&& other) noexcept;
  ~ReservedPort();

  int number() const { return number_; }

 private:
  ReservedPort(int fd, int number) : fd_(fd), number_(number) {}

  int fd_;
  int number_;
};

}  // namespace capi
