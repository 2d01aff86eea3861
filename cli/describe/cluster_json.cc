#include "cli/describe/cluster_json.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace capi::cli::describe {
namespace {

Json ConditionsJson(const std::vector<Condition>& conditions) {
  Json out = Json::array();
  for (const Condition& condition : conditions) {
    Json one = {{"type", condition.type},
                {"status", condition.status},
                {"reason", condition.reason},
                {"message", condition.message}};
    if (!condition.severity.empty()) one["severity"] = condition.severity;
    if (condition.since) one["lastTransitionTime"] = FormatTime(*condition.since);
    out.push_back(std::move(one));
  }
  return out;
}

Json CountsJson(const Counts& counts) {
  const std::pair<const char*, std::optional<std::int64_t>> named[] = {{"current", counts.current},
                                                                       {"desired", counts.desired},
                                                                       {"available", counts.available},
                                                                       {"ready", counts.ready},
                                                                       {"upToDate", counts.up_to_date}};
  Json out = Json::object();
  for (const auto& [name, count] : named) {
    if (count) out[name] = *count;
  }
  return out;
}

void AddNames(const ClusterNode& node, std::vector<std::string>& out) {
  const ClusterObject& object = node.object;
  // Of a reference the group alone is known.
  const std::string group =
      node.node_kind == NodeKind::kReference ? object.api_version : kube::GroupVersion::Parse(object.api_version).group;
  auto add = [&](const std::string& name) {
    out.push_back(fmt::format("{}{}/{}", ToLower(object.kind), group.empty() ? "" : "." + group, name));
  };
  if (node.node_kind == NodeKind::kGroup) {
    for (const std::string& name : node.items) add(name);
  } else if (node.node_kind != NodeKind::kVirtual) {
    add(object.name);
  }
  for (const auto& child : node.children) AddNames(*child, out);
}

}  // namespace

std::vector<std::string> ClusterTreeNames(const ClusterNode& root) {
  std::vector<std::string> out;
  AddNames(root, out);
  return out;
}

Json ClusterTreeJson(const ClusterNode& root) {
  const ClusterObject& object = root.object;
  Json out = {{"kind", object.kind}};
  auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  set("apiVersion", object.api_version);
  set("namespace", object.ns);
  set("name", object.name);
  set("role", root.role);
  if (root.node_kind == NodeKind::kVirtual) out["virtual"] = true;
  if (root.node_kind == NodeKind::kGroup) out["group"] = root.items;
  if (object.deleting) out["deleting"] = true;
  if (object.paused) out["paused"] = true;
  if (Json counts = CountsJson(object.counts); !counts.empty()) out["replicas"] = std::move(counts);
  if (!object.conditions.empty()) out["conditions"] = ConditionsJson(object.conditions);
  for (const auto& child : root.children) out["children"].push_back(ClusterTreeJson(*child));
  return out;
}

}  // namespace capi::cli::describe
