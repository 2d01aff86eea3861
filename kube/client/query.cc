#include "kube/client/query.h"

#include "base/encoding.h"

namespace capi::kube {

void Query::Add(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  if (!text_.empty()) text_ += '&';
  text_ += std::string(key) + "=" + PercentEscape(value);
}

}  // namespace capi::kube
