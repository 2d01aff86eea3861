// Work that one at a time does.
#pragma once

#include <condition_variable>
#include <set>
#include <string>
#include <utility>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"

namespace capi::local {

// For each name one at a time, as with a mutex, but that waiting ends with a context. Thread-safe.
class Turns {
 public:
  // Until it goes, which has to be before its Turns do. Moves alone.
  class Turn {
   public:
    Turn(Turns& turns, std::string name) : turns_(&turns), name_(std::move(name)) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), name_(std::move(other.name_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->Leave(name_);
    }

   private:
    Turns* turns_;
    std::string name_;
  };

  // kCancelled and kDeadlineExceeded.
  Result<Turn> Take(const Context& ctx, const std::string& name);

 private:
  void Leave(const std::string& name);

  Mutex mu_;
  std::condition_variable_any left_;
  std::set<std::string> taken_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::local
