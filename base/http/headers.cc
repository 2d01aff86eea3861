#include <algorithm>

#include "base/http/client.h"
#include "base/http/grammar.h"

namespace capi::http {

void Headers::Set(std::string_view name, std::string_view value) {
  Remove(name);
  Add(name, value);
}

void Headers::Add(std::string_view name, std::string_view value) { items_.emplace_back(name, value); }

void Headers::Remove(std::string_view name) {
  std::erase_if(items_, [&](const auto& item) { return SameName(item.first, name); });
}

std::string Headers::Get(std::string_view name) const {
  for (const auto& [key, value] : items_)
    if (SameName(key, name)) return value;
  return "";
}

bool Headers::Has(std::string_view name) const {
  return std::any_of(items_.begin(), items_.end(), [&](const auto& item) { return SameName(item.first, name); });
}

}  // namespace capi::http
