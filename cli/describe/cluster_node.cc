#include "cli/describe/cluster_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace capi::cli::describe {
namespace {

// The conditions that decide whether two objects are alike.
std::span<const char* const> Decisive(ConditionStyle style) {
  static constexpr const char* kTypes[] = {"Ready", "Available", "UpToDate"};
  return {kTypes, style == ConditionStyle::kV1Beta1 ? 1U : std::size(kTypes)};
}

bool AreAlike(const Condition* a, const Condition* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->status == b->status && a->severity == b->severity && a->reason == b->reason;
}

// UpToDate is of machines alone: a provider's object may mean something else by it.
const Condition* Get(const ClusterObject& object, NodeKind kind, std::string_view type) {
  bool provider = kind == NodeKind::kExternal || kind == NodeKind::kControlPlane;
  return provider && type == "UpToDate" ? nullptr : FindCondition(object.conditions, type);
}

// The same for two objects of one kind that are alike.
std::string StateOf(const ClusterNode& node, ConditionStyle style) {
  std::string out = node.object.kind;
  for (const char* type : Decisive(style)) {
    const Condition* condition = Get(node.object, node.node_kind, type);
    out += '\n';
    if (condition == nullptr) continue;
    for (const std::string& part : {condition->status, condition->severity, condition->reason}) {
      out += '\t';
      out += part;
    }
  }
  return out;
}

bool IsEcho(const ClusterNode& parent, const ClusterObject& object) {
  const Condition* ready = FindCondition(object.conditions, "Ready");
  return (ready != nullptr && ready->status == "True") ||
         AreAlike(FindCondition(parent.object.conditions, "Ready"), ready);
}

// A group of one, which others may join.
ClusterNode GroupOf(const ClusterNode& member, ConditionStyle style) {
  ClusterNode out;
  out.node_kind = NodeKind::kGroup;
  out.object.api_version = member.object.api_version;
  out.object.kind = member.object.kind;
  out.object.ns = member.object.ns;
  out.z_order = member.z_order;
  out.object.counts = {.current = {}, .desired = {}, .available = 0, .ready = 0, .up_to_date = 0};
  for (const char* type : Decisive(style)) {
    const Condition* condition = Get(member.object, member.node_kind, type);
    if (condition == nullptr) continue;
    out.object.conditions.push_back(*condition);
    out.object.conditions.back().message.clear();
  }
  return out;
}

// The group's state is that of any member, and it has been in it since the first of them was.
void Join(ClusterNode& group, const ClusterNode& member) {
  Counts& counts = group.object.counts;
  const std::pair<const char*, std::optional<std::int64_t>*> counters[] = {
      {"Available", &counts.available}, {"Ready", &counts.ready}, {"UpToDate", &counts.up_to_date}};
  for (const auto& [type, counter] : counters) {
    const Condition* condition = Get(member.object, member.node_kind, type);
    if (condition != nullptr && condition->status == "True") counter->emplace(counter->value_or(0) + 1);
  }
  for (Condition& condition : group.object.conditions) {
    const Condition* other = FindCondition(member.object.conditions, condition.type);
    if (other != nullptr && other->since && (!condition.since || *other->since < *condition.since))
      condition.since = other->since;
  }
  group.items.push_back(member.object.name);
}

// Whether the node has become a part of a group below `parent`. Where not, it is what others of its state join.
bool JoinsGroup(ClusterNode& parent, const ClusterNode& node, ConditionStyle style) {
  auto [found, first] = parent.states.try_emplace(StateOf(node, style), parent.children.size());
  if (first) return false;
  ClusterNode& sibling = *parent.children[found->second];
  if (sibling.node_kind != NodeKind::kGroup) {
    ClusterNode group = GroupOf(sibling, style);
    Join(group, sibling);
    sibling = std::move(group);  // what stood below it goes with it
  }
  Join(sibling, node);
  return true;
}

}  // namespace

ClusterNode* AddNode(ClusterNode& parent, ClusterObject object, NodeTraits traits, const TreeOptions& options) {
  if (traits.no_echo && !options.echo && IsEcho(parent, object)) return nullptr;
  auto node = std::make_unique<ClusterNode>();
  node->node_kind = traits.node_kind;
  node->shown = options.conditions.For(object.kind, object.name);
  node->object = std::move(object);
  node->role = std::move(traits.role);
  node->z_order = traits.z_order;
  node->groups = traits.groups && options.grouping;
  bool groupable = node->node_kind != NodeKind::kVirtual;
  if (parent.groups && groupable && JoinsGroup(parent, *node, options.style)) return nullptr;
  return parent.children.emplace_back(std::move(node)).get();
}

std::string NodeName(const ClusterNode& node) {
  if (node.node_kind == NodeKind::kGroup) return fmt::format("{} {}s...", node.items.size(), node.object.kind);
  if (node.node_kind == NodeKind::kVirtual) return node.role.empty() ? node.object.name : node.role;
  return fmt::format("{}/{}", node.object.kind, node.object.name);
}

void SortChildren(ClusterNode& node) {
  auto key = [](const ClusterNode& child) {
    std::string before = child.object.deleting ? "!! DELETED !! " : "";  // as the line begins
    bool shows_role = !child.role.empty() && child.node_kind != NodeKind::kVirtual;
    return std::pair(-child.z_order, before + (shows_role ? child.role + " - " : "") + NodeName(child));
  };
  std::stable_sort(node.children.begin(), node.children.end(),
                   [&](const auto& a, const auto& b) { return key(*a) < key(*b); });
  for (auto& child : node.children) {
    std::sort(child->items.begin(), child->items.end());
    SortChildren(*child);
  }
}

}  // namespace capi::cli::describe
