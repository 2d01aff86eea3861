#include "releases/release_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "api/release_choice.h"
#include "api/release_maps.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::releases {
namespace {

constexpr size_t kMaxParts = 64;
constexpr int kMostLooks = 5;

const kube::Resource& ConfigMaps() { return kube::Builtin("ConfigMap"); }

std::string Where(std::string_view ns, std::string_view name) { return fmt::format("ConfigMap {}/{}", ns, name); }

Error Bad(const kube::Object& map, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{} {}", Where(map.ns(), map.name()), what), {}};
}

Result<std::string> BinaryComponents(const kube::Object& map) {
  const Json* binary = Find(map.json(), {"binaryData", "components"});
  if (binary == nullptr || !binary->is_string()) return Bad(map, "BinaryData has no components");
  auto bytes = Base64Decode(binary->get_ref<const std::string&>());
  if (!bytes.ok()) return Bad(map, "BinaryData components are " + bytes.error().message);
  return bytes;
}

Result<size_t> PartCount(const kube::Object& map) {
  std::string text = map.annotation(api::kAnnotationParts);
  size_t count = 1;
  if (text.empty()) return count;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > kMaxParts) {
    return Bad(map, fmt::format("has annotation {}: \"{}\", which is no number from 1 to {}", api::kAnnotationParts,
                                text, kMaxParts));
  }
  return count;
}

FindPart InCluster(const Context& ctx, kube::Client& client, const std::string& ns) {
  return [&ctx, &client, ns](const std::string& name) { return client.Get(ctx, ConfigMaps(), ns, name); };
}

// The packed components of all parts, put together.
Result<std::string> Packed(const kube::Object& map, const FindPart& find) {
  std::string packed = TRY(BinaryComponents(map));
  size_t parts = TRY(PartCount(map));
  const std::string digest = map.annotation(api::kAnnotationPartsDigest);
  if (!api::IsReleasePartsDigest(digest))
    return Bad(map, fmt::format("has no digest in annotation {}", api::kAnnotationPartsDigest));
  for (size_t i = 2; i <= parts; ++i) {
    std::string name = api::ReleasePartName(map.name(), digest, i);
    kube::Object part = TRY_WITH(find(name), fmt::format("part {} of {} of {}", i, parts, Where(map.ns(), map.name())));
    packed += TRY(BinaryComponents(part));
    if (packed.size() > api::kMaxReleaseBytes) {
      return Bad(map, fmt::format("and its parts hold more than {} bytes", api::kMaxReleaseBytes));
    }
  }
  if (!digest.empty() && api::ReleasePartsDigest(packed) != digest) {
    return Bad(map, fmt::format("and its parts aren't what annotation {} says", api::kAnnotationPartsDigest));
  }
  return packed;
}

Result<std::string> Components(const kube::Object& map, const FindPart& find) {
  bool compressed = map.annotation(api::kAnnotationCompressed) == "true";
  if (!compressed) {
    const Json* plain = Find(map.json(), {"data", "components"});
    if (plain == nullptr || !plain->is_string()) return Bad(map, "Data has no components");
    return plain->get<std::string>();
  }
  std::string packed = TRY(Packed(map, find));
  auto text = Gunzip(packed, api::kMaxReleaseBytes);
  if (!text.ok()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot decompress data from {}: {}", Where(map.ns(), map.name()), text.error().message),
                 {}};
  }
  return text;
}

// The ConfigMaps of a release, which go with the provider.
std::vector<kube::Object> Pack(const api::Provider& owner, const api::Release& release) {
  auto maps = api::PackRelease(owner.id, release, api::LabelsToBeFoundBy(owner, release.version.ToString()));
  for (kube::Object& map : maps) {
    map.json()["metadata"]["ownerReferences"] =
        Json::array({{{"apiVersion", fmt::format("{}/{}", api::kGroup, api::kVersion)},
                      {"kind", api::KindOf(owner.id.type).kind},
                      {"name", owner.id.name},
                      {"uid", owner.uid}}});
  }
  return maps;
}

Result<kube::Object> Create(const Context& ctx, kube::Client& client, const kube::Object& map) {
  auto created = client.Create(ctx, ConfigMaps(), map, {.field_manager = std::string(api::kFieldManager)});
  if (!created.ok() && created.code() == Code::kAlreadyExists) {
    created = client.Get(ctx, ConfigMaps(), map.ns(), map.name());
  }
  if (!created.ok()) return created.error().With(fmt::format("storing {}", Where(map.ns(), map.name())));
  return created;
}

// In the place of what was looked at, and of nothing that came since: kConflict.
Result<kube::Object> Update(const Context& ctx, kube::Client& client, const kube::Object& live, kube::Object map) {
  map.json()["metadata"]["uid"] = live.uid();
  map.json()["metadata"]["resourceVersion"] = live.resource_version();
  return TRY_WITH(client.Update(ctx, ConfigMaps(), map, {.field_manager = std::string(api::kFieldManager)}),
                  fmt::format("storing {}", Where(map.ns(), map.name())));
}

