// What an apply would change of objects that are there, told by the server itself (behaviour.md A2).
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "kube/apply/apply.h"
#include "kube/apply/field_owners.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"

namespace capi::kube {

// One object that an apply would change. Paths only: values may be secrets.
struct Difference {
  ObjectId id;
  bool missing = false;            // it would be created
  std::vector<std::string> paths;  // "spec.template.spec.containers[manager].args[2]"
};

// What the server and its controllers write, maybe between two looks: status, most of metadata, placeholders of CA
// bundles.
void DropServersOwn(Object& object);

// Paths at which two objects differ, without that. Sorted.
std::vector<std::string> DifferingPaths(Object a, Object b);

struct PreviewOptions {
  std::string field_manager;
  IsFormer former;          // whose fields become ours
  std::string owner_group;  // owners of this API group are taken off
  size_t parallel = 4;
};

// First takes over who owns each object's fields, which changes nothing but metadata, since only then an apply can tell
// what it would remove; then applies each manifest as a dry-run and compares. The errors are named, and `failed` lists
// all of them.
Result<std::vector<Difference>> PreviewTakeOver(Client& client, const Context& ctx,
                                                const std::vector<Manifest>& manifests, const PreviewOptions& options,
                                                std::vector<Change>& failed);

// The same for one object, without the comparison. Ok where it isn't there.
Status TakeOver(Client& client, const Context& ctx, const ObjectId& id, const PreviewOptions& options);

// The same for all of them. Ok of those whose kind isn't there, too. The errors are named.
Status TakeOverAll(Client& client, const Context& ctx, const std::vector<Manifest>& manifests,
                   const PreviewOptions& options);

}  // namespace capi::kube
