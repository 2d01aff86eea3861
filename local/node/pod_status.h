// A Pod's status, as a kubelet writes it (behaviour.md G4). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/object.h"
#include "local/node/pod_facts.h"

namespace capi::local {

// The whole status of `pod`, whose last one tells since when its conditions are as they are.
Json PodStatus(const kube::Object& pod, const PodFacts& facts, WallTime now);

// Of a Pod that doesn't run here, and never will.
Json UnscheduledStatus(const kube::Object& pod, const std::string& reason, const std::string& message, WallTime now);

// On a Pod: the ports of its containers and where on loopback they are, "9440:38123,9443:38124".
inline constexpr char kPortsAnnotation[] = "local.capi-operator.io/ports";
std::string PortsAnnotation(const PodFacts& facts);
// Of a Pod that has it: of its containers -> of loopback.
std::map<int, int> PortsIn(const kube::Object& pod);

// All containers are ready.
bool IsReady(const PodFacts& facts);

// The last lines of a log for a status: 10 lines and 2 KiB at most, each of `secrets` (values) and each
// line of them replaced, from 6 bytes on.
std::string LogTail(std::string_view log, const std::vector<std::string>& secrets);

}  // namespace capi::local
