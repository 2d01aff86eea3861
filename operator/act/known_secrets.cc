#include "operator/act/known_secrets.h"

#include <fmt/core.h>

#include "kube/apply/inventory.h"
#include "kube/client/status_error.h"
#include "operator/decide/service_account.h"

namespace capi::ops {
namespace {

constexpr size_t kMostSecrets = 100;
constexpr Seconds kSoonAgain{1}, kNotSoonAgain{15};

std::vector<api::ObjectRef> SecretsOf(const api::Provider& provider, const kube::Inventory& inventory,
                                      bool foreign_references) {
  std::vector<api::ObjectRef> refs;
  const auto& variables = provider.spec.config_secret;
  if (variables && (foreign_references || variables->ns == provider.id.ns)) refs.push_back(*variables);
  for (const auto& [id, entry] : inventory.entries()) {
    if (id.group_kind() == kube::GroupKind{"", "Secret"}) refs.push_back({id.name, id.ns});
  }
  return refs;
}

}  // namespace

Result<SecretValues> ReadSecretValues(const Context& ctx, kube::Client& client, const CachedProvider& cached,
                                      bool foreign_references) {
  const api::Provider& provider = *cached.provider;
  // One that can't be read names nothing that was rendered; nothing is done with it either.
  auto inventory = kube::Inventory::Parse(provider.status.inventory);
  if (!inventory.ok()) inventory = kube::Inventory();
  auto refs = SecretsOf(provider, *inventory, foreign_references);
  SecretValues values;
  if (refs.size() > kMostSecrets) return values.HideAll(), values;
  // A status may be written by others: what it names elsewhere is read in the provider's own name (T8).
  const Context as = ctx.InNameOf(UserOf(provider));
  for (const api::ObjectRef& ref : refs) {
    const bool named = provider.spec.config_secret && *provider.spec.config_secret == ref;
    auto secret =
        client.Get(named || ref.ns == provider.id.ns ? ctx.InOwnName() : as, kube::Builtin("Secret"), ref.ns, ref.name);
    if (!secret.ok() && kube::IsGone(secret.error())) continue;
    if (!secret.ok()) {
      Error error = secret.error();
      // A 404 of whoever stands before the API server (F3): there may be one, whose values would be told (I7).
      if (error.code == Code::kNotFound) error.code = Code::kUnavailable;
      return error.With(fmt::format("Secret {}/{}", ref.ns, ref.name));
    }
    values.AddObject(*secret);
  }
  std::vector<kube::ObjectId> ids;
  for (const auto& [id, entry] : inventory->entries()) ids.push_back(id);
  return WithoutKnown(std::move(values), ids, &cached);
}

SecretValues WithoutKnown(SecretValues secrets, const std::vector<kube::ObjectId>& ids, const CachedProvider* cached) {
  std::string known;
  for (const auto& id : ids) known += id.ToString() + "\n";
  if (cached != nullptr) {
    known += cached->provider->id.Key() + "\n";
    const kube::Object object = cached->Object();
    if (const Json* spec = Find(object.json(), {"spec"})) known += ToJsonText(*spec);
  }
  secrets.Except(known);
  return secrets;
}

Result<SecretValues> KnownSecrets::Read(const Context& ctx, const CachedProvider& cached) {
  auto refused = TRY(RefusedReferences(ctx, *cached.provider, settings_, key_));
  return ReadSecretValues(ctx, client_, cached, refused.empty());
}

void KnownSecrets::Learn(const Context& ctx, const std::string& key) {
  auto cached = cache_.Get(key);
  if (!cached || masks_.Knows(key)) return;
  {
    MutexLock lock(mu_);
    auto refused = not_before_.find(key);
    if (refused != not_before_.end() && ctx.clock->Monotonic() < refused->second) return;
  }
  auto values = Read(ctx, *cached);
  if (values.ok()) {
    masks_.Put(key, *values);
    return Forget(key);
  }
  ctx.log.Warn("can't read the provider's Secrets: what others say of it is not shown",
               {{"error", values.error().message}});
  MutexLock lock(mu_);
  not_before_[key] = ctx.clock->Monotonic() + (values.error().Transient() ? kSoonAgain : kNotSoonAgain);
}

void KnownSecrets::Forget(const std::string& key) {
  MutexLock lock(mu_);
  not_before_.erase(key);
}

void KnownSecrets::Learn(const Context& ctx, const std::string& key, const Observation& o, const Done& done) {
  if (HasForeignWords(o) || HasForeignWords(done)) Learn(ctx, key);
}

void KnownSecrets::Hide(const Context& ctx, const std::string& key, Fleet& fleet) {
  if (HasForeignWords(fleet)) Learn(ctx, key);
  masks_.Hide(key, fleet);
}

}  // namespace capi::ops
