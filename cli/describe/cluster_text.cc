#include "cli/describe/cluster_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/describe/text.h"
#include "cli/describe/tree_lines.h"

namespace capi::cli::describe {
namespace {

constexpr size_t kMessageWidth = 100;
constexpr size_t kItemsShown = 2;

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

// Conditions that are as they should be when they are False.
bool IsNegative(std::string_view type) {
  constexpr std::string_view kTypes[] = {"Paused",      "Deleting", "RollingOut", "ScalingUp",
                                         "ScalingDown", "Updating", "Remediating"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

Colour ColourOf(const Condition& condition) {
  bool negative = IsNegative(condition.type);
  if (condition.status == "True") return negative ? Colour::kRed : Colour::kGreen;
  if (condition.status == "False") return negative ? Colour::kGreen : Colour::kRed;
  return condition.status == "Unknown" ? Colour::kYellow : Colour::kGray;
}

// Of the contract v1beta1, where the severity says how bad False is.
Colour OldColourOf(const Condition* condition) {
  if (condition == nullptr) return Colour::kGray;
  if (condition->status == "True") return Colour::kGreen;
  if (condition->status != "False" && condition->status != "Unknown") return Colour::kGray;
  if (condition->severity == "Error") return Colour::kRed;
  return condition->severity == "Warning" ? Colour::kYellow : Colour::kWhite;
}

// Whether it is worth a look: it isn't as it should be, or has something to say, or is one that people look for.
bool IsNotable(const Condition& condition) {
  if (condition.type == "Available" || condition.type == "Ready") return true;
  return condition.status == (IsNegative(condition.type) ? "True" : "False") || condition.status == "Unknown" ||
         !condition.message.empty();
}

// The one that stands for all of the object; null for none.
const Condition* MainCondition(const ClusterNode& node) {
  const std::vector<Condition>& conditions = node.object.conditions;
  switch (node.node_kind) {
    case NodeKind::kCluster:
    case NodeKind::kMachineDeployment: return FindCondition(conditions, "Available");
    case NodeKind::kControlPlane: {
      const Condition* available = FindCondition(conditions, "Available");
      return available != nullptr ? available : FindCondition(conditions, "Ready");
    }
    case NodeKind::kMachine:
    case NodeKind::kExternal:
    case NodeKind::kGroup: return FindCondition(conditions, "Ready");
    default: return nullptr;
  }
}

std::string Number(const std::optional<std::int64_t>& count) { return count ? fmt::format("{}", *count) : ""; }

// "3/5"; a machine is one, and a group's number stands in its name.
std::string Replicas(const ClusterNode& node) {
  const Counts& counts = node.object.counts;
  if (node.node_kind == NodeKind::kMachine) return Number(counts.current);
  if (!counts.desired || node.node_kind == NodeKind::kMachinePool) return "";
  bool told = counts.current || node.node_kind != NodeKind::kControlPlane;
  return told ? fmt::format("{}/{}", counts.current.value_or(0), *counts.desired) : "";
}

// The beginning of a message of the contract v1beta1, line by line.
std::vector<std::string> OldMessage(const std::string& message) {
  std::string text = Printable(Shorten(message, kMessageWidth));
  if (message.size() > kMessageWidth) text.insert(text.size() - 3, " ");
  std::vector<std::string> lines = Split(text, '\n');
  return lines.empty() ? std::vector<std::string>{""} : lines;
}

// Thread-compatible.
class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options), paint_(options.colours) {}

  std::string Write(const ClusterNode& root);

 private:
  bool old() const { return options_.style == ConditionStyle::kV1Beta1; }
  std::string Name(const ClusterNode& node) const;
  std::vector<std::string> Message(const ClusterNode& node, const Condition* condition) const;
  std::vector<std::string> Message(const Condition* condition) const;
  void AddRow(const std::string& prefix, const ClusterNode& node);
  void AddOldRow(const std::string& prefix, const ClusterNode& node);
  void AddConditions(const std::string& prefix, const ClusterNode& node);
  void AddCondition(const std::string& prefix, const Condition& condition);
  void AddOldCondition(const std::string& prefix, const Condition& condition);
  Row OldCells(const std::string& name, const Condition* condition, const std::string& message) const;
  // The lines of a message under the first, which the row has.
  void AddFurther(const std::string& prefix, const std::vector<std::string>& message);
  void Add(const std::string& prefix, const ClusterNode& node);

  const TextOptions& options_;
  const Paint paint_;
  Rows rows_;
};

std::string Writer::Name(const ClusterNode& node) const {
  if (node.node_kind == NodeKind::kGroup) return paint_(Colour::kBoldWhite, NodeName(node));
  if (node.node_kind == NodeKind::kVirtual) return NodeName(node);
  std::string out = node.object.kind + "/" + paint_(Colour::kBold, node.object.name);
  if (!node.role.empty()) out = node.role + " - " + paint_(Colour::kGray, out);
  return node.object.deleting ? paint_(Colour::kRed, "!! DELETED !!") + " " + out : out;
}

std::vector<std::string> Writer::Message(const ClusterNode& node, const Condition* condition) const {
  if (node.node_kind != NodeKind::kGroup) return Message(condition);
  size_t shown = std::min(node.items.size(), kItemsShown);
  std::string names = Join({node.items.data(), shown}, ", ");
  return {paint_(Colour::kGray, fmt::format("See {}{}", names, shown < node.items.size() ? ", ..." : ""))};
}

std::vector<std::string> Writer::Message(const Condition* condition) const {
  if (condition == nullptr) return {""};
  return old() ? OldMessage(condition->message) : WrapMessage(Printable(condition->message), kMessageWidth);
}

void Writer::AddFurther(const std::string& prefix, const std::vector<std::string>& message) {
  for (size_t i = 1; i < message.size(); ++i) {
    Row& row = rows_.emplace_back(rows_.front().size());
    row.front() = prefix;
    row.back() = message[i];
  }
}

void Writer::AddRow(const std::string& prefix, const ClusterNode& node) {
  const Condition* condition = node.shown == ShowConditions::kNone ? MainCondition(node) : nullptr;
  std::vector<std::string> message = Message(node, condition);
  // Of a pool nothing is told here, as Cluster API's clusterctl has it; -o json and yaml tell it.
  Counts counts = node.node_kind == NodeKind::kMachinePool ? Counts() : node.object.counts;
  Row row = {paint_(Colour::kGray, prefix) + Name(node),
             Replicas(node),
             Number(counts.available),
             Number(counts.ready),
             Number(counts.up_to_date),
             "",
             "",
             "",
             message.front()};
  if (condition != nullptr) {
    row[5] = paint_(ColourOf(*condition), Printable(condition->status));
    row[6] = Printable(condition->reason);
    row[7] = Age(condition->since, options_.now);
  }
  rows_.push_back(std::move(row));
  AddFurther(paint_(Colour::kGray, FurtherPrefix(prefix, !node.children.empty())), message);
}

Row Writer::OldCells(const std::string& name, const Condition* condition, const std::string& message) const {
  Colour colour = OldColourOf(condition);
  if (condition == nullptr) return {name, paint_(colour, ""), paint_(colour, ""), paint_(colour, ""), "", message};
  return {name,
          paint_(colour, Printable(condition->status)),
          paint_(colour, Printable(condition->severity)),
          paint_(colour, Printable(condition->reason)),
          Age(condition->since, options_.now),
          message};
}

void Writer::AddOldRow(const std::string& prefix, const ClusterNode& node) {
  const Condition* ready = FindCondition(node.object.conditions, "Ready");
  std::vector<std::string> message = Message(node, ready);
  rows_.push_back(OldCells(paint_(Colour::kGray, prefix) + Name(node), ready, message.front()));
  AddFurther("", message);
}

void Writer::AddCondition(const std::string& prefix, const Condition& condition) {
  std::vector<std::string> message = Message(&condition);
  rows_.push_back({paint_(Colour::kGray, prefix) + paint_(Colour::kCyan, Printable(condition.type)), "", "", "", "",
                   paint_(ColourOf(condition), Printable(condition.status)), Printable(condition.reason),
                   Age(condition.since, options_.now), message.front()});
  AddFurther(paint_(Colour::kGray, FurtherConditionPrefix(prefix)), message);
}

void Writer::AddConditions(const std::string& prefix, const ClusterNode& node) {
  if (node.shown == ShowConditions::kNone) return;
  std::vector<Condition> shown;
  for (const Condition& condition : node.object.conditions) {
    bool wanted = old() ? condition.type != "Ready" : node.shown == ShowConditions::kAll || IsNotable(condition);
    if (wanted) shown.push_back(condition);
  }
  if (old()) std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.type < b.type; });
  for (size_t i = 0; i < shown.size(); ++i) {
    std::string below = ConditionPrefix(prefix, !node.children.empty(), i + 1 == shown.size());
    old() ? AddOldCondition(below, shown[i]) : AddCondition(below, shown[i]);
  }
}

