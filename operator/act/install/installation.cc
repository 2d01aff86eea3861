#include "operator/act/install/installation.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "kube/client/status_error.h"
#include "kube/meta/kind.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/act/restorer.h"
#include "operator/decide/pause.h"
#include "templating/customise/images.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

std::string_view ReasonOf(const templating::RenderError& error) {
  switch (error.step) {
    case templating::RenderStep::kVariables:
      return error.missing.empty() ? reason::kInvalidComponents : reason::kMissingVariables;
    case templating::RenderStep::kParse: return reason::kInvalidComponents;
    case templating::RenderStep::kImages: return reason::kComponentsImageOverrideError;
    case templating::RenderStep::kTwoNamespaces: return reason::kMultipleNamespaces;
    case templating::RenderStep::kNamespace: return reason::kComponentsNamespaceError;
    case templating::RenderStep::kDuplicates: return reason::kDuplicateObjects;
    case templating::RenderStep::kCustomise: return reason::kComponentsCustomizationError;
    case templating::RenderStep::kManagerField: return reason::kUnsupportedManagerField;
    case templating::RenderStep::kPatch: return reason::kComponentsPatchError;
  }
  return reason::kInternalError;
}

std::string WhereToPutVariables(const Observation& o) {
  if (o.config_secret) return fmt::format("Secret {}/{}", o.config_secret->ref.ns, o.config_secret->ref.name);
  return fmt::format("a Secret in namespace {} and name it in spec.configSecret", o.provider.id.ns);
}

// The server stops every old pod before it starts a new one: the one way in which a change leaves nobody serving (U2).
std::string OutageOf(const kube::Object& object) {
  if (object.kind() != "Deployment" || GetString(object.json(), {"spec", "strategy", "type"}) != "Recreate") return "";
  return fmt::format("Deployment {} has strategy Recreate: every change of its pods leaves it without one for a while",
                     object.name());
}

// I19: what the operator makes isn't asked of cert-manager.
std::optional<Hold> TakeCertificates(const Observation& o, const api::Release& release,
                                     std::vector<kube::Object>& objects) {
  if (!o.builtin_certificates) return std::nullopt;
  auto taken = SecretsForCertificates(objects);
  if (taken.ok()) return std::nullopt;
  return Hold{
      std::string(condition::kPreflightCheckPassed), std::string(reason::kUnsupportedCertificate),
      fmt::format("{}: {}; install cert-manager (https://cert-manager.io/docs/installation), and let the operator "
                  "use it (--certificates=auto or cert-manager)",
                  release.source, taken.error().message),
      Retry::kWaiting};
}

}  // namespace

Result<Secret> ReadSecret(const Context& ctx, kube::Client& client, const api::ObjectRef& ref) {
  kube::Object object = TRY_WITH(client.Get(ctx, kube::Builtin("Secret"), ref.ns, ref.name),
                                 fmt::format("Secret {}/{}", ref.ns, ref.name));
  Secret out;
  const Json* data = Find(object.json(), {"data"});
  if (data == nullptr || !data->is_object()) return out;
  for (const auto& [key, value] : data->items()) {
    if (!value.is_string()) continue;
    out[key] = TRY_WITH(Base64Decode(value.get_ref<const std::string&>()),
                        fmt::format("Secret {}/{}, key {}", ref.ns, ref.name, key));
  }
  return out;
}

