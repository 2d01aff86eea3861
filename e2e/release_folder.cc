#include "e2e/release_folder.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/files.h"
#include "e2e/must.h"

namespace capi::e2e {
std::string ReleasesDir() {
  const char* path = std::getenv("RELEASES_DIR");
  return path != nullptr ? path : "";
}

std::string ReleaseFolder::Text(std::string_view file) const {
  return Must(ReadFile(path + "/" + std::string(file)), Id());
}

std::string ReleaseFolder::Components() const {
  // A release may have variants ("infrastructure-components-supervisor.yaml"): the plain one has the shortest name.
  std::string plain;
  for (const auto& file : Must(ListDir(path), Id())) {
    if (file != "metadata.yaml" && (plain.empty() || file.size() < plain.size())) plain = file;
  }
  return plain.empty() ? "" : Text(plain);
}

ReleaseFolder GetRelease(std::string_view label, std::string_view version) {
  ReleaseFolder release;
  release.version = version;
  release.path = fmt::format("{}/{}/{}", ReleasesDir(), label, version);
  release.name = label;
  for (const auto& kind : api::kProviderKinds) {
    if (!kind.label_prefix.empty() && label.starts_with(kind.label_prefix)) {
      release.type = kind.type;
      release.name = label.substr(kind.label_prefix.size());
    }
  }
  return release;
}

std::vector<ReleaseFolder> AllReleases() {
  std::vector<ReleaseFolder> releases;
  for (const auto& label : Must(ListDir(ReleasesDir()), "RELEASES_DIR")) {
    if (label == "cert-manager" || label.find('.') != label.npos) continue;
    for (const auto& version : Must(ListDir(ReleasesDir() + "/" + label), label)) {
      releases.push_back(GetRelease(label, version));
    }
  }
  return releases;
}

}  // namespace capi::e2e
