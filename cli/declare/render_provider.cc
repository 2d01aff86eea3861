#include "cli/declare/render_provider.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "api/moves/wanted_contracts.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/find_release.h"
#include "cli/declare/recovery.h"
#include "cli/frame/lookup.h"
#include "cli/frame/provider_objects.h"
#include "cli/frame/source_secret.h"
#include "releases/release_store.h"
#include "templating/render.h"
#include "templating/workload_template.h"

namespace capi::cli {
namespace {

using Secret = std::map<std::string, std::string>;  // decoded

constexpr char kGitLabToken[] = "gitlab-access-token";

std::string Where(std::string_view kind, const api::ObjectRef& ref) {
  return fmt::format("{} {}/{}", kind, ref.ns, ref.name);
}

Result<Secret> ReadSecret(const Context& ctx, kube::Client& client, const std::optional<api::ObjectRef>& ref) {
  if (!ref) return Secret();
  return SecretValues(TRY_WITH(client.Get(ctx, kube::Builtin("Secret"), ref->ns, ref->name), Where("Secret", *ref)));
}

Result<templating::ImageOverrides> ReadImages(const Secret& secret, const std::optional<api::ObjectRef>& ref) {
  auto images = secret.find("images");
  if (images == secret.end()) return templating::ImageOverrides();
  auto parsed = ParseYaml(images->second);
  // The parser's words could repeat what the Secret holds: the place is enough.
  if (!parsed.ok()) return Error{Code::kInvalidArgument, Where("Secret", *ref) + ", key images: not YAML", {}};
  return TRY_WITH(templating::ReadImageOverrides(*parsed), Where("Secret", *ref) + ", key images");
}

Result<std::string> ReadAdditional(const Context& ctx, kube::Client& client, const std::optional<api::ObjectRef>& ref) {
  if (!ref) return std::string();
  auto map = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), ref->ns, ref->name), Where("ConfigMap", *ref));
  const Json* text = Find(map.json(), {"data", "manifests"});
  if (text != nullptr && text->is_string()) return text->get<std::string>();
  return Error{Code::kFailedPrecondition, Where("ConfigMap", *ref) + " has no key manifests under data", {}};
}

// That of the cluster's core, of which nothing more is installed than one; nullopt where there is none, or nobody knows
// it yet, or this person may not look.
Result<std::optional<std::string>> CoreContract(const Context& ctx, kube::Client& client, Notes& notes) {
  auto cores = client.List(ctx, api::ResourceOf(api::ProviderType::kCore), "");
  if (!cores.ok() && cores.code() == Code::kNotFound) return std::optional<std::string>();  // without these kinds
  if (!cores.ok() && cores.code() == Code::kPermissionDenied) {
    notes.Warn(
        "you may not list the CoreProviders of all namespaces, so the core's contract isn't known here: the "
        "newest version of any is taken for the one to install; name it in spec.version otherwise");
    return std::optional<std::string>();
  }
  if (!cores.ok()) return cores.error().With("failed to look for the core's contract");
  for (const kube::Object& core : cores->items) {
    std::string contract = GetString(core.json(), {"status", "contract"});
    if (!contract.empty()) return std::optional(std::move(contract));
  }
  return std::optional<std::string>();
}

// By which the version is chosen that isn't named (I3). The core asks nobody.
Result<std::vector<std::string>> ContractsOf(const Context& ctx, kube::Client& client, const api::Provider& provider,
                                             Notes& notes) {
  std::optional<std::string> core;
  if (provider.id.type != api::ProviderType::kCore) core = TRY(CoreContract(ctx, client, notes));
  return api::ContractsFor(provider.id.type, core);
}

enum class Look { kInClusterFirst, kAtTheSource };

Result<api::Release> ReadReleaseOf(const Context& ctx, kube::Client& client, const Config& config,
                                   const api::Provider& provider, const Secret& secret, Look look, Notes& notes) {
  ReleaseSources sources{config};
  sources.client = &client;
  sources.cluster_first = look == Look::kInClusterFirst;
  if (provider.spec.version.empty()) sources.contracts = TRY(ContractsOf(ctx, client, provider, notes));
  SourceSecret read{fetch::CredentialsIn(secret), ""};
  if (!FieldOfOwnSource(provider).empty()) read = TRY(ForItsSource(ctx, client, provider));
  sources.credentials = read.credentials;
  sources.git = read.git;
  auto release = FindRelease(ctx, sources, provider, notes);
  if (!release.ok()) return WithUnread(release.error(), read.unread);
  return release;
}

