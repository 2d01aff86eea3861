// The version of this build.
#pragma once

#include <string_view>

namespace capi {

#ifdef CAPI_VERSION
inline constexpr std::string_view kProjectVersion = CAPI_VERSION;
#else
inline constexpr std::string_view kProjectVersion = "v0.1.0";
#endif

}  // namespace capi
