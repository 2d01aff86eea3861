// How a move does many things: side by side, again where a failure may pass, and telling of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "cli/frame/world.h"

namespace capi::cli::move {

// Which warnings of API servers aren't told: kSome are those about old versions and names of finalizers, which nobody
// who moves can mend.
enum class Hidden { kSome, kAll, kNone };
// "default", "all" or "none"; kInvalidArgument.
Result<Hidden> ParseHidden(const std::string& text);

// Lines on standard error, from any thread. Thread-safe.
class Progress {
 public:
  Progress(Notes& notes, Hidden hidden) : notes_(notes), hidden_(hidden) {}
  void Say(int level, const std::string& message, Notes::Fields fields = {});
  void Warn(const std::string& message);
  // Each warning once.
  void Tell(const std::vector<std::string>& warnings_of_server);

 private:
  Mutex mu_;
  Notes& notes_ CAPI_GUARDED_BY(mu_);
  const Hidden hidden_;
  std::vector<std::string> told_ CAPI_GUARDED_BY(mu_);
};

// `once`, and again for about 40 seconds where it fails as what passes does (a server that is away, a conflict).
Status Retried(const Context& ctx, const std::function<Status()>& once);

// Retried(`each`) of all these, several at once. After ten failures no other is begun. One error for all of them.
Status ForEach(const Context& ctx, const std::vector<size_t>& which, const std::function<Status(size_t)>& each);
// Of 0 to `count` - 1.
Status ForEach(const Context& ctx, size_t count, const std::function<Status(size_t)>& each);

}  // namespace capi::cli::move