Error RenderFailed(const api::Provider& provider, const api::Release& release, const templating::RenderError& error) {
  if (error.missing.empty()) return error.error.With(release.source);
  const auto& secret = provider.spec.config_secret;
  return {Code::kFailedPrecondition,
          fmt::format("{} needs [{}]: put {} into {}, or set {} in the environment for this command", release.source,
                      Join(error.missing, ", "), error.missing.size() == 1 ? "it" : "them",
                      secret ? Where("Secret", *secret) : "a Secret that spec.configSecret names",
                      error.missing.size() == 1 ? "it" : "them"),
          {}};
}

bool SameSource(const std::optional<api::FetchConfig>& a, const std::optional<api::FetchConfig>& b) {
  auto git = [](const api::FetchConfig& fetch) {
    return fetch.git ? fetch.git->url + "\n" + fetch.git->path : std::string();
  };
  return a.has_value() == b.has_value() &&
         (!a || (a->url == b->url && a->oci == b->oci && a->selector == b->selector && git(*a) == git(*b)));
}

// Whatever the Secret has by now: what is live, or pruned, was made of what it had.
class LiveValues {
 public:
  LiveValues(const Context& ctx, ManagementCluster& cluster, const Config& config, const Secret& secret,
             const templating::ImageOverrides& images, Notes& notes)
      : ctx_(ctx),
        cluster_(cluster),
        client_(cluster.client()),
        config_(config),
        secret_(secret),
        images_(images),
        notes_(notes) {}

  // `wanted` is the release of `provider`, which may be another one than is installed.
  Status Mask(const api::Provider& provider, const api::Release& wanted, MaskedValues& masked) {
    api::Provider live = TRY(Live(provider));
    if (LiveReleases(live.status).empty()) {  // clusterctl installed it: what is declared says nothing of that
      live.spec.fetch_config.reset();
      live.spec.additional_manifests.reset();
    }
    const bool same_source = SameSource(live.spec.fetch_config, provider.spec.fetch_config);
    if (live.spec.fetch_config) live.spec.fetch_config->digest.clear();  // of the version that is declared
    const std::set<LiveRelease> installed = TRY(Installed(live));
    if (installed.empty()) TRY(Read(provider, wanted));
    for (const LiveRelease& one : installed) {
      live.spec.version = one.version;
      const bool same = same_source && api::SameVersion(one.version, wanted.version.ToString());
      auto release = InstalledRelease(live, one.digest, same_source, same ? &wanted : nullptr);
      if (!release.ok()) {
        return release.error().With(fmt::format(
            "release {} says where secrets are in what is installed, and without it they would be shown", one.version));
      }
      TRY(Read(live, *release));
    }
    templating::EraseDefaults(TRY(templating::DefaultsOf(wanted.components)), seen_);
    for (const auto& defaults : defaults_) templating::EraseDefaults(defaults, seen_);
    for (const std::string& value : seen_) masked.Add(value);
    return Ok();
  }

 private:
  // What is installed without an object of it is as clusterctl left it.
  Result<api::Provider> Live(const api::Provider& provider) {
    const api::ProviderId& id = provider.id;
    auto object = client_.Get(ctx_, api::ResourceOf(id.type), id.ns, id.name);
    if (!object.ok() && object.code() != Code::kNotFound) return object.error();
    if (!object.ok()) return provider;
    return api::ParseProvider(*object);
  }

  // None where nothing is installed yet.
  Result<std::set<LiveRelease>> Installed(const api::Provider& live) {
    std::set<LiveRelease> out = LiveReleases(live.status);
    if (!out.empty()) return out;
    const api::ProviderId& id = live.id;
    for (const InstalledProvider& one : TRY(cluster_.Providers(ctx_))) {
      if (one.type == id.type && one.name == id.name && one.ns == id.ns) out.insert({one.version, ""});
    }
    return out;
  }

