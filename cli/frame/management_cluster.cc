#include "cli/frame/management_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/text.h"
#include "base/version.h"

namespace capi::cli {
namespace {

constexpr std::string_view kClustersCrd = "clusters.cluster.x-k8s.io";
constexpr std::string_view kOlder = "v1beta1";

std::string StorageVersion(const kube::Object& crd) {
  const Json* versions = Find(crd.json(), {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return "";
  for (const Json& version : *versions) {
    if (GetBool(version, {"storage"})) return GetString(version, {"name"});
  }
  return "";
}

const kube::Resource& Inventory() {
  static const kube::Resource resource = {
      .group = "clusterctl.cluster.x-k8s.io", .version = "v1alpha3", .plural = "providers", .kind = "Provider"};
  return resource;
}

// kubeconfig's look-ups take C strings that stay.
std::function<const char*(const char*)> Environment(const Getenv& getenv) {
  return [getenv, values = std::make_shared<std::map<std::string, std::string>>()](const char* name) -> const char* {
    auto value = getenv(name);
    if (!value) return nullptr;
    return values->insert_or_assign(name, *std::move(value)).first->second.c_str();
  };
}

}  // namespace

Status CheckContract(const kube::Object* clusters_crd, AlsoAllowed also) {
  if (clusters_crd == nullptr) {
    if (also == AlsoAllowed::kNotInstalled) return Ok();
    return Error{Code::kFailedPrecondition,
                 fmt::format("failed to check Cluster API version: customresourcedefinitions.apiextensions.k8s.io "
                             "{} not found",
                             api::GoQuote(kClustersCrd)),
                 {}};
  }
  std::string version = StorageVersion(*clusters_crd);
  if (version == kContract || (also == AlsoAllowed::kOlderContract && version == kOlder)) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("this version of clusterctl could be used only with {} management clusters, {} detected",
                           api::GoQuote(kContract), api::GoQuote(version)),
               {}};
}

Result<ManagementCluster> ManagementCluster::Open(const ClusterOptions& options, const Getenv& getenv) {
  kube::ConfigSources sources;
  sources.kubeconfig = options.kubeconfig;
  sources.context = options.context;
  sources.getenv = Environment(getenv);
  kube::Config config = TRY(kube::LoadConfig(sources));
  kube::ClientOptions client;
  client.user_agent = fmt::format("clusterctl/{}", kProjectVersion);
  std::string ns = config.ns;
  return ManagementCluster(TRY(kube::Client::Connect(config, client)), std::move(ns));
}

Status ManagementCluster::CheckContract(const Context& ctx, AlsoAllowed also) {
  auto crd = client_->Get(ctx, kube::Builtin("CustomResourceDefinition"), "", kClustersCrd);
  if (crd.ok()) return cli::CheckContract(&*crd, also);
  if (crd.code() == Code::kNotFound) return cli::CheckContract(nullptr, also);
  return crd.error().With("failed to check Cluster API version");
}

Result<std::vector<InstalledProvider>> ManagementCluster::Providers(const Context& ctx) {
  std::vector<InstalledProvider> out;
  auto list = client_->List(ctx, Inventory(), "");
  if (!list.ok() && list.code() == Code::kNotFound) return out;
  if (!list.ok()) return list.error().With("failed to get providers from the inventory");
  for (const kube::Object& item : list->items) {
    const auto* kind = api::KindByName(GetString(item.json(), {"type"}));
    if (kind == nullptr) continue;  // of a type that came after this program
    out.push_back({kind->type, GetString(item.json(), {"providerName"}), item.ns(), GetString(item.json(), {"version"}),
                   item.uid()});
  }
  auto key = [](const InstalledProvider& p) { return std::tie(p.type, p.name, p.ns); };
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return out;
}

}  // namespace capi::cli
