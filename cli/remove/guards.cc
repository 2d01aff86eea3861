#include "cli/remove/guards.h"

#include <fmt/format.h>

#include "api/text.h"
#include "base/strings.h"
#include "lifecycle/direct/remove.h"
#include "lifecycle/plan/removal.h"

namespace capi::cli {
namespace {}  // namespace

std::vector<std::string> InUse(const Context& ctx, kube::Client& client, const std::vector<Target>& targets) {
  std::vector<std::string> out;
  for (const Target& target : targets) {
    auto users = lifecycle::UsersOf(ctx, client, target.id);
    if (!users.ok()) {
      out.push_back(fmt::format("can't tell whether clusters use {}: {}", Describe(target.id), users.error().message));
    } else if (!users->empty()) {
      out.push_back(fmt::format("workload clusters use {}: {}; delete the clusters first", Describe(target.id),
                                lifecycle::UsersInWords(*users)));
    }
  }
  return out;
}

Status CheckNoObjects(const Context& ctx, kube::Client& client, const std::vector<Target>& targets) {
  std::vector<std::string> found;
  for (const Target& target : targets) {
    auto kinds = TRY_WITH(lifecycle::KindsWithObjects(ctx, client, target.id), Describe(target.id));
    if (kinds.empty()) continue;
    found.push_back(
        fmt::format("found existing objects for provider CRDs {}: [{}]. Please delete these objects first before "
                    "running clusterctl delete with --include-crd",
                    api::GoQuote(api::ManifestLabel(target.id.type, target.id.name)), Join(kinds, ", ")));
  }
  if (found.empty()) return Ok();
  return Error{Code::kFailedPrecondition, Join(found, "; "), {}};
}

}  // namespace capi::cli
