#include "cli/describe/providers/providers_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/describe/text.h"
#include "cli/describe/tree_lines.h"

namespace capi::cli::describe {
namespace {

constexpr size_t kMessageWidth = 80, kMostLines = 5, kMostNames = 5;
// Of messages: less room beside the other columns isn't readable; what is below a row gets so much at least.
constexpr size_t kLeastMessage = 40, kNarrowest = 20;
constexpr char kNoOperator[] = "no operator looks after these providers: clusterctl installed them";
constexpr char kNoDeployment[] =
    "no Deployment has the label app.kubernetes.io/name=capi-operator: it runs elsewhere, or not at all";

constexpr char kUnknownDeployment[] =
    "the Deployments with the label app.kubernetes.io/name=capi-operator can't be read";

using Lines = std::vector<std::string>;

// What a row tells; `message` in paragraphs. A value.
struct RowFacts {
  std::string name, ns = {}, version = {}, wanted = {}, contract = {}, ready = {}, reason = {}, since = {};
  Lines message = {};
};

Colour ColourOf(std::string_view ready) {
  if (ready == "True") return Colour::kGreen;
  return ready == "False" ? Colour::kRed : Colour::kYellow;
}

// As many lines of each paragraph as are of use in a table; -o json and yaml have all.
Lines Wrapped(const Lines& paragraphs, size_t width) {
  Lines out;
  for (const std::string& text : paragraphs) {
    Lines lines = WrapMessage(Printable(text), width);
    if (lines.size() > kMostLines) {
      lines.resize(kMostLines);
      lines.back() += " ...";
    }
    out.insert(out.end(), lines.begin(), lines.end());
  }
  return out;
}

// Of many the newest: who is far behind is to see where it may go.
std::string NewestFirst(const std::vector<api::AvailableUpgrade>& upgrades) {
  Lines out;
  for (auto one = upgrades.rbegin(); one != upgrades.rend(); ++one)
    out.push_back(one->needs.empty() ? one->version : fmt::format("{} (needs {})", one->version, one->needs));
  return JoinNames(out, kMostNames);
}

// "v1.11.0 → v1.12.0".
std::string FromTo(const std::string& from, const std::string& to) {
  if (to.empty()) return from;
  return from.empty() ? "→ " + to : fmt::format("{} → {}", from, to);
}

RowFacts FactsOf(const Workload& workload) {
  RowFacts out{.name = workload.kind + "/" + workload.name, .ns = workload.ns};
  out.ready = workload.healthy ? "True" : "False";
  if (!workload.message.empty()) out.message = {workload.message};
  return out;
}

// Whom it waits for and holds up, the cause, and the next step.
Lines WordsOf(const ProviderLine& line, bool wide) {
  Lines out;
  if (!line.waits_for.empty()) out.push_back("waits for " + JoinNames(line.waits_for, kMostNames));
  if (!line.holds_up.empty()) out.push_back("holds up " + JoinNames(line.holds_up, kMostNames));
  // The next in the chain is named above.
  const bool is_far = !line.root.empty() && (line.waits_for.size() != 1 || line.waits_for.front() != line.root);
  if (is_far) out.push_back("the cause is at " + line.root);
  if (wide && !line.upgrades.empty()) out.push_back("newer: " + NewestFirst(line.upgrades));
  const std::string& cause = line.message.empty() ? line.meaning : line.message;
  if (!cause.empty()) out.push_back(cause);
  if (!line.action.empty()) out.push_back("Do: " + line.action);
  for (const advice::Aside& one : line.also)
    out.push_back(fmt::format("also {} ({}): {}", one.type, one.reason, one.message));
  return out;
}

RowFacts FactsOf(const ProviderLine& line, const ProvidersTextOptions& options) {
  RowFacts out{.name = line.id.ToString(), .ns = line.id.ns, .version = line.version, .wanted = line.wanted};
  out.contract = FromTo(line.contract, line.contract_to_come);
  out.ready = line.ready;
  out.reason = line.reason;
  if (auto since = ParseTime(line.since); since.ok()) out.since = Age(*since, options.now);
  out.message = WordsOf(line, options.wide);
  return out;
}

// The rows, and two ways to lay them out: messages beside them, or below them where there is no room.
// Thread-compatible.
class Table {
 public:
  explicit Table(const ProvidersTextOptions& options) : options_(options), paint_(options.colours) {}

  void Add(const std::string& prefix, RowFacts facts, bool has_children) {
    rows_.push_back({prefix, FurtherPrefix(prefix, has_children), std::move(facts)});
  }

  std::string Text() const {
    const Lines beside = Heads(false);
    const size_t width = DisplayWidth(beside.front());
    if (options_.columns == 0) return Beside(beside, width, kMessageWidth);
    if (options_.columns > width + kLeastMessage)
      return Beside(beside, width, std::min(kMessageWidth, options_.columns - width));
    return Below(Heads(true));
  }

 private:
  struct Row {
    std::string prefix, further;  // before its first line, and before those below it
    RowFacts facts;
  };

