#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "api/text.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/archive_file.h"
#include "cli/airgap/bundle.h"
#include "cli/airgap/bundle_commands.h"
#include "cli/airgap/images.h"
#include "cli/airgap/put.h"
#include "cli/airgap/registry.h"
#include "cli/frame/structured.h"

namespace capi::cli {
namespace {

namespace fs = std::filesystem;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// A bundle, and the archive that its images are in.
struct OpenBundle {
  fetch::ByteSource archive;
  Bundle bundle;
};

Result<OpenBundle> ReadBundleFile(const Context& ctx, const std::string& path, Layers layers) {
  if (path.empty()) return Invalid("name the bundle: the file that `clusterctl bundle create` has written");
  OpenBundle out{TRY(OpenSource(path)), {}};
  out.bundle = TRY_WITH(ReadBundle(ctx, out.archive, layers),
                        path + ": nothing was written, as it is no bundle that can be trusted");
  return out;
}

// What is done once nothing is in the way of what else is written.
using BeforeWriting = std::function<Status()>;

// What a folder of releases gets, by paths below it.
struct FolderFiles {
  std::map<std::string, std::string> files;
  Json configuration = Json::object();  // with which it is used
};

// T14: as each lies beside its file. Those of an artifact of a registry have no place in a folder.
void AddSignatures(const BundledRelease& one, const std::string& below, FolderFiles& out) {
  for (const auto& [key, text] : one.release.signatures) {
    for (const auto& [file, name] : {std::pair<std::string_view, std::string_view>(api::kMetadataKey, "metadata.yaml"),
                                     {api::kComponentsKey, api::KindOf(one.type).components_file}}) {
      if (key != api::kArtifactKey && key.starts_with(file))
        out.files[fmt::format("{}/{}{}", below, name, key.substr(file.size()))] = text;
    }
  }
}

// `images`: the registry that they are pulled from, "" for those that the releases name.
FolderFiles FilesOf(const Bundle& bundle, const std::string& folder, const std::string& images) {
  FolderFiles out;
  if (!images.empty()) out.configuration["images"] = {{"all", {{"repository", images}}}};
  std::map<std::string, Json> providers;  // by label, in one entry for all versions
  for (const BundledRelease& one : bundle.releases) {
    const std::string file(api::KindOf(one.type).components_file), label = one.label();
    const std::string below = fmt::format("{}/{}", label, one.release.version.ToString());
    out.files[below + "/metadata.yaml"] = one.release.metadata;
    out.files[below + "/" + file] = one.release.components;
    AddSignatures(one, below, out);
    providers[label] = {{"name", one.name},
                        {"type", api::KindOf(one.type).kind},
                        {"url", fmt::format("{}/{}/latest/{}", folder, label, file)}};
  }
  for (auto& [label, entry] : providers) out.configuration["providers"].push_back(std::move(entry));
  if (bundle.cert_manager) {
    const std::string& version = bundle.cert_manager->version;
    out.files[fmt::format("cert-manager/{}/{}", version, kCertManagerFile)] = bundle.cert_manager->manifests;
    out.configuration["cert-manager"] = {{"url", fmt::format("{}/cert-manager/latest/{}", folder, kCertManagerFile)},
                                         {"version", version}};
  }
  return out;
}

// As a URL of clusterctl's configuration has it, in which some characters mean something.
Result<std::string> AbsoluteFolder(const std::string& named) {
  std::error_code failed;
  std::string folder = fs::absolute(named, failed).lexically_normal();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (failed || folder.find_first_of("$%?#") != folder.npos)
    return Invalid(fmt::format("--to-folder: {} can't be named in a configuration file: take another folder",
                               api::GoQuote(named)));
  return folder;
}

Error InTheWay(const fs::path& path, std::string_view why) {
  return {Code::kFailedPrecondition, fmt::format("{} {}: it stays, and nothing was written", path.string(), why), {}};
}

// What is there below the folder has to be folders and a file: a link could lead anywhere.
Status CheckPath(const fs::path& folder, const fs::path& name) {
  std::error_code failed;
  if (const auto there = fs::status(folder, failed); fs::exists(there) && !fs::is_directory(there))
    return InTheWay(folder, "is no folder");
  fs::path path = folder;
  for (const fs::path& part : name) {
    path /= part;
    const fs::file_status there = fs::symlink_status(path, failed);
    if (there.type() == fs::file_type::not_found) return Ok();
    const bool last = path == folder / name;
    if (last ? !fs::is_regular_file(there) : !fs::is_directory(there))
      return InTheWay(path, last ? "is no file" : "is no folder");
  }
  return Ok();
}

Status CheckFolder(const std::string& folder, const FolderFiles& wanted) {
  for (const auto& [name, text] : wanted.files) {
    TRY(CheckPath(folder, name));
    auto there = ReadFile(folder + "/" + name, api::kMaxReleaseBytes);
    if (!there.ok() && there.code() == Code::kNotFound) continue;
    if (!there.ok()) return there.error();
    if (*there != text) return InTheWay(fs::path(folder) / name, "is there with another content");
  }
  return Ok();
}

Status IntoFolder(const Bundle& bundle, const BundleLoadOptions& options, const BeforeWriting& before_writing,
                  World& world, Notes& notes) {
  const std::string folder = TRY(AbsoluteFolder(options.to_folder));
  const FolderFiles wanted = FilesOf(bundle, folder, RepositoryOf(options.images_to));
  TRY(CheckFolder(folder, wanted));
  TRY(before_writing());
  for (const BundledRelease& one : bundle.releases) {
    if (one.release.signatures.contains(std::string(api::kArtifactKey)))
      notes.Warn(
          fmt::format("{} {}: its signatures are those of an artifact of a registry, for which a folder has no "
                      "place; `bundle load` into the cluster brings them",
                      one.label(), one.release.version.ToString()));
  }
  for (const auto& [name, text] : wanted.files) {
    const fs::path path = folder + "/" + name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return Error{Code::kInternal, path.parent_path().string() + ": " + failed.message(), {}};
    TRY(WriteFile(path, text));
  }
  world.out << ToYaml(wanted.configuration);
  return Ok();
}

Result<api::OciReference> ReferenceUnder(const std::string& to, const std::string& name) {
  return TRY_WITH(api::ParseOciReference(to + (to.ends_with('/') ? "" : "/") + name), "--to");
}

// "oci://host/prefix" and the label of each provider: a repository of its own, whose tags are the versions.
Result<std::vector<Publication>> PublicationsOf(const Bundle& bundle, const std::string& to) {
  std::vector<std::tuple<std::string, std::string, fetch::PackedArtifact>> all;
  for (const BundledRelease& one : bundle.releases)
    all.emplace_back(one.label(), one.release.version.ToString(), ArtifactOf(one));
  if (bundle.cert_manager)
    all.emplace_back("cert-manager", bundle.cert_manager->version, ArtifactOf(*bundle.cert_manager));
  std::vector<Publication> out;
  for (auto& [label, version, artifact] : all) {
    auto reference = TRY(ReferenceUnder(to, label));
    reference.tag = TagOf(version);
    out.push_back({.reference = std::move(reference), .artifact = std::move(artifact)});
  }
  return out;
}

Status IntoRegistry(const Context& ctx, const Config& config, const Bundle& bundle, const BundleLoadOptions& options,
                    const BeforeWriting& before_writing, World& world, Notes& notes) {
  auto publications = TRY(PublicationsOf(bundle, options.to));
  const fetch::OciOptions registry = RegistryOptionsOf(config);
  TRY(LookAtAll(ctx, registry, options.force, publications, notes));
  TRY(before_writing());
  TRY(WriteAll(ctx, registry, options.force, publications, notes));
  for (const Publication& one : publications) world.out << one.Named() << "\n";
  for (const BundledRelease& one : bundle.releases) {
    if (!one.release.signatures.empty())
      notes.Warn(
          fmt::format("{} {}: its signatures are those of what its own source has, and not of this artifact: sign "
                      "this one with a key of your own",
                      one.label(), one.release.version.ToString()));
  }
  return Ok();
}

// L28: all are looked at before anything is written, of the releases either.
Result<std::vector<ImagePublication>> LookForImages(const Context& ctx, const fetch::OciOptions& registry,
                                                    const BundleLoadOptions& options, const Bundle& bundle,
                                                    Notes& notes) {
  if (bundle.carried.empty())
    return Invalid(options.file + ": the images aren't in it: make it with `bundle create --images`");
  auto publications = TRY_WITH(PlanImages(bundle.carried, options.images_to), "--images-to");
  TRY(LookAtImages(ctx, registry, options.force, bundle, publications, notes));
  return publications;
}

Status IntoCluster(const Context& ctx, const Config& config, const Bundle& bundle, const BundleLoadOptions& options,
                   World& world, Notes& notes) {
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  std::vector<CollectedRelease> releases;
  for (const BundledRelease& one : bundle.releases) {
    ProviderRelease found{{.type = one.type, .name = one.name, .url = ""},
                          std::string(api::KindOf(one.type).components_file),
                          one.release};
    releases.push_back(WithOwnLabels(TRY(CandidateOf(config, std::move(found), options.ns))));
  }
  TRY(PutIntoCluster(ctx, cluster, releases, world));
  if (bundle.cert_manager)
    notes.Say(0, "cert-manager isn't installed by this: --to-folder has its manifests",
              {{"version", bundle.cert_manager->version}});
  return Ok();
}

Status CheckFlags(const BundleLoadOptions& options) {
  if (!options.to.empty() && !options.to_folder.empty()) return Invalid("--to and --to-folder: take one of them");
  const bool elsewhere = !options.to.empty() || !options.to_folder.empty() || !options.images_to.empty();
  if (elsewhere && !options.ns.empty()) return Invalid("--target-namespace is about ConfigMaps in a cluster alone");
  if (options.force && options.to.empty() && options.images_to.empty())
    return Invalid("--force is about tags of a registry (--to, --images-to) alone");
  // Before all layers are read, which may take minutes.
  if (!options.to.empty()) TRY(ReferenceUnder(options.to, "any"));
  return options.images_to.empty() ? Ok() : CheckTarget(options.images_to);
}

}  // namespace

Status LoadBundle(const Context& ctx, const GlobalOptions& global, const BundleLoadOptions& options, World& world) {
  TRY(CheckFlags(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  const OpenBundle file = TRY(ReadBundleFile(ctx, options.file, Layers::kRead));
  const Bundle& bundle = file.bundle;
  const fetch::OciOptions registry = RegistryOptionsOf(config);
  std::vector<ImagePublication> images;
  if (!options.images_to.empty()) images = TRY(LookForImages(ctx, registry, options, bundle, notes));
  auto write_images = [&] { return WriteImages(ctx, registry, options.force, bundle, file.archive, images, notes); };
  if (!options.to_folder.empty()) return IntoFolder(bundle, options, write_images, world, notes);
  if (!options.to.empty()) return IntoRegistry(ctx, config, bundle, options, write_images, world, notes);
  if (options.images_to.empty()) return IntoCluster(ctx, config, bundle, options, world, notes);
  TRY(write_images());
  for (const ImagePublication& one : images) world.out << one.Named(bundle) << "\n";
  return Ok();
}

Status ListBundleImages(const BundleImagesOptions& options, World& world) {
  const OutputFormat format = TRY(ParseOutputFormat(options.output));
  const OpenBundle file = TRY(ReadBundleFile({}, options.file, Layers::kUnread));
  const std::vector<std::string>& images = file.bundle.images;
  Answer answer{.table = "", .names = images, .facts = Json(images)};
  for (const std::string& image : images) answer.table += image + "\n";
  world.out << Format(format, answer);
  return Ok();
}

}  // namespace capi::cli
