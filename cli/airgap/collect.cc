#include "cli/airgap/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/conversion/convert.h"
#include "api/release_choice.h"
#include "api/release_maps.h"
#include "api/stored_release.h"
#include "api/validate/folder_url.h"
#include "base/strings.h"
#include "cli/airgap/registry.h"
#include "cli/declare/find_release.h"
#include "cli/declare/lint_object.h"
#include "cli/declare/manifest_files.h"
#include "cli/frame/provider_objects.h"
#include "cli/frame/source_secret.h"
#include "fetch/oci/oci.h"
#include "fetch/url.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// A file of a release on GitHub or GitLab, or in a folder on a server; anything else is a registry's artifact.
bool NamesFile(const std::string& url) {
  auto kind = fetch::KindOfUrl(url);
  return kind.ok() && *kind != fetch::UrlKind::kFolder;
}

// T14: the operator looks for them where the release lies.
bool IsVerified(const api::Provider& provider) {
  return provider.spec.fetch_config && provider.spec.fetch_config->verify;
}

// One URL for the files of all of these.
Result<ArtifactSource> ArtifactOf(const CollectOptions& options, const std::set<std::string>& labels) {
  const bool shared = labels.size() > 1;
  const std::vector<std::string> names(labels.begin(), labels.end());
  if (shared && NamesFile(options.artifact_url))
    return Invalid(fmt::format("--artifact-url: it names a file of one provider, and these are asked for: {}",
                               JoinNames(names, 10)));
  return ArtifactSource{options.artifact_url, shared};
}

Result<api::Release> FromArtifact(const Context& ctx, const Config& config, api::ProviderType type,
                                  const std::string& name, const std::string& version, const ArtifactSource& artifact,
                                  bool signatures = false) {
  const std::string &url = artifact.url, label = api::ManifestLabel(type, name);
  std::unique_ptr<fetch::Repository> repository;
  std::optional<api::Version> wanted;
  if (!version.empty()) wanted = TRY(ParseVersion(version));
  if (NamesFile(url)) {
    fetch::UrlOptions reached = TRY(UrlOptionsOf(config));
    reached.github.signatures = signatures;
    repository = TRY_WITH(fetch::OpenUrl(url, label, reached), "--artifact-url");
    const std::string named = TRY_WITH(VersionInUrl(url, label), "--artifact-url");
    if (wanted && named != "latest" && !api::SameVersion(wanted->ToString(), named))
      return Invalid(fmt::format("--artifact-url: it names {}, and {} is asked for", named, version));
    if (!wanted) wanted = TRY(DefaultVersion(ctx, *repository, url, label));
    return fetch::GetRelease(ctx, *repository, *wanted, signatures);
  }
  fetch::OciOptions registry = RegistryOptionsOf(config);
  registry.full_titles = artifact.shared;
  repository = TRY_WITH(fetch::OpenOci(url, type, name, registry), "--artifact-url");
  if (!wanted) wanted = TRY(fetch::LatestVersion(ctx, *repository, {std::string(kContract)}));
  return fetch::GetRelease(ctx, *repository, *wanted, signatures);
}

// An object that asks for a release. A value.
struct Asking {
  api::Provider provider;
  std::string where;         // "" in a cluster
  SourceSecret secret = {};  // of the same files

  std::string Name() const { return where.empty() ? Describe(provider.id) : where + ": " + Describe(provider.id); }
};

// From the source that the object names. A selector names none: what it is to find comes from the configuration's.
// `named`: whether the command line names it, too, so that it gets the environment's credentials.
Result<api::Release> FromOwnSource(const Context& ctx, const Config& config, const Asking& asking,
                                   ManagementCluster* cluster, bool named, Notes& notes) {
  const api::Provider& provider = asking.provider;
  ReleaseSources sources{config};
  SourceSecret secret = asking.secret;
  if (cluster != nullptr) secret = TRY(ForItsSource(ctx, cluster->client(), provider));
  sources.credentials = std::move(secret.credentials);
  sources.git = std::move(secret.git);
  if (named) {
    sources.credentials.oci = RegistryOptionsOf(config).credentials;
    secret.unread.clear();
  }
  sources.signatures = IsVerified(provider);
  api::Provider asked = provider;
  if (asked.spec.fetch_config && asked.spec.fetch_config->selector) asked.spec.fetch_config.reset();
  auto release = FindRelease(ctx, sources, asked, notes);
  if (release.ok()) return release;
  Error error = WithUnread(release.error(), secret.unread);
  const auto& fetch = asked.spec.fetch_config;
  if (named || error.code != Code::kUnauthenticated || !fetch || fetch->oci.empty()) return error;
  error.message += fmt::format(". Those of the environment go there with --artifact-url {}", fetch->oci);
  return error;
}

