#include "operator/act/remover.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/strings.h"
#include "lifecycle/plan/removal.h"
#include "operator/act/install/installation.h"
#include "operator/decide/rules.h"
#include "operator/observe/in_use.h"
#include "operator/observe/observe.h"
#include "operator/report/announce.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

// What began is known by its reason, whatever stops it.
std::string_view Reason(const Observation& o, std::string_view before_it_began) {
  return RemovalBegan(o) ? reason::kDeletionFailed : before_it_began;
}

bool DeletesCrds(const Observation& o) {
  auto it = o.provider.annotations.find(std::string(api::kAnnotationDeleteCrds));
  return it != o.provider.annotations.end() && it->second == "true";
}

}  // namespace

Remover::Remover(kube::Client& client, StatusWriter& writer)
    : client_(client), writer_(writer), applier_(client, {.field_manager = std::string(api::kFieldManager)}) {}

Result<std::vector<std::string>> Remover::ObjectsInUse(const Context& ctx, const std::vector<kube::ObjectId>& crds) {
  std::vector<std::string> found;
  for (const auto& id : crds) {
    const auto crd = TRY_WITH(lifecycle::ReadCrd(client_, ctx, id.name), id.ToString());
    if (!crd) continue;
    ReadObjects read = TRY_WITH(
        ListReadable(client_, ctx, *crd, {.limit = lifecycle::kUsersNamed + 1, .first_page = true}), id.ToString());
    for (const kube::Object& object : read.items) found.push_back(NameOf(object));
    if (found.size() > lifecycle::kUsersNamed) break;
  }
  return found;
}

// Before the first object goes: what a crash, a conflict or a lost answer interrupts is known to have begun (X2, U7).
Status Remover::SayBegun(const Context& ctx, Observation& o) {
  return RemovalBegan(o) ? Ok() : AnnounceRemoval(ctx, writer_, o);
}

std::vector<kube::ObjectId> Remover::Doomed(const Observation& o, bool crds) const {
  std::vector<kube::ObjectId> ids;
  for (const auto& [id, entry] : o.inventory.entries()) {
    if (id.group.empty() && id.kind == "Namespace") continue;
    if (o.namespace_going && id.ns == o.provider.id.ns) continue;
    if (IsCrd(id) == crds) ids.push_back(id);
  }
  return ids;
}

Done Remover::Remove(const Context& ctx, Observation o) {
  Done done = Run(ctx, o);
  done.now = std::move(o);
  return done;
}

Done Remover::Run(const Context& ctx, Observation& o) {
  Done done;
  done.removing = true;
  auto held = [&done](std::string_view why, const Error& error) {
    done.hold = ServerHold(condition::kReady, why, error);
    return done;
  };
  std::vector<kube::ObjectId> gone = Doomed(o, false), crds = Doomed(o, true);
  if (DeletesCrds(o)) {
    auto used = ObjectsInUse(ctx.InOwnName(), crds);
    if (!used.ok()) return held(Reason(o, reason::kAPIServerUnavailable), used.error());
    if (!used->empty()) {
      done.hold =
          Hold{std::string(condition::kReady), std::string(Reason(o, reason::kDeletionBlocked)),
               fmt::format("annotation {} asks for the CRDs to go too, but objects of them exist: {}; delete these "
                           "first, or remove the annotation to keep the CRDs",
                           api::kAnnotationDeleteCrds, lifecycle::UsersInWords(*used)),
               Retry::kPolled};
      return done;
    }
    gone.insert(gone.end(), crds.begin(), crds.end());
  }
  auto begun = SayBegun(ctx, o);
  if (!begun.ok()) return held(Reason(o, reason::kAPIServerUnavailable), begun.error());
  auto stopped = lifecycle::StopAggregation(ctx, client_, gone, KeepsOthers(o.provider.id));
  if (!stopped.ok()) return held(reason::kDeletionFailed, stopped.error());
  std::vector<kube::Change> changes;
  auto removed = applier_.Delete(ctx, o.provider.id, gone, KeepsOthers(o.provider.id), changes);
  std::vector<std::string> lingering, kept;
  TellDeleted(changes, done.removed, kept);
  for (const auto& change : changes) {
    if (change.action == kube::Change::Action::kDeleting) {
      lingering.push_back(fmt::format("{} ({})", change.id.ToString(), change.error));
    }
  }
  if (!removed.ok()) return held(reason::kDeletionFailed, removed.error());
  if (!lingering.empty()) {
    done.hold = Hold{std::string(condition::kReady), std::string(reason::kDeleting),
                     fmt::format("deleted, but not gone yet: {}; whoever set a finalizer has to remove it",
                                 JoinNames(lingering, lifecycle::kUsersNamed)),
                     Retry::kPolled};
    return done;
  }
  auto released = writer_.RemoveFinalizer(ctx, o.provider);
  if (!released.ok()) return held(reason::kDeletionFailed, released.error());
  done.kept = std::move(kept);  // once, and not with each try
  done.forget = true;
  return done;
}

}  // namespace capi::ops
