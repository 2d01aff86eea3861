// What a private key of ssh says of itself, before it is unlocked.
#pragma once

#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// Whether a private key may be read. How long it takes to unlock it stands in the key itself, and nothing ends it
// before: so a locked one has to be of OpenSSH's own format, with 256 rounds at most (ssh-keygen makes 16 to 24). Nor
// may it be longer than any key is.
// kInvalidArgument: "is ...", which shows nothing of it.
Status CheckPrivateKey(std::string_view key);

}  // namespace capi::fetch
