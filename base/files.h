// Files, read and written whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi {

// kNotFound where there is none; kInvalidArgument for a folder or more than `max_bytes`.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes = 256u << 20);
// Written beside and renamed, so that a reader never sees half of it.
Status WriteFile(const std::string& path, std::string_view content, unsigned mode = 0644);
// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListDir(const std::string& path);

}  // namespace capi
