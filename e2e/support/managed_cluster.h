// The fixture of tests that look at an operator's work: the test binary's control plane, and an operator on it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/processes/temporary_folder.h"
#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"
#include "kube/apply/inventory.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {

inline const Managed kCore{api::ProviderType::kCore, "capi-system", "cluster-api", "capi-controller-manager"};
inline const Managed kBootstrap{api::ProviderType::kBootstrap, "capi-kubeadm-bootstrap-system", "kubeadm",
                                "capi-kubeadm-bootstrap-controller-manager"};
inline const Managed kControlPlane{api::ProviderType::kControlPlane, "capi-kubeadm-control-plane-system", "kubeadm",
                                   "capi-kubeadm-control-plane-controller-manager"};
inline const Managed kDocker{api::ProviderType::kInfrastructure, "capd-system", "docker", "capd-controller-manager"};
inline const Managed kAws{api::ProviderType::kInfrastructure, "capa-system", "aws", "capa-controller-manager"};

// On whichever set of releases was chosen; a test that needs certain ones says so (CAPI_NEED_RELEASES). Every test ends
// with all providers deleted, and all CRDs of providers. The operator is the test's to start.
// Thread-compatible.
class UnmanagedCluster : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void StartOperator(std::vector<std::string> arguments = {}, std::vector<std::string> environment = {});
  // The same with a proxy in between, `proxy_`. With a name in `user` the server knows the operator by that.
  void StartBehindProxy(std::vector<std::string> arguments = {}, const std::string& user = "");

  // Stores a release of the set, with a Secret for its variables where it needs any, and asks for it with `more` in the
  // spec.
  void Create(const Managed& provider, const std::string& version, const Json& more = Json::object());
  bool Install(const Managed& provider, const std::string& version, const Json& more = Json::object());  // until Ready
  void StoreRelease(const Managed& provider, const std::string& version);

  Seen See(const Managed& provider) { return cluster_->See(provider.type, provider.ns, provider.name); }
  void PatchSpec(const Managed& provider, const Json& spec);
  void Annotate(const Managed& provider, std::string_view key, const Json& value);  // null: removes it
  void PatchStatus(const Managed& provider, const Json& status);                    // null: removes it
  void Delete(const Managed& provider) { cluster_->DeleteProvider(provider.type, provider.ns, provider.name); }
  bool AwaitReady(const Managed& provider, Millis timeout = Seconds(60));
  bool AwaitReason(const Managed& provider, std::string_view condition, std::string_view reason,
                   Millis timeout = Seconds(30));
  bool AwaitGone(const Managed& provider, Millis timeout = Seconds(60));
  // OperatorProcess::Eventually of the operator; kube::Eventually where there is none.
  bool Eventually(const std::function<bool()>& done, Millis timeout = Seconds(30), Millis every = Millis(10));
  // Returns when the operator has ended a pass that began after the call, and so had seen what was done before it. For
  // a provider that is the only one.
  bool AwaitPass(const Managed& provider);
  // The same for one of many that applies nothing now, held back or with hands off: it says that it has seen an edit of
  // the spec.
  bool AwaitPassByEdit(const Managed& provider);

  // P4; returns when the operator has let go of it.
  bool HandsOff(const Managed& provider);
  void HandsOn(const Managed& provider);
  // The webhooks of a release point at pods that kwok only pretends to run: takes hands off it, and them away.
  void WithoutWebhooks(const Managed& provider);

  kube::Object Deployment(const Managed& provider) {
    return cluster_->Get("Deployment", provider.ns, provider.deployment);
  }
  kube::Inventory InventoryOf(const Managed& provider);
  // Resource version of each of its objects, by name: the same ones again mean that nothing was written.
  std::map<std::string, std::string> Versions(const Managed& provider);

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::unique_ptr<OperatorProcess> operator_;

 private:
  TemporaryFolder folder_;
  int looks_ = 0;
};

// The same with an operator from the beginning. Thread-compatible.
class ManagedCluster : public UnmanagedCluster {
 protected:
  void SetUp() override;
};

// The same with core provider v1.12.0 from the beginning. Thread-compatible.
class ManagedCore : public ManagedCluster {
 protected:
  void SetUp() override;
};

// Writes a copy of the kubeconfig into the folder with which an operator is known to the server as `user`, with all
// rights. Its path.
std::string WriteKubeconfigAs(const std::string& user, const std::string& kubeconfig, const std::string& folder);

// What a release brings, by what its components say: all kinds of it, and the names of its CRDs.
std::set<std::string> KindsOf(const ReleaseFolder& release);
std::set<std::string> CrdsOf(const ReleaseFolder& release);

}  // namespace capi::e2e