// T12: of a release that lies there the operator asks whether it is from the registry that the object names.
Result<bool> HasOwnSource(const api::Provider& provider, const std::string& artifact_url) {
  if (auto refused = RefusedSource(provider)) return Invalid(refused->ToString());
  if (artifact_url.empty()) return true;
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && fetch->git) {
    return Invalid("spec.fetchConfig.git: the operator takes a release from there alone: leave out --artifact-url");
  }
  if (!fetch || fetch->oci.empty()) return false;
  const auto own = TRY_WITH(api::ParseOciReference(fetch->oci), "spec.fetchConfig.oci");
  auto named = api::ParseOciReference(artifact_url);
  if (named.ok() && named->ToString() == own.ToString()) return true;
  return Invalid(
      fmt::format("spec.fetchConfig.oci: the operator takes a release from there alone: leave out --artifact-url, or "
                  "name the same with it ({}), for credentials of the environment",
                  own.ToString()));
}

Status CheckFound(const api::Provider& provider, const std::map<std::string, std::string>& labels) {
  const auto& fetch = provider.spec.fetch_config;
  if (!fetch || !fetch->selector) return Ok();
  auto selector = TRY(kube::LabelSelector::FromJson(*fetch->selector));
  if (selector.Matches(Json(labels))) return Ok();
  return Invalid(
      fmt::format("spec.fetchConfig.selector: it doesn't find what has the labels {}: write them as "
                  "matchLabels",
                  api::SelectorOf(labels)));
}

Result<CollectedRelease> OfObject(const Context& ctx, const Config& config, const Asking& asking,
                                  const ArtifactSource& artifact, ManagementCluster* cluster, Notes& notes) {
  const api::Provider& provider = asking.provider;
  const api::ProviderId& id = provider.id;
  const bool own = TRY(HasOwnSource(provider, artifact.url)), named = !artifact.url.empty();
  api::Release release =
      TRY(own ? FromOwnSource(ctx, config, asking, cluster, named, notes)
              : FromArtifact(ctx, config, id.type, id.name, provider.spec.version, artifact, IsVerified(provider)));
  TRY(CheckDigest(provider, release));
  TRY(ContractOf(release, id));
  TRY(CheckFound(provider, api::LabelsToBeFoundBy(provider, release.version.ToString())));
  ProviderRelease found{{.type = id.type, .name = id.name, .url = ""},
                        std::string(api::KindOf(id.type).components_file),
                        std::move(release)};
  return CollectedRelease{TRY(CandidateOf(config, std::move(found), id.ns)), provider, asking.where};
}

// What a release comes of: objects that agree in it want one and the same. A value.
struct Wanted {
  std::string version;
  Json source;  // spec.fetchConfig
};

bool WantTheSame(const Wanted& a, const Wanted& b) {
  return api::SameVersion(a.version, b.version) && a.source == b.source;
}

bool HasTheSame(const kube::Object& a, const kube::Object& b) {
  for (const char* part : {"data", "stringData", "sops"}) {
    const Json *of_a = Find(a.json(), {part}), *of_b = Find(b.json(), {part});
    if ((of_a == nullptr ? Json() : *of_a) != (of_b == nullptr ? Json() : *of_b)) return false;
  }
  return true;
}

