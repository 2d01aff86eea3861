#include "cli/declare/release_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/kinds.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

constexpr std::string_view kParts = "operator.cluster.x-k8s.io/parts";
constexpr std::string_view kPartsDigest = "operator.cluster.x-k8s.io/parts-digest";
constexpr size_t kMostParts = 64;

std::string Where(const kube::Object& map) { return fmt::format("ConfigMap {}/{}", map.ns(), map.name()); }

Error Bad(const kube::Object& map, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{} {}", Where(map), what), {}};
}

Result<std::string> Binary(const kube::Object& map) {
  const Json* binary = Find(map.json(), {"binaryData", "components"});
  if (binary == nullptr || !binary->is_string()) return Bad(map, "has no components under binaryData");
  return TRY_WITH(Base64Decode(binary->get_ref<const std::string&>()), Where(map));
}

Result<std::string> Packed(const kube::Object& map, const FindConfigMap& find) {
  std::string packed = TRY(Binary(map));
  const std::string parts = map.annotation(kParts), digest = map.annotation(kPartsDigest);
  size_t count = 1;
  if (!parts.empty()) std::from_chars(parts.data(), parts.data() + parts.size(), count);
  if (count > kMostParts) return Bad(map, fmt::format("has more than {} parts", kMostParts));
  for (size_t i = 2; i <= count; ++i) {
    std::string between = digest.empty() ? "" : "-" + digest;
    kube::Object part = TRY_WITH(find(fmt::format("{}{}-part-{}", map.name(), between, i)), Where(map));
    packed += TRY(Binary(part));
    if (packed.size() > api::kMaxReleaseBytes) return Bad(map, "and its parts are too large");
  }
  return packed;
}

Result<std::string> Components(const kube::Object& map, const FindConfigMap& find) {
  if (map.annotation(api::kAnnotationCompressed) == "true") {
    std::string packed = TRY(Packed(map, find));
    return TRY_WITH(Gunzip(packed, api::kMaxReleaseBytes), Where(map));
  }
  const Json* plain = Find(map.json(), {"data", "components"});
  if (plain == nullptr || !plain->is_string()) return Bad(map, "has no components under data");
  return plain->get<std::string>();
}

bool IsNewer(const api::Version& a, const api::Version& b) {
  return a.prerelease.empty() != b.prerelease.empty() ? a.prerelease.empty() : a > b;
}

}  // namespace

std::optional<api::Version> VersionOfMap(const kube::Object& map) {
  std::string text = map.label(api::kLabelReleaseVersion);
  if (text.empty()) text = map.name();
  auto version = api::Version::Parse(ReplaceAll(text, "_", "+"));
  return version.ok() ? std::optional(*version) : std::nullopt;
}

Result<const kube::Object*> SelectRelease(const std::vector<const kube::Object*>& maps, const Json& selector,
                                          const std::string& version) {
  auto wanted = TRY(kube::LabelSelector::FromJson(selector));
  std::vector<std::string> there;
  const kube::Object* found = nullptr;
  for (const kube::Object* map : maps) {
    const Json* labels = Find(map->json(), {"metadata", "labels"});
    auto has = VersionOfMap(*map);
    if (!has || !wanted.Matches(labels == nullptr ? Json() : *labels)) continue;
    there.push_back(has->ToString());
    bool fits = version.empty() ? found == nullptr || IsNewer(*has, *VersionOfMap(*found))
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

Result<api::Release> ReadReleaseMap(const kube::Object& map, const FindConfigMap& find) {
  api::Release release;
  auto version = VersionOfMap(map);
  if (!version) return Bad(map, "has no version, neither as its label nor as its name");
  release.version = *version;
  const Json* metadata = Find(map.json(), {"data", "metadata"});
  if (metadata == nullptr || !metadata->is_string()) return Bad(map, "has no metadata under data");
  release.metadata = metadata->get<std::string>();
  release.components = TRY(Components(map, find));
  if (Trim(release.components).empty()) return Bad(map, "has empty components");
  release.source = Where(map);
  return release;
}

}  // namespace capi::cli
