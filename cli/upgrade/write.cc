#include "cli/upgrade/write.h"

#include <fmt/format.h>

#include "api/release_maps.h"
#include "base/encoding.h"
#include "releases/release_store.h"

namespace capi::cli {
namespace {

constexpr char kManager[] = "clusterctl";
constexpr std::string_view kWithAllowDowngrade = " allow-downgrade";
// The operator writes the objects too, so that another write may come between a look and a change.
constexpr int kMostTries = 20;

const kube::Resource& Secrets() { return kube::Builtin("Secret"); }

Json DataOf(const std::map<std::string, std::string>& variables) {
  Json data = Json::object();
  for (const auto& [name, value] : variables) data[name] = Base64Encode(value);
  return data;
}

// Whether somebody has changed what was looked at. The generation counts changes of the spec alone.
bool SameSpec(const ProviderObject& seen, const ProviderObject& now) {
  return seen.provider.uid == now.provider.uid && seen.provider.generation == now.provider.generation;
}

// Whether the next change after what was looked at was this one.
bool IsOurs(const ProviderObject& seen, const kube::Object& live, const Json& patch) {
  bool next = seen.provider.uid == live.uid() && seen.provider.generation + 1 == live.generation();
  const Json now = live.json().value("spec", Json::object());
  Json spec = now;
  spec.merge_patch(patch.value("spec", Json::object()));
  return next && spec == now;
}

}  // namespace

std::optional<RollbackNote> RollbackNoteOf(const api::Provider& provider) {
  auto found = provider.annotations.find(std::string(kAnnotationAllowedForRollback));
  if (found == provider.annotations.end()) return std::nullopt;
  RollbackNote note{found->second};
  note.leave = note.to.ends_with(kWithAllowDowngrade);
  if (note.leave) note.to.resize(note.to.size() - kWithAllowDowngrade.size());
  return note;
}

Json PatchOf(const SpecChange& change) {
  Json patch = Json::object();
  auto annotate = [&](std::string_view key, bool set) {
    patch["metadata"]["annotations"][std::string(key)] = set ? Json("true") : Json();
  };
  if (!change.version.empty()) patch["spec"]["version"] = change.version;
  if (!change.secret.empty()) patch["spec"]["configSecret"] = {{"name", change.secret}};
  if (change.pause || change.unpause) {
    patch["spec"]["paused"] = change.pause;
    annotate(kAnnotationPausedForUpgrade, change.pause);
  }
  if (change.allow_downgrade || change.forbid_downgrade)
    annotate(api::kAnnotationAllowDowngrade, change.allow_downgrade);
  if (change.begin_rollback) {
    const RollbackNote& note = *change.begin_rollback;
    patch["metadata"]["annotations"][std::string(kAnnotationAllowedForRollback)] =
        note.leave ? note.to + std::string(kWithAllowDowngrade) : note.to;
  }
  if (change.end_rollback) annotate(kAnnotationAllowedForRollback, false);
  return patch;
}

Status PutVariables(const Context& ctx, kube::Client& client, const UpgradeTarget& target) {
  if (target.variables.empty()) return Ok();
  const api::Provider& provider = target.object.provider;
  api::ObjectRef ref = SecretOf(provider);
  std::string where = fmt::format("failed to put variables into Secret {}/{}", ref.ns, ref.name);
  Json data = DataOf(target.variables);
  kube::WriteOptions options{.field_manager = kManager};
  if (!provider.spec.config_secret) {
    kube::Object secret({{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", {{"name", ref.name}, {"namespace", ref.ns}}},
                         {"type", "Opaque"},
                         {"data", data}});
    auto created = client.Create(ctx, Secrets(), secret, options);
    if (created.ok()) return Ok();
    if (created.code() != Code::kAlreadyExists)
      return Error{created.code(), where + ": " + created.error().message, {}};
  }
  auto patched = client.Patch(ctx, Secrets(), ref.ns, ref.name, kube::PatchType::kMerge, Json{{"data", data}}, options);
  if (patched.ok()) return Ok();
  return Error{patched.code(), where + ": " + patched.error().message, {}};
}

Status PutRelease(const Context& ctx, kube::Client& client, const UpgradeTarget& target) {
  if (!target.store) return Ok();
  const api::Provider& provider = target.object.provider;
  auto stored = releases::ReplaceRelease(ctx, client, provider, target.release);
  if (stored.ok()) return Ok();
  return stored.error().With(
      fmt::format("failed to put {} {} into the cluster", Describe(provider.id), target.to.ToString()));
}

Result<ProviderObject> ChangeSpec(const Context& ctx, kube::Client& client, const ProviderObject& seen,
                                  const SpecChange& change) {
  const api::ProviderId& id = seen.provider.id;
  const kube::Resource resource = api::ResourceOf(id.type);
  std::string failed = fmt::format("failed to change {}", Describe(id));
  Json patch = PatchOf(change);
  patch["metadata"]["resourceVersion"] = seen.provider.resource_version;
  for (int tries = 1;; ++tries) {
    TRY(ctx.Check());
    auto changed = client.Patch(ctx, resource, id.ns, id.name, kube::PatchType::kMerge, patch,
                                {.field_manager = kManager, .strict = true});
    if (changed.ok()) return ReadProviderObject(*changed);
    if (changed.code() != Code::kConflict || tries == kMostTries) return changed.error().With(failed);
    kube::Object live = TRY_WITH(client.Get(ctx, resource, id.ns, id.name), failed);
    ProviderObject now = ReadProviderObject(live);
    if (!SameSpec(seen, now) && !IsOurs(seen, live, patch)) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} was changed by somebody else meanwhile: nothing of it was written; look at it, and "
                               "run this again",
                               Describe(id)),
                   {}};
    }
    patch["metadata"]["resourceVersion"] = now.provider.resource_version;
  }
}

}  // namespace capi::cli
