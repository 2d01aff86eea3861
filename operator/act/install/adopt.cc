// Installer::Adopt: an installation over what another tool left, which changes nothing that runs.
#include <fmt/core.h>

#include "api/reasons.h"
#include "api/variables_secret.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "kube/apply/read_live.h"
#include "lifecycle/clusterctl_inventory.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/act/install/installation.h"
#include "operator/act/install/installer.h"
#include "operator/act/known_secrets.h"
#include "operator/decide/adoption.h"
#include "templating/recover.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

kube::PreviewOptions TakeOverOptions() {
  return {.field_manager = std::string(api::kFieldManager),
          .former = kube::WroteLabel(api::kLabelProvider, kClusterctl),
          .owner_group = std::string(api::kGroup)};
}

// The observation as it was when what is installed was declared: at that version, and running.
Observation AtVersion(const Observation& o, const std::string& version) {
  Observation at = o;
  at.provider.spec.version = version;
  at.provider.spec.paused = false;
  return at;
}

// The former tool's copies of rendered releases, which hold credentials: Secrets of this provider's called so.
bool IsCacheSecret(const api::Provider& provider, const kube::Object& secret) {
  std::string prefix = fmt::format("{}-{}-", api::KindOf(provider.id.type).type_name, provider.id.name);
  if (!secret.name().starts_with(prefix) || !secret.name().ends_with("-cache")) return false;
  const Json* owners = Find(secret.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  for (const Json& owner : *owners) {
    if (GetString(owner, {"uid"}) == provider.uid) return true;
  }
  return false;
}

kube::Object VariablesSecret(const api::ObjectRef& ref, const std::map<std::string, std::string>& values) {
  Json data = Json::object();
  for (const auto& [name, value] : values) data[name] = Base64Encode(value);
  return kube::Object(Json{{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", {{"name", ref.name}, {"namespace", ref.ns}}},
                           {"type", "Opaque"},
                           {"data", data}});
}

}  // namespace

// What the writes of this pass made of the object and its inputs.
void Installer::Reread(Observation& o) {
  auto cached = needs_.cache.Get(o.provider.id.Key());
  if (!cached) return;
  o.provider = *cached->provider;
  o.declared_version = cached->declared_version;
  o.spec_digest = cached->spec_digest;
}

// A1: no version asked for means the one that is there, not the latest.
std::optional<Hold> Installer::NoteVersion(const Context& ctx, Observation& o) {
  if (!o.provider.spec.version.empty()) return std::nullopt;
  auto written = needs_.writer.WriteVersion(ctx, o.provider, o.former->version);
  if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  Reread(o);
  o.declared_version = o.provider.spec.version = o.former->version;
  return std::nullopt;
}

// A2: a provider without a Secret of variables gets one, with the values that are live.
std::optional<Hold> Installer::RecoverVariables(const Context& ctx, Observation& o, const Installation& m) {
  if (o.config_secret && o.config_secret->exists) return std::nullopt;
  Observation bare = AtVersion(o, o.former->version);
  bare.config_secret.reset();
  auto inputs = ReadRenderInputs(ctx.InOwnName(), needs_.client, bare);
  if (!inputs.ok()) return InputsHold(inputs.error());
  lifecycle::KindScopes scopes(needs_.client.mapper(), bare.inventory);
  inputs->cluster_scoped = scopes.Lookup();
  auto turn = rendering_.Take(ctx);
  if (!turn.ok()) return NotAccepted(reason::kAPIServerUnavailable, turn.error());
  auto marked = templating::MarkVariables(ToRenderInput(bare, m.release, std::move(*inputs), needs_.settings));
  turn->reset();
  // Where a kind turns out to have no namespace, the next pass knows that, and looks for its objects where they are.
  auto right = scopes.Settle(ctx);
  if (right.ok() && !*right) right = Error{Code::kUnavailable, "the kinds of the release weren't known yet", {}};
  if (!right.ok()) return NotAccepted(reason::kAPIServerUnavailable, right.error());
  // What is wrong with the release itself the real render says better.
  if (!marked.ok() || marked->objects.empty()) return std::nullopt;
  auto live = kube::ReadLive(ctx, needs_.client, marked->objects);
  if (!live.ok()) return NotAnswered(live.error());
  auto found = templating::RecoverVariables(*marked, *live,
                                            [&](const std::string& name) { return needs_.settings.Variable(name); });
  for (const auto& what : found.unclear)
    ctx.log.Warn("a variable can't be told from what is live", {{"variable", what}});
  if (found.values.empty() && !o.config_secret) return std::nullopt;
  return KeepVariables(ctx, o, found.values);
}

std::optional<Hold> Installer::KeepVariables(const Context& ctx, Observation& o,
                                             const std::map<std::string, std::string>& values) {
  bool named = o.config_secret.has_value();
  api::ObjectRef ref =
      named ? o.config_secret->ref : api::ObjectRef{VariablesSecretName(o.provider.id), o.provider.id.ns};
  const kube::Resource& secrets = kube::Builtin("Secret");
  SecretValues recovered;  // before a refusal can repeat them
  for (const auto& [name, value] : values) recovered.Add(value);
  const std::string key = o.provider.id.Key();
  needs_.masks.Add(key, WithoutKnown(std::move(recovered), {}, needs_.cache.Get(key).get()));
  // Into another namespace only who may read there names it (T1); that says nothing of writing.
  const Context own = ref.ns == o.provider.id.ns ? ctx.InOwnName() : ctx;
  auto secret = needs_.client.Create(own, secrets, VariablesSecret(ref, values),
                                     {.field_manager = std::string(api::kFieldManager)});
  // From a pass that was interrupted here, or the user's own.
  if (!secret.ok() && secret.code() == Code::kAlreadyExists) {
    secret = needs_.client.Get(own, secrets, ref.ns, ref.name, {.metadata_only = true});
  }
  if (!secret.ok()) return NotAnswered(secret.error().With("keeping recovered variables"));
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  ctx.log.Info("recovered variables", {{"variables", Join(names, ",")}, {"secret", ref.ns + "/" + ref.name}});
  if (!named) {
    auto written = needs_.writer.WriteConfigSecret(ctx, o.provider, ref);
    if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
    Reread(o);
  }
  o.config_secret = Referenced{ref, true, secret->uid() + "/" + secret->resource_version()};
  return std::nullopt;
}

// A1c, A2: takes over the fields, then asks the server what an apply would change.
std::optional<Hold> Installer::Preview(const Context& ctx, const Observation& o, const Installation& m) {
  std::vector<kube::Manifest> manifests;
  for (const auto& manifest : m.manifests) {
    // Of a Secret that cert-manager keeps nothing is the former tool's: it is taken over when it is made (I19).
    if (!lifecycle::IsEntry(manifest.id) && !HoldsCertificate(manifest)) manifests.push_back(manifest);
  }
  std::vector<kube::Change> failed;
  auto differences = kube::PreviewTakeOver(needs_.client, ctx, manifests, TakeOverOptions(), failed);
  if (!differences.ok()) return NotTaken(reason::kDryRunFailed, kube::AnyRefused(failed), differences.error());
  if (differences->empty() || MayOverwrite(o.provider)) return std::nullopt;
  return DifferencesHold(*o.former, *differences);
}

// A1b: what the peer keeps for itself.
std::optional<Hold> Installer::RemoveLeftovers(const Context& ctx, const Observation& o) {
  if (o.former->tool != kPeer) return std::nullopt;
  const kube::Resource& secrets = kube::Builtin("Secret");
  const Context own = ctx.InOwnName();
  std::vector<kube::Object> leftovers;
  const kube::ListOptions options{.metadata_only = true, .managed_fields = false, .may_change = true};
  Status listed = needs_.client.ForEach(
      own, secrets, o.provider.id.ns, options, [&] { leftovers.clear(); },
      [&](kube::Object secret) -> Result<bool> {
        if (IsCacheSecret(o.provider, secret)) leftovers.push_back(std::move(secret));
        return true;
      });
  if (!listed.ok()) return NotAccepted(reason::kAPIServerUnavailable, listed.error());
  for (const kube::Object& secret : leftovers) {
    auto removed = needs_.client.Delete(own, secrets, secret.ns(), secret.name(), {.uid = secret.uid()});
    if (!removed.ok() && removed.code() != Code::kNotFound) {
      return NotAccepted(reason::kAPIServerUnavailable, removed.error().With("Secret " + secret.name()));
    }
    ctx.log.Info("removed a cached release", {{"secret", secret.name()}});
  }
  return std::nullopt;
}

// The marks by which an adoption is begun go last: an interrupted one begins again.
std::optional<Hold> Installer::RemoveMarks(const Context& ctx, Observation& o, const Installation& m) {
  for (const auto& manifest : m.manifests) {
    if (manifest.id != lifecycle::EntryId(o.provider.id)) continue;
    auto taken = kube::TakeOver(needs_.client, ctx.InOwnName(), manifest.id, TakeOverOptions());
    if (!taken.ok()) return NotAccepted(reason::kAPIServerUnavailable, taken.error());
  }
  if (!o.provider.annotations.contains(std::string(api::kAnnotationAppliedSpecHash))) return std::nullopt;
  auto removed = needs_.writer.RemoveAnnotation(ctx, o.provider, std::string(api::kAnnotationAppliedSpecHash));
  if (!removed.ok()) return NotAccepted(reason::kAPIServerUnavailable, removed.error());
  return std::nullopt;
}

Done Installer::Adopt(const Context& ctx, Observation o) {
  Installation m;
  Done done;
  const FormerInstall former = *o.former;
  ctx.log.Info("taking over", {{"from", former.tool}, {"version", former.version}});
  done.hold = [&]() -> std::optional<Hold> {
    if (auto hold = NoteVersion(ctx, o)) return hold;
    Observation at = AtVersion(o, former.version);
    if (auto hold = Resolve(ctx, at, m)) return hold;
    if (auto hold = Load(ctx, at, m)) return hold;
    done.loaded = true;
    if (auto hold = Inspect(at, m)) return hold;
    if (auto hold = RecoverVariables(ctx, o, m)) return hold;
    at = AtVersion(o, former.version);
    if (auto hold = Render(ctx, at, m)) return hold;
    if (auto hold = CheckCluster(ctx, at, m)) return hold;
    if (auto hold = Preview(ctx, at, m)) return hold;
    if (auto hold = RemoveLeftovers(ctx, at)) return hold;
    at.provider.status.installed_version = former.version;
    at.provider.status.contract = m.candidate.contract;
    std::optional<Hold> held = Announce(ctx, at, m);
    if (!held) held = Apply(ctx, at, m, done);
    o.provider.status = at.provider.status;
    o.provider.resource_version = at.provider.resource_version;
    if (held) return held;
    // What ran before is what a failed upgrade goes back to, and nothing of it is rolled out now (U5).
    if (done.rollout) done.rollout->outcome = api::outcome::kSucceeded;
    held = RemoveMarks(ctx, o, m);
    if (!held) done.adopted = fmt::format("Took over what {} installed, at", former.tool);
    return held;
  }();
  KeepFetched(ctx, o, m);
  done.times = m.times;
  // A1a: another version than the installed one is an upgrade after the adoption.
  done.again = !done.hold && !api::SameVersion(o.provider.spec.version, former.version);
  done.now = std::move(o);
  return done;
}

}  // namespace capi::ops
