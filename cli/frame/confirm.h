// A question before what can't be taken back easily.
#pragma once

#include <string_view>

#include "cli/frame/world.h"

namespace capi::cli {

// Ok where the person says yes; kCancelled for any other answer. Where nobody can be asked, since standard input is no
// terminal, kInvalidArgument names the flag --yes.
Status Confirm(std::string_view question, World& world);

}  // namespace capi::cli
