#include "kube/meta/packed_json.h"

namespace capi::kube {

PackedJson::PackedJson(const Json& value) {
  if (value.is_null()) return;
  std::string text = ToJsonText(value);
  text.shrink_to_fit();  // it grew by doubling
  text_ = std::make_shared<const std::string>(std::move(text));
}

Json PackedJson::Unpack() const { return text_ == nullptr ? Json() : Json::parse(*text_); }

}  // namespace capi::kube
