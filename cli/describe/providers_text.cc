#include "cli/describe/providers_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/describe/text.h"
#include "cli/describe/tree_lines.h"

namespace capi::cli::describe {
namespace {

constexpr size_t kMessageWidth = 80, kMostLines = 5, kMostNames = 5;
constexpr char kNoOperator[] = "no operator looks after these providers: clusterctl installed them";
constexpr char kNoDeployment[] =
    "no Deployment has the label app.kubernetes.io/name=capi-operator: it runs elsewhere, or not at all";

constexpr char kUnknownDeployment[] =
    "the Deployments with the label app.kubernetes.io/name=capi-operator can't be read";

using Lines = std::vector<std::string>;

// What a row tells. A value.
struct RowFacts {
  std::string name, ns = {}, version = {}, wanted = {}, contract = {}, ready = {}, reason = {}, since = {};
  Lines message = {""};
};

Colour ColourOf(std::string_view ready) {
  if (ready == "True") return Colour::kGreen;
  return ready == "False" ? Colour::kRed : Colour::kYellow;
}

// As many lines as are of use in a table; -o json and yaml have all.
Lines Message(const std::string& text) {
  Lines out = WrapMessage(Printable(text), kMessageWidth);
  if (out.size() <= kMostLines) return out;
  out.resize(kMostLines);
  out.back() += " ...";
  return out;
}

// Of many the newest: who is far behind is to see where it may go.
std::string NewestFirst(const std::vector<api::AvailableUpgrade>& upgrades) {
  Lines out;
  for (auto one = upgrades.rbegin(); one != upgrades.rend(); ++one)
    out.push_back(one->needs.empty() ? one->version : fmt::format("{} (needs {})", one->version, one->needs));
  return JoinNames(out, kMostNames);
}

RowFacts FactsOf(const Workload& workload) {
  RowFacts out{.name = workload.kind + "/" + workload.name, .ns = workload.ns};
  out.ready = workload.healthy ? "True" : "False";
  out.message = Message(workload.message);
  return out;
}

RowFacts FactsOf(const ProviderLine& line, bool wide, WallTime now) {
  RowFacts out{.name = line.id.ToString(), .ns = line.id.ns, .version = line.version, .wanted = line.wanted};
  out.contract = line.contract;
  out.ready = line.ready;
  out.reason = line.reason;
  if (auto since = ParseTime(line.since); since.ok()) out.since = Age(*since, now);
  out.message.clear();
  if (!line.waits_for.empty()) out.message.push_back("waits for " + JoinNames(line.waits_for, kMostNames));
  if (!line.holds_up.empty()) out.message.push_back("holds up " + JoinNames(line.holds_up, kMostNames));
  if (wide && !line.upgrades.empty()) out.message.push_back("newer: " + Printable(NewestFirst(line.upgrades)));
  for (std::string& text : Message(line.message)) {
    if (!text.empty() || out.message.empty()) out.message.push_back(std::move(text));
  }
  return out;
}

// Thread-compatible.
class Table {
 public:
  explicit Table(const ProvidersTextOptions& options) : wide_(options.wide), paint_(options.colours) {
    AddCells("NAME",
             {.name = "",
              .ns = "NAMESPACE",
              .version = "VERSION",
              .wanted = "WANTED",
              .contract = "CONTRACT",
              .ready = "",
              .reason = "REASON",
              .since = "SINCE",
              .message = {"MESSAGE"}},
             "READY");
  }

  void Add(const std::string& prefix, const RowFacts& facts, bool has_children) {
    std::string ready = facts.ready.empty() ? "" : paint_(ColourOf(facts.ready), facts.ready);
    AddCells(paint_(Colour::kGray, prefix) + Printable(facts.name), facts, ready);
    for (size_t i = 1; i < facts.message.size(); ++i) {
      Lines& row = rows_.emplace_back(rows_.front().size());
      row.front() = paint_(Colour::kGray, FurtherPrefix(prefix, has_children));
      row.back() = facts.message[i];
    }
  }
  std::string Text() const { return FormatGrid(rows_, 2); }

 private:
  void AddCells(const std::string& name, const RowFacts& facts, const std::string& ready) {
    Lines& row = rows_.emplace_back(Lines{name, facts.ns, Printable(facts.version)});
    if (wide_) row.push_back(Printable(facts.wanted));
    for (const std::string& cell : {Printable(facts.contract), ready, Printable(facts.reason)}) row.push_back(cell);
    if (wide_) row.push_back(facts.since);
    row.push_back(facts.message.front());
  }

