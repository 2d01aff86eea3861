#include "cli/frame/world.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>

#include "api/text.h"
#include "cli/frame/printable.h"

namespace capi::cli {

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

http::Proxy ProxyFrom(const Getenv& getenv) {
  std::deque<std::string> values;  // they stay where they are while others come
  return http::ProxyFromEnvironment([&](const char* name) -> const char* {
    auto value = getenv(name);
    return value ? values.emplace_back(*std::move(value)).c_str() : nullptr;
  });
}

void Notes::Say(int level, std::string_view message, Fields fields) {
  if (level > verbosity_) return;
  std::string line(message);
  for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, api::GoQuote(value));
  *err_ << Printable(line) << '\n';
}

void Notes::Warn(std::string_view message) { *err_ << "Warning: " << Printable(message) << '\n'; }

}  // namespace capi::cli
