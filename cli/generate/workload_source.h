// Where the template of a workload cluster comes from.
#pragma once

#include <optional>
#include <string>

#include "api/version.h"
#include "cli/frame/management_cluster.h"
#include "cli/generate/generate_cluster.h"

namespace capi::cli {

// The management cluster of a command that may do without: opened when it is first asked for. Thread-compatible.
class MaybeCluster {
 public:
  MaybeCluster(ClusterOptions options, Getenv getenv) : options_(std::move(options)), getenv_(std::move(getenv)) {}
  // That of a command that asks no cluster: Get has none.
  static MaybeCluster None() { return MaybeCluster({}, nullptr); }
  bool none() const { return getenv_ == nullptr; }
  // The same answer each time; never null.
  Result<ManagementCluster*> Get();

 private:
  const ClusterOptions options_;
  const Getenv getenv_;
  std::optional<Result<ManagementCluster>> cluster_;
};

// A provider's release. A value.
struct ProviderVersion {
  ProviderSource source;
  api::Version version;
};

// A template, and the release that it is of, which has the ClusterClasses too. A value.
struct WorkloadTemplate {
  std::string source, text;
  std::optional<ProviderVersion> release;  // nullopt where it isn't a provider's
};

// kInvalidArgument where more than one source is named.
Status CheckSources(const GenerateClusterOptions& options);

// The options have passed CheckSources.
Result<WorkloadTemplate> FindTemplate(const Context& ctx, const Config& config, const GenerateClusterOptions& options,
                                      MaybeCluster& cluster, World& world, Notes& notes);

// "cluster-template.yaml", "cluster-template-{flavor}.yaml".
std::string TemplateFile(const std::string& flavor);

}  // namespace capi::cli
