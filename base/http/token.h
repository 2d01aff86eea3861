// What HTTP calls a token: a method, a header's name.
#pragma once

#include <string_view>

namespace capi::http {

bool IsToken(std::string_view text);

}  // namespace capi::http
