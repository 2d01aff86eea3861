// What a git server says that a repository has, over HTTP: in one answer, which counts against no limit of an API's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::fetch {

// Of an answer that has them; another one is a page, or of a server that speaks git's older protocol.
inline constexpr std::string_view kGitRefsType = "application/x-git-upload-pack-advertisement";

// Names of the tags in an answer to GET {repository}/info/refs?service=git-upload-pack. kInvalidArgument for what isn't
// one, or is cut off.
Result<std::vector<std::string>> ReadTags(std::string_view answer);

}  // namespace capi::fetch
