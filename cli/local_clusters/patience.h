// Calls to a management cluster that may be away for a while.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/result.h"

namespace capi::cli::local_clusters {

// Between two tries.
inline constexpr Millis kAgain = Seconds(1);
// For one request. Without it, one whose connection was lost without a word would be waited for to the end of `ctx`.
inline constexpr Seconds kOneCall{30};

inline Context OneCall(const Context& ctx) { return ctx.WithTimeout(kOneCall); }

// nullopt where it isn't there, which is no error.
template <typename T>
Result<std::optional<T>> IfThere(Result<T> got) {
  if (got.ok()) return std::optional<T>(*std::move(got));
  if (got.code() == Code::kNotFound) return std::optional<T>();
  return got.error();
}

// Hears why something is tried again.
using Say = std::function<void(const Error& error)>;

// What an outage holds back, a webhook that doesn't answer yet, is tried again until `ctx` ends; each try has kOneCall
// at most. `say` hears of each reason once, until it changes. Where `ctx` ends first, the error has the code of that,
// and says why the try before failed.
template <typename T, typename Call>
Result<T> Patiently(const Context& ctx, const Say& say, const Call& call) {
  std::optional<Error> last;
  while (true) {
    Result<T> got = call(OneCall(ctx));
    if (got.ok() || !got.error().Transient()) return got;
    if (Status going = ctx.Check(); !going.ok()) {
      const std::string why = last ? last->message : got.error().message;
      return Error{going.code(), why, {}};
    }
    if (say && (!last || last->message != got.error().message)) say(got.error());
    last = got.error();
    if (!ctx.clock->Sleep(ctx.stop, kAgain)) return Error{Code::kCancelled, last->message, {}};
  }
}

}  // namespace capi::cli::local_clusters
