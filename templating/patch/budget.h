// What the patches of one spec may cost, all of them on all objects together (behaviour.md F2): how many there are,
// what they match and what is in the objects is somebody else's to choose.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/result.h"

namespace capi::templating {

// Thread-compatible.
class PatchBudget {
 public:
  static constexpr size_t kMaxAdded = 16u << 20;
  static constexpr size_t kMaxWork = 256u << 20;  // half a second

  // `room`: bytes that the objects may still grow by; never more than kMaxAdded.
  explicit PatchBudget(size_t room = kMaxAdded) : room_(std::min(room, kMaxAdded)) {}

  // `bytes` of memory, about, are put into an object. kInvalidArgument where that is too much.
  Status Add(size_t bytes);

  // `bytes` are copied, compared or looked at. kInvalidArgument where that is too much.
  Status Work(size_t bytes);

 private:
  const size_t room_;
  size_t added_ = 0, work_ = 0;
};

}  // namespace capi::templating
