// Credentials from a program: client.authentication.k8s.io/v1 and v1beta1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/client/config/config.h"
#include "kube/client/config/run_program.h"

namespace capi::kube {

struct ExecPlugin {
  std::string api_version;
  Program program;           // its env without KUBERNETES_EXEC_INFO
  std::string install_hint;  // for the message when there is no such program
  enum class Interactive { kNever, kIfAvailable, kAlways } interactive = Interactive::kIfAvailable;
  Json cluster;  // spec.cluster of what the plugin is told; null unless provideClusterInfo
};

// Runs the plugin when there is no credential, when it has expired, or when the last one was refused: once for all
// calls that need one, which wait each until its own end. A call that ends by its deadline leaves the plugin to run on,
// for the next call: a person may have to log in. It is killed when the last call that waits for it is stopped, with
// the source, and after 10 minutes. kUnauthenticated, with what the plugin printed to standard error, when it fails.
std::shared_ptr<CredentialSource> ExecCredentials(ExecPlugin plugin);

}  // namespace capi::kube
