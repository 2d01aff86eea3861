#include "api/stored_release.h"

#include <vector>

#include "api/release_maps.h"
#include "api/validate/git_reference.h"
#include "api/validate/oci_reference.h"
#include "base/strings.h"

namespace capi::api {

std::map<std::string, std::string> ReleaseLabels(const ProviderId& id, const std::string& version) {
  std::map<std::string, std::string> labels = ReleaseSelector(id);
  labels[std::string(kLabelManagedBy)] = "true";
  if (!version.empty()) labels[std::string(kLabelReleaseVersion)] = ReleaseVersionLabel(version);
  return labels;
}

std::map<std::string, std::string> LabelsToBeFoundBy(const Provider& provider, const std::string& version) {
  auto labels = ReleaseLabels(provider.id, version);
  const auto& fetch = provider.spec.fetch_config;
  if (!fetch || !fetch->selector) return labels;
  labels.erase(std::string(kLabelManagedBy));
  const Json* wanted = Find(*fetch->selector, {"matchLabels"});
  if (wanted == nullptr || !wanted->is_object()) return labels;
  for (const auto& [key, value] : wanted->items()) {
    if (value.is_string()) labels.emplace(key, value.get<std::string>());
  }
  return labels;
}

std::string SelectorOf(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) parts.push_back(key + "=" + value);
  return Join(parts, ",");
}

StoredRelease ReadStoredRelease(const kube::Object& map) {
  StoredRelease release{
      map.ns(), map.name(), map.label(kLabelReleaseVersion), {}, map.uid() + "/" + map.resource_version()};
  if (release.version_text.empty()) release.version_text = map.name();
  release.source = map.annotation(kLabelReleaseSource);
  release.fetched = map.has_label(kLabelManagedBy);
  auto version = Version::Parse(ReplaceAll(release.version_text, "_", "+"));
  if (version.ok()) release.version = *version;
  return release;
}

bool IsOfItsSource(const StoredRelease& stored, const Provider& provider) {
  const auto& fetch = provider.spec.fetch_config;
  if (!stored.fetched || !stored.version || !fetch) return true;
  if (fetch->git) {
    auto named = ParseGitReference(*fetch->git);
    return named.ok() && stored.source == named->ToString() + " " + stored.version->ToString();
  }
  if (fetch->oci.empty()) return true;
  auto named = ParseOciReference(fetch->oci);
  return named.ok() && stored.source == named->ToString() + " " + stored.version->ToString();
}

}  // namespace capi::api
