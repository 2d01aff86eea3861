#include "cli/describe/describe_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/describe/cluster_json.h"
#include "cli/describe/cluster_reader.h"
#include "cli/describe/cluster_text.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/structured.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNotes = 10;

Result<describe::TreeOptions> ReadTreeOptions(const DescribeClusterOptions& options) {
  describe::TreeOptions out;
  out.conditions = TRY(describe::ConditionFilter::Parse(options.show_conditions));
  out.machine_sets = options.machine_sets;
  out.resource_sets = options.resource_sets;
  out.templates = options.templates;
  out.echo = options.echo;
  out.grouping = options.grouping && !options.disable_grouping;
  out.style = options.v1beta2.value_or(true) ? describe::ConditionStyle::kV1Beta2 : describe::ConditionStyle::kV1Beta1;
  return out;
}

void SayMissing(const std::vector<std::string>& missing, Notes& notes) {
  for (size_t i = 0; i < std::min(missing.size(), kMostNotes); ++i) notes.Warn(missing[i]);
  if (missing.size() > kMostNotes) notes.Warn(fmt::format("{} more are left out", missing.size() - kMostNotes));
}

}  // namespace

bool WantsColours(const std::optional<bool>& flag, const World& world) {
  if (!world.getenv("NO_COLOR").value_or("").empty()) return false;
  return flag.value_or(world.terminal && world.getenv("TERM").value_or("") != "dumb");
}

Status DescribeCluster(const Context& ctx, const GlobalOptions& global, const DescribeClusterOptions& options,
                       World& world) {
  if (options.names.size() != 1 || options.names[0].empty())
    return Error{Code::kInvalidArgument, "please specify a cluster name", {}};
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  describe::TreeOptions tree_options = TRY(ReadTreeOptions(options));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  if (options.disable_grouping) notes.Warn("--disable-grouping is deprecated; write --grouping=false");
  if (options.v1beta2) notes.Warn("--v1beta2 is deprecated; it goes with the conditions of the contract v1beta1");
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  TRY(cluster.CheckContract(ctx, AlsoAllowed::kNothing));
  const std::string& ns = options.ns.empty() ? cluster.ns() : options.ns;
  describe::ClusterReader reader(ctx, cluster.client(), ns, options.names[0], tree_options.style);
  describe::ClusterParts parts = TRY(reader.Read(options.resource_sets));
  describe::ClusterNode root = BuildClusterTree(parts, tree_options, reader);
  TRY(reader.status());
  SayMissing(reader.missing(), notes);
  world.out << Format(format, {.table = describe::ClusterTreeText(
                                   root, {tree_options.style, WantsColours(options.colour, world), ctx.clock->Now()}),
                               .names = describe::ClusterTreeNames(root),
                               .facts = describe::ClusterTreeJson(root)});
  return Ok();
}

}  // namespace capi::cli
