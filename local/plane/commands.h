// The command lines of a plane's control plane. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/plane/plane_folder.h"
#include "local/plane/programs.h"

namespace capi::local {

// Each begins with the program's path. etcd and the API server run in the plane's private folder, where their sockets
// are; names of these are relative, since they have 107 bytes at most.
std::vector<std::string> EtcdCommand(const PlanePrograms& programs, const PlaneFolder& folder);
std::vector<std::string> ApiServerCommand(const PlanePrograms& programs, const PlaneFolder& folder,
                                          const std::string& egress_file, int port);
std::vector<std::string> ControllerManagerCommand(const PlanePrograms& programs, const PlaneFolder& folder);

// All of the user's environment that these programs get: where to find and to put things. Nothing else is theirs to see
// (credentials) or to be led by: a proxy for calls into the plane, settings of another etcd.
std::vector<std::string> ControlPlaneEnvironment(const PlaneFolder& folder, const Getenv& getenv);

// The API server's EgressSelectorConfiguration: what it would send into the cluster (calls of webhooks, conversions and
// aggregated APIs, by the address of their Service) it asks for at this socket (behaviour.md G6).
std::string EgressConfiguration(const std::string& socket);

}  // namespace capi::local
