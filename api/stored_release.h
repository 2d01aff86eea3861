// A release in the cluster: the labels of its ConfigMap, and what labels and names tell (behaviour.md I6, I14). Pure.
//
// Format: api/release_maps.h. Reading and writing: releases/release_store.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/types.h"
#include "api/version.h"
#include "kube/meta/object.h"

namespace capi::api {

// A release that lies in the cluster as a ConfigMap. A value.
struct StoredRelease {
  std::string ns, name;
  std::string version_text;        // of the label, else the ConfigMap's name
  std::optional<Version> version;  // unset when the text is no version
  std::string stamp;               // another one for every content
  std::string source = {};         // Release::source of what the operator fetched
  bool fetched = false;            // and nobody else put there
};

// Labels of a release that the operator stored: type, name, managed-by; with the version when one is given.
std::map<std::string, std::string> ReleaseLabels(const ProviderId& id, const std::string& version = "");
// Labels by which the operator finds a release that somebody else puts there for this provider: type, name and version,
// with those of its selector's matchLabels, which take the place of none of these; without a selector, the operator's
// own.
std::map<std::string, std::string> LabelsToBeFoundBy(const Provider& provider, const std::string& version);
std::string SelectorOf(const std::map<std::string, std::string>& labels);

// From the ConfigMap's metadata. Version: the label, else the name.
StoredRelease ReadStoredRelease(const kube::Object& config_map);

// Whether it is what the provider asks for, as far as its source goes: one that was fetched from elsewhere isn't what
// `fetchConfig.oci` names (behaviour.md T12). What somebody put there is.
bool IsOfItsSource(const StoredRelease& stored, const Provider& provider);

}  // namespace capi::api
