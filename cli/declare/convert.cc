#include "cli/declare/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "cli/declare/declaration.h"
#include "cli/declare/find_release.h"
#include "cli/declare/gitops.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/provider_manifests.h"

namespace capi::cli {
namespace {

// Before anything is asked: what is there is somebody's.
Status CheckFolder(const std::string& folder) {
  if (folder.empty()) return Ok();
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return Ok();
  if (!std::filesystem::is_directory(folder, error))
    return Error{
        Code::kInvalidArgument, fmt::format("{} is no folder: name one that is empty or isn't there", folder), {}};
  if (std::filesystem::is_empty(folder, error)) return Ok();
  return Error{
      Code::kAlreadyExists, fmt::format("{} isn't empty: name a folder that is empty or isn't there", folder), {}};
}

class Conversion {
 public:
  Conversion(const Context& ctx, ManagementCluster& cluster, const Config& config, Notes& notes)
      : ctx_(ctx), cluster_(cluster), config_(config), notes_(notes) {}

  Result<std::vector<GitOpsFile>> Run() {
    Fleet fleet = TRY(ReadFleet(ctx_, cluster_));
    for (const kube::Object& object : fleet.objects) providers_.push_back(TRY(OfObject(object)));
    for (const InventoryEntry& entry : fleet.entries) {
      const kube::Object* object = fleet.ObjectOf(entry.id);
      if (object == nullptr || object->ns() != entry.id.ns) providers_.push_back(TRY(OfEntry(entry)));
    }
    if (providers_.empty()) {
      return Error{Code::kFailedPrecondition,
                   "the cluster has no provider: neither an entry of clusterctl's inventory nor an object of " +
                       std::string(api::kGroup),
                   {}};
    }
    std::stable_sort(providers_.begin(), providers_.end(),
                     [](const auto& a, const auto& b) { return IdOf(a.object) < IdOf(b.object); });
    RemarkTwins();
    std::map<std::string, Json> namespaces;
    for (const GitOpsProvider& provider : providers_) {
      auto [found, is_new] = namespaces.emplace(provider.object.ns(), Json::object());
      if (is_new) found->second = TRY(PodSecurityOf(found->first));
    }
    return GitOpsFiles(providers_, namespaces, TRY(config_.Images()));
  }

 private:
  // Each is written, so that nothing is lost; the operator goes on with one of them alone (I5).
  void RemarkTwins() {
    for (GitOpsProvider& one : providers_) {
      for (const GitOpsProvider& other : providers_) {
        if (!IsTwin(one.object, other.object)) continue;
        one.remarks.push_back(fmt::format(
            "It is in namespace {}, too, and a cluster has one of each. The operator goes on with the older "
            "object: remove the file of the other.",
            other.object.ns()));
        notes_.Warn(fmt::format("{}: {}", Describe(IdOf(one.object)), one.remarks.back()));
      }
    }
  }

  Result<GitOpsProvider> OfObject(const kube::Object& object) {
    GitOpsProvider out;
    out.object = WithoutBookkeeping(object);
    const Json& json = out.object.json();
    const std::string name = GetString(json, {"spec", "configSecret", "name"});
    if (name.empty()) return out;
    const std::string ns = GetString(json, {"spec", "configSecret", "namespace"}, object.ns());
    auto secret = cluster_.client().Get(ctx_, kube::Builtin("Secret"), ns, name);
    if (!secret.ok()) {
      notes_.Warn(fmt::format("{}: the keys of Secret {}/{} aren't listed: {}", Describe(IdOf(object)), ns, name,
                              secret.error().message));
      return out;
    }
    const Json* data = Find(secret->json(), {"data"});
    if (data == nullptr || !data->is_object()) return out;
    for (const auto& item : data->items()) out.variables.push_back(item.key());
    return out;
  }

  Result<GitOpsProvider> OfEntry(const InventoryEntry& entry) {
    Declaration declaration = TRY_WITH(Declare(config_, entry), Describe(entry.id));
    GitOpsProvider out;
    out.object = std::move(declaration.object);
    out.remarks = std::move(declaration.remarks);
    for (const std::string& remark : out.remarks) notes_.Warn(fmt::format("{}: {}", Describe(entry.id), remark));
    api::Provider provider;
    provider.id = entry.id;
    provider.spec.version = entry.version;
    auto release = FindRelease(ctx_, {config_}, provider, notes_);
    if (!release.ok()) {
      return release.error().With(fmt::format(
          "{}: its release says which variables it needs, and can't be read (`clusterctl config repositories` has its "
          "place)",
          Describe(entry.id)));
    }
    if (declaration.needs_release) out.release = ReleaseMapsOf(entry.id, *release);
    out.variables = TRY_WITH(VariablesOf(config_, release->components), Describe(entry.id));
    out.with_images = HasImageOverrides(TRY(config_.Images()), api::ManifestLabel(entry.id.type, entry.id.name));
    if (!out.variables.empty() || out.with_images)
      out.object.json()["spec"]["configSecret"] = {{"name", VariablesSecretName(entry.id)}};
    return out;
  }

  Result<Json> PodSecurityOf(const std::string& name) {
    Json out = Json::object();
    auto ns = cluster_.client().Get(ctx_, kube::Builtin("Namespace"), "", name);
    if (!ns.ok()) {
      notes_.Warn(fmt::format("the labels of Namespace {} aren't carried over: {}", name, ns.error().message));
      return out;
    }
    const Json* labels = Find(ns->json(), {"metadata", "labels"});
    if (labels == nullptr || !labels->is_object()) return out;
    for (const auto& [key, value] : labels->items()) {
      if (key.starts_with("pod-security.kubernetes.io/")) out[key] = value;
    }
    return out;
  }

  const Context& ctx_;
  ManagementCluster& cluster_;
  const Config& config_;
  Notes& notes_;
  std::vector<GitOpsProvider> providers_;
};

Error Failed(const std::string& path, const std::error_code& error) {
  return {Code::kInternal, fmt::format("{}: {}", path, error.message()), {}};
}

// All of them, or no folder: they are made beside it, and take its place.
Status Write(std::string folder, const std::vector<GitOpsFile>& files, World& world) {
  namespace fs = std::filesystem;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code error;
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error) return Failed(parent, error);
  std::string making = folder + ".XXXXXX";
  if (mkdtemp(making.data()) == nullptr) return Failed(making, {errno, std::generic_category()});
  Status written = Ok();
  for (const GitOpsFile& file : files) {
    if (written.ok()) written = WriteFile(making + "/" + file.name, file.text);
  }
  if (written.ok()) {
    fs::permissions(making, fs::perms(0755), error);
    fs::rename(making, folder, error);
    if (error) written = Failed(folder, error);
  }
  if (!written.ok()) fs::remove_all(making, error);
  TRY(written);
  for (const GitOpsFile& file : files) world.out << folder << "/" << file.name << "\n";
  return Ok();
}

}  // namespace

Status Convert(const Context& ctx, const GlobalOptions& global, const ConvertOptions& options, World& world) {
  TRY(CheckFolder(options.output_dir));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  std::vector<GitOpsFile> files = TRY(Conversion(ctx, cluster, config, notes).Run());
  if (!options.output_dir.empty()) return Write(options.output_dir, files, world);
  world.out << AsOneText(files);
  return Ok();
}

}  // namespace capi::cli
