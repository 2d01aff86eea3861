#include "cli/upgrade/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/moves/upgrade_policy.h"
#include "api/text.h"
#include "api/variables_secret.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/frame/lookup.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_release.h"
#include "cli/frame/source_secret.h"
#include "cli/upgrade/known_versions.h"
#include "cli/upgrade/progress.h"
#include "fetch/url.h"
#include "kube/meta/kind.h"
#include "kube/meta/label_selector.h"
#include "releases/release_store.h"
#include "templating/substitute.h"

namespace capi::cli {
namespace {

using Values = std::map<std::string, std::string>;

// Shorter ones are words like `true`, which say nothing.
constexpr size_t kShortestSecret = 4;

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

// Names that a release asks for: all, and those without a default that nobody gives.
struct Asked {
  std::set<std::string> all, missing;
};

Asked AskedBy(const api::Release& release, const Values& given) {
  Asked out;
  templating::Source source(release.components, "");
  templating::Substituted listed, filled;
  templating::Substitute(source, nullptr, false, listed);  // what can't be read is the render's to tell
  out.all.insert(listed.variables.begin(), listed.variables.end());
  auto value_of = [&](const std::string& name) {
    auto value = given.find(name);
    return value == given.end() ? std::nullopt : std::optional(value->second);
  };
  auto error = templating::Substitute(source, value_of, true, filled);
  if (error) out.missing.insert(error->missing.begin(), error->missing.end());
  return out;
}

// What the provider's Secret has: of one that its spec names, and of the usual one that it doesn't name yet.
Result<Values> ReadVariables(const Context& ctx, ManagementCluster& cluster, const api::Provider& provider) {
  const bool named = provider.spec.config_secret.has_value();
  const api::ObjectRef ref = SecretOf(provider);
  auto found = cluster.client().Get(ctx, kube::Builtin("Secret"), ref.ns, ref.name);
  if (!named && !found.ok() && found.code() == Code::kNotFound) return Values();
  kube::Object secret =
      TRY_WITH(std::move(found), fmt::format("Secret {}/{}{}", ref.ns, ref.name, named ? " (spec.configSecret)" : ""));
  return SecretValues(secret);
}

Result<std::string> ReadManifests(const Context& ctx, ManagementCluster& cluster, const api::Provider& provider) {
  if (!provider.spec.additional_manifests) return std::string();
  const api::ObjectRef& ref = *provider.spec.additional_manifests;
  kube::Object map = TRY_WITH(cluster.client().Get(ctx, kube::Builtin("ConfigMap"), ref.ns, ref.name),
                              fmt::format("ConfigMap {}/{} (spec.additionalManifests)", ref.ns, ref.name));
  return GetString(map.json(), {"data", "manifests"});
}

// As the URL names it that its object has, or this machine knows for the provider.
std::string ComponentsFileOf(const Config& config, const api::Provider& provider) {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  std::string url = fetch ? fetch::WithFile(fetch->url, id.type, id.name) : "";
  if (url.empty()) {
    auto source = config.FindProvider(id.type, id.name);
    if (source.ok()) url = source->url;
  }
  return fetch::FileOf(url, id.type, id.name);
}

// Whether this machine has files of its own for that version.
Result<bool> HasOwnFiles(const Config& config, const api::Provider& provider, const api::Version& version) {
  const api::ProviderId& id = provider.id;
  return IsOverridden(TRY(config.OverridesFolder()), api::ManifestLabel(id.type, id.name), version.ToString(),
                      ComponentsFileOf(config, provider));
}

// Whether each such file is the one of `release`, which lies in the cluster; the folder says nothing of the others.
Result<bool> AreOwnFilesOf(const Config& config, const api::Provider& provider, const api::Version& version,
                           const api::Release& release) {
  const std::string folder = TRY(config.OverridesFolder());
  const std::string label = api::ManifestLabel(provider.id.type, provider.id.name);
  const std::pair<std::string, const std::string*> files[] = {{ComponentsFileOf(config, provider), &release.components},
                                                              {"metadata.yaml", &release.metadata}};
  for (const auto& [file, text] : files) {
    auto own = ReadFile(OverridePath(folder, label, version.ToString(), file), api::kMaxReleaseBytes);
    if (!own.ok() && own.code() == Code::kNotFound) continue;
    if (!own.ok()) return own.error().With("failed to read a local override");
    if (*own != *text) return false;
  }
  return true;
}

// What its registry has would be installed, and not what this machine has put in its place.
Status CheckOverrides(const Config& config, const api::Provider& provider, const api::Version& to) {
  const std::string_view field = FieldOfOwnSource(provider);
  if (field.empty() || !TRY(HasOwnFiles(config, provider, to))) return Ok();
  return Refused(
      fmt::format("{}: files in the folder of overrides don't count with spec.fetchConfig.{}: move those of {} away; "
                  "a release of your own goes into a ConfigMap",
                  Describe(provider.id), field, to.ToString()));
}

struct Fetched {
  api::Release release;
  bool store = false;
};

bool IsVerified(const api::Provider& provider) {
  return provider.spec.fetch_config && provider.spec.fetch_config->verify;
}

Error LacksSignatures(const api::ProviderId& id, const std::string& name) {
  return Refused(
      fmt::format("{}: ConfigMap {}/{} has no signatures of both its files (spec.fetchConfig.verify): add them under "
                  "the keys metadata.sig and components.sig, or those with .bundle or .sigstore.json",
                  Describe(id), id.ns, name));
}

// A provider of which nobody knows a source: there is nothing that they would go before.
Error OfNoSource(const api::ProviderId& id, const api::Version& version) {
  return Refused(
      fmt::format("{}: files in the folder of overrides don't count for a provider without a source in the "
                  "configuration: name that under providers, or move those of {} away",
                  Describe(id), version.ToString()));
}

// A digest is of one version: the one that the object asks for so far has another.
Status CheckDigestOf(const api::Provider& provider, const api::Release& release) {
  const Status right = CheckDigest(provider, release);
  if (right.ok()) return Ok();
  Error error = right.error().With(Describe(provider.id));
  error.message += fmt::format("; write {} and its digest into the object at once, or take the digest out of it first",
                               release.version.ToString());
  return error;
}

Error HoldsAnother(const api::ProviderId& id, const std::string& name, const api::Version& version) {
  return Refused(fmt::format("{}: ConfigMap {}/{} holds another {} than the folder of overrides: remove one of them",
                             Describe(id), id.ns, name, version.ToString()));
}

// T6, T14: whether the operator would take it for the release that the object asks for, and not fetch it anew.
Status CheckWanted(const api::Provider& provider, const releases::FoundRelease& stored) {
  if (IsVerified(provider) && !releases::IsSigned(stored.release)) return LacksSignatures(provider.id, stored.name);
  return CheckDigestOf(provider, stored.release);
}

// `wanted`: as the object asks for it, with its signatures.
Result<Fetched> Fetch(const Context& ctx, const Config& config, ManagementCluster& cluster,
                      const ProviderObject& object, const api::Version& version, bool wanted, Notes& notes) {
  const api::ProviderId& id = object.provider.id;
  const bool overridden =
      FieldOfOwnSource(object.provider).empty() && TRY(HasOwnFiles(config, object.provider, version));
  auto stored = TRY(releases::FindStored(ctx, cluster.client(), object.provider, version));
  // What is put there has its signatures with it, and what was there before may lack them; the operator verifies.
  const Status right = wanted && stored ? CheckWanted(object.provider, *stored) : Ok();
  if (!right.ok() && stored->kept) return right.error();
  const bool same = stored && (!overridden || TRY(AreOwnFilesOf(config, object.provider, version, stored->release)));
  if (same && right.ok()) return Fetched{std::move(stored->release), false};
  if (stored && stored->kept) return HoldsAnother(id, stored->name, version);
  const InstalledProvider installed{id.type, id.name, id.ns, ""};
  std::optional<ProviderRepository> from;
  if (stored) {
    // What is to be put in its place isn't read from it again.
    from = TRY(OpenNamed(ctx, config, cluster, installed, &object, notes));
    if (!from) return right.ok() ? OfNoSource(id, version) : right.error();
  } else {
    from = TRY(OpenRepository(ctx, config, cluster, installed, &object, notes));
  }
  const bool verified = wanted && IsVerified(object.provider);
  auto release = TRY_WITH(fetch::GetRelease(ctx, *from->repository, version, verified), Describe(id));
  if (wanted) TRY(CheckDigestOf(object.provider, release));
  return Fetched{std::move(release), stored || overridden || !from->operator_reaches_it};
}

// Of a version that the cluster has; nothing where it isn't at hand. It is compared with alone: it needn't be signed.
std::optional<api::Release> Former(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                   const ProviderObject& object, const std::string& version, Notes& notes) {
  auto parsed = api::Version::Parse(version);
  if (!parsed.ok()) return std::nullopt;
  // What lies there is what runs, whatever this machine or another source has in its place by now.
  auto stored = releases::FindStored(ctx, cluster.client(), object.provider, *parsed, /*of_any_source=*/true);
  if (stored.ok() && *stored) return std::move((*stored)->release);
  auto fetched = Fetch(ctx, config, cluster, object, *parsed, false, notes);
  return fetched.ok() ? std::optional(std::move(fetched->release)) : std::nullopt;
}

// The input of a render as the operator would have it, but for its own environment.
templating::RenderInput RenderInputOf(const UpgradeTarget& target, const api::Release& release, const Values& values,
                                      const std::string& manifests) {
  const api::Provider& provider = target.object.provider;
  templating::RenderInput input;
  input.type = provider.id.type;
  input.name = provider.id.name;
  input.release = &release;
  input.additional_manifests = manifests;
  input.target_namespace = provider.id.ns;
  input.spec = &provider.spec;
  input.check_types = false;
  input.variables = [&values, &target](const std::string& name) -> std::optional<std::string> {
    if (auto value = values.find(name); value != values.end()) return value->second;
    if (auto value = target.variables.find(name); value != target.variables.end()) return value->second;
    return std::nullopt;
  };
  return input;
}

// No value of the Secret is shown, wherever it stands: a variable may be part of a name.
void Mask(std::vector<ObjectChange>& changes, const Values& secret, const Values& more) {
  for (const Values* values : {&secret, &more}) {
    for (const auto& [name, value] : *values) {
      if (value.size() < kShortestSecret) continue;
      for (ObjectChange& change : changes) {
        change.object = ReplaceAll(change.object, value, "***");
        for (std::string& path : change.paths) path = ReplaceAll(path, value, "***");
      }
    }
  }
}

void KeepCrds(UpgradeTarget& target, const templating::RenderOutput& rendered) {
  for (const kube::Object& object : rendered.objects) {
    if (kube::IsCrd(object)) target.crds.push_back(object);
  }
}

Status CompareRenders(UpgradeTarget& target, const api::Release* former, const Values& secret,
                      const std::string& manifests) {
  templating::RenderInput input = RenderInputOf(target, target.release, secret, manifests);
  auto after = templating::Render(input);
  // What comes from the operator's environment alone isn't known here: nothing can be said of the objects then, but of
  // the CRDs, in which no variable matters.
  if (after.error && !after.error->missing.empty()) {
    input.skip_substitution = true;
    auto raw = templating::Render(input);
    if (raw.output) KeepCrds(target, *raw.output);
    return Ok();
  }
  if (after.error)
    return after.error->error.With(fmt::format("{} {}", Describe(target.object.provider.id), target.to.ToString()));
  KeepCrds(target, *after.output);
  if (former == nullptr) return Ok();
  auto before = templating::Render(RenderInputOf(target, *former, secret, manifests));
  if (before.error) return Ok();
  target.changes = CompareObjects(before.output->objects, after.output->objects);
  target.compared = true;
  Mask(target.changes, secret, target.variables);
  return Ok();
}

const Json* VersionsOf(const kube::Object& crd) {
  const Json* versions = Find(crd.json(), {"spec", "versions"});
  return versions != nullptr && versions->is_array() ? versions : nullptr;
}

std::string StorageVersion(const kube::Object& crd) {
  const Json* versions = VersionsOf(crd);
  for (const Json& version : versions == nullptr ? Json::array() : *versions) {
    if (GetBool(version, {"storage"})) return GetString(version, {"name"});
  }
  return "";
}

bool HasVersion(const kube::Object& crd, const std::string& name) {
  const Json* versions = VersionsOf(crd);
  for (const Json& version : versions == nullptr ? Json::array() : *versions) {
    if (GetString(version, {"name"}) == name) return true;
  }
  return false;
}

// The object as it is now. What its spec says has to be understood before anything of it is changed.
Result<ProviderObject> Look(const Context& ctx, ManagementCluster& cluster, const api::ProviderId& id) {
  kube::Object object = TRY_WITH(cluster.client().Get(ctx, api::ResourceOf(id.type), id.ns, id.name), Describe(id));
  TRY_WITH(api::ParseProvider(object), Describe(id));
  ProviderObject out = ReadProviderObject(object);
  if (out.provider.deleting) return Refused(fmt::format("{} is being deleted", Describe(id)));
  if (out.provider.annotations.contains(std::string(api::kAnnotationPaused))) {
    return Refused(fmt::format("{} has annotation {}, which keeps the operator away from it: take it off first",
                               Describe(id), api::kAnnotationPaused));
  }
  return out;
}

// What an unnamed Secret of the usual name has is neither asked for nor overwritten.
void TakeFromUnnamed(const Values& unnamed, NeededVariables& needed, Values& secret) {
  for (const auto& [name, value] : unnamed) {
    bool wanted = needed.found.erase(name) + std::erase(needed.missing, name) > 0;
    if (wanted) secret[name] = value;
  }
}

// What the Secret gets; of what it has, what counts.
Result<Values> FindValues(const Context& ctx, const Config& config, ManagementCluster& cluster,
                          const api::Release* former, UpgradeTarget& target) {
  const api::Provider& provider = target.object.provider;
  const bool named = provider.spec.config_secret.has_value();
  Values out;
  if (named) out = TRY(ReadVariables(ctx, cluster, provider));
  Lookup lookup(config);
  NeededVariables needed = FindVariables(target.release, former, out, lookup.function());
  if (lookup.error()) return *lookup.error();
  bool lacks_some = !needed.found.empty() || !needed.missing.empty();
  if (!named && lacks_some) TakeFromUnnamed(TRY(ReadVariables(ctx, cluster, provider)), needed, out);
  target.names_secret = !named && (!out.empty() || !needed.found.empty());
  target.variables = std::move(needed.found);
  target.missing = std::move(needed.missing);
  return out;
}

Status CheckFound(const UpgradeTarget& target) {
  const api::Provider& provider = target.object.provider;
  const auto& fetch = provider.spec.fetch_config;
  if (!target.store || !fetch || !fetch->selector) return Ok();
  auto selector = TRY(kube::LabelSelector::FromJson(*fetch->selector));
  Json labels = api::LabelsToBeFoundBy(provider, target.to.ToString());
  if (selector.Matches(labels)) return Ok();
  return Refused(
      fmt::format("{}: spec.fetchConfig.selector ({}) doesn't say with matchLabels which labels a release has: put {} "
                  "into a ConfigMap that it finds, and run this again",
                  Describe(provider.id), selector.ToString(), target.to.ToString()));
}

Result<std::string> ContractOf(const api::Release& release, const api::ProviderId& id) {
  auto metadata = TRY(api::Metadata::Parse(release.metadata, api::ManifestLabel(id.type, id.name)));
  if (auto contract = metadata.ContractOf(release.version)) return *contract;
  return Refused(
      fmt::format("invalid target version: version {} for the provider {}/{} does not match any release series",
                  release.version.ToString(), id.ns, api::ManifestLabel(id.type, id.name)));
}

// Nothing chooses it again once something else is declared and came up; what a policy has installed, it would.
bool HasOnlyFailed(const api::Provider& provider, const api::Version& to, std::string_view runs) {
  auto floor = api::Version::Parse(api::PolicyFloor(provider.status));
  return api::HasFailed(provider.status, runs) && !(floor.ok() && *floor > to);
}

// U13: what the policy has installed stays, and not the older version that would be declared. `back`: but for what has
// failed, and where no policy goes there again.
Status CheckPolicy(const UpgradeTarget& target, bool back) {
  const api::Provider& provider = target.object.provider;
  const std::string to = target.to.ToString(), runs = api::VersionToRun(to, provider.status, provider.annotations);
  const bool is_over = provider.spec.upgrade_policy.type == api::UpgradeType::kNone;
  if (api::SameVersion(runs, to) || (back && (is_over || HasOnlyFailed(provider, target.to, runs)))) return Ok();
  return Refused(
      fmt::format("{} stays at {}, to which spec.upgradePolicy has led: to go back to {}, {}run clusterctl "
                  "rollback {} -n {} --to-version {}",
                  Describe(provider.id), runs, to, is_over ? "" : "set spec.upgradePolicy.type to None and ",
                  api::ManifestLabel(provider.id.type, provider.id.name), provider.id.ns, to));
}

}  // namespace

api::ObjectRef SecretOf(const api::Provider& provider) {
  if (provider.spec.config_secret) return *provider.spec.config_secret;
  return {api::VariablesSecretName(provider.id), provider.id.ns};
}

NeededVariables FindVariables(const api::Release& release, const api::Release* former, const Values& secret,
                              const templating::Variables& configured) {
  Asked now = AskedBy(release, secret), before;
  if (former != nullptr) before = AskedBy(*former, secret);
  NeededVariables out;
  for (const std::string& name : now.all) {
    bool is_new = !before.all.contains(name) && !secret.contains(name);
    bool needed = now.missing.contains(name) && !before.missing.contains(name);
    if (!is_new && !needed) continue;
    // Without the former release nobody knows what is new: only what is needed is looked for.
    if (former == nullptr && !needed) continue;
    if (auto value = configured(name)) {
      out.found[name] = *std::move(value);
    } else if (needed) {
      out.missing.push_back(name);
    }
  }
  return out;
}

Status CheckTarget(const Context& ctx, ManagementCluster& cluster, const UpgradeTarget& target, bool back) {
  const api::Provider& provider = target.object.provider;
  TRY(CheckFound(target));
  TRY(CheckPolicy(target, back));
  // Somebody's ConfigMap isn't overwritten (I14).
  if (target.store)
    TRY_WITH(releases::CheckOwnName(ctx, cluster.client(), provider, target.release.version), Describe(provider.id));
  if (!target.missing.empty()) {
    api::ObjectRef ref = SecretOf(provider);
    return Refused(
        fmt::format("{} {}: value for variables [{}] is not set. Please set the value using os environment variables "
                    "or the clusterctl config file (or in Secret {}/{}); nothing was written",
                    Describe(provider.id), target.to.ToString(), Join(target.missing, ", "), ref.ns, ref.name));
  }
  for (const kube::Object& crd : target.crds) {
    auto live = cluster.client().Get(ctx, kube::Builtin("CustomResourceDefinition"), "", crd.name());
    if (!live.ok() && live.code() == Code::kNotFound) continue;
    if (!live.ok()) return live.error().With(fmt::format("failed to look at CustomResourceDefinition {}", crd.name()));
    std::string stored = StorageVersion(*live);
    if (stored.empty() || HasVersion(crd, stored)) continue;
    return Refused(
        fmt::format("{} {}: objects of {} are stored at {}, which that release doesn't have: it can't be gone to",
                    Describe(provider.id), target.to.ToString(), crd.name(), stored));
  }
  return Ok();
}

Result<UpgradeTarget> PrepareTarget(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                    const api::ProviderId& id, const api::Version& to, Notes& notes) {
  UpgradeTarget target;
  target.object = TRY(Look(ctx, cluster, id));
  const ProviderObject& object = target.object;
  const api::Provider& provider = object.provider;
  target.to = to;
  target.from = target.leaves = provider.status.installed_version;
  if (IsUnderWay(provider.status) && !api::SameVersion(provider.status.history.front().version, to.ToString()))
    target.leaves = provider.status.history.front().version;
  target.from_contract = provider.status.contract;
  TRY(CheckOverrides(config, provider, to));
  Fetched fetched = TRY(Fetch(ctx, config, cluster, object, to, true, notes));
  target.release = std::move(fetched.release);
  target.store = fetched.store;
  target.to_contract = TRY(ContractOf(target.release, provider.id));
  auto installed = Former(ctx, config, cluster, object, target.from, notes);
  auto left = target.leaves == target.from ? installed : Former(ctx, config, cluster, object, target.leaves, notes);
  Values secret = TRY(FindValues(ctx, config, cluster, installed ? &*installed : nullptr, target));
  std::string manifests = TRY(ReadManifests(ctx, cluster, provider));
  TRY(CompareRenders(target, left ? &*left : nullptr, secret, manifests));
  return target;
}

}  // namespace capi::cli
