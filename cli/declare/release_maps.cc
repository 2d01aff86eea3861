#include "cli/declare/release_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "api/release_choice.h"
#include "api/stored_release.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

bool IsNewer(const api::Version& a, const api::Version& b) {
  return a.prerelease.empty() != b.prerelease.empty() ? a.prerelease.empty() : a > b;
}

}  // namespace

Result<const kube::Object*> SelectRelease(std::vector<const kube::Object*> maps, const api::Provider& provider) {
  // As the API server lists them.
  std::stable_sort(maps.begin(), maps.end(), [](const auto* a, const auto* b) { return a->name() < b->name(); });
  auto wanted = TRY(kube::LabelSelector::FromJson(*provider.spec.fetch_config->selector));
  std::vector<std::string> there;
  std::vector<const kube::Object*> selected;
  std::vector<api::StoredRelease> stored;  // of these
  const std::string& version = provider.spec.version;
  std::optional<api::Version> newest;
  for (const kube::Object* map : maps) {
    const Json* labels = Find(map->json(), {"metadata", "labels"});
    api::StoredRelease one = api::ReadStoredRelease(*map);
    if (!one.version || !wanted.Matches(labels == nullptr ? Json() : *labels)) continue;
    there.push_back(one.version->ToString());
    if (!newest || IsNewer(*one.version, *newest)) newest = one.version;
    selected.push_back(map);
    stored.push_back(std::move(one));
  }
  const std::string asked = version.empty() && newest ? newest->ToString() : version;
  const api::StoredRelease* counts = api::ReleaseThatCounts(stored, provider, asked);
  if (counts != nullptr) return selected[static_cast<size_t>(counts - stored.data())];
  return Error{
      Code::kNotFound,
      fmt::format("no ConfigMap that the selector {} selects has version {} (versions there: {})", wanted.ToString(),
                  version.empty() ? "of any kind" : version, there.empty() ? "none" : JoinNames(there, 10)),
      {}};
}

}  // namespace capi::cli
