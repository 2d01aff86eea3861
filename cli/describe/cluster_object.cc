#include "cli/describe/cluster_object.h"

#include <algorithm>

namespace capi::cli::describe {
namespace {

constexpr char kNoReason[] = "NoReasonReported";
constexpr char kPausedAnnotation[] = "cluster.x-k8s.io/paused";
constexpr char kControlPlaneLabel[] = "cluster.x-k8s.io/control-plane";

std::optional<std::int64_t> Number(const Json& json, JsonPath path) {
  const Json* value = Find(json, path);
  return value != nullptr && value->is_number_integer() ? std::optional(value->get<std::int64_t>()) : std::nullopt;
}

// Of what each says, where one says something.
std::optional<std::int64_t> Sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a || b ? std::optional(a.value_or(0) + b.value_or(0)) : std::nullopt;
}

const Json* ListAt(const Json& json, JsonPath path) {
  const Json* list = Find(json, path);
  return list != nullptr && list->is_array() ? list : nullptr;
}

Condition ReadCondition(const Json& json) {
  Condition out = {GetString(json, {"type"}),   GetString(json, {"status"}),  GetString(json, {"severity"}),
                   GetString(json, {"reason"}), GetString(json, {"message"}), std::nullopt};
  auto since = ParseTime(GetString(json, {"lastTransitionTime"}));
  if (since.ok()) out.since = *since;
  return out;
}

std::vector<Condition> ReadConditions(const Json* list, ConditionStyle style) {
  std::vector<Condition> out;
  if (list == nullptr) return out;
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    Condition& read = out.emplace_back(ReadCondition(one));
    if (style == ConditionStyle::kV1Beta2) read.severity.clear();  // where a provider still writes one
  }
  return out;
}

bool IsText(const Json& json, const char* key) {
  auto found = json.find(key);
  return found == json.end() || found->is_string() || found->is_null();
}

// Whether the entries are conditions of today: providers of an older contract have others in the same place.
bool AreConditions(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& one) {
    if (!one.is_object()) return true;  // passed over
    for (const char* key : {"type", "status", "reason", "message", "lastTransitionTime"}) {
      if (!IsText(one, key)) return false;
    }
    std::string status = GetString(one, {"status"});
    return !GetString(one, {"type"}).empty() && (status == "True" || status == "False" || status == "Unknown");
  });
}

std::vector<Condition> ReadExternalConditions(const Json& json, ConditionStyle style) {
  const Json* list = style == ConditionStyle::kV1Beta2 ? ListAt(json, {"status", "v1beta2", "conditions"}) : nullptr;
  if (list == nullptr) list = ListAt(json, {"status", "conditions"});
  if (list == nullptr) return {};
  if (style == ConditionStyle::kV1Beta1) return ReadConditions(list, style);
  if (!AreConditions(*list)) return {};
  std::vector<Condition> out = ReadConditions(list, style);
  for (Condition& condition : out) {
    if (condition.reason.empty()) condition.reason = kNoReason;
  }
  return out;
}

Reference ReadReference(const Json& json, JsonPath path) {
  const Json* found = Find(json, path);
  if (found == nullptr) return {};
  return {GetString(*found, {"apiGroup"}), GetString(*found, {"kind"}), GetString(*found, {"name"})};
}

Reference ReadController(const Json& json) {
  const Json* owners = ListAt(json, {"metadata", "ownerReferences"});
  if (owners == nullptr) return {};
  for (const Json& owner : *owners) {
    if (!GetBool(owner, {"controller"})) continue;
    return {kube::GroupVersion::Parse(GetString(owner, {"apiVersion"})).group, GetString(owner, {"kind"}),
            GetString(owner, {"name"})};
  }
  return {};
}

ClusterObject ReadIdentity(const kube::Object& object) {
  ClusterObject out;
  out.api_version = object.api_version();
  out.kind = object.kind();
  out.ns = object.ns();
  out.name = object.name();
  out.deleting = object.deleting();
  out.paused = GetBool(object.json(), {"spec", "paused"}) || object.has_annotation(kPausedAnnotation);
  out.controller = ReadController(object.json());
  return out;
}

