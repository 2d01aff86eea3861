// etcd, the API server and the controller manager of a plane, kept running.
#pragma once

#include <memory>
#include <vector>

#include "base/context.h"
#include "base/processes/reserved_port.h"
#include "kube/client/client.h"
#include "local/plane/authority.h"
#include "local/plane/kept_process.h"
#include "local/plane/plane_folder.h"
#include "local/plane/programs.h"

namespace capi::local {

// Thread-compatible; `client` is thread-safe.
class ControlPlane {
 public:
  // Writes certificates, the kubeconfigs and the egress configuration; starts nothing. The API server's port is the one
  // that it had before, where that is free.
  static Result<std::unique_ptr<ControlPlane>> Prepare(const Context& ctx, const PlaneFolder& folder,
                                                       const std::string& private_folder,
                                                       const PlanePrograms& programs);

  // Starts what doesn't run, and looks how far it is. To be called again and again.
  void Look(const Context& ctx);
  // Ends all, the API server at once: a graceful end takes as long as the longest watch.
  void Stop();

  bool ready() const { return apiserver_ready_; }
  int port() const { return port_.number(); }
  std::vector<ProcessState> States() const;
  kube::Client& client() { return *client_; }
  const std::string& ca_pem() const { return credentials_.ca_pem; }

 private:
  ControlPlane(ReservedPort port, Credentials credentials)
      : port_(std::move(port)), credentials_(std::move(credentials)) {}
  void MakeProcesses(const PlaneFolder& folder, const std::string& private_folder, const PlanePrograms& programs,
                     Clock& clock);
  bool Asked();

  ReservedPort port_;
  const Credentials credentials_;
  std::unique_ptr<kube::Client> client_;
  Context ctx_;                                                  // of the look that goes on
  std::unique_ptr<KeptProcess> etcd_, apiserver_, controllers_;  // the last null where there is none
  Millis answer_limit_{1000};
  bool apiserver_ready_ = false;
  bool was_ready_ = false;  // once: the controller manager may start
};

// The file that the API server has its egress configuration in, and the socket that this names.
std::string EgressFile(const std::string& private_folder);
std::string EgressSocket(const std::string& private_folder);

}  // namespace capi::local
