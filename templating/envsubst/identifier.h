// Names of variables: letters, digits and '_' of any script.
#pragma once

#include <string_view>

namespace capi::templating {

// Bytes of the longest name that `text` begins with; 0 when it begins with none.
size_t IdentifierLength(std::string_view text);

}  // namespace capi::templating
