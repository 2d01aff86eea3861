#include "cli/local/down.h"

#include <fmt/format.h>

#include "cli/local/place.h"
#include "cli/local/start.h"
#include "local/plane/plane_lock.h"

namespace capi::cli {

Status LocalDown(const Context& ctx, const LocalDownOptions& options, World& world) {
  auto folder = OpenPlane(options.folder, world.getenv);
  if (!folder.ok() && folder.code() == Code::kNotFound) {
    world.out << "There is no plane: " << TRY(PlaneFolderPath(options.folder, world.getenv)) << "\n";
    return Ok();
  }
  if (!folder.ok()) return folder.error();
  const bool ran = TRY(StopPlane(ctx, *folder, world.getenv));
  const std::string ended = ran ? "The plane has ended" : "The plane doesn't run";
  if (!options.deletes) {
    world.out << fmt::format("{}; its data is kept in {}\n", ended, folder->path());
    return Ok();
  }
  auto lock = TRY(local::PlaneLock::TryTake(folder->Lock()));
  if (!lock) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("the plane in {} was started again meanwhile: nothing is deleted", folder->path()),
                 {}};
  }
  const bool gone = TRY(folder->Remove());
  world.out << fmt::format("{}, and its data is deleted{}\n", ended,
                           gone ? "" : fmt::format("; {} has other files in it, and stays", folder->path()));
  return Ok();
}

}  // namespace capi::cli
