// The real clusterctl and the real peer operator, run as their users run them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"

namespace capi::e2e {

struct ToolRun {
  int code = -1;
  std::string output;  // both streams
};

// Cluster API's own clusterctl, its repository a folder with those releases of the set that `versions` names as
// "cluster-api/v1.11.0". Thread-compatible.
class RealClusterctl {
 public:
  explicit RealClusterctl(const std::vector<std::string>& versions);
  // `environment`: the variables that releases ask for, "NAME=value".
  ToolRun Run(const std::string& kubeconfig, std::vector<std::string> arguments,
              std::vector<std::string> environment = {});

 private:
  const std::string program_;
  TemporaryFolder folder_;
  int runs_ = 0;
};

// The shell commands under a heading of a page in docs/, as one script.
std::string CommandsOf(const std::string& page, const std::string& heading);
// Runs them as a reader would: KUBECONFIG set, kubectl in PATH; the first that fails ends it.
ToolRun RunCommands(const std::string& kubeconfig, const std::string& script);

// kubernetes-sigs/cluster-api-operator, running until it is stopped. Thread-compatible.
class PeerOperator {
 public:
  explicit PeerOperator(const std::string& kubeconfig);
  void Stop();
  bool running() const { return process_ && process_->running(); }
  std::string LogTail() const { return process_ ? process_->LogTail(40) : ""; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<capi::Process> process_;
};

}  // namespace capi::e2e
