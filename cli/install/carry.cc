#include "cli/install/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "api/release_maps.h"
#include "base/encoding.h"
#include "kube/apply/apply.h"
#include "kube/meta/managers.h"
#include "releases/release_store.h"

namespace capi::cli {
namespace {

constexpr Seconds kWebhookLimit{60};
constexpr Millis kPause{100};
constexpr int kMostTries = 10;

const kube::WriteOptions& Write() {
  static const kube::WriteOptions options{.field_manager = std::string(kProviderFieldManager)};
  return options;
}

std::string Describe(const api::ProviderId& id) {
  return fmt::format("{} {}/{}", api::KindOf(id.type).kind, id.ns, id.name);
}

Json LabelsThatLack(const kube::Object& ns, const std::map<std::string, std::string>& labels) {
  Json out = Json::object();
  for (const auto& [key, value] : labels) {
    if (!ns.has_label(key)) out[key] = value;
  }
  return out;
}

Json Encoded(const std::map<std::string, std::string>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = Base64Encode(value);
  return out;
}

Error AnotherContent(const kube::Object& map) {
  return {Code::kFailedPrecondition,
          fmt::format("its release goes into ConfigMap {}/{}, and one with another content is there already: "
                      "delete it, where nobody needs it",
                      map.ns(), map.name()),
          {}};
}

Status CheckLabels(const kube::Object& there, const kube::Object& map) {
  const Json* labels = Find(map.json(), {"metadata", "labels"});
  if (labels == nullptr) return Ok();
  for (const auto& [key, value] : labels->items()) {
    const std::string& wanted = value.get_ref<const std::string&>();
    if (there.label(key) == wanted) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("its release goes into ConfigMap {}/{}, which is there already without the label {}={}: "
                             "add it, or delete the ConfigMap",
                             map.ns(), map.name(), key, wanted),
                 {}};
  }
  return Ok();
}

// Byte for byte: a further part's name says what it holds.
Status CheckPart(const kube::Object& there, const kube::Object& part) {
  const Json *a = Find(there.json(), {"binaryData"}), *b = Find(part.json(), {"binaryData"});
  const bool same = a != nullptr && b != nullptr && *a == *b;
  return same ? CheckLabels(there, part) : Status(AnotherContent(part));
}

// Nobody but clusterctl has written it, and nothing owns it: a run was broken off before it did (OwnMap).
bool IsNobodyElses(const kube::Object& live) {
  const Json* owners = Find(live.json(), {"metadata", "ownerReferences"});
  return (owners == nullptr || owners->empty()) && kube::HasManagerAlone(live, kProviderFieldManager);
}

// Such a run writes all labels of `map`; managedFields don't tell who took one away.
bool IsLeftOver(const kube::Object& live, const kube::Object& map) {
  return IsNobodyElses(live) && CheckLabels(live, map).ok();
}

enum class Compared { kSame, kLacksParts, kLacksSignatures, kAnother };

// The release that a first ConfigMap there has, against the one of `maps`. What counts is what is read out of it: each
// build packs in its own way.
Result<Compared> Compare(const Context& ctx, kube::Client& client, const kube::Object& there,
                         const std::vector<kube::Object>& maps) {
  const kube::Object& first = maps.back();
  auto named = [&](const std::string& name) -> Result<kube::Object> {
    for (const kube::Object& map : maps) {
      if (map.name() == name) return map;
    }
    return Error{Code::kNotFound, name, {}};
  };
  auto live = [&](const std::string& name) { return client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), name); };
  const api::Release wanted = TRY(releases::ReadReleaseMap(first, named));
  kube::Object labelled = there;  // a label that lacks is told as such, and not as another content
  labelled.json()["metadata"]["labels"] = first.json()["metadata"]["labels"];
  auto found = releases::ReadReleaseMap(labelled, live);
  // Packed as this one is, it is whole with the parts of this one.
  bool lacks = !found.ok() && found.code() == Code::kNotFound;
  if (lacks) found = releases::ReadReleaseMap(labelled, named);
  if (!found.ok() && !releases::IsNoRelease(found.error())) return found.error().With("its release");
  const bool same = found.ok() && found->components == wanted.components && found->metadata == wanted.metadata;
  if (!same) return Compared::kAnother;
  // T14: without them the operator wouldn't take it.
  if (!wanted.signatures.empty() && found->signatures != wanted.signatures)
    return found->signatures.empty() && !lacks ? Compared::kLacksSignatures : Compared::kAnother;
  return lacks ? Compared::kLacksParts : Compared::kSame;
}

enum class ReleaseThere { kWhole, kLacksParts, kLacksSignatures, kLeftOver };

