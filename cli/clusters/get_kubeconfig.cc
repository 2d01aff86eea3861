#include "cli/clusters/get_kubeconfig.h"

#include <fmt/format.h>

#include "api/text.h"
#include "base/encoding.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {
namespace {

// What a Secret holds under `value`, as Cluster API writes it.
Result<std::string> ValueOf(const kube::Object& secret) {
  const Json* value = Find(secret.json(), {"data", "value"});
  if (value != nullptr && value->is_string()) {
    auto decoded = Base64Decode(value->get<std::string>());
    if (decoded.ok()) return decoded;
  }
  return Error{Code::kFailedPrecondition,
               fmt::format("missing key \"value\" in secret data of Secret {}/{}", secret.ns(), secret.name()),
               {}};
}

}  // namespace

Status GetKubeconfig(const Context& ctx, const GlobalOptions& global, const GetKubeconfigOptions& options,
                     World& world) {
  if (options.names.size() != 1 || options.names[0].empty())
    return Error{Code::kInvalidArgument, "please specify a workload cluster name", {}};
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  TRY(cluster.CheckContract(ctx, AlsoAllowed::kNothing));
  const std::string& ns = options.ns.empty() ? cluster.ns() : options.ns;
  std::string name = options.names[0] + "-kubeconfig";
  auto secret = cluster.client().Get(ctx, kube::Builtin("Secret"), ns, name);
  if (!secret.ok() && secret.code() == Code::kNotFound) {
    return Error{Code::kNotFound,
                 fmt::format("{} not found in namespace {}: has cluster {} been created there, and its control plane "
                             "begun?",
                             api::GoQuote(name), api::GoQuote(ns), options.names[0]),
                 {}};
  }
  if (!secret.ok()) return secret.error();
  world.out << TRY(ValueOf(*secret)) << "\n";
  return Ok();
}

}  // namespace capi::cli