// All but the first, which goes last: a release is there only when all of its parts are. A part's name says what it
// holds: one that holds something else is damaged.
Status CreateParts(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps) {
  for (size_t i = 1; i < maps.size(); ++i) {
    kube::Object live = TRY(Create(ctx, client, maps[i]));
    auto held = BinaryComponents(live);
    if (!held.ok() || *held != *BinaryComponents(maps[i])) TRY(Update(ctx, client, live, maps[i]));
  }
  return Ok();
}

// Nothing refers to them any more. What is left of them goes with the provider.
void RemoveFormerParts(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps) {
  const kube::Object& first = maps.front();
  auto parts =
      client.List(ctx, ConfigMaps(), first.ns(),
                  {.label_selector = fmt::format("{}={}", api::kLabelPartOf, first.name()), .metadata_only = true});
  if (!parts.ok()) {
    ctx.log.Warn("can't look for former parts of a release", {{"error", parts.error().message}});
    return;
  }
  for (const kube::Object& part : parts->items) {
    bool used = std::any_of(maps.begin(), maps.end(), [&](const auto& map) { return map.name() == part.name(); });
    if (used) continue;
    auto removed = client.Delete(ctx, ConfigMaps(), part.ns(), part.name(), {.uid = part.uid()});
    if (!removed.ok() && removed.code() != Code::kNotFound) {
      ctx.log.Warn("can't remove a former part of a release", {{"error", removed.error().message}});
    }
  }
}

api::Signatures SignaturesIn(const kube::Object& map) {
  api::Signatures out;
  for (const std::string& key : api::SignatureKeys()) {
    const Json* text = Find(map.json(), {"data", key});
    if (text != nullptr && text->is_string()) out[key] = text->get<std::string>();
  }
  return out;
}

// Those of one file. What an artifact was signed with is of both.
api::Signatures OfFile(const api::Signatures& signatures, std::string_view key) {
  api::Signatures out;
  for (const auto& [name, text] : signatures) {
    if (name == api::kArtifactKey || name.starts_with(key)) out[name] = text;
  }
  return out;
}

class StoredReleases : public fetch::Repository {
 public:
  StoredReleases(kube::Client& client, api::Provider provider, std::vector<api::StoredRelease> releases,
                 std::string description)
      : client_(client),
        provider_(std::move(provider)),
        releases_(std::move(releases)),
        description_(std::move(description)) {}

  std::string Describe() const override { return description_; }
  std::string ComponentsFile() const override { return "components"; }

  Result<std::vector<api::Version>> Versions(const Context&) override {
    std::vector<api::Version> versions;
    for (const auto& release : releases_) {
      if (release.version) versions.push_back(*release.version);
    }
    std::sort(versions.begin(), versions.end());
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    const kube::Object map = TRY(MapOf(ctx, version));
    KeepSignatures(version, map);
    if (name != "metadata.yaml") return Components(map, InCluster(ctx, client_, map.ns()));
    const Json* text = Find(map.json(), {"data", "metadata"});
    if (text == nullptr || !text->is_string()) return Error{Code::kNotFound, Bad(map, "has no metadata").message, {}};
    return text->get<std::string>();
  }

  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    const std::string_view key = name == "metadata.yaml" ? api::kMetadataKey : api::kComponentsKey;
    // Those that lay beside what was read, also where both have been edited since.
    if (!read_ || !api::SameVersion(read_->version.ToString(), version.ToString()))
      KeepSignatures(version, TRY(MapOf(ctx, version)));
    api::Signatures found = OfFile(read_->signatures, key);
    if (!found.empty()) return found;
    return Error{
        Code::kNotFound,
        fmt::format(
            "{0} has no signature of the {1}: none of the keys {1}.sigstore.json, {1}.bundle and {1}.sig is there",
            read_->where, key),
        {}};
  }

 private:
  struct Read {
    api::Version version;
    std::string where;
    api::Signatures signatures;
  };

  void KeepSignatures(const api::Version& version, const kube::Object& map) {
    read_ = Read{version, Where(map.ns(), map.name()), SignaturesIn(map)};
  }

  Result<kube::Object> MapOf(const Context& ctx, const api::Version& version) {
    const api::StoredRelease* stored = api::ReleaseThatCounts(releases_, provider_, version.ToString());
    if (stored != nullptr) return client_.Get(ctx, ConfigMaps(), stored->ns, stored->name);
    return Error{Code::kNotFound, fmt::format("{} has no version {}", description_, version.ToString()), {}};
  }

  kube::Client& client_;
  const api::Provider provider_;
  const std::vector<api::StoredRelease> releases_;
  const std::string description_;
  std::optional<Read> read_;  // the last one
};

}  // namespace