Result<ReleaseThere> LookAtRelease(const Context& ctx, kube::Client& client, const kube::Object& there,
                                   const std::vector<kube::Object>& maps, LeftOver left_over) {
  const kube::Object& first = maps.back();
  const Compared found = TRY(Compare(ctx, client, there, maps));
  const bool unsigned_there = found == Compared::kLacksSignatures;
  const bool added = unsigned_there && left_over == LeftOver::kIsAnother;
  const bool another = found == Compared::kAnother || (unsigned_there && !added);
  if (another && left_over == LeftOver::kIsReplaced && IsLeftOver(there, first)) return ReleaseThere::kLeftOver;
  if (another) return AnotherContent(first);
  TRY(CheckLabels(there, first));
  if (added) return ReleaseThere::kLacksSignatures;
  return found == Compared::kLacksParts ? ReleaseThere::kLacksParts : ReleaseThere::kWhole;
}

// To the same files, which have none: nothing that is there is written over.
Status AddSignatures(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
                     const kube::WriteOptions& options) {
  const kube::Object& first = maps.back();
  auto live = TRY(client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name()));
  if (TRY(Compare(ctx, client, live, maps)) != Compared::kLacksSignatures) return AnotherContent(first);
  Json patch = {{"metadata", {{"resourceVersion", live.resource_version()}}}, {"data", first.json().at("data")}};
  for (const char* key : {"metadata", "components"}) patch["data"].erase(key);
  TRY(client.Patch(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name(), kube::PatchType::kMerge, patch, options));
  return Ok();
}

// Those that aren't there, or that a run left that was broken off.
Result<std::vector<kube::Object>> LackingParts(const Context& ctx, kube::Client& client,
                                               std::span<const kube::Object> parts, LeftOver left_over) {
  std::vector<kube::Object> out;
  for (const kube::Object& part : parts) {
    auto there = client.Get(ctx, kube::Builtin("ConfigMap"), part.ns(), part.name());
    if (!there.ok() && there.code() != Code::kNotFound) return there.error().With("its release");
    Status same = there.ok() ? CheckPart(*there, part) : Status(there.error());
    if (same.ok()) continue;
    const bool replaced = left_over == LeftOver::kIsReplaced;
    if (there.ok() && (!replaced || !IsLeftOver(*there, part))) return same.error();
    out.push_back(part);
  }
  return out;
}

bool Contains(const std::vector<kube::Object>& maps, const kube::Object& map) {
  return std::any_of(maps.begin(), maps.end(), [&](const kube::Object& one) { return one.name() == map.name(); });
}

// Of a release's first ConfigMap, however it is packed; without their contents.
Result<kube::ObjectList> PartsOf(const Context& ctx, kube::Client& client, const kube::Object& first) {
  const std::string of_it = fmt::format("{}={}", api::kLabelPartOf, first.name());
  auto parts =
      client.List(ctx, kube::Builtin("ConfigMap"), first.ns(), {.label_selector = of_it, .metadata_only = true});
  return parts.ok() ? std::move(parts) : parts.error().With("its release");
}

// Of another packing than that of `maps`: nothing would need them, or own them, any more.
Status RemoveOldParts(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps) {
  const auto parts = TRY(PartsOf(ctx, client, maps.back()));
  for (const kube::Object& part : parts.items) {
    if (Contains(maps, part) || !IsNobodyElses(part)) continue;
    Status gone = client.Delete(ctx, kube::Builtin("ConfigMap"), part.ns(), part.name(),
                                {.uid = part.uid(), .resource_version = part.resource_version()});
    // With a conflict it is somebody's by now.
    if (gone.ok() || gone.code() == Code::kNotFound || gone.code() == Code::kConflict) continue;
    return gone.error().With("its former parts");
  }
  return Ok();
}

// Writes one of `maps` in the place of what a run has left that was broken off, as it is seen here. kConflict: somebody
// has changed that meanwhile.
Status WriteOver(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
                 const kube::Object& map, const kube::WriteOptions& options) {
  auto live = TRY(client.Get(ctx, kube::Builtin("ConfigMap"), map.ns(), map.name(), {.metadata_only = true}));
  if (!IsLeftOver(live, map)) return AnotherContent(map);
  kube::Object object = map;
  object.json()["metadata"]["uid"] = live.uid();
  object.json()["metadata"]["resourceVersion"] = live.resource_version();
  TRY(client.Update(ctx, kube::Builtin("ConfigMap"), object, options));
  // Only now nobody reads them any more.
  const bool last = map.name() == maps.back().name();
  return last && !options.dry_run ? RemoveOldParts(ctx, client, maps) : Ok();
}

}  // namespace

