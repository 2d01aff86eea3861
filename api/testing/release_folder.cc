#include "api/testing/release_folder.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/files.h"
#include "base/testing/value_or_abort.h"

namespace capi::api {

std::string ReleaseFolder::Text(std::string_view file) const {
  return ValueOrAbort(ReadFile(path + "/" + std::string(file)), Id());
}

std::vector<std::string> ReleaseFolder::ComponentsFiles() const {
  std::vector<std::string> files = ValueOrAbort(ListDir(path), Id());
  // Beside them lie metadata.yaml, templates of clusters, and whatever else a vendor publishes.
  std::erase_if(
      files, [](const std::string& file) { return file.find("-components") == file.npos || !file.ends_with(".yaml"); });
  // "infrastructure-components-supervisor.yaml" is a variant: the plain one has the shortest name.
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return files;
}

std::string ReleaseFolder::Components() const {
  std::vector<std::string> files = ComponentsFiles();
  return files.empty() ? "" : Text(files.front());
}

ReleaseFolder GetRelease(std::string_view label, std::string_view version) {
  ReleaseFolder release;
  release.version = version;
  release.path = fmt::format("{}/{}/{}", ReleasesDir(), label, version);
  release.name = label;
  for (const auto& kind : kProviderKinds) {
    if (!kind.label_prefix.empty() && label.starts_with(kind.label_prefix)) {
      release.type = kind.type;
      release.name = label.substr(kind.label_prefix.size());
    }
  }
  return release;
}

std::vector<ReleaseFolder> AllReleases() {
  std::vector<ReleaseFolder> releases;
  for (const auto& label : ValueOrAbort(ListDir(ReleasesDir()), "the set of releases")) {
    if (label == "cert-manager" || label.find('.') != label.npos) continue;
    for (const auto& version : ValueOrAbort(ListDir(ReleasesDir() + "/" + label), label)) {
      releases.push_back(GetRelease(label, version));
    }
  }
  return releases;
}

}  // namespace capi::api
