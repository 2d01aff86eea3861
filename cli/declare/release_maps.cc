#include "cli/declare/release_maps.h"

#include <fmt/format.h>

#include "api/stored_release.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

bool IsNewer(const api::Version& a, const api::Version& b) {
  return a.prerelease.empty() != b.prerelease.empty() ? a.prerelease.empty() : a > b;
}

}  // namespace

Result<const kube::Object*> SelectRelease(const std::vector<const kube::Object*>& maps, const Json& selector,
                                          const std::string& version) {
  auto wanted = TRY(kube::LabelSelector::FromJson(selector));
  std::vector<std::string> there;
  const kube::Object* found = nullptr;
  for (const kube::Object* map : maps) {
    const Json* labels = Find(map->json(), {"metadata", "labels"});
    auto has = api::ReadStoredRelease(*map).version;
    if (!has || !wanted.Matches(labels == nullptr ? Json() : *labels)) continue;
    there.push_back(has->ToString());
    bool fits = version.empty() ? found == nullptr || IsNewer(*has, *api::ReadStoredRelease(*found).version)
                                : api::SameVersion(has->ToString(), version);
    if (fits) found = map;
  }
  if (found != nullptr) return found;
  return Error{
      Code::kNotFound,
      fmt::format("no ConfigMap that the selector {} selects has version {} (versions there: {})", wanted.ToString(),
                  version.empty() ? "of any kind" : version, there.empty() ? "none" : JoinNames(there, 10)),
      {}};
}

}  // namespace capi::cli
