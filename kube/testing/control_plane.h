// A real control plane for tests: etcd, kube-apiserver, and on request the controllers and a node that kwok plays.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "kube/client/client.h"
#include "kube/testing/certificates.h"

namespace capi::kube {

struct ControlPlaneOptions {
  // kube-controller-manager, kube-scheduler, kwok and a Node: Deployments become Available, garbage is collected.
  bool controllers = false;
  bool audit = false;  // writes audit.log (Metadata level), to count requests by User-Agent
};

// Programs come from the environment (CAPI_ASSETS_BIN, KUBEBUILDER_ASSETS), else PATH, else tools/assets. Ports are
// free ones on loopback; state lies in a folder that goes with it; the processes die with the test, also when it is
// killed. Thread-safe.
class ControlPlane {
 public:
  static Result<std::unique_ptr<ControlPlane>> Start(const ControlPlaneOptions& options = {});
  // One for the whole test binary, started at first use, stopped at exit. Ends the process when it can't start.
  static ControlPlane& Shared(bool controllers = true);
  ~ControlPlane();

  Config config() const;           // cluster-admin
  std::string kubeconfig() const;  // path of a kubeconfig file of the same
  std::unique_ptr<Client> NewClient(std::string_view user_agent = "test") const;
  std::string server() const;     // "https://127.0.0.1:PORT"
  std::string audit_log() const;  // path
  std::string folder() const;     // state and logs
  // A certificate that the API server takes for `user` in `group`.
  Result<KeyPair> ClientCertificate(const std::string& user, const std::string& group) const;

  // The API server alone, on the same port and data.
  Status StopApiServer();
  Status StartApiServer();
  Status RestartApiServer();

 private:
  class Impl;
  explicit ControlPlane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Applies every document of a YAML text or file as a test's set-up; ends the test on an error.
void ApplyYaml(Client& client, std::string_view yaml);

// Polls `done` until it is true or `timeout` has passed; returns the last answer. For tests that wait for the world.
// What is waited for runs on the same cores as the looks: where it takes longer, they come less often, up to 50 ms
// apart.
bool Eventually(const std::function<bool()>& done, Millis timeout = Seconds(30), Millis every = Millis(10));

}  // namespace capi::kube