void Writer::AddOldCondition(const std::string& prefix, const Condition& condition) {
  std::vector<std::string> message = Message(&condition);
  std::string name = paint_(Colour::kGray, prefix) + paint_(Colour::kCyan, Printable(condition.type));
  rows_.push_back(OldCells(name, &condition, message.front()));
  AddFurther("", message);
}

void Writer::Add(const std::string& prefix, const ClusterNode& node) {
  old() ? AddOldRow(prefix, node) : AddRow(prefix, node);
  AddConditions(prefix, node);
  for (size_t i = 0; i < node.children.size(); ++i)
    Add(ChildPrefix(prefix, i + 1 == node.children.size()), *node.children[i]);
}

std::string Writer::Write(const ClusterNode& root) {
  rows_ = {old() ? Row{"NAME", "READY", "SEVERITY", "REASON", "SINCE", "MESSAGE"}
                 : Row{"NAME", "REPLICAS", "AVAILABLE", "READY", "UP TO DATE", "STATUS", "REASON", "SINCE", "MESSAGE"}};
  Add("", root);
  return FormatGrid(rows_, old() ? 1 : 2);
}

}  // namespace

std::string ClusterTreeText(const ClusterNode& root, const TextOptions& options) { return Writer(options).Write(root); }

}  // namespace capi::cli::describe