Status EnsureNamespace(const Context& ctx, kube::Client& client, const std::string& ns,
                       const std::map<std::string, std::string>& labels) {
  const kube::Resource& namespaces = kube::Builtin("Namespace");
  const std::string what = fmt::format("failed to make namespace {}", ns);
  auto live = client.Get(ctx, namespaces, "", ns);
  if (!live.ok() && live.code() == Code::kNotFound) {
    Json json = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}, {"labels", labels}}}};
    live = client.Create(ctx, namespaces, kube::Object(std::move(json)), Write());
    if (live.ok()) return Ok();
    if (live.code() == Code::kAlreadyExists) live = client.Get(ctx, namespaces, "", ns);
  }
  if (!live.ok()) return live.error().With(what);
  if (live->deleting())
    return Error{
        Code::kFailedPrecondition,
        fmt::format("namespace {} is being deleted; wait until it has gone, then run the same command again", ns),
        {}};
  Json lacks = LabelsThatLack(*live, labels);
  if (lacks.empty()) return Ok();
  auto patched =
      client.Patch(ctx, namespaces, "", ns, kube::PatchType::kMerge, {{"metadata", {{"labels", lacks}}}}, Write());
  return patched.ok() ? Ok() : Status(patched.error().With(what));
}

Result<std::optional<std::map<std::string, std::string>>> ReadSecret(const Context& ctx, kube::Client& client,
                                                                     const std::string& ns, const std::string& name) {
  using Values = std::map<std::string, std::string>;
  auto secret = client.Get(ctx, kube::Builtin("Secret"), ns, name);
  if (!secret.ok() && secret.code() == Code::kNotFound) return std::optional<Values>();
  if (!secret.ok()) return secret.error().With(fmt::format("failed to read Secret {}/{}", ns, name));
  Values out;
  const Json* data = Find(secret->json(), {"data"});
  if (data == nullptr || !data->is_object()) return std::optional(std::move(out));
  for (const auto& [key, value] : data->items()) {
    if (!value.is_string()) continue;
    auto text = Base64Decode(value.get_ref<const std::string&>());
    if (text.ok()) out[key] = *text;
  }
  return std::optional(std::move(out));
}

Status MergeSecret(const Context& ctx, kube::Client& client, const std::string& ns, const std::string& name,
                   const std::map<std::string, std::string>& values) {
  const kube::Resource& secrets = kube::Builtin("Secret");
  const std::string what = fmt::format("failed to write Secret {}/{}", ns, name);
  auto there = TRY(ReadSecret(ctx, client, ns, name));
  if (!there) {
    Json json = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name}, {"namespace", ns}}}};
    json["data"] = Encoded(values);
    auto made = client.Create(ctx, secrets, kube::Object(std::move(json)), Write());
    if (made.ok()) return Ok();
    if (made.code() != Code::kAlreadyExists) return made.error().With(what);
    there.emplace();  // somebody else was quicker
  }
  std::map<std::string, std::string> changes;
  for (const auto& [key, value] : values) {
    auto before = there->find(key);
    if (before == there->end() || before->second != value) changes[key] = value;
  }
  if (changes.empty()) return Ok();
  auto patched = client.Patch(ctx, secrets, ns, name, kube::PatchType::kMerge, {{"data", Encoded(changes)}}, Write());
  return patched.ok() ? Ok() : Status(patched.error().With(what));
}

Result<std::vector<kube::Object>> LackingMaps(const Context& ctx, kube::Client& client,
                                              const std::vector<kube::Object>& maps, LeftOver left_over) {
  if (maps.empty()) return std::vector<kube::Object>();
  const std::span<const kube::Object> parts(maps.begin(), maps.end() - 1);
  auto there = client.Get(ctx, kube::Builtin("ConfigMap"), maps.back().ns(), maps.back().name());
  if (!there.ok() && there.code() != Code::kNotFound) return there.error().With("its release");
  bool lacks = true;
  if (there.ok()) {
    const ReleaseThere found = TRY(LookAtRelease(ctx, client, *there, maps, left_over));
    if (found == ReleaseThere::kWhole) return std::vector<kube::Object>();
    if (found == ReleaseThere::kLacksSignatures) return std::vector<kube::Object>{maps.back()};
    lacks = found == ReleaseThere::kLeftOver;
  }
  auto lacking = TRY(LackingParts(ctx, client, parts, left_over));
  if (lacks) lacking.push_back(maps.back());
  return lacking;
}

