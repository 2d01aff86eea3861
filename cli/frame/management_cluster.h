// The management cluster that a command looks into.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "cli/frame/world.h"
#include "kube/client/client.h"

namespace capi::cli {

// The contract of the Cluster API that this command line works with.
inline constexpr std::string_view kContract = "v1beta2";

// What else than a cluster of kContract a command works on.
enum class AlsoAllowed { kNothing, kNotInstalled, kOlderContract };

// Whether a command may work on the cluster with this CustomResourceDefinition of Clusters; null: it has none.
// kFailedPrecondition in clusterctl's words.
Status CheckContract(const kube::Object* clusters_crd, AlsoAllowed also);

// A provider as clusterctl's inventory has it (docs/formats.md). A value.
struct InstalledProvider {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name, ns, version;
  std::string uid = {};  // of its entry
  bool operator==(const InstalledProvider&) const = default;
};

// Thread-compatible.
class ManagementCluster {
 public:
  // Sends no request. kInvalidArgument or kNotFound without a kubeconfig that can be used.
  static Result<ManagementCluster> Open(const ClusterOptions& options, const Getenv& getenv);

  // The namespace of the context.
  const std::string& ns() const { return ns_; }
  kube::Client& client() { return *client_; }

  Status CheckContract(const Context& ctx, AlsoAllowed also);
  // All of the inventory, by type, name and namespace; none where it has no inventory.
  Result<std::vector<InstalledProvider>> Providers(const Context& ctx);

 private:
  ManagementCluster(std::unique_ptr<kube::Client> client, std::string ns)
      : client_(std::move(client)), ns_(std::move(ns)) {}

  std::unique_ptr<kube::Client> client_;
  std::string ns_;
};

}  // namespace capi::cli
