// A management cluster with newer releases at hand, for tests of the commands as people run them.
#pragma once

#include <string>
#include <vector>

#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {

// The metadata of aws v2.0.0 and v2.1.0, and what a plan says of it.
inline const std::string kSeries =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 2, minor: 0, contract: v1beta1}\n- {major: 2, minor: 1, contract: v1beta1}\n";
inline constexpr char kNewer[] = "InfrastructureProvider   v2.0.0            v2.1.0\n";

inline const UpgradeProvider kCore = {api::ProviderType::kCore, "capi-system", "cluster-api", "v1.11.0", "v1beta2"};
inline const UpgradeProvider kAws = {api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta1"};
inline const UpgradeProvider kMine = {api::ProviderType::kInfrastructure, "mine-system", "mine", "v1.0.0", "v1beta1"};
inline const std::string kSecret = "/api/v1/namespaces/capa-system/secrets/infrastructure-aws-variables";

// A cluster with a core and aws, and a local repository that has newer ones. That of aws asks for TOKEN.
class Upgrades : public testing::Test {
 protected:
  explicit Upgrades(bool bare = false) {
    cluster_.Add(kCore, bare);
    cluster_.Add(kAws, bare);
    Release("cluster-api", "v1.11.0", "{major: 1, minor: 11, contract: v1beta2}", "x");
    Release("cluster-api", "v1.12.0",
            "{major: 1, minor: 11, contract: v1beta2}\n- {major: 1, minor: 12, contract: v1beta2}", "y");
    Release("infrastructure-aws", "v2.0.0", "{major: 2, minor: 0, contract: v1beta1}", "x");
    Release("infrastructure-aws", "v2.1.0",
            "{major: 2, minor: 0, contract: v1beta1}\n- {major: 2, minor: 1, contract: v1beta1}", "${TOKEN}");
    cluster_.folder.Put("clusterctl.yaml", "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") +
                                               Source("aws", "InfrastructureProvider", "infrastructure-aws"));
  }
  void Release(const std::string& label, const std::string& version, const std::string& series,
               const std::string& value) {
    std::string folder = "r/" + label + "/" + version + "/";
    cluster_.folder.Put(
        folder + "metadata.yaml",
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- " + series + "\n");
    cluster_.folder.Put(
        folder + "c.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {v: '" + value + "'}\n");
  }
  std::string Source(const std::string& name, const std::string& type, const std::string& label) {
    return "- {name: " + name + ", type: " + type + ", url: " + cluster_.folder.path() + "/r/" + label +
           "/latest/c.yaml}\n";
  }
  // Without a source of aws, and with `more`.
  void Configure(const std::string& more) {
    cluster_.folder.Put("clusterctl.yaml",
                        "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") + more);
  }
  void LoseRepositories() {
    cluster_.folder.Put("clusterctl.yaml", "providers:\n" + Source("cluster-api", "CoreProvider", "gone") +
                                               Source("aws", "InfrastructureProvider", "gone"));
  }
  Outcome Run(std::vector<std::string> arguments, Variables environment = {}) {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    return cluster_.Run(std::move(arguments), std::move(environment));
  }
  std::string VersionOf(const UpgradeProvider& provider) {
    return GetString(cluster_.Get(UpgradeCluster::PathOf(provider)), {"spec", "version"});
  }

  UpgradeCluster cluster_;
};

}  // namespace capi::cli
