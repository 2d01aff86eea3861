// How a release lies in the cluster: the name and labels of its ConfigMap, and what these tell (behaviour.md I6, I14).
//
// Format: docs/formats.md, "Release ConfigMap". Reading and writing: act/install/release_store.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/types.h"
#include "kube/meta/object.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// "infrastructure-aws-v2.0.2".
std::string ReleaseName(api::ProviderType type, std::string_view name, const api::Version& version);
// Labels of a release that the operator stored: type, name, managed-by; with the version when one is given.
std::map<std::string, std::string> ReleaseLabels(const api::ProviderId& id, const std::string& version = "");
std::string SelectorOf(const std::map<std::string, std::string>& labels);

// From the ConfigMap's metadata. Version: the label, else the name.
StoredRelease Describe(const kube::Object& config_map);

}  // namespace capi::ops