  static Lines Cells(const Lines& cells) {
    Lines out;
    for (const std::string& cell : cells) out.push_back(PrintableLine(cell));
    return out;
  }
  Lines WideCells(const RowFacts& f) const {
    if (options_.wide) return Cells({f.ns, f.version, f.wanted, f.contract, f.ready, f.reason, f.since});
    return Cells({f.ns, FromTo(f.version, f.wanted), f.contract, f.ready, f.reason});
  }
  static Lines NarrowCells(const RowFacts& f) { return Cells({f.ready, FromTo(f.version, f.wanted), f.contract}); }

  // Lines of the same width without the messages, that of the columns' names first.
  Lines Heads(bool narrow) const {
    const bool has_wanted = options_.wide && !narrow;
    const RowFacts names{.name = "NAME",
                         .ns = "NAMESPACE",
                         .version = "VERSION",
                         .wanted = has_wanted ? "WANTED" : "",
                         .contract = "CONTRACT",
                         .ready = "READY",
                         .reason = "REASON",
                         .since = "SINCE"};
    std::vector<Lines> grid;
    auto add = [&](const std::string& first, const RowFacts& facts) -> Lines& {
      Lines& cells = grid.emplace_back(narrow ? NarrowCells(facts) : WideCells(facts));
      cells.insert(cells.begin(), first);
      return cells;
    };
    add(names.name, names);
    const size_t ready = narrow ? 1 : has_wanted ? 5 : 4;
    for (const Row& row : rows_) {
      Lines& cells = add(paint_(Colour::kGray, row.prefix) + PrintableLine(row.facts.name), row.facts);
      if (!row.facts.ready.empty()) cells[ready] = paint_(ColourOf(row.facts.ready), cells[ready]);
    }
    return Split(FormatGrid(grid, 2), '\n');
  }

  static void AddLine(std::string& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }

  std::string Beside(const Lines& heads, size_t width, size_t room) const {
    std::string out;
    AddLine(out, heads.front() + "MESSAGE");
    for (size_t at = 0; at < rows_.size(); ++at) {
      const Row& row = rows_[at];
      const Lines message = Wrapped(row.facts.message, room);
      AddLine(out, heads[at + 1] + (message.empty() ? "" : message.front()));
      const std::string pad(width - std::min(width, DisplayWidth(row.further)), ' ');
      for (size_t i = 1; i < message.size(); ++i) AddLine(out, paint_(Colour::kGray, row.further) + pad + message[i]);
    }
    return out;
  }

  // Of one that isn't ready: "WaitingForOrder", "WaitingForOrder for 10d".
  std::string ReasonOf(const RowFacts& facts) const {
    if (facts.ready == "True" || facts.reason.empty()) return "";
    return options_.wide && !facts.since.empty() ? fmt::format("{} for {}", facts.reason, facts.since) : facts.reason;
  }

  std::string Below(const Lines& heads) const {
    std::string out;
    AddLine(out, heads.front());
    for (size_t at = 0; at < rows_.size(); ++at) {
      const Row& row = rows_[at];
      AddLine(out, heads[at + 1]);
      Lines words = row.facts.message;
      if (std::string reason = ReasonOf(row.facts); !reason.empty()) words.insert(words.begin(), std::move(reason));
      const size_t own = DisplayWidth(row.prefix), before = DisplayWidth(row.further);
      const std::string indent = row.further + std::string(own > before ? own - before + 2 : 2, ' ');
      const size_t taken = DisplayWidth(indent), room = options_.columns > taken ? options_.columns - taken : 0;
      for (const std::string& line : Wrapped(words, std::max(room, kNarrowest)))
        AddLine(out, paint_(Colour::kGray, indent) + line);
    }
    return out;
  }

  const ProvidersTextOptions options_;
  const Paint paint_;
  std::vector<Row> rows_;
};

void AddProviders(Table& table, const std::vector<const ProviderLine*>& lines, const ProvidersTextOptions& options) {
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string prefix = ChildPrefix("", i + 1 == lines.size());
    auto workloads = lines[i]->workloads;
    if (options.ill_alone) std::erase_if(workloads, [](const Workload& one) { return one.healthy; });
    table.Add(prefix, FactsOf(*lines[i], options), !workloads.empty());
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

Json AlsoJson(const std::vector<advice::Aside>& also) {
  Json out = Json::array();
  for (const advice::Aside& one : also)
    out.push_back({{"type", one.type}, {"reason", one.reason}, {"message", one.message}});
  return out;
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
                         {"contractToCome", line.contract_to_come},
                         {"ready", line.ready},
                         {"reason", line.reason},
                         {"message", line.message},
                         {"meaning", line.meaning},
                         {"action", line.action},
                         {"see", line.see},
                         {"also", AlsoJson(line.also)},
                         {"since", line.since},
                         {"waitsFor", line.waits_for},
                         {"holdsUp", line.holds_up},
                         {"root", line.root},
                         {"workloads", WorkloadsJson(line.workloads)}});
  }
  return {{"operators", WorkloadsJson(tree.operators)}, {"providers", std::move(providers)}};
}

}  // namespace capi::cli::describe
