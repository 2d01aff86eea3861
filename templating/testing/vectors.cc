#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

bool IsZero(const Json& value) { return value == "" || value == 0 || value == false; }

bool IsEmpty(const Json& value) { return value.is_null() || (value.is_structured() && value.empty()); }

}  // namespace

Json WithoutEmpty(Json value) {
  if (!value.is_structured()) return value;
  Json out = value.is_object() ? Json::object() : Json::array();
  for (auto it = value.begin(); it != value.end(); ++it) {
    Json kept = WithoutEmpty(*it);
    if (IsEmpty(kept)) continue;
    if (value.is_object()) {
      out[it.key()] = std::move(kept);
    } else {
      out.push_back(std::move(kept));
    }
  }
  return out;
}

Json WithoutZeroes(Json want, const Json& got) {
  if (want.is_array() && got.is_array()) {
    for (size_t i = 0; i < want.size() && i < got.size(); ++i) want[i] = WithoutZeroes(want[i], got[i]);
  }
  if (!want.is_object()) return want;
  Json out = Json::object();
  for (const auto& [key, value] : want.items()) {
    bool has = got.is_object() && got.contains(key);
    Json kept = WithoutZeroes(value, has ? got[key] : Json());
    if (!has && (IsZero(kept) || IsEmpty(kept))) continue;
    out[key] = std::move(kept);
  }
  return out;
}

}  // namespace capi::templating
