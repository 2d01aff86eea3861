// `clusterctl generate cluster`: the objects of a workload cluster, made from a template.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/config.h"
#include "cli/frame/world.h"
#include "templating/workload_template.h"

namespace capi::cli {

// The flags. A value.
struct GenerateClusterOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string target_namespace, kubernetes_version;
  std::optional<int> control_plane_machines, worker_machines;
  std::string infrastructure, flavor;                                         // a provider's template
  std::string from;                                                           // a file's, a URL's, or stdin's
  std::string config_map, config_map_namespace, config_map_key = "template";  // a ConfigMap's
  bool list_variables = false;
  std::string write_to;
};

Status GenerateCluster(const Context& ctx, const GlobalOptions& global, const GenerateClusterOptions& options,
                       World& world);

// The variables that flags set: CLUSTER_NAME, NAMESPACE, KUBERNETES_VERSION and both counts, where they aren't given
// with their value of the configuration or 1 and 0. kInvalidArgument in clusterctl's words. The options have a name and
// a namespace.
Result<std::map<std::string, std::string>> VariablesOf(const GenerateClusterOptions& options, const Config& config);

// The text of --list-variables. `ns` is that of the flag.
std::string ListVariables(templating::VariableDefaults defaults, const GenerateClusterOptions& options,
                          const std::string& ns);

}  // namespace capi::cli
