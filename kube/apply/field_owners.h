// Moves what an installer wrote with plain updates into our server-side apply, as client-go's csaupgrade does
// (behaviour.md A1c).
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "kube/meta/object.h"

namespace capi::kube {

// Whether an entry of managedFields is that of a former installer.
using IsFormer = std::function<bool(const Json& entry)>;

// An entry whose manager wrote this label by an update: an installer's, whatever it is called. `clusterctl` goes by its
// own name, but an operator in a container is "manager", as are the managers of the providers, whose entries must stay.
// `applier`, where it isn't "", is an installer that writes by applies.
IsFormer WroteLabel(std::string_view label, std::string_view applier = "");

// managedFields with the fields of all former writers in `manager`'s Apply entry, and their entries gone: what
// our next apply leaves out then goes from the object. nullopt when there is nothing to move.
std::optional<Json> MoveFieldOwners(const Object& live, std::string_view manager, const IsFormer& former);

// A merge patch that carries the move out, and only on the version of the object that it was made for; also takes
// owners of API group `owner_group` off the object. nullopt when there is nothing to do.
std::optional<Json> TakeOverPatch(const Object& live, std::string_view manager, const IsFormer& former,
                                  std::string_view owner_group);

}  // namespace capi::kube