// T1, T9, T15: as a cluster would have it once these are applied. A namespace that isn't written is the object's. The
// files may be those of several clusters: the one of the object's own `file` counts before all others, and of several
// that differ none, so that no server gets what is another's.
FileSecret FindSecret(const std::vector<Document>& documents, const std::string& file, const api::ObjectRef& ref) {
  std::vector<const Document*> own, others;
  for (const Document& document : documents) {
    const kube::Object& object = document.object();
    if (object.kind() != "Secret" || !object.group_version().group.empty() || object.name() != ref.name) continue;
    if (object.ns().empty() || object.ns() == ref.ns) (document.file() == file ? own : others).push_back(&document);
  }
  const auto& found = own.empty() ? others : own;
  if (found.empty()) return {};
  const Document& first = *found.front();
  for (const Document* other : found) {
    if (HasTheSame(first.object(), other->object())) continue;
    return {nullptr,
            fmt::format("is in these files with two contents ({}:{} and {}:{}), of which none is taken: put the "
                        "one that is meant into the file of the object, or name the files of one cluster",
                        first.file(), first.PlaceOf({}).line, other->file(), other->PlaceOf({}).line)};
  }
  return {&first.object(), ""};
}

Result<std::vector<Asking>> InFiles(const CollectOptions& options, Clusters clusters, std::istream& in, Notes& notes) {
  ManifestFiles manifests = TRY(ReadManifests(options.files, in));
  for (const Finding& finding : manifests.findings) {
    if (finding.level == Level::kError) return Invalid(finding.file + ": " + finding.message);
    notes.Warn(finding.file + ": " + finding.message);
  }
  std::vector<Asking> out;
  std::map<std::string, std::vector<Wanted>> seen;  // by object
  for (const Document& document : manifests.documents) {
    if (std::string mistake = MistakenKind(document.object()); !mistake.empty())
      return Invalid(document.file() + ": " + mistake);
    if (!IsProvider(document.object())) continue;
    kube::Object object(TRY_WITH(
        api::Convert(document.object().json(), fmt::format("{}/{}", api::kGroup, api::kVersion)), document.file()));
    const std::string name = fmt::format("{}: {}", document.file(), NameOf(document.object()));
    if (object.ns().empty()) object.set_ns(options.ns);
    if (object.ns().empty()) return Invalid(name + ": metadata.namespace: write it, or name it with -n");
    if (!options.ns.empty() && object.ns() != options.ns)
      return Invalid(fmt::format("{}: metadata.namespace is another one than {} (-n)", name, options.ns));
    api::Provider provider = TRY_WITH(api::ParseProvider(object), name);
    const Json* source = Find(object.json(), {"spec", "fetchConfig"});
    // An empty object, as kustomize leaves it, names none either.
    const Wanted one{provider.spec.version, source == nullptr || source->empty() ? Json() : *source};
    std::vector<Wanted>& before = seen[Describe(provider.id)];
    if (std::any_of(before.begin(), before.end(), [&](const Wanted& other) { return WantTheSame(other, one); }))
      continue;
    if (!before.empty() && clusters == Clusters::kOne)
      return Invalid(fmt::format("{}: {} is there twice, with two versions or sources: name the files of one cluster",
                                 document.file(), Describe(provider.id)));
    before.push_back(one);
    auto find = [&](const api::ObjectRef& ref) { return FindSecret(manifests.documents, document.file(), ref); };
    SourceSecret secret = ForItsSource(provider, find);
    std::string place = fmt::format("{}:{}", document.file(), document.PlaceOf({}).line);
    out.push_back({std::move(provider), std::move(place), std::move(secret)});
  }
  if (!out.empty()) return out;
  return Invalid(fmt::format("there is no Provider object in {}", Join(options.files, ", ")));
}

Result<std::vector<CollectedRelease>> OfObjects(const Context& ctx, const Config& config, const CollectOptions& options,
                                                Clusters clusters, ManagementCluster* cluster, std::istream& in,
                                                Notes& notes) {
  std::vector<Asking> objects;
  if (options.existing) {
    for (ProviderObject& one : TRY(AllProviders(ctx, *cluster, options.ns))) {
      if (one.unreadable) return one.unreadable->With(Describe(one.provider.id));
      // Where a policy has led beyond spec.version (U13), a new cluster begins with that, and comes to this. Who names
      // one release alone since means that.
      const std::string wanted = one.wanted;
      objects.push_back({std::move(one.provider), ""});
      if (wanted == one.declared || api::NamesOneRelease(objects.back().provider.spec)) continue;
      objects.push_back(objects.back());
      objects.back().provider.spec.version = wanted;
    }
    if (objects.empty()) return Error{Code::kNotFound, "the cluster has declared no providers", {}};
  } else {
    objects = TRY(InFiles(options, clusters, in, notes));
  }
  std::set<std::string> labels;
  for (const Asking& one : objects) labels.insert(api::ManifestLabel(one.provider.id.type, one.provider.id.name));
  const ArtifactSource artifact = TRY(ArtifactOf(options, labels));
  std::vector<CollectedRelease> out;
  for (const Asking& one : objects)
    out.push_back(TRY_WITH(OfObject(ctx, config, one, artifact, cluster, notes), one.Name()));
  return out;
}

}  // namespace