// Of a kind that Cluster API defines.
ClusterObject ReadOwn(const kube::Object& object, ConditionStyle style) {
  ClusterObject out = ReadIdentity(object);
  const Json& json = object.json();
  out.conditions = ReadConditions(style == ConditionStyle::kV1Beta2
                                      ? ListAt(json, {"status", "conditions"})
                                      : ListAt(json, {"status", "deprecated", "v1beta1", "conditions"}),
                                  style);
  return out;
}

Counts ReadCounts(const Json& json) {
  return {.current = Number(json, {"status", "replicas"}),
          .desired = Number(json, {"spec", "replicas"}),
          .available = Number(json, {"status", "availableReplicas"}),
          .ready = Number(json, {"status", "readyReplicas"}),
          .up_to_date = Number(json, {"status", "upToDateReplicas"})};
}

std::int64_t OneIfTrue(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* condition = FindCondition(conditions, type);
  return condition != nullptr && condition->status == "True" ? 1 : 0;
}

}  // namespace

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  auto found = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

Cluster ReadCluster(const kube::Object& object, ConditionStyle style) {
  const Json& json = object.json();
  Cluster out{ReadOwn(object, style), ReadReference(json, {"spec", "infrastructureRef"}),
              ReadReference(json, {"spec", "controlPlaneRef"})};
  auto sum = [&](std::string_view field) {
    return Sum(Number(json, {"status", "controlPlane", field}), Number(json, {"status", "workers", field}));
  };
  Counts& counts = out.object.counts;
  counts = {.current = sum("replicas"),
            .desired = sum("desiredReplicas"),
            .available = sum("availableReplicas"),
            .ready = sum("readyReplicas"),
            .up_to_date = sum("upToDateReplicas")};
  if (counts.current || counts.desired) {
    counts.current = counts.current.value_or(0);
    counts.desired = counts.desired.value_or(0);
  }
  return out;
}

MachineObject ReadMachine(const kube::Object& object, ConditionStyle style) {
  const Json& json = object.json();
  MachineObject out{ReadOwn(object, style), ReadReference(json, {"spec", "infrastructureRef"}),
                    ReadReference(json, {"spec", "bootstrap", "configRef"}), object.has_label(kControlPlaneLabel)};
  const std::vector<Condition>& conditions = out.object.conditions;
  out.object.counts = {.current = 1,
                       .desired = {},
                       .available = OneIfTrue(conditions, "Available"),
                       .ready = OneIfTrue(conditions, "Ready"),
                       .up_to_date = OneIfTrue(conditions, "UpToDate")};
  return out;
}

MachineObject ReadMachineMaker(const kube::Object& object, ConditionStyle style) {
  const Json& json = object.json();
  MachineObject out{ReadOwn(object, style), ReadReference(json, {"spec", "template", "spec", "infrastructureRef"}),
                    ReadReference(json, {"spec", "template", "spec", "bootstrap", "configRef"}), false};
  out.object.counts = ReadCounts(json);
  return out;
}

ClusterObject ReadExternal(const kube::Object& object, ConditionStyle style) {
  ClusterObject out = ReadIdentity(object);
  out.conditions = ReadExternalConditions(object.json(), style);
  return out;
}

ClusterObject ReadControlPlane(const kube::Object& object, ConditionStyle style, std::string_view contract) {
  ClusterObject out = ReadExternal(object, style);
  out.counts = ReadCounts(object.json());
  if (contract == "v1beta1") out.counts.up_to_date = Number(object.json(), {"status", "updatedReplicas"});
  return out;
}

Reference ControlPlaneTemplate(const kube::Object& object, std::string_view contract) {
  const Json& json = object.json();
  Reference out;
  if (contract == "v1beta1") {
    const Json* found = Find(json, {"spec", "machineTemplate", "infrastructureRef"});
    if (found == nullptr) return {};
    out = {kube::GroupVersion::Parse(GetString(*found, {"apiVersion"})).group, GetString(*found, {"kind"}),
           GetString(*found, {"name"})};
  } else {
    out = ReadReference(json, {"spec", "machineTemplate", "spec", "infrastructureRef"});
  }
  return out.kind.empty() || out.name.empty() ? Reference() : out;
}

std::vector<std::string> BoundResourceSets(const kube::Object& binding) {
  std::vector<std::string> out;
  const Json* bindings = ListAt(binding.json(), {"spec", "bindings"});
  if (bindings == nullptr) return out;
  for (const Json& one : *bindings) out.push_back(GetString(one, {"clusterResourceSetName"}));
  return out;
}

}  // namespace capi::cli::describe
