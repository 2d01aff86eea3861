// What a registry and its token server answer beside manifests. Of each answer only what is asked for is kept, as it is
// read (F2).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// The tags of a page, one after the other. kInvalidArgument for what is no page; some may have been visited by then.
Status ReadTags(std::string_view page, const std::function<void(const std::string& tag)>& visit);

// The registry's own word for what is wrong, "MANIFEST_UNKNOWN"; "" for none. Its message isn't shown: it may say
// anything.
std::string ErrorCodeIn(std::string_view body);

// "" for none.
std::string TokenIn(std::string_view body);

}  // namespace capi::fetch