Result<RenderInputs> ReadRenderInputs(const Context& ctx, kube::Client& client, const Observation& o) {
  RenderInputs inputs;
  if (o.config_secret) {
    inputs.variables = TRY(ReadSecret(ctx, client, o.config_secret->ref));
    auto images = inputs.variables.find("images");
    if (images != inputs.variables.end()) {
      std::string where = fmt::format("Secret {}/{}, key images", o.config_secret->ref.ns, o.config_secret->ref.name);
      auto parsed = ParseYaml(images->second);
      // The parser's message could repeat what the Secret holds: the place is enough.
      if (!parsed.ok()) return Error{Code::kInvalidArgument, where + ": not YAML", {}};
      inputs.images = TRY_WITH(templating::ReadImageOverrides(*parsed), where);
    }
  }
  if (o.additional_manifests) {
    const auto& ref = o.additional_manifests->ref;
    kube::Object map = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), ref.ns, ref.name),
                                fmt::format("ConfigMap {}/{}", ref.ns, ref.name));
    const Json* manifests = Find(map.json(), {"data", "manifests"});
    if (manifests == nullptr || !manifests->is_string()) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("ConfigMap {}/{} (spec.additionalManifests) has no key manifests under data: put the "
                               "manifests there, this provider then goes on",
                               ref.ns, ref.name),
                   {}};
    }
    inputs.additional_manifests = manifests->get<std::string>();
  }
  return inputs;
}

Hold NotAnswered(const Error& error) { return NotTaken(reason::kDryRunFailed, !kube::IsOutage(error), error); }

Hold InputsHold(const Error& error) {
  if (error.code == Code::kFailedPrecondition) {
    return Hold{std::string(condition::kPreflightCheckPassed), std::string(reason::kAdditionalManifestsNotFound),
                error.message, Retry::kWaiting};
  }
  return NotRead(reason::kComponentsCustomizationError, error);
}

std::string MissingNamespaceLabels(const kube::Object& ns, const std::map<std::string, std::string>& wanted) {
  std::vector<std::string> missing;
  for (const auto& [key, value] : wanted) {
    if (ns.label(key) != value) missing.push_back(key + "=" + value);
  }
  if (missing.empty()) return "";
  return fmt::format("the release wants labels on its Namespace that {} lacks: kubectl label namespace {} {}",
                     ns.name(), ns.name(), Join(missing, " "));
}

Hold RenderHold(const Observation& o, const templating::RenderError& error) {
  Hold hold{std::string(condition::kProviderInstalled), std::string(ReasonOf(error)), error.error.message};
  if (!error.missing.empty()) {
    hold.condition = condition::kPreflightCheckPassed;
    hold.message = fmt::format("value for variables [{}] is not set: put {} into {}", Join(error.missing, ", "),
                               error.missing.size() == 1 ? "it" : "them", WhereToPutVariables(o));
    hold.retry = Retry::kWaiting;
  }
  if (hold.reason == reason::kUnsupportedManagerField) hold.condition = condition::kPreflightCheckPassed;
  return hold;
}

templating::RenderInput ToRenderInput(const Observation& o, const api::Release& release, RenderInputs inputs,
                                      const Settings& settings) {
  templating::RenderInput input;
  input.type = o.provider.id.type;
  input.name = o.provider.id.name;
  input.release = &release;
  input.additional_manifests = std::move(inputs.additional_manifests);
  input.target_namespace = o.provider.id.ns;
  input.spec = &o.provider.spec;
  input.images = std::move(inputs.images);
  input.operator_images = settings.file.images;
  input.cluster_scoped = std::move(inputs.cluster_scoped);
  input.variables = [values = std::move(inputs.variables), &settings](const std::string& name) {
    auto it = values.find(name);
    return it != values.end() ? std::optional(it->second) : settings.Variable(name);
  };
  return input;
}

Rendered RenderManifests(const Observation& o, const api::Release& release, RenderInputs inputs,
                         const Settings& settings) {
  Rendered out;
  for (const auto& [key, value] : inputs.variables) out.secrets.Add(value);
  auto result = templating::Render(ToRenderInput(o, release, std::move(inputs), settings));
  if (result.error) {
    result.error->error.message = fmt::format("{}: {}", release.source, result.error->error.message);
    out.hold = RenderHold(o, *result.error);
    return out;
  }
  if (auto hold = TakeCertificates(o, release, result.output->objects)) {
    out.hold = std::move(hold);
    return out;
  }
  out.warnings = std::move(result.output->warnings);
  for (auto& [key, value] : result.output->namespace_labels) {
    if (key.starts_with("pod-security.kubernetes.io/")) out.namespace_labels[key] = value;
  }
  bool at_zero = AppliesAtZero(o);
  for (kube::Object& object : result.output->objects) {
    std::string outage = OutageOf(object);
    if (!outage.empty()) out.warnings.push_back(std::move(outage));
    if (at_zero) ZeroReplicas(o, object);
    out.secrets.AddObject(object);
    out.manifests.push_back(kube::ToManifest(object));
    object = kube::Object();
  }
  return out;
}

