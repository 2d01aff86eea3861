#include "cli/describe/describe_providers.h"

#include <unistd.h>

#include "cli/describe/describe_cluster.h"
#include "cli/describe/providers/providers_picture.h"
#include "cli/describe/providers/providers_reader.h"
#include "cli/describe/providers/watch_providers.h"
#include "cli/frame/config.h"
#include "cli/frame/interrupt.h"

namespace capi::cli {

Status DescribeProviders(const Context& parent, const GlobalOptions& global, const DescribeProvidersOptions& options,
                         World& world) {
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  std::optional<Interrupt> interrupt;
  if (options.watch) interrupt.emplace();
  const Context ctx = interrupt ? parent.WithStop(interrupt->token()) : parent;
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  describe::PictureOptions picture{.format = format, .colours = WantsColours(options.colour, world)};
  if (world.terminal) picture.window = [] { return SizeOfTerminal(STDOUT_FILENO); };
  if (options.watch) return describe::WatchProviders(ctx, cluster, options.ns, picture, world);
  describe::ProvidersInput input = TRY(describe::ReadProviders(ctx, cluster, options.ns, notes));
  const size_t columns = picture.window ? static_cast<size_t>(picture.window().columns) : 0;
  world.out << describe::ProvidersOutput(BuildProvidersTree(input), picture, columns, ctx.clock->Now());
  return Ok();
}

}  // namespace capi::cli
