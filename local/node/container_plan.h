// From a container to the process that it is here (behaviour.md G5).
#pragma once

#include "base/context.h"
#include "base/processes/process.h"
#include "local/node/node_parts.h"
#include "local/node/pod_files.h"
#include "local/node/pod_ports.h"

namespace capi::local {

// A value.
struct ContainerPlan {
  Program program;
  ProcessOptions process;
  std::map<int, int> ports;          // of the container -> of loopback
  std::set<int> unled;               // of loopback: no flag leads them elsewhere, so they may be taken
  std::vector<std::string> secrets;  // values that its log may tell
  // Where the folders of volumes are, by their paths in the container.
  std::map<std::string, std::string> mounts;
  bool alone = false;  // no other process of its Deployment may run
};

// What needs no program to be refused; kUnsupported, and the field is named.
Status CheckPod(const kube::Object& pod);
Status CheckContainer(const NodeOptions& options, const Json& container);

// Of "NAME=value": the values that nobody is to read who reads a status. Those that every machine has aren't: PATH.
std::vector<std::string> ValuesToHide(const std::vector<std::string>& environment);

// Ports of `container` that a URL on loopback in the words of another container of the Pod names: they stay what they
// are, but for those that PodPorts has.
std::set<int> PortsNamedByOthers(const kube::Object& pod, const Json& container, const std::set<int>& ports);

// The process of `container`, whose program is `program`. Errors name the field: kNotFound may pass, kUnsupported
// doesn't.
Result<ContainerPlan> PlanContainer(const Context& ctx, NodeParts& node, PodFiles& files, const PodPorts& ports,
                                    const kube::Object& pod, const Json& container, Program program);

// What is executed for a probe's command beside that process: its words that are paths of volumes are led there, and a
// program without a slash is looked for in PATH. kNotFound.
Result<ProcessOptions> PlanProbe(const ContainerPlan& plan, const std::vector<std::string>& command);

}  // namespace capi::local
