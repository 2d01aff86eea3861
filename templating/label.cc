#include "templating/label.h"

#include "api/kinds.h"

namespace capi::templating {

void AddLabels(std::vector<kube::Object>& objects, std::string_view manifest_label) {
  for (kube::Object& object : objects) {
    object.set_label(api::kLabelClusterctl, "");
    object.set_label(api::kLabelProvider, manifest_label);
  }
}

}  // namespace capi::templating
