#include "base/testing/process_status.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/files.h"
#include "base/strings.h"

namespace capi {

Result<size_t> ProcessStatus(int pid, std::string_view name) {
  const std::string path = fmt::format("/proc/{}/status", pid), begin = fmt::format("{}:", name);
  const std::string text = TRY(ReadFile(path));
  for (const std::string& line : Split(text, '\n')) {
    if (!line.starts_with(begin)) continue;
    const std::string_view value = Trim(std::string_view(line).substr(begin.size()));
    size_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc()) return number;
  }
  return Error{Code::kNotFound, fmt::format("{} tells no number for {}", path, name), {}};
}

}  // namespace capi