Status MakeMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
                const kube::WriteOptions& options, LeftOver left_over) {
  const std::vector<kube::Object> lacking = TRY(LackingMaps(ctx, client, maps, left_over));
  for (const kube::Object& map : lacking) {
    auto made = client.Create(ctx, kube::Builtin("ConfigMap"), map, options);
    if (made.ok()) continue;
    const bool there = made.code() == Code::kAlreadyExists;
    if (there && !Contains(TRY(LackingMaps(ctx, client, maps, left_over)), map)) continue;  // somebody else was quicker
    Status written = made.error();
    if (there && left_over == LeftOver::kIsReplaced)
      written = WriteOver(ctx, client, maps, map, options);
    else if (there && map.name() == maps.back().name())
      written = AddSignatures(ctx, client, maps, options);
    if (!written.ok())
      return written.error().With(fmt::format("failed to write ConfigMap {}/{}", map.ns(), map.name()));
  }
  return Ok();
}

Status CheckOther(const Context& ctx, kube::Client& client, const kube::Object& there,
                  const std::vector<kube::Object>& maps) {
  // Beside one without signatures (T14), those of `maps` come with them.
  if (TRY(Compare(ctx, client, there, maps)) != Compared::kAnother) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("ConfigMap {}/{} has the labels by which the operator looks for this release, too, and "
                           "another content: the operator takes that one now; delete it, where nobody needs it",
                           there.ns(), there.name()),
               {}};
}

Status OwnMap(const Context& ctx, kube::Client& client, const kube::Object& seen, const kube::Object& owner) {
  kube::Object live = seen;
  for (int tries = 1;; ++tries) {
    const Json* before = Find(live.json(), {"metadata", "ownerReferences"});
    Json owners = before == nullptr ? Json::array() : *before;
    bool owned = std::any_of(owners.begin(), owners.end(),
                             [&](const Json& one) { return GetString(one, {"uid"}) == owner.uid(); });
    if (owned || !kube::HasManager(live, kProviderFieldManager)) return Ok();
    owners.push_back(
        {{"apiVersion", owner.api_version()}, {"kind", owner.kind()}, {"name", owner.name()}, {"uid", owner.uid()}});
    const Json patch = {{"metadata", {{"resourceVersion", live.resource_version()}, {"ownerReferences", owners}}}};
    auto patched =
        client.Patch(ctx, kube::Builtin("ConfigMap"), live.ns(), live.name(), kube::PatchType::kMerge, patch, Write());
    if (patched.ok()) return Ok();
    // Somebody changed it meanwhile.
    if (patched.code() != Code::kConflict || tries == kMostTries) return patched.error().With("its release");
    live = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), live.ns(), live.name(), {.metadata_only = true}),
                    "its release");
  }
}

Status OwnRelease(const Context& ctx, kube::Client& client, const kube::Object& first, const kube::Object& owner) {
  auto live = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name(), {.metadata_only = true}),
                       "its release");
  if (!live.annotation(api::kAnnotationParts).empty()) {
    const auto parts = TRY(PartsOf(ctx, client, first));
    for (const kube::Object& part : parts.items) TRY(OwnMap(ctx, client, part, owner));
  }
  return OwnMap(ctx, client, live, owner);
}

Status OwnMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
               const kube::Object& owner) {
  if (maps.empty()) return Ok();
  Status owned = OwnRelease(ctx, client, maps.back(), owner);
  if (owned.ok() || owned.code() != Code::kNotFound) return owned;
  TRY(MakeMaps(ctx, client, maps, Write()));  // somebody removed it meanwhile
  return OwnRelease(ctx, client, maps.back(), owner);
}

Status CheckCargo(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  TRY_WITH(LackingMaps(ctx, client, cargo.maps), Describe(cargo.id));
  return Ok();
}

Status CarryParts(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  TRY(EnsureNamespace(ctx, client, cargo.id.ns, cargo.namespace_labels));
  TRY_WITH(MakeMaps(ctx, client, cargo.maps, Write()), Describe(cargo.id));
  return Ok();
}

Status CarryObject(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  kube::Object object = ProviderObjectOf(cargo.id, cargo.version, cargo.secret, cargo.source);
  if (cargo.secret) TRY(MergeSecret(ctx, client, cargo.secret->ns, cargo.secret->name, cargo.values));
  Context bounded = ctx.WithTimeout(kWebhookLimit);
  auto applied = client.Apply(ctx, api::ResourceOf(cargo.id.type), object, Write());
  // The operator's certificate has to reach the webhooks, and its kinds the server's discovery.
  while (!applied.ok() && (applied.error().Transient() || applied.code() == Code::kNotFound)) {
    if (!bounded.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) break;
    applied = client.Apply(ctx, api::ResourceOf(cargo.id.type), object, Write());
  }
  if (!applied.ok()) return applied.error().With(fmt::format("failed to install {}", Describe(cargo.id)));
  TRY_WITH(OwnMaps(ctx, client, cargo.maps, *applied), Describe(cargo.id));
  return Ok();
}

}  // namespace capi::cli
