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

std::string AsText(const ProviderObject& object) {
  std::string out = Describe(object.provider.id) + "\n";
  const auto& history = object.provider.status.history;
  if (history.empty()) return out + "  nothing was applied yet\n";
  std::vector<std::vector<std::string>> rows = {{"TIME", "VERSION", "CONTRACT", "OUTCOME", "MESSAGE"}};
  for (const api::HistoryEntry& entry : history) {
    // One that goes on has no time yet.
    const std::string& time = entry.time.empty() ? entry.started : entry.time;
    rows.push_back({time, entry.version, entry.contract, OutcomeOf(entry), ReplaceAll(entry.message, "\n", " ")});
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
  }
  return {{"kind", api::KindOf(id.type).kind}, {"namespace", id.ns}, {"name", id.name}, {"history", entries}};
}

}  // namespace

Status History(const Context& ctx, const GlobalOptions& global, const HistoryOptions& options, World& world) {
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto objects = TRY(FindNamedProviders(ctx, cluster, options.names, options.ns));
  std::string text;
  Json facts = Json::array();
  for (const ProviderObject& object : objects) {
    text += (text.empty() ? "" : "\n") + AsText(object);
    facts.push_back(AsJson(object));
  }
  world.out << (format == OutputFormat::kText ? text : Format(format, facts));
  return Ok();
}

}  // namespace capi::cli
