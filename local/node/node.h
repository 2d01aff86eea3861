// The node of a local plane: a kubelet, the controller of Deployments and the way to Services, whose containers are
// processes of this machine (behaviour.md G4-G7).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "kube/client/client.h"
#include "local/programs/programs.h"

namespace capi::local {

inline constexpr char kNodeName[] = "local";

struct NodeOptions {
  // Below it each Pod has a folder NAMESPACE_NAME, which goes with the Pod: home, tmp, and CONTAINER.log.
  std::string folder;
  // A folder for nobody else's eyes, on a tmpfs where there is one: Secrets, tokens and kubeconfigs of Pods. What is in
  // it when the node starts is removed, and the folder with all in it when the node ends.
  std::string volumes;
  std::string server, ca_pem;  // of the API server, for the kubeconfigs of Pods
  // Path of the Unix socket on which the API server asks for Services ("CONNECT clusterIP:port"); the node listens
  // there from the beginning of Run on, in the place of what was there. "": no Service is served.
  std::string socket;
  // "NAME=value" that each process has below its image's and its Pod's own: PATH, proxies, and what the user names.
  // Nothing else comes from the environment of this program.
  std::vector<std::string> environment;
};

// `client` may do everything, `programs` say which process an image is. One node for a plane. Thread-safe.
class Node {
 public:
  // All that is named here outlives the node.
  Node(kube::Client& client, Programs& programs, NodeOptions options, Clock& clock);
  ~Node();

  // Runs Pods until the context stops; then ends their processes (SIGTERM, and SIGKILL after 0.9 s) and returns when
  // the last one is gone. Pods that are there, of a node that was killed, are run again. Call it once. kInternal where
  // a folder can't be made or the socket not be listened on: nothing runs then; and where a part of the node failed:
  // all has ended then.
  Status Run(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::local
