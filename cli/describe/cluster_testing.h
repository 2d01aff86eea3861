// Objects for tests of the tree of a cluster.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/describe/cluster_tree.h"

namespace capi::cli::describe {

inline const WallTime kNow = ParseTime("2026-01-11T00:00:00Z").value();

// Ten days old, unless another time is given.
inline Condition Con(std::string type, std::string status, std::string reason = "R", std::string message = "",
                     std::string since = "2026-01-01T00:00:00Z") {
  return {std::move(type), std::move(status), "", std::move(reason), std::move(message), ParseTime(since).value()};
}

inline ClusterObject Obj(std::string kind, std::string name, std::vector<Condition> conditions = {}) {
  ClusterObject out;
  out.kind = std::move(kind);
  out.ns = "ns";
  out.name = std::move(name);
  out.conditions = std::move(conditions);
  return out;
}

inline MachineObject MachineOf(std::string set, std::string name, std::vector<Condition> conditions) {
  MachineObject out{Obj("Machine", std::move(name), std::move(conditions)), {}, {}, false};
  auto one = [&](const char* type) -> std::int64_t {
    const Condition* condition = FindCondition(out.object.conditions, type);
    return condition != nullptr && condition->status == "True" ? 1 : 0;
  };
  out.object.counts = {
      .current = 1, .desired = {}, .available = one("Available"), .ready = one("Ready"), .up_to_date = one("UpToDate")};
  if (!set.empty()) out.object.controller = {"cluster.x-k8s.io", "MachineSet", std::move(set)};
  return out;
}

inline MachineObject MakerOf(std::string kind, std::string name, std::string deployment = "") {
  MachineObject out{Obj(std::move(kind), std::move(name)), {}, {}, false};
  if (!deployment.empty()) out.object.controller = {"cluster.x-k8s.io", "MachineDeployment", std::move(deployment)};
  return out;
}

// Gives what it was given, and keeps what it was asked for. Thread-compatible.
class FakeExternals : public Externals {
 public:
  std::map<Reference, ClusterObject> objects;
  std::map<Reference, ControlPlane> control_planes;
  std::vector<std::string> asked;

  const ClusterObject* Get(const Reference& reference) override {
    asked.push_back(reference.name);
    auto found = objects.find(reference);
    return found == objects.end() ? nullptr : &found->second;
  }
  const ControlPlane* GetControlPlane(const Reference& reference) override {
    auto found = control_planes.find(reference);
    return found == control_planes.end() ? nullptr : &found->second;
  }
};

// The names of the nodes, each below its parent with two blanks more.
inline std::string Outline(const ClusterNode& node, const std::string& indent = "") {
  std::string out = indent + (node.role.empty() ? "" : node.role + " ") + NodeName(node) + "\n";
  for (const auto& child : node.children) out += Outline(*child, indent + "  ");
  return out;
}

}  // namespace capi::cli::describe
