// Why an installation doesn't go on, as condition ProviderInstalled has it.
#pragma once

#include <string>
#include <string_view>

#include "api/reasons.h"
#include "operator/decide/hold.h"

namespace capi::ops {

// Something of the release or the declaration is wrong, or a source is away. `why`: a reason of api/reasons.h.
inline Hold NotInstalled(std::string_view why, const Error& error) {
  return HoldFor(std::string(api::condition::kProviderInstalled), std::string(why), error);
}

// The API server said no, or nothing.
inline Hold NotAccepted(std::string_view why, const Error& error) {
  return ServerHold(std::string(api::condition::kProviderInstalled), std::string(why), error);
}

// What was read from the API server: its refusal, or a fault of what it gave, which a change of that ends.
inline Hold NotRead(std::string_view why, const Error& error) {
  return error.code == Code::kInvalidArgument ? NotInstalled(why, error) : NotAccepted(why, error);
}

}  // namespace capi::ops
