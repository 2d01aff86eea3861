#include <fmt/format.h>

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

// A provider in two namespaces is one release.
Status AddReleases(const std::vector<CollectedRelease>& collected, Bundle& out) {
  std::map<std::string, std::string> digests;
  for (const CollectedRelease& one : collected) {
    const api::Release& release = one.candidate.found.release;
    const std::string what = one.candidate.label() + " " + release.version.ToString();
    auto [before, is_new] = digests.emplace(what, release.Digest() + fetch::OciDigest(release.metadata));
    if (is_new)
      out.releases.push_back({one.candidate.id.type, one.candidate.id.name, release});
    else if (before->second != release.Digest() + fetch::OciDigest(release.metadata))
      return Error{Code::kFailedPrecondition,
                   what + " comes from two sources with different files: a bundle has one of each",
                   {}};
  }
  return Ok();
}

std::string TableOf(const Bundle& bundle) {
  std::vector<std::vector<std::string>> rows = {{"PROVIDER", "VERSION", "ARTIFACT", "SOURCE"}};
  for (const BundledRelease& one : bundle.releases) {
    rows.push_back(
        {one.label(), one.release.version.ToString(), fetch::OciDigest(ArtifactOf(one).manifest), one.release.source});
  }
  if (bundle.cert_manager)
    rows.push_back({"cert-manager", bundle.cert_manager->version,
                    fetch::OciDigest(ArtifactOf(*bundle.cert_manager).manifest), "-"});
  return FormatTable(std::move(rows), 3);
}

}  // namespace

Status CreateBundle(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world) {
  TRY(CheckOptions(options.collect));
  if (options.file.empty()) return Error{Code::kInvalidArgument, "name the file to write: -o bundle.tar", {}};
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::optional<ManagementCluster> cluster;
  if (options.collect.existing) cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto collected = TRY(Collect(ctx, config, options.collect, cluster ? &*cluster : nullptr, world.in, notes));
  Bundle bundle;
  TRY(AddReleases(collected, bundle));
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