  // As it lies in the cluster (I14), wherever it came from (T12 says what is to run), else, or where that is damaged or
  // has another text by now, that of its source, which `same` may be: what is to run of that version. T10: another
  // source gets no token.
  Result<api::Release> InstalledRelease(const api::Provider& live, const std::string& digest, bool same_source,
                                        const api::Release* same) {
    auto is_it = [&](const api::Release& release) { return digest.empty() || digest == release.Digest(); };
    const api::Version version = TRY(api::Version::Parse(live.spec.version));
    auto stored = releases::FindStored(ctx_, client_, live, version, /*of_any_source=*/true);
    if (!stored.ok() && !releases::IsNoRelease(stored.error())) return stored.error();
    if (stored.ok() && *stored && is_it((*stored)->release)) return std::move((*stored)->release);
    if (same != nullptr && is_it(*same)) return *same;
    Secret secret = secret_;
    if (!same_source) secret.erase(kGitLabToken);
    api::Release release = TRY(ReadReleaseOf(ctx_, client_, config_, live, secret, Look::kAtTheSource, notes_));
    if (is_it(release)) return release;
    return Error{
        Code::kFailedPrecondition,
        fmt::format("{} has another text by now than what was applied (status.history: {})", release.source, digest),
        {}};
  }

  Status Read(const api::Provider& provider, const api::Release& release) {
    const std::string additional = TRY(ReadAdditional(ctx_, client_, provider.spec.additional_manifests));
    LiveVariables live = TRY(RecoverLive(ctx_, client_, provider.id, release, images_, additional));
    seen_.merge(live.found.seen);
    defaults_.push_back(std::move(live.defaults));
    return Ok();
  }

  const Context& ctx_;
  ManagementCluster& cluster_;
  kube::Client& client_;
  const Config& config_;
  const Secret& secret_;
  const templating::ImageOverrides& images_;
  Notes& notes_;
  std::set<std::string> seen_;  // in any of the releases that were read
  // Those of all of them: one release's default is no secret to another.
  std::vector<std::map<std::string, std::optional<std::string>>> defaults_;
};

}  // namespace

Result<RenderedProvider> RenderProvider(const Context& ctx, ManagementCluster& cluster, const Config& config,
                                        const api::Provider& provider, Notes& notes) {
  kube::Client& client = cluster.client();
  Secret secret = TRY(ReadSecret(ctx, client, provider.spec.config_secret));
  // T10: it would go to a host that whoever wrote the object names, so none of another namespace's does.
  if (provider.spec.config_secret && provider.spec.config_secret->ns != provider.id.ns) secret.erase(kGitLabToken);
  const api::Release release = TRY(ReadReleaseOf(ctx, client, config, provider, secret, Look::kInClusterFirst, notes));
  RenderedProvider out;
  out.version = release.version.ToString();
  for (const auto& [name, value] : secret) {
    if (name != "images") out.masked.Add(value);
  }
  Lookup lookup(config);
  std::set<std::string> elsewhere;
  templating::RenderInput input;
  input.type = provider.id.type;
  input.name = provider.id.name;
  input.release = &release;
  input.spec = &provider.spec;
  input.target_namespace = provider.id.ns;
  input.additional_manifests = TRY(ReadAdditional(ctx, client, provider.spec.additional_manifests));
  input.images = TRY(ReadImages(secret, provider.spec.config_secret));
  input.cluster_scoped = [&](const kube::GroupKind& kind) -> std::optional<bool> {
    auto resource = client.mapper().For(ctx, kind);
    return resource.ok() ? std::optional(!resource->namespaced) : std::nullopt;
  };
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    if (auto own = secret.find(name); own != secret.end()) return own->second;
    auto value = lookup.function()(name);
    if (value) {
      out.masked.Add(*value);
      elsewhere.insert(name);
    }
    return value;
  };
  templating::RenderResult result = templating::Render(input);
  if (lookup.error()) return *lookup.error();
  if (result.error) return RenderFailed(provider, release, *result.error);
  TRY(LiveValues(ctx, cluster, config, secret, input.images, notes).Mask(provider, release, out.masked));
  if (!elsewhere.empty()) {
    notes.Warn(
        fmt::format("{}: the values of [{}] are those of this command's environment and configuration: its Secret "
                    "doesn't have them",
                    Describe(provider.id), Join(std::vector<std::string>(elsewhere.begin(), elsewhere.end()), ", ")));
  }
  out.warnings = std::move(result.output->warnings);
  for (kube::Object& object : result.output->objects) out.manifests.push_back(kube::ToManifest(std::move(object)));
  return out;
}

}  // namespace capi::cli