bool IsSigned(const api::Release& release) {
  return !OfFile(release.signatures, api::kMetadataKey).empty() &&
         !OfFile(release.signatures, api::kComponentsKey).empty();
}

Result<api::Release> ReadReleaseMap(const kube::Object& map, const FindPart& find) {
  const api::StoredRelease stored = api::ReadStoredRelease(map);
  if (!stored.version) {
    bool label = map.has_label(api::kLabelReleaseVersion);
    return Bad(map, fmt::format("has invalid version:{} (from the {})", stored.version_text,
                                label ? fmt::format("Label {}", api::kLabelReleaseVersion) : "Name"));
  }
  api::Release release;
  release.version = *stored.version;
  const Json* metadata = Find(map.json(), {"data", "metadata"});
  if (metadata == nullptr || !metadata->is_string()) return Bad(map, "has no metadata");
  release.metadata = metadata->get<std::string>();
  release.components = TRY(Components(map, find));
  if (Trim(release.components).empty()) return Bad(map, "has empty components: nothing is changed");
  release.signatures = SignaturesIn(map);
  std::string source = map.annotation(api::kLabelReleaseSource);
  release.source = source.empty() ? Where(map.ns(), map.name()) : source;
  return release;
}

bool IsNoRelease(const Error& error) { return error.code == Code::kInvalidArgument || error.code == Code::kNotFound; }

Result<api::Release> ReadRelease(const Context& ctx, kube::Client& client, const api::StoredRelease& stored) {
  kube::Object map = TRY_WITH(client.Get(ctx, ConfigMaps(), stored.ns, stored.name), Where(stored.ns, stored.name));
  return ReadReleaseMap(map, InCluster(ctx, client, stored.ns));
}

namespace {

Result<kube::LabelSelector> SelectorFor(const api::Provider& provider) {
  if (const auto& fetch = provider.spec.fetch_config; fetch && fetch->selector)
    return TRY_WITH(kube::LabelSelector::FromJson(*fetch->selector), "spec.fetchConfig.selector");
  Json labels = Json::object();
  for (const auto& [name, value] : api::ReleaseSelector(provider.id)) labels[name] = value;
  return kube::LabelSelector::FromJson({{"matchLabels", labels}});
}

// The ConfigMaps among which a provider's releases are looked for: those that spec.fetchConfig.selector selects, or
// that have the labels of its own. Without what they hold.
Result<std::vector<api::StoredRelease>> ListStored(const Context& ctx, kube::Client& client,
                                                   const api::Provider& provider, const std::string& selector) {
  auto list =
      TRY_WITH(client.List(ctx, ConfigMaps(), provider.id.ns, {.label_selector = selector, .metadata_only = true}),
               fmt::format("failed to look for releases in ConfigMaps of namespace {}", provider.id.ns));
  std::vector<api::StoredRelease> found;
  for (const kube::Object& map : list.items) found.push_back(api::ReadStoredRelease(map));
  return found;
}

}  // namespace

Result<SelectedReleases> FindSelected(const Context& ctx, kube::Client& client, const api::Provider& provider) {
  const std::string selector = TRY(SelectorFor(provider)).ToString();
  SelectedReleases out;
  out.releases = TRY(ListStored(ctx, client, provider, selector));
  out.repository = StoredRepository(client, provider, out.releases,
                                    fmt::format("ConfigMaps of namespace {} with {}", provider.id.ns, selector));
  return out;
}

Result<std::optional<FoundRelease>> FindStored(const Context& ctx, kube::Client& client, const api::Provider& provider,
                                               const api::Version& version, bool of_any_source) {
  const std::string selector = TRY(SelectorFor(provider)).ToString();
  const std::vector<api::StoredRelease> found = TRY(ListStored(ctx, client, provider, selector));
  const api::StoredRelease* stored = api::ReleaseThatCounts(found, provider, version.ToString(), of_any_source);
  if (stored == nullptr) return std::optional<FoundRelease>();
  FoundRelease out{TRY(ReadRelease(ctx, client, *stored)), stored->name, false};
  out.kept = !stored->fetched;
  return std::optional(std::move(out));
}

