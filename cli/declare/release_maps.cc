#include "cli/declare/release_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/release_choice.h"
#include "api/stored_release.h"
#include "base/strings.h"
#include "fetch/repository.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

// A ConfigMap of the files, and what it is as a release. A value.
struct FileMap {
  const kube::Object* map = nullptr;
  api::StoredRelease stored;
};

// Null for none.
const kube::Object* MapThatCounts(const std::vector<FileMap>& maps, const api::Provider& provider,
                                  const std::string& version) {
  std::vector<api::StoredRelease> stored;
  for (const FileMap& one : maps) stored.push_back(one.stored);
  const api::StoredRelease* counts = api::ReleaseThatCounts(stored, provider, version);
  if (counts == nullptr) return nullptr;
  auto it = std::find_if(maps.begin(), maps.end(), [&](const FileMap& one) {
    return one.stored.ns == counts->ns && one.stored.name == counts->name && one.stored.version == counts->version;
  });
  return it->map;
}

// The metadata of releases in files, for the choice among them. Thread-compatible.
class MetadataInFiles : public fetch::Repository {
 public:
  MetadataInFiles(const std::vector<FileMap>& maps, const api::Provider& provider) : maps_(maps), provider_(provider) {}

  std::string Describe() const override {
    return "the ConfigMaps of these files that spec.fetchConfig.selector selects";
  }
  bool IsLocal() const override { return true; }
  std::string ComponentsFile() const override { return "components"; }

  Result<std::vector<api::Version>> Versions(const Context&) override {
    std::vector<api::Version> out;
    for (const FileMap& one : maps_) out.push_back(*one.stored.version);
    std::sort(out.begin(), out.end());
    return out;
  }

  Result<std::string> File(const Context&, const api::Version& version, std::string_view name) override {
    const kube::Object* map = MapThatCounts(maps_, provider_, version.ToString());
    const Json* text = map != nullptr && name == "metadata.yaml" ? Find(map->json(), {"data", "metadata"}) : nullptr;
    if (text != nullptr && text->is_string()) return text->get<std::string>();
    return Error{Code::kNotFound, fmt::format("{} {} has no {}", Describe(), version.ToString(), name), {}};
  }

 private:
  const std::vector<FileMap>& maps_;
  const api::Provider& provider_;
};

}  // namespace

Result<const kube::Object*> SelectRelease(const Context& ctx, std::vector<const kube::Object*> maps,
                                          const api::Provider& provider, const std::vector<std::string>& contracts) {
  // As the API server lists them.
  std::stable_sort(maps.begin(), maps.end(), [](const auto* a, const auto* b) { return a->name() < b->name(); });
  auto wanted = TRY(kube::LabelSelector::FromJson(*provider.spec.fetch_config->selector));
  std::vector<std::string> there;
  std::vector<FileMap> selected;
  for (const kube::Object* map : maps) {
    const Json* labels = Find(map->json(), {"metadata", "labels"});
    FileMap one{map, api::ReadStoredRelease(*map)};
    if (!one.stored.version || !wanted.Matches(labels == nullptr ? Json() : *labels)) continue;
    there.push_back(one.stored.version->ToString());
    selected.push_back(std::move(one));
  }
  std::string version = provider.spec.version;
  if (version.empty() && !selected.empty()) {
    MetadataInFiles repository(selected, provider);
    auto newest = fetch::LatestVersion(ctx, repository, contracts);
    // They are there, and the operator takes none of them: that is no release which nobody can see from here.
    if (!newest.ok()) return Error{Code::kInvalidArgument, newest.error().message, {}};
    version = newest->ToString();
  }
  if (const kube::Object* map = MapThatCounts(selected, provider, version)) return map;
  return Error{
      Code::kNotFound,
      fmt::format("no ConfigMap that the selector {} selects has version {} (versions there: {})", wanted.ToString(),
                  version.empty() ? "of any kind" : version, there.empty() ? "none" : JoinNames(there, 10)),
      {}};
}

}  // namespace capi::cli
