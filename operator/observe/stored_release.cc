#include "operator/observe/stored_release.h"

#include <vector>

#include "api/release_maps.h"
#include "base/strings.h"

namespace capi::ops {

std::map<std::string, std::string> ReleaseLabels(const api::ProviderId& id, const std::string& version) {
  std::map<std::string, std::string> labels = api::ReleaseSelector(id);
  labels[std::string(api::kLabelManagedBy)] = "true";
  if (!version.empty()) labels[std::string(api::kLabelReleaseVersion)] = api::ReleaseVersionLabel(version);
  return labels;
}

std::string SelectorOf(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) parts.push_back(key + "=" + value);
  return Join(parts, ",");
}

StoredRelease Describe(const kube::Object& map) {
  StoredRelease release{
      map.ns(), map.name(), map.label(api::kLabelReleaseVersion), {}, map.uid() + "/" + map.resource_version()};
  if (release.version_text.empty()) release.version_text = map.name();
  auto version = api::Version::Parse(ReplaceAll(release.version_text, "_", "+"));
  if (version.ok()) release.version = *version;
  return release;
}

}  // namespace capi::ops
