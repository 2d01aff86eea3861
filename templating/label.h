// Fifth step: the labels by which clusterctl and we find a provider's objects again.
#pragma once

#include <string_view>
#include <vector>

#include "kube/meta/object.h"

namespace capi::templating {

// `manifest_label`: "infrastructure-aws". Values that are there already are overwritten.
void AddLabels(std::vector<kube::Object>& objects, std::string_view manifest_label);

}  // namespace capi::templating
