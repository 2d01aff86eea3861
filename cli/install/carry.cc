#include "cli/install/carry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "kube/apply/apply.h"

namespace capi::cli {
namespace {

constexpr Seconds kWebhookLimit{60};
constexpr Millis kPause{100};

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

// Whether a ConfigMap that is there is the one that would be written: its content, and the labels that this one has.
bool IsSameMap(const kube::Object& there, const kube::Object& map) {
  for (const char* key : {"data", "binaryData"}) {
    const Json *a = Find(there.json(), {key}), *b = Find(map.json(), {key});
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) return false;
  }
  const Json* labels = Find(map.json(), {"metadata", "labels"});
  if (labels == nullptr) return true;
  for (const auto& [key, value] : labels->items()) {
    if (there.label(key) != value.get<std::string>()) return false;
  }
  return true;
}

bool MadeByClusterctl(const kube::Object& live) {
  const Json* fields = Find(live.json(), {"metadata", "managedFields"});
  return fields != nullptr && std::any_of(fields->begin(), fields->end(), [](const Json& one) {
           return GetString(one, {"manager"}) == kProviderFieldManager;
         });
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
                                              const std::vector<kube::Object>& maps) {
  std::vector<kube::Object> out;
  for (const kube::Object& map : maps) {
    auto there = client.Get(ctx, kube::Builtin("ConfigMap"), map.ns(), map.name());
    if (!there.ok() && there.code() != Code::kNotFound) return there.error().With("its release");
    if (!there.ok()) {
      out.push_back(map);
    } else if (!IsSameMap(*there, map)) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("its release goes into ConfigMap {}/{}, and one with another content is there already: "
                               "delete it, where nobody needs it",
                               map.ns(), map.name()),
                   {}};
    }
  }
  return out;
}

Status MakeMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
                const kube::WriteOptions& options) {
  const std::vector<kube::Object> lacking = TRY(LackingMaps(ctx, client, maps));
  for (const kube::Object& map : lacking) {
    auto made = client.Create(ctx, kube::Builtin("ConfigMap"), map, options);
    if (made.ok()) continue;
    // Somebody else was quicker.
    bool same = made.code() == Code::kAlreadyExists && TRY(LackingMaps(ctx, client, {map})).empty();
    if (!same) return made.error().With(fmt::format("failed to write ConfigMap {}/{}", map.ns(), map.name()));
  }
  return Ok();
}

Status OwnMap(const Context& ctx, kube::Client& client, const kube::Object& live, const kube::Object& owner) {
  const Json* before = Find(live.json(), {"metadata", "ownerReferences"});
  Json owners = before == nullptr ? Json::array() : *before;
  bool owned = std::any_of(owners.begin(), owners.end(),
                           [&](const Json& one) { return GetString(one, {"uid"}) == owner.uid(); });
  if (owned || !MadeByClusterctl(live)) return Ok();
  owners.push_back(
      {{"apiVersion", owner.api_version()}, {"kind", owner.kind()}, {"name", owner.name()}, {"uid", owner.uid()}});
  const Json patch = {{"metadata", {{"resourceVersion", live.resource_version()}, {"ownerReferences", owners}}}};
  TRY_WITH(
      client.Patch(ctx, kube::Builtin("ConfigMap"), live.ns(), live.name(), kube::PatchType::kMerge, patch, Write()),
      "its release");
  return Ok();
}

Status OwnMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
               const kube::Object& owner) {
  for (const kube::Object& map : maps) {
    auto live = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), map.ns(), map.name()), "its release");
    TRY(OwnMap(ctx, client, live, owner));
  }
  return Ok();
}

Status CheckCargo(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  if (!cargo.release) return Ok();
  TRY_WITH(LackingMaps(ctx, client, ReleaseMapsOf(cargo.id, *cargo.release)), Describe(cargo.id));
  return Ok();
}

Status CarryParts(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  TRY(EnsureNamespace(ctx, client, cargo.id.ns, cargo.namespace_labels));
  if (cargo.secret) TRY(MergeSecret(ctx, client, cargo.secret->ns, cargo.secret->name, cargo.values));
  if (!cargo.release) return Ok();
  TRY_WITH(MakeMaps(ctx, client, ReleaseMapsOf(cargo.id, *cargo.release), Write()), Describe(cargo.id));
  return Ok();
}

Status CarryObject(const Context& ctx, kube::Client& client, const ProviderCargo& cargo) {
  kube::Object object = ProviderObjectOf(cargo.id, cargo.version, cargo.secret, cargo.source);
  Context bounded = ctx.WithTimeout(kWebhookLimit);
  auto applied = client.Apply(ctx, api::ResourceOf(cargo.id.type), object, Write());
  // The operator's certificate has to reach the webhooks, and its kinds the server's discovery.
  while (!applied.ok() && (applied.error().Transient() || applied.code() == Code::kNotFound)) {
    if (!bounded.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) break;
    applied = client.Apply(ctx, api::ResourceOf(cargo.id.type), object, Write());
  }
  if (!applied.ok()) return applied.error().With(fmt::format("failed to install {}", Describe(cargo.id)));
  if (!cargo.release) return Ok();
  TRY_WITH(OwnMaps(ctx, client, ReleaseMapsOf(cargo.id, *cargo.release), *applied), Describe(cargo.id));
  return Ok();
}

}  // namespace capi::cli
