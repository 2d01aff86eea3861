// One render at a time, so that the peak of memory doesn't grow with the workers.
#pragma once

#include <condition_variable>
#include <memory>

#include "base/context.h"
#include "base/mutex.h"

namespace capi::ops {

// Thread-safe; outlives the turns that it gave.
class RenderTurns {
 public:
  // Ends with the last copy of it.
  using Turn = std::shared_ptr<void>;
  // Blocks until nobody else has the turn; kCancelled or kDeadlineExceeded when the context ends before.
  Result<Turn> Take(const Context& ctx);

 private:
  Mutex mu_;
  std::condition_variable_any free_;
  bool taken_ CAPI_GUARDED_BY(mu_) = false;
};

}  // namespace capi::ops
