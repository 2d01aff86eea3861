#include "local/plane/commands.h"

#include <fmt/format.h>

#include "local/plane/leftovers.h"

namespace capi::local {
namespace {

constexpr char kEtcdSocket[] = "unix://etcd.sock:0";
constexpr char kPeerSocket[] = "unix://peer.sock:0";

// What a provider's objects need of kube-controller-manager. Deployments are the node's.
constexpr char kControllers[] =
    "garbage-collector-controller,namespace-controller,serviceaccount-controller,serviceaccount-token-controller,"
    "clusterrole-aggregation-controller,root-ca-certificate-publisher-controller";

}  // namespace

std::vector<std::string> EtcdCommand(const PlanePrograms& programs, const PlaneFolder& folder) {
  return {programs.etcd,
          "--data-dir=" + folder.Etcd(),
          fmt::format("--listen-client-urls={}", kEtcdSocket),
          fmt::format("--advertise-client-urls={}", kEtcdSocket),
          fmt::format("--listen-peer-urls={}", kPeerSocket),
          fmt::format("--initial-advertise-peer-urls={}", kPeerSocket),
          fmt::format("--initial-cluster=default={}", kPeerSocket),
          "--log-level=warn"};
}

std::vector<std::string> ApiServerCommand(const PlanePrograms& programs, const PlaneFolder& folder,
                                          const std::string& egress_file, int port) {
  return {programs.apiserver, fmt::format("--etcd-servers={}", kEtcdSocket), "--bind-address=127.0.0.1",
          "--advertise-address=127.0.0.1", fmt::format("--secure-port={}", port),
          "--permit-port-sharing=true",  // with the supervisor, which keeps the port while it starts again
          "--tls-cert-file=" + folder.Pki("apiserver.crt"), "--tls-private-key-file=" + folder.Pki("apiserver.key"),
          "--client-ca-file=" + folder.Pki("ca.crt"), "--authorization-mode=RBAC", "--anonymous-auth=false",
          "--service-account-issuer=https://kubernetes.default.svc",
          "--service-account-key-file=" + folder.Pki("service-accounts.crt"),
          "--service-account-signing-key-file=" + folder.Pki("service-accounts.key"),
          "--service-cluster-ip-range=10.96.0.0/16", "--egress-selector-config-file=" + egress_file,
          "--allow-privileged=true", "--endpoint-reconciler-type=none", "--profiling=false",
          // The node gives each process a token itself, and its Node has no taints.
          "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"};
}

std::vector<std::string> ControllerManagerCommand(const PlanePrograms& programs, const PlaneFolder& folder) {
  return {programs.controller_manager,
          "--kubeconfig=" + folder.OwnKubeconfig(),
          "--bind-address=127.0.0.1",
          "--secure-port=0",
          "--leader-elect=false",
          "--profiling=false",
          fmt::format("--controllers={}", kControllers),
          "--service-account-private-key-file=" + folder.Pki("service-accounts.key"),
          "--root-ca-file=" + folder.Pki("ca.crt"),
          "--use-service-account-credentials=false"};
}

std::vector<std::string> ControlPlaneEnvironment(const PlaneFolder& folder, const Getenv& getenv) {
  std::vector<std::string> out = {fmt::format("{}={}", kPlaneVariable, folder.id())};
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    if (auto value = getenv(name)) out.push_back(fmt::format("{}={}", name, *value));
  }
  return out;
}

std::string EgressConfiguration(const std::string& socket) {
  return fmt::format(R"(apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: "{}"
)",
                     socket);
}

}  // namespace capi::local
