#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/encoding.h"
#include "cli/airgap/archive_file.h"
#include "cli/airgap/bundle.h"
#include "cli/airgap/bundle_commands.h"
#include "cli/airgap/bundle_format.h"
#include "cli/cert_manager/release.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/output.h"
#include "cli/frame/table.h"
#include "cli/install/list_images.h"
#include "fetch/archives/tar.h"

namespace capi::cli {
namespace {

constexpr std::string_view kUnreadable = "what would be written can't be read back";

// Where it comes from, but for the place on this machine: the same releases are the same bytes on any.
api::Release Portable(api::Release release) {
  if (release.source.starts_with("folder ")) release.source = "a folder";
  return release;
}

// An object may be elsewhere, or look for other labels, than `bundle load` knows.
void WarnOfObjects(const Config& config, const std::vector<CollectedRelease>& collected, Notes& notes) {
  for (const CollectedRelease& one : collected) {
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

// A provider in two namespaces is one release, with the signatures that both objects ask for: those of an artifact and
// those of files go side by side, and one that counts is enough (T14).
Status AddReleases(const std::vector<CollectedRelease>& collected, Bundle& out) {
  struct Taken {
    std::string digest;
    const CollectedRelease* from;
    size_t place;
  };
  std::map<std::string, Taken> taken;
  for (const CollectedRelease& one : collected) {
    const api::Release& release = one.candidate.found.release;
    const std::string what = one.candidate.label() + " " + release.version.ToString();
    const std::string digest = release.Digest() + fetch::OciDigest(release.metadata);
    auto [before, is_new] = taken.emplace(what, Taken{digest, &one, out.releases.size()});
    if (is_new) {
      out.releases.push_back({one.candidate.id.type, one.candidate.id.name, Portable(release)});
      continue;
    }
    const Taken& first = before->second;
    if (first.digest != digest)
      return Error{
          Code::kFailedPrecondition,
          fmt::format("{} comes from two sources with different files, and a bundle has one of each: {} has it "
                      "from {}, and {} from {}",
                      what, first.from->Name(), first.from->candidate.found.release.source, one.Name(), release.source),
          {}};
    out.releases[first.place].release.signatures.insert(release.signatures.begin(), release.signatures.end());
  }
  return Ok();
}

// Of equal releases a bundle names one source, and has one signature of each name.
void WarnOfOthers(const CollectedRelease& one, const api::Release& bundled, Notes& notes) {
  constexpr const char* kInstead = "make a bundle of this object alone, or use preload -f FILE";
  const api::Release& release = one.candidate.found.release;
  const auto& fetch = one.provider.spec.fetch_config;
  const bool named = fetch && (fetch->git || !fetch->oci.empty());
  if (named && bundled.source != release.source)
    notes.Warn(
        fmt::format("{}: the bundle has the same release from {}, which this object doesn't take "
                    "(spec.fetchConfig.{}); {}",
                    one.Name(), bundled.source, fetch->git ? "git" : "oci", kInstead));
  for (const auto& [key, text] : release.signatures) {
    const auto there = bundled.signatures.find(key);
    if (there == bundled.signatures.end() || there->second == text) continue;
    notes.Warn(
        fmt::format("{}: the bundle has another {} of the same release, from {}, which the keys of this object "
                    "(spec.fetchConfig.verify) may not have made; {}",
                    one.Name(), key, bundled.source, kInstead));
  }
}

void WarnOfSources(const std::vector<CollectedRelease>& collected, const Bundle& bundle, Notes& notes) {
  for (const CollectedRelease& one : collected) {
    const std::string version = one.candidate.found.release.version.ToString();
    for (const BundledRelease& bundled : bundle.releases) {
      if (bundled.label() == one.candidate.label() && api::SameVersion(bundled.release.version.ToString(), version))
        WarnOfOthers(one, bundled.release, notes);
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
  auto invalid = [](std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; };
  if (options.file.empty()) return invalid("name the file to write: -o bundle.tar");
  if (!options.images && (!options.image_sources.platforms.empty() || !options.image_sources.from.empty()))
    return invalid("--platform and --images-from are about the images of --images alone");
  TRY(CheckSources(options.image_sources));
  if (options.collect.ns.empty() || options.collect.existing || !options.collect.files.empty()) return Ok();
  return invalid(
      "--namespace is about Provider objects (--filename, --existing) alone: a bundle's releases are in none");
}

void SayWhatIsThere(const std::string& file, std::uint64_t size, const std::string& digest, const Bundle& bundle,
                    World& world) {
  world.out << TableOf(bundle) << fmt::format("{}: {} bytes, {}\n", file, size, digest);
}

Status WriteReleases(const BundleCreateOptions& options, const Bundle& bundle, World& world) {
  const std::string archive = WriteBundle(bundle);
  TRY_WITH(ReadBundle(archive), kUnreadable);
  TRY(WriteOutputFile(options.file, archive));
  SayWhatIsThere(options.file, archive.size(), fetch::OciDigest(archive), bundle, world);
  return Ok();
}

// Writes an archive piece by piece. Thread-compatible.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(NewFile& file) : file_(file) {}

  Status Put(std::string_view piece) {
    sum_.Add(piece);
    size_ += piece.size();
    return file_.Append(piece);
  }
  // Files, then what `found` has.
  Status PutAll(const Context& ctx, const BundleLayout& layout, const FoundImages& found, Notes& notes) {
    for (const auto& [name, text] : layout.files) {
      TRY(Put(fetch::TarHeader(name, text.size())));
      TRY(Put(text));
      TRY(Put(fetch::TarPadding(text.size())));
    }
    std::string said;
    for (const auto& [digest, size] : layout.blobs) {
      if (const std::string& image = found.ImageOf(digest); image != said) {
        notes.Say(0, "Reading an image", {{"image", image}});
        said = image;
      }
      TRY(Put(fetch::TarHeader(BlobName(digest), size)));
      TRY(found.Blob(ctx, digest, size, [this](std::string_view piece) { return Put(piece); }));
      TRY(Put(fetch::TarPadding(size)));
    }
    return Put(fetch::TarEnd());
  }
  std::uint64_t size() const { return size_; }
  std::string Digest() { return "sha256:" + sum_.Hex(); }

 private:
  NewFile& file_;
  RunningSha256 sum_;
  std::uint64_t size_ = 0;
};

// L28: what is on its way is never held whole, and nothing is there under the file's name before all of it is.
Status WriteWithImages(const Context& ctx, const Config& config, const BundleCreateOptions& options, Bundle bundle,
                       World& world, Notes& notes) {
  const auto file = TRY(NewOutputFile(options.file));
  const FoundImages found = TRY(FoundImages::Find(ctx, config, bundle.images, options.image_sources, notes));
  bundle.carried = found.images();
  const BundleLayout layout = LayoutOf(bundle);
  TRY_WITH(CheckLayout(layout), kUnreadable);  // before what is large is on its way
  ArchiveWriter writer(*file);
  TRY(writer.PutAll(ctx, layout, found, notes));
  const fetch::ByteSource written = TRY(OpenSource(file->place()));
  TRY_WITH(ReadBundle(ctx, written), kUnreadable);
  TRY(file->Sync());
  TRY(file->Keep());
  SayWhatIsThere(options.file, writer.size(), writer.Digest(), bundle, world);
  return Ok();
}

// All but the images themselves.
Result<Bundle> BundleOf(const Context& ctx, const Config& config, const BundleCreateOptions& options, World& world,
                        Notes& notes) {
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
  return bundle;
}

Status Create(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world) {
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  Bundle bundle = TRY(BundleOf(ctx, config, options, world, notes));
  if (options.images) return WriteWithImages(ctx, config, options, std::move(bundle), world, notes);
  return WriteReleases(options, bundle, world);
}

}  // namespace

Status CreateBundle(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world) {
  TRY(CheckFlags(options));
  if (!options.images) return Create(ctx, global, options, world);
  Interrupt interrupt;
  Status created = Create(ctx.WithStop(interrupt.token()), global, options, world);
  if (created.ok() || !interrupt.token().stop_requested()) return created;
  return Error{Code::kCancelled, "interrupted: nothing was written", {}};
}

}  // namespace capi::cli
