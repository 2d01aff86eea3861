// Deletes providers that the operator looks after: their objects go, and the operator removes what they brought.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/world.h"
#include "cli/remove/targets.h"
#include "kube/client/client.h"

namespace capi::cli {

// Annotations that the operator goes by (docs/deleting.md). What isn't wished is taken off: an earlier run may have set
// it. A value.
struct OperatorWishes {
  bool crds = false;                  // delete-crds
  std::optional<bool> force = false;  // force-delete; nullopt: as it is
};

// An object whose deletion was asked for. A value.
struct DoomedObject {
  api::ProviderId id;
  std::string uid;
};

// Also of one that is being deleted already: an override still counts then. One that is gone is as it should be:
// nullopt.
Result<std::optional<DoomedObject>> RequestDeletion(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                                    const OperatorWishes& wishes);

// Waits until these very objects are gone, and tells what each waits for, in the operator's words. kDeadlineExceeded
// says it of those that are left; their deletion goes on.
Status AwaitGone(const Context& ctx, kube::Client& client, const std::vector<DoomedObject>& objects, Seconds limit,
                 Notes& notes);

// Of an object that no operator looks after any more: its finalizer goes, and with it the object.
Status ReleaseObject(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// ConfigMaps that providers' objects own, and nothing else does, by their metadata.
Result<std::vector<kube::Object>> OwnedReleases(const Context& ctx, kube::Client& client);

// Once no provider has an object any more, these releases. The garbage collector would leave what it hasn't come to by
// the time that the objects' kinds go: it can't look for an owner of a kind that isn't there.
Status RemoveOwnedReleases(const Context& ctx, kube::Client& client);

}  // namespace capi::cli
