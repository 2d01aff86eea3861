#include "local/plane/logs.h"

#include <unistd.h>

#include <filesystem>

namespace capi::local {

namespace fs = std::filesystem;

void BoundLogs(const std::string& folder, size_t most) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code failed;
    const fs::path path = it->path();
    if (path.extension() != ".log" || !it->is_regular_file(failed) || it->file_size(failed) <= most || failed) continue;
    // A copy, since the process has the file open. On a full disk there is none, and the file is cut all the same.
    fs::copy_file(path, path.string() + ".old", fs::copy_options::overwrite_existing, failed);
    [[maybe_unused]] int done = truncate(path.c_str(), 0);
  }
}

}  // namespace capi::local
