#include "cli/local/down.h"

#include <fmt/format.h>

#include "cli/local/place.h"
#include "cli/local/start.h"

namespace capi::cli {

Status LocalDown(const Context& ctx, const LocalDownOptions& options, World& world) {
  auto folder = OpenPlane(options.folder, world.getenv);
  const std::string none = "There is no plane: " + TRY(PlaneFolderPath(options.folder, world.getenv)) + "\n";
  if (!folder.ok() && folder.code() == Code::kNotFound) {
    world.out << none;
    return Ok();
  }
  if (!folder.ok()) return folder.error();
  // The lock stays until all is written: nobody starts the plane meanwhile.
  const auto stopped = StopPlane(ctx, *folder, world.getenv);
  if (!stopped.ok() && !folder->CheckIsThere().ok()) {  // another `down --delete` was faster
    world.out << none;
    return Ok();
  }
  if (!stopped.ok()) return stopped.error();
  const std::string ended = stopped->ran ? "The plane has ended" : "The plane doesn't run";
  if (!options.deletes) {
    world.out << fmt::format("{}; its data is kept in {}\n", ended, folder->path());
    return Ok();
  }
  const bool gone = TRY(folder->Remove());
  world.out << fmt::format("{}, and its data is deleted{}\n", ended,
                           gone ? "" : fmt::format("; {} has other files in it, and stays", folder->path()));
  return Ok();
}

}  // namespace capi::cli
