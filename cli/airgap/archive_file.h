// Archives on disk that are larger than memory, read at any place.
#pragma once

#include <string>

#include "base/result.h"
#include "fetch/archives/tar.h"

namespace capi::cli {

// Of a file, which stays open as long as a copy is there. kNotFound where there is none.
Result<fetch::ByteSource> OpenSource(const std::string& path);

}  // namespace capi::cli
