// How a release lies in the cluster: the operator's own labels of its ConfigMap, and what labels and names tell
// (behaviour.md I6, I14).
//
// Format: api/release_maps.h. Reading and writing: act/install/release_store.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/types.h"
#include "kube/meta/object.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Labels of a release that the operator stored: type, name, managed-by; with the version when one is given.
std::map<std::string, std::string> ReleaseLabels(const api::ProviderId& id, const std::string& version = "");
std::string SelectorOf(const std::map<std::string, std::string>& labels);

// From the ConfigMap's metadata. Version: the label, else the name.
StoredRelease Describe(const kube::Object& config_map);

}  // namespace capi::ops
