// Names that complete a command line: of what the configuration and the cluster have.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// What is asked for: the value of a flag, or, where that is "", the first argument. A value.
struct NameQuestion {
  std::string command;  // "clusterctl get kubeconfig"
  std::string flag;     // "namespace"
  GlobalOptions global;
  ClusterOptions cluster;
  std::string ns;  // of --namespace
};

// None where it isn't known, or can't be found out within two seconds: a shell that completes says nothing of errors.
std::vector<std::string> NamesFor(const NameQuestion& question, World& world);

}  // namespace capi::cli
