// What a release's text must not be, told by its first bytes.
#pragma once

#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// True for a web page: what a proxy's login or an error page sends in place of a file.
bool LooksLikeHtml(std::string_view text);

// kInvalidArgument for text with nothing but white space, comments and "---", for a web page, and for invalid UTF-8.
// `what` names the file in the message.
Status CheckText(std::string_view text, std::string_view what);

}  // namespace capi::fetch