kube::Inventory MergeInventory(const kube::Inventory& old, const std::vector<kube::Manifest>& manifests,
                               bool keep_marks) {
  kube::Inventory merged;
  for (const auto& [id, entry] : old.entries()) {
    bool kept = id.group == "apiextensions.k8s.io" || (id.group.empty() && id.kind == "Namespace");
    kube::InventoryEntry now = entry;
    now.stale = keep_marks ? entry.stale : !kept;
    merged.Put(id, now);
  }
  for (const auto& manifest : manifests) {
    const kube::InventoryEntry* before = old.Find(manifest.id);
    kube::InventoryEntry entry = before != nullptr ? *before : kube::InventoryEntry{};
    if (entry.version.empty()) entry.version = kube::GroupVersion::Parse(manifest.api_version).version;
    entry.stale = false;
    // From here on it may be sent, and nobody may be left to say so: what is live is known again by the next answer.
    if (entry.hash != manifest.hash) entry.hash.clear();
    merged.Put(manifest.id, entry);
  }
  return merged;
}

// What the operator has made before, or a rebuilt inventory has found: a Secret that cert-manager keeps is no part of
// the release, and never pruned.
void LeaveToCertManager(const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory) {
  for (const auto& manifest : manifests) {
    if (!kube::Is(manifest.id, "cert-manager.io", "Certificate")) continue;
    auto json = ParseJson(manifest.text);
    if (!json.ok()) continue;
    const kube::ObjectId secret{"", "Secret", manifest.id.ns, GetString(*json, {"spec", "secretName"})};
    const bool rendered =
        std::any_of(manifests.begin(), manifests.end(), [&](const kube::Manifest& one) { return one.id == secret; });
    if (!rendered) inventory.Remove(secret);
  }
}

void DropGone(const Observation& o, const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory) {
  for (const Drift& drift : o.fleet.drifts) {
    // Of what is stale by now, Prune looks whether it is gone, or another's.
    const kube::InventoryEntry* entry = inventory.Find(drift.id);
    if (!drift.missing || entry == nullptr || entry->stale) continue;
    bool rendered = std::any_of(manifests.begin(), manifests.end(),
                                [&](const kube::Manifest& manifest) { return manifest.id == drift.id; });
    if (!rendered) AcceptDrift(drift, inventory);
  }
}

void ForgetDrifted(const Observation& o, kube::Inventory& inventory) {
  for (const Drift& drift : o.fleet.drifts) {
    const kube::InventoryEntry* entry = inventory.Find(drift.id);
    if (entry != nullptr) inventory.Put(drift.id, {entry->version, "", "", entry->stale});
  }
}

void ForgetFields(kube::Inventory& inventory) {
  const kube::Inventory all = inventory;
  for (const auto& [id, entry] : all.entries()) {
    inventory.Put(id, {entry.version, entry.hash, "", entry.stale});
  }
}

bool Differs(const kube::Inventory& before, const kube::Inventory& merged,
             const std::vector<kube::Manifest>& manifests) {
  if (before != merged) return true;
  for (const auto& manifest : manifests) {
    const kube::InventoryEntry* entry = before.Find(manifest.id);
    if (entry == nullptr || entry->hash != manifest.hash || entry->fields.empty()) return true;
  }
  return false;
}

void TellDeleted(const std::vector<kube::Change>& changes, std::vector<std::string>& removed,
                 std::vector<std::string>& kept) {
  for (const kube::Change& change : changes) {
    if (change.action == kube::Change::Action::kUnchanged && !change.error.empty()) {
      kept.push_back(fmt::format("{} ({})", change.id.ToString(), change.error));
    }
    if (change.asked) removed.push_back(change.id.ToString());
  }
}

}  // namespace capi::ops
