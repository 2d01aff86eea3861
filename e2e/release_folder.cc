#include "e2e/release_folder.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "e2e/must.h"

namespace capi::e2e {
namespace {

constexpr std::string_view kTrees = "testdata/releases";  // tests run in the tree's root

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The variable that names the folder of a set.
const char* VariableOf(std::string_view set) {
  if (set == "built") return "CAPI_ASSETS_RELEASES";
  if (set == "vendors") return "RELEASES_DIR";
  return nullptr;
}

}  // namespace

std::string ReleasesDir() {
  std::string set = Variable("CAPI_RELEASES");
  if (set.empty()) return std::filesystem::absolute(kTrees).string();
  const char* variable = VariableOf(set);
  if (variable == nullptr)
    Must(Result<int>(Error{Code::kInvalidArgument, set + " is no set: built or vendors", {}}), "CAPI_RELEASES");
  std::string folder = Variable(variable);
  return folder.empty() ? "" : std::filesystem::absolute(folder).string();
}

std::string MissingReleases(std::initializer_list<std::string_view> ids) {
  std::string folder = ReleasesDir();
  if (folder.empty()) return std::string(VariableOf(Variable("CAPI_RELEASES"))) + " isn't set";
  std::string missing;
  for (std::string_view id : ids) {
    if (!std::filesystem::is_directory(fmt::format("{}/{}", folder, id))) missing += fmt::format(" {}", id);
  }
  return missing.empty() ? "" : fmt::format("the set of releases lacks{}", missing);
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
