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

// ConfigMaps of the files, and what each is as a release. A value.
struct FileMaps {
  std::vector<const kube::Object*> maps;
  std::vector<api::StoredRelease> stored;
};

// Null for none.
const kube::Object* MapThatCounts(const FileMaps& files, const api::Provider& provider, const std::string& version) {
  const api::StoredRelease* counts = api::ReleaseThatCounts(files.stored, provider, version);
  return counts == nullptr ? nullptr : files.maps[static_cast<size_t>(counts - files.stored.data())];
}

// The metadata of releases in files, for the choice among them. Thread-compatible.
class MetadataInFiles : public fetch::Repository {
 public:
  MetadataInFiles(const FileMaps& files, const api::Provider& provider) : files_(files), provider_(provider) {}

  std::string Describe() const override {
    return "the ConfigMaps of these files that spec.fetchConfig.selector selects";
  }
  bool IsLocal() const override { return true; }
  std::string ComponentsFile() const override { return "components"; }

  Result<std::vector<api::Version>> Versions(const Context&) override {
    std::vector<api::Version> out;
    for (const api::StoredRelease& one : files_.stored) out.push_back(*one.version);
    std::sort(out.begin(), out.end());
    return out;
  }

  Result<std::string> File(const Context&, const api::Version& version, std::string_view name) override {
    const kube::Object* map = MapThatCounts(files_, provider_, version.ToString());
    const Json* text = map != nullptr && name == "metadata.yaml" ? Find(map->json(), {"data", "metadata"}) : nullptr;
    if (text != nullptr && text->is_string()) return text->get<std::string>();
    return Error{Code::kNotFound, fmt::format("{} {} has no {}", Describe(), version.ToString(), name), {}};
  }

 private:
  const FileMaps& files_;
  const api::Provider& provider_;
};

}  // namespace

Result<const kube::Object*> SelectRelease(const Context& ctx, std::vector<const kube::Object*> maps,
                                          const api::Provider& provider, const std::vector<std::string>& contracts) {
  // As the API server lists them.
  std::stable_sort(maps.begin(), maps.end(), [](const auto* a, const auto* b) { return a->name() < b->name(); });
  auto wanted = TRY(kube::LabelSelector::FromJson(*provider.spec.fetch_config->selector));
  std::vector<std::string> there;
  FileMaps selected;
  for (const kube::Object* map : maps) {
    const Json* labels = Find(map->json(), {"metadata", "labels"});
    api::StoredRelease one = api::ReadStoredRelease(*map);
    if (!one.version || !wanted.Matches(labels == nullptr ? Json() : *labels)) continue;
    there.push_back(one.version->ToString());
    selected.maps.push_back(map);
    selected.stored.push_back(std::move(one));
  }
  std::string version = provider.spec.version;
  if (version.empty() && !selected.stored.empty()) {
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
