#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cli/airgap/bundle.h"
#include "cli/airgap/bundle_commands.h"
#include "cli/cert_manager/release.h"
#include "cli/frame/output.h"
#include "cli/frame/table.h"
#include "cli/install/list_images.h"

namespace capi::cli {
namespace {

// Where it comes from, but for the place on this machine: the same releases are the same bytes on any.
api::Release Portable(api::Release release) {
  if (release.source.starts_with("folder ")) release.source = "a folder";
  return release;
}

// An object may be elsewhere, or look for other labels, than `bundle load` knows, or want signatures.
void WarnOfObjects(const Config& config, const std::vector<CollectedRelease>& collected, Notes& notes) {
  for (const CollectedRelease& one : collected) {
    if (!one.candidate.found.release.signatures.empty())
      notes.Warn(
          fmt::format("{}: a bundle has no signatures, and this object asks for them (spec.fetchConfig.verify): use "
                      "preload -f FILE, or sign the artifact once bundle load --to has put it into a registry",
                      one.Name()));
    if (AsksItsSource(one))
      notes.Warn(fmt::format(
          "{}: without spec.version the operator asks the source, and doesn't look at what bundle load puts "
          "into the cluster: write {}",
          one.Name(), one.candidate.found.release.version.ToString()));
    auto placed = CandidateOf(config, one.candidate.found, "");
    if (!placed.ok()) {
      notes.Warn(
          fmt::format("{}: bundle load can't say where its release goes: {}", one.Name(), placed.error().message));
      continue;
    }
    const auto loaded = WithOwnLabels(*std::move(placed));
    const auto labels = loaded.Labels(), wanted = one.Labels();
    const bool found = std::includes(labels.begin(), labels.end(), wanted.begin(), wanted.end());
    if (found && loaded.candidate.id.ns == one.candidate.id.ns) continue;
    notes.Warn(
        fmt::format("{}: bundle load puts its release into namespace {} with the operator's labels, where this "
                    "object doesn't look; use preload -f FILE there",
                    one.Name(), loaded.candidate.id.ns));
  }
}

// A provider in two namespaces is one release.
Status AddReleases(const std::vector<CollectedRelease>& collected, Bundle& out) {
  std::map<std::string, std::pair<std::string, const CollectedRelease*>> digests;
  for (const CollectedRelease& one : collected) {
    const api::Release& release = one.candidate.found.release;
    const std::string what = one.candidate.label() + " " + release.version.ToString();
    const std::string digest = release.Digest() + fetch::OciDigest(release.metadata);
    auto [before, is_new] = digests.emplace(what, std::pair(digest, &one));
    if (is_new)
      out.releases.push_back({one.candidate.id.type, one.candidate.id.name, Portable(release)});
    else if (before->second.first != digest)
      return Error{
          Code::kFailedPrecondition,
          fmt::format("{} comes from two sources with different files, and a bundle has one of each: {} has it "
                      "from {}, and {} from {}",
                      what, before->second.second->Name(), before->second.second->candidate.found.release.source,
                      one.Name(), release.source),
          {}};
  }
  return Ok();
}

// Of equal releases a bundle names one source.
void WarnOfSources(const std::vector<CollectedRelease>& collected, const Bundle& bundle, Notes& notes) {
  for (const CollectedRelease& one : collected) {
    const api::Release& release = one.candidate.found.release;
    for (const BundledRelease& bundled : bundle.releases) {
      const bool it = bundled.label() == one.candidate.label() &&
                      api::SameVersion(bundled.release.version.ToString(), release.version.ToString());
      const auto& fetch = one.provider.spec.fetch_config;
      if (!it || !fetch || fetch->oci.empty() || bundled.release.source == release.source) continue;
      notes.Warn(
          fmt::format("{}: the bundle has the same release from {}, which this object doesn't take "
                      "(spec.fetchConfig.oci); make a bundle of this object alone, or use preload -f FILE",
                      one.Name(), bundled.release.source));
    }
  }
}

std::string TableOf(const Bundle& bundle) {
  std::vector<std::vector<std::string>> rows = {{"PROVIDER", "VERSION", "ARTIFACT", "COMPONENTS", "SOURCE"}};
  for (const BundledRelease& one : bundle.releases) {
    rows.push_back({one.label(), one.release.version.ToString(), fetch::OciDigest(ArtifactOf(one).manifest),
                    one.release.Digest(), one.release.source});
  }
  if (bundle.cert_manager)
    rows.push_back({"cert-manager", bundle.cert_manager->version,
                    fetch::OciDigest(ArtifactOf(*bundle.cert_manager).manifest), "-", "-"});
  return FormatTable(std::move(rows), 3);
}

Status CheckFlags(const BundleCreateOptions& options) {
  TRY(CheckOptions(options.collect));
  if (options.file.empty()) return Error{Code::kInvalidArgument, "name the file to write: -o bundle.tar", {}};
  if (options.collect.ns.empty() || options.collect.existing || !options.collect.files.empty()) return Ok();
  return Error{Code::kInvalidArgument,
               "--namespace is about Provider objects (--filename, --existing) alone: a bundle's releases are in none",
               {}};
}

}  // namespace

Status CreateBundle(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world) {
  TRY(CheckFlags(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::optional<ManagementCluster> cluster;
  if (options.collect.existing) cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto collected =
      TRY(Collect(ctx, config, options.collect, Clusters::kAny, cluster ? &*cluster : nullptr, world.in, notes));
  WarnOfObjects(config, collected, notes);
  Bundle bundle;
  TRY(AddReleases(collected, bundle));
  WarnOfSources(collected, bundle, notes);
  InitOptions init;
  init.operator_image = options.operator_image;
  init.cert_manager = options.cert_manager;
  std::set<std::string> images = TRY(ImagesBesideProviders(ctx, config, init, notes));
  for (const CollectedRelease& one : collected) images.insert(one.candidate.images.begin(), one.candidate.images.end());
  bundle.images.assign(images.begin(), images.end());
  CertManagerSettings settings = TRY(ReadCertManagerSettings(config, notes));
  if (options.cert_manager && !settings.external) {
    auto version = TRY_WITH(api::Version::ParseTolerant(settings.version), "cert-manager.version");
    bundle.cert_manager = BundledCertManager{version.ToString(), ""};
    bundle.cert_manager->manifests = TRY(ReadCertManagerManifests(ctx, config, settings, notes));
  }
  const std::string archive = WriteBundle(bundle);
  TRY_WITH(ReadBundle(archive), "what would be written can't be read back");
  TRY(WriteOutputFile(options.file, archive));
  world.out << TableOf(bundle)
            << fmt::format("{}: {} bytes, {}\n", options.file, archive.size(), fetch::OciDigest(archive));
  return Ok();
}

}  // namespace capi::cli
