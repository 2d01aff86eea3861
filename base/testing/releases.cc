#include "base/testing/releases.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/testing/environment.h"
#include "base/testing/value_or_abort.h"

namespace capi {
namespace {

struct SetInfo {
  std::string_view name;  // in CAPI_RELEASES
  ReleaseSet set;
  const char* variable;  // names the folder; null where `folder` does
  std::string_view folder;
};

constexpr SetInfo kSets[] = {
    {"", ReleaseSet::kTree, nullptr, "testdata/releases"},  // tests run in the tree's root
    {"built", ReleaseSet::kBuilt, "CAPI_ASSETS_RELEASES", ""},
    {"vendors", ReleaseSet::kVendors, "RELEASES_DIR", ""},
};

Result<SetInfo> FindSet() {
  std::string name = EnvironmentVariable("CAPI_RELEASES");
  for (const SetInfo& info : kSets) {
    if (info.name == name) return info;
  }
  return Error{Code::kInvalidArgument, name + " is no set: built or vendors", {}};
}

SetInfo GetSet() { return ValueOrAbort(FindSet(), "CAPI_RELEASES"); }

}  // namespace

ReleaseSet GetReleaseSet() { return GetSet().set; }

std::string ReleasesDir() {
  SetInfo set = GetSet();
  std::string folder = set.variable != nullptr ? EnvironmentVariable(set.variable) : std::string(set.folder);
  return folder.empty() ? "" : std::filesystem::absolute(folder).string();
}

std::string MissingReleases(std::initializer_list<std::string_view> ids) {
  std::string folder = ReleasesDir();
  if (folder.empty()) return fmt::format("{} isn't set", GetSet().variable);
  std::string missing;
  for (std::string_view id : ids) {
    if (!std::filesystem::is_directory(fmt::format("{}/{}", folder, id))) missing += fmt::format(" {}", id);
  }
  return missing.empty() ? "" : fmt::format("the set of releases lacks{}", missing);
}

}  // namespace capi
