#include "cli/frame/lookup.h"

namespace capi::cli {

std::optional<std::string> Lookup::Get(const std::string& name) {
  if (auto flag = flags_.find(name); flag != flags_.end()) return flag->second;
  auto value = config_.Get(name);
  if (value.ok()) return *value;
  if (!error_) error_ = value.error();
  return "";
}

}  // namespace capi::cli
