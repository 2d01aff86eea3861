#include "operator/act/inventory_key.h"

#include <fmt/core.h>

#include "api/types.h"
#include "base/encoding.h"

namespace capi::ops {
namespace {

constexpr const char* kName = "capi-operator-inventory-key";
constexpr size_t kBytes = 32;

kube::Object NewKey(const std::string& ns) {
  return kube::Object(Json{{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", {{"name", kName}, {"namespace", ns}}},
                           {"type", "Opaque"},
                           {"immutable", true},
                           {"data", {{"key", Base64Encode(RandomBytes(kBytes))}}}});
}

Result<std::string> KeyIn(const kube::Object& secret) {
  auto key = Base64Decode(GetString(secret.json(), {"data", "key"}));
  if (key.ok() && key->size() == kBytes) return key;
  return Error{
      Code::kInvalidArgument,
      fmt::format("Secret {}/{} holds no key of {} bytes: remove it to have it made anew", secret.ns(), kName, kBytes),
      {}};
}

}  // namespace

Result<std::string> InventoryKey::Get(const Context& ctx) {
  {
    MutexLock lock(mu_);
    if (!key_.empty()) return key_;
  }
  std::string key = TRY_WITH(Read(ctx.InOwnName()), fmt::format("the key of inventories, Secret {}/{}", ns_, kName));
  MutexLock lock(mu_);
  return key_ = key;
}

// Two that find none at once make one: the second is told that it is there, and reads it. So nobody has to lead for it.
Result<std::string> InventoryKey::Read(const Context& ctx) {
  const kube::Resource& secrets = kube::Builtin("Secret");
  auto secret = client_.Get(ctx, secrets, ns_, kName);
  if (!secret.ok() && secret.code() == Code::kNotFound) {
    secret = client_.Create(ctx, secrets, NewKey(ns_),
                            {.field_manager = std::string(api::kFieldManager), .unguarded = true});
    if (!secret.ok() && secret.code() == Code::kAlreadyExists) secret = client_.Get(ctx, secrets, ns_, kName);
  }
  return KeyIn(TRY(std::move(secret)));
}

// CRDs have no variables, and are most of a release's text.
bool IsSecret(const kube::Manifest& manifest, const SecretValues& values) {
  if (manifest.id.group_kind() == kube::GroupKind{"", "Secret"}) return true;
  return manifest.crd_kind.empty() && values.StandIn(manifest.text);
}

Status InventoryKey::HashSecrets(const Context& ctx, std::vector<kube::Manifest>& manifests,
                                 const SecretValues& values) {
  std::string key;
  for (kube::Manifest& manifest : manifests) {
    if (!IsSecret(manifest, values)) continue;
    if (key.empty()) key = TRY(Get(ctx));
    manifest.hash = HmacSha256Hex(key, manifest.text).substr(0, manifest.hash.size());
  }
  return Ok();
}

}  // namespace capi::ops