  const bool wide_;
  const Paint paint_;
  std::vector<Lines> rows_;
};

void AddProviders(Table& table, const std::vector<const ProviderLine*>& lines, const ProvidersTextOptions& options) {
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string prefix = ChildPrefix("", i + 1 == lines.size());
    const auto& workloads = lines[i]->workloads;
    table.Add(prefix, FactsOf(*lines[i], options.wide, options.now), !workloads.empty());
    for (size_t at = 0; at < workloads.size(); ++at)
      table.Add(ChildPrefix(prefix, at + 1 == workloads.size()), FactsOf(workloads[at]), false);
  }
}

// The operator, or the first of several: the others are lines of their own before it.
void AddOperators(Table& table, const ProvidersTree& tree, bool has_children) {
  const std::vector<Workload>& operators = tree.operators;
  if (operators.empty()) {
    const char* message = tree.operators_known ? kNoDeployment : kUnknownDeployment;
    table.Add("", {.name = "Operator", .ready = "Unknown", .message = {message}}, has_children);
    return;
  }
  for (const Workload& one : operators) {
    RowFacts facts = FactsOf(one);
    facts.name = "Operator/" + one.name;
    facts.version = one.version;
    table.Add("", facts, has_children && &one == &operators.back());
  }
}

std::string None(const ProvidersTree& tree) {
  if (!tree.inventory_known) return "No provider was found, but clusterctl's inventory can't be read.\n";
  if (!tree.ns.empty()) return fmt::format("There are no providers in namespace {}.\n", tree.ns);
  return "There are no providers in the cluster: `clusterctl init` installs them.\n";
}

std::vector<const ProviderLine*> Those(const ProvidersTree& tree, bool of_operator) {
  std::vector<const ProviderLine*> out;
  for (const ProviderLine& line : tree.providers) {
    if (line.of_operator == of_operator) out.push_back(&line);
  }
  return out;
}

Json WorkloadJson(const Workload& workload) {
  return {{"kind", workload.kind},       {"namespace", workload.ns},  {"name", workload.name},
          {"version", workload.version}, {"ready", workload.healthy}, {"message", workload.message}};
}

Json WorkloadsJson(const std::vector<Workload>& workloads) {
  Json out = Json::array();
  for (const Workload& one : workloads) out.push_back(WorkloadJson(one));
  return out;
}

}  // namespace

std::string ProvidersText(const ProvidersTree& tree, const ProvidersTextOptions& options) {
  auto ours = Those(tree, true), others = Those(tree, false);
  if (tree.operators.empty() && tree.providers.empty()) return None(tree);
  Table table(options);
  if (!tree.operators.empty() || !ours.empty()) AddOperators(table, tree, !ours.empty());
  AddProviders(table, ours, options);
  if (!others.empty()) table.Add("", {.name = "Inventory", .message = {kNoOperator}}, true);
  AddProviders(table, others, options);
  return table.Text();
}

std::vector<std::string> ProvidersNames(const ProvidersTree& tree) {
  std::vector<std::string> out;
  for (const ProviderLine& line : tree.providers) {
    out.push_back(line.of_operator ? KubectlName(line.id)
                                   : fmt::format("provider.clusterctl.cluster.x-k8s.io/{}",
                                                 api::ManifestLabel(line.id.type, line.id.name)));
  }
  return out;
}

namespace {

// As in the status.
Json UpgradesJson(const std::vector<api::AvailableUpgrade>& upgrades) {
  if (upgrades.empty()) return Json::array();
  api::ProviderStatus status;
  status.available_upgrades = upgrades;
  return api::StatusToJson(status)["availableUpgrades"];
}

}  // namespace

Json ProvidersJson(const ProvidersTree& tree) {
  Json providers = Json::array();
  for (const ProviderLine& line : tree.providers) {
    providers.push_back({{"kind", api::KindOf(line.id.type).kind},
                         {"namespace", line.id.ns},
                         {"name", line.id.name},
                         {"managedBy", line.of_operator ? "operator" : "clusterctl"},
                         {"version", line.version},
                         {"wantedVersion", line.wanted},
                         {"availableUpgrades", UpgradesJson(line.upgrades)},
                         {"contract", line.contract},
                         {"ready", line.ready},
                         {"reason", line.reason},
                         {"message", line.message},
                         {"since", line.since},
                         {"waitsFor", line.waits_for},
                         {"holdsUp", line.holds_up},
                         {"workloads", WorkloadsJson(line.workloads)}});
  }
  return {{"operators", WorkloadsJson(tree.operators)}, {"providers", std::move(providers)}};
}

}  // namespace capi::cli::describe