std::string CollectedRelease::Name() const { return Asking{provider, where}.Name(); }

std::map<std::string, std::string> CollectedRelease::Labels() const {
  return api::LabelsToBeFoundBy(provider, candidate.found.release.version.ToString());
}

Status CheckOptions(const CollectOptions& options) {
  const bool flags = std::any_of(options.providers.begin(), options.providers.end(),
                                 [](const auto& one) { return !one.second.empty(); });
  const int ways = int{flags} + int{!options.files.empty()} + int{options.existing};
  if (ways > 1)
    return Invalid(
        "name providers by flags like --infrastructure aws, or by objects in files (-f), or take those of "
        "the cluster (--existing): one of these");
  if (ways == 1 || (options.with_defaults && options.artifact_url.empty())) return Ok();
  return Invalid(
      "name the providers: by flags like --infrastructure aws:v2.11.1, by objects in files (-f), or with --existing");
}

Result<ProviderRelease> CollectOne(const Context& ctx, const Config& config, const ProviderChoice& choice,
                                   const ArtifactSource& artifact, Notes& notes) {
  const api::ProviderId id{choice.type, "", choice.name.name};
  const std::string label = api::ManifestLabel(id.type, id.name);
  ProviderRelease found;
  if (artifact.url.empty()) {
    found = TRY(FetchRelease(ctx, config, choice.type, choice.name, notes));
  } else {
    found.source = {.type = id.type, .name = id.name, .url = ""};
    found.file = api::KindOf(id.type).components_file;
    found.release = TRY_WITH(FromArtifact(ctx, config, id.type, id.name, choice.name.version, artifact), label);
  }
  TRY_WITH(ContractOf(found.release, id), label);
  return found;
}

CollectedRelease WithOwnLabels(Candidate candidate) {
  api::Provider provider;
  provider.id = candidate.id;
  provider.spec.version = candidate.found.release.version.ToString();
  return {std::move(candidate), std::move(provider), ""};
}

bool AsksItsSource(const CollectedRelease& one) {
  const api::ProviderSpec& spec = one.provider.spec;
  return spec.version.empty() && !(spec.fetch_config && spec.fetch_config->selector);
}

std::vector<kube::Object> MapsOf(const CollectedRelease& one) {
  auto maps = api::PackRelease(one.candidate.id, one.candidate.found.release, one.Labels());
  std::reverse(maps.begin(), maps.end());
  return maps;
}

Result<std::vector<CollectedRelease>> Collect(const Context& ctx, const Config& config, const CollectOptions& options,
                                              Clusters clusters, ManagementCluster* cluster, std::istream& in,
                                              Notes& notes) {
  if (options.existing || !options.files.empty()) return OfObjects(ctx, config, options, clusters, cluster, in, notes);
  // One artifact has hardly the core, too: with it only those that are named.
  const auto choices = TRY(ChooseProviders(options.providers, options.with_defaults && options.artifact_url.empty()));
  std::set<std::string> labels, seen;
  for (const ProviderChoice& choice : choices) labels.insert(api::ManifestLabel(choice.type, choice.name.name));
  const ArtifactSource artifact = TRY(ArtifactOf(options, labels));
  std::vector<CollectedRelease> out;
  for (const ProviderChoice& choice : choices) {
    ProviderRelease found = TRY(CollectOne(ctx, config, choice, artifact, notes));
    Candidate candidate = TRY(CandidateOf(config, std::move(found), options.ns));
    const std::string key = candidate.id.Key() + " " + candidate.found.release.version.ToString();
    if (seen.insert(key).second) out.push_back(WithOwnLabels(std::move(candidate)));
  }
  return out;
}

}  // namespace capi::cli
