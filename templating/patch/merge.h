// Merge patches: RFC 7396, and where a patch asks for it, lists merged by key.
//
// A patch is a JSON merge patch until it says otherwise with a "$patch" member:
//
//   $patch: merge    in a map of a list: that list is merged by key, this item into the one with its key (or appended)
//   $patch: delete   in a map of a list: the items with its key go
//   $patch: replace  in a map of a list: the item with its key is replaced; alone in its map: the whole list is
//   $patch: merge    in any other map (the patch itself too): every known list in it and below is merged by key
//   $patch: replace  in any other map: the map is replaced, not merged
//
// The keys are those of Kubernetes' built-in types: containers, initContainers, env, volumes, webhooks,
// imagePullSecrets by `name`, ports by `containerPort` or `port`, volumeMounts by `mountPath`, and so on; any other
// list whose items carry a directive is merged by `name`.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "templating/patch/budget.h"

namespace capi::templating {

// kInvalidArgument for an unknown directive, an item without its key, and for what is beyond `budget`; `target` is then
// undefined.
Status MergePatch(Json& target, const Json& patch, PatchBudget& budget);

}  // namespace capi::templating
