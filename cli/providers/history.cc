#include "cli/providers/history.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/provider_objects.h"
#include "cli/frame/structured.h"
#include "cli/frame/table.h"

namespace capi::cli {
namespace {

constexpr size_t kGap = 3;

std::string OutcomeOf(const api::HistoryEntry& entry) { return entry.outcome.empty() ? "Succeeded" : entry.outcome; }

// Wide: with when each began, and what was applied.
std::string AsText(const ProviderObject& object, bool wide) {
  std::string out = Describe(object.provider.id) + "\n";
  const auto& history = object.provider.status.history;
  if (history.empty()) return out + "  nothing was applied yet\n";
  std::vector<std::vector<std::string>> rows = {{"TIME", "VERSION", "CONTRACT", "OUTCOME", "MESSAGE"}};
  if (wide) rows[0].insert(rows[0].end() - 1, {"STARTED", "DIGEST"});
  for (const api::HistoryEntry& entry : history) {
    // One that goes on has no time yet.
    const std::string& time = entry.time.empty() ? entry.started : entry.time;
    rows.push_back({time, entry.version, entry.contract, OutcomeOf(entry), ReplaceAll(entry.message, "\n", " ")});
    if (wide) rows.back().insert(rows.back().end() - 1, {entry.started, entry.digest});
  }
  return out + FormatTable(rows, kGap);
}

Json AsJson(const ProviderObject& object) {
  const api::ProviderId& id = object.provider.id;
  Json entries = Json::array();
  for (const api::HistoryEntry& entry : object.provider.status.history) {
    entries.push_back({{"version", entry.version},
                       {"contract", entry.contract},
                       {"digest", entry.digest},
                       {"outcome", OutcomeOf(entry)},
                       {"started", entry.started},
                       {"time", entry.time},
                       {"message", entry.message}});
    if (!entry.instead_of.empty()) entries.back()["insteadOf"] = entry.instead_of;  // a policy chose it (U13)
  }
  return {{"kind", api::KindOf(id.type).kind}, {"namespace", id.ns}, {"name", id.name}, {"history", entries}};
}

}  // namespace

Status History(const Context& ctx, const GlobalOptions& global, const HistoryOptions& options, World& world) {
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  const std::string name = TRY(OneProviderName(options.names));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto objects = TRY(FindProviders(ctx, cluster, name, options.ns));
  Answer answer{.table = "", .facts = Json::array()};
  for (const ProviderObject& object : objects) {
    answer.table += (answer.table.empty() ? "" : "\n") + AsText(object, false);
    answer.wide += (answer.wide.empty() ? "" : "\n") + AsText(object, true);
    answer.facts.push_back(AsJson(object));
    answer.names.push_back(KubectlName(object.provider.id));
  }
  world.out << Format(format, answer);
  return Ok();
}

}  // namespace capi::cli
