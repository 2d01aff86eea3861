// What a tree tells of an object of Cluster API, read from its JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/meta/object.h"

namespace capi::cli::describe {

// Which of an object's conditions are read: those of today, or those of the contract v1beta1, with a severity.
enum class ConditionStyle { kV1Beta2, kV1Beta1 };

// A value.
struct Condition {
  std::string type, status, severity, reason, message;
  std::optional<WallTime> since;
};

// Null where there is none of the type.
const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type);

// An object of the same namespace, or none. A value.
struct Reference {
  std::string group, kind, name;
  bool empty() const { return kind.empty() && name.empty() && group.empty(); }
  auto operator<=>(const Reference&) const = default;
};

// How many of what an object stands for, as far as it says. A value.
struct Counts {
  std::optional<std::int64_t> current, desired, available, ready, up_to_date;
  bool operator==(const Counts&) const = default;
};

// A value.
struct ClusterObject {
  std::string api_version, kind, ns, name;
  bool deleting = false, paused = false;
  std::vector<Condition> conditions;
  Counts counts;
  Reference controller;  // the owner that controls it
};

// A value.
struct Cluster {
  ClusterObject object;
  Reference infrastructure, control_plane;
};

// A Machine, or what makes machines. A value.
struct MachineObject {
  ClusterObject object;
  Reference infrastructure, bootstrap;  // those of its template, where it makes machines
  bool of_control_plane = false;
};

// Of kinds that Cluster API defines, at v1beta2.
Cluster ReadCluster(const kube::Object& object, ConditionStyle style);
MachineObject ReadMachine(const kube::Object& object, ConditionStyle style);
// A MachineDeployment, MachineSet or MachinePool.
MachineObject ReadMachineMaker(const kube::Object& object, ConditionStyle style);

// Of a kind that a provider defines, at whatever version. Conditions that are malformed are none at all.
ClusterObject ReadExternal(const kube::Object& object, ConditionStyle style);
// One that abides by the contract of control planes, in that contract's version.
ClusterObject ReadControlPlane(const kube::Object& object, ConditionStyle style, std::string_view contract);
// The template of a control plane's machines; empty for none.
Reference ControlPlaneTemplate(const kube::Object& object, std::string_view contract);

// The names of the ClusterResourceSets that a ClusterResourceSetBinding lists.
std::vector<std::string> BoundResourceSets(const kube::Object& binding);

}  // namespace capi::cli::describe