namespace {

// T14: one without signatures isn't the one that was fetched with them.
bool IsTheSame(const api::Release& there, const api::Release& release) {
  return there.components == release.components && there.metadata == release.metadata &&
         (release.signatures.empty() || IsSigned(there));
}

// Whether FindStored would look at it for that version.
Result<bool> IsFound(const kube::Object& map, const api::Provider& owner, const api::Version& version) {
  const Json* labels = Find(map.json(), {"metadata", "labels"});
  if (!TRY(SelectorFor(owner)).Matches(labels == nullptr ? Json() : *labels)) return false;
  return api::SameVersion(api::ReadStoredRelease(map).version_text, version.ToString());
}

// Nobody who goes by labels sees it again, be it the same: not after a restart, nor when it is changed.
Status CheckIsFound(const kube::Object& map, const api::Provider& owner, const api::Version& version) {
  if (TRY(IsFound(map, owner, version))) return Ok();
  auto labels = api::LabelsToBeFoundBy(owner, version.ToString());
  labels.erase(std::string(api::kLabelManagedBy));  // which has no one of somebody's
  return Error{Code::kFailedPrecondition,
               fmt::format("{} has the name under which this release is stored, and isn't found by labels: delete it, "
                           "or label it with {} to have it used",
                           Where(map.ns(), map.name()), api::SelectorOf(labels)),
               {}};
}

// Whoever has rendered `release` mustn't take another one's ConfigMap for it.
Error Another(const kube::Object& map) {
  return Error{Code::kConflict,
               fmt::format("{} has come meanwhile, and holds another release, or lacks its signatures",
                           Where(map.ns(), map.name())),
               {}};
}

}  // namespace

Status CheckOwnName(const Context& ctx, kube::Client& client, const api::Provider& owner, const api::Version& version) {
  const std::string name = api::ReleaseName(owner.id.type, owner.id.name, version);
  auto map = client.Get(ctx, ConfigMaps(), owner.id.ns, name, {.metadata_only = true});
  if (!map.ok() && map.code() == Code::kNotFound) return Ok();
  if (!map.ok()) return map.error().With(Where(owner.id.ns, name));
  return map->has_label(api::kLabelManagedBy) ? Ok() : CheckIsFound(*map, owner, version);
}

namespace {

// Where nothing was there. What has come meanwhile wins.
Result<api::StoredRelease> StoreRelease(const Context& ctx, kube::Client& client, const api::Provider& owner,
                                        const api::Release& release) {
  std::vector<kube::Object> maps = Pack(owner, release);
  TRY(CreateParts(ctx, client, maps));
  const kube::Object there = TRY(Create(ctx, client, maps.front()));
  api::StoredRelease stored = api::ReadStoredRelease(there);
  const auto held = ReadReleaseMap(there, InCluster(ctx, client, there.ns()));
  if (!held.ok() && !IsNoRelease(held.error())) return held.error();
  TRY(CheckIsFound(there, owner, release.version));
  if (held.ok() && IsTheSame(*held, release)) return stored;
  return Another(there);
}

// By one look at what is there. kConflict where that isn't it any more at the write.
Result<api::StoredRelease> ReplaceSeen(const Context& ctx, kube::Client& client, const api::Provider& owner,
                                       const api::Release& release) {
  const std::string name = api::ReleaseName(owner.id.type, owner.id.name, release.version);
  auto live = client.Get(ctx, ConfigMaps(), owner.id.ns, name);
  if (!live.ok() && live.code() == Code::kNotFound) return StoreRelease(ctx, client, owner, release);
  if (!live.ok()) return live.error();
  // An equal one need not be written; somebody else's ConfigMap of that name never is.
  auto stored = ReadReleaseMap(*live, InCluster(ctx, client, live->ns()));
  if (!stored.ok() && !IsNoRelease(stored.error())) return stored.error();
  const bool equal = stored.ok() && IsTheSame(*stored, release);
  if (!live->has_label(api::kLabelManagedBy)) {
    TRY(CheckIsFound(*live, owner, release.version));
    if (!equal) return Another(*live);
    return api::ReadStoredRelease(*live);
  }
  bool same = equal && (release.signatures.empty() || stored->signatures == release.signatures) &&
              live->annotation(api::kLabelReleaseSource) == release.source;
  if (same) return api::ReadStoredRelease(*live);
  std::vector<kube::Object> maps = Pack(owner, release);
  TRY(CreateParts(ctx, client, maps));
  kube::Object written = TRY(Update(ctx, client, *live, maps.front()));
  RemoveFormerParts(ctx, client, maps);
  return api::ReadStoredRelease(written);
}

}  // namespace

Result<api::StoredRelease> ReplaceRelease(const Context& ctx, kube::Client& client, const api::Provider& owner,
                                          const api::Release& release) {
  auto stored = ReplaceSeen(ctx, client, owner, release);
  for (int looks = 1; looks < kMostLooks && !stored.ok() && stored.code() == Code::kConflict; ++looks)
    stored = ReplaceSeen(ctx, client, owner, release);
  return stored;
}

std::unique_ptr<fetch::Repository> StoredRepository(kube::Client& client, api::Provider provider,
                                                    std::vector<api::StoredRelease> releases, std::string description) {
  return std::make_unique<StoredReleases>(client, std::move(provider), std::move(releases), std::move(description));
}

}  // namespace capi::releases
