// Archives of files, as much of tar as an image layout needs. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace capi::cli {

// Name and content, in this order. Names have 100 characters at most. The same files give the same bytes.
std::string WriteTar(const std::vector<std::pair<std::string, std::string_view>>& files);

// Its files by their names; folders are left out. kInvalidArgument for an archive that is cut off or goes on behind its
// end, for two entries of one name, for links, devices and extended headers, and for what has a wrong sum. Names are as
// they stand there: whoever wants files has to look. What is returned lives as long as `archive`.
Result<std::map<std::string, std::string_view>> ReadTar(std::string_view archive);

}  // namespace capi::cli
