// Staged server-side apply of a set of objects, and removal of others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "kube/apply/replace.h"
#include "kube/client/client.h"

namespace capi::kube {

struct ApplyOptions {
  std::string field_manager = "capi-operator";
  size_t parallel = 4;  // requests at once within a stage
  // Told of each object that Apply has written, with the version that it got, as soon as the answer is there: a watch
  // may show that version, and the object's end, long before all the others are written. From several threads.
  std::function<void(const ObjectId&, const std::string& resource_version)> on_written = nullptr;
};

// What became of one object.
struct Change {
  // kUnchanged: an apply skipped it, or `keep` saved it from a delete.
  // kDeleting: a delete was accepted, but finalizers keep the object; `error` names them.
  enum class Action { kCreated, kConfigured, kUnchanged, kDeleted, kDeleting, kFailed };
  ObjectId id;
  Action action = Action::kUnchanged;
  InventoryEntry entry;                    // after an apply
  std::string error;                       // of kFailed; why `keep` saved it; what an object waits for
  std::vector<std::string> warnings = {};  // what the server warned of in an apply, in its words
  bool asked = false;                      // the server took this delete: the object wasn't gone or going before
  bool refused = false;                    // of kFailed: it is no outage of the server (IsOutage)
};

// Whether one failed, and not by an outage of the server.
bool AnyRefused(const std::vector<Change>& changes);

// Applies what differs: a manifest whose hash is in `current` with our managedFields entry is skipped. Stops after the
// stage that had an error; other objects of that stage are still tried. The error returned names every object that
// failed (five in full, ten more by name). `changes` lists what was done, also when an error is returned. Thread-safe.
class Applier {
 public:
  Applier(Client& client, ApplyOptions options);

  // With `left_behind` a Deployment that has to be created anew leaves its pods running (replace.h); it may be called
  // from several threads.
  Status Apply(const Context& ctx, const std::vector<Manifest>& manifests, const Inventory& current,
               std::vector<Change>& changes, const LeftBehind& left_behind = nullptr);
  // The same requests with dryRun=All for the given manifests; all errors named (I5), and `failed` lists them.
  Status DryRun(const Context& ctx, const std::vector<Manifest>& manifests, std::vector<Change>* failed = nullptr);
  // Deletes in reverse stage order. `keep` guards each object just before (U4): it returns a reason to leave the live
  // object alone, or "", and sees metadata only. Objects that are gone count as deleted. Deletion carries the uid that
  // `keep` saw. Stops after a stage that had an error. `propagation`: of DeleteOptions.
  Status Delete(const Context& ctx, const std::vector<ObjectId>& ids,
                const std::function<std::string(const Object& live)>& keep, std::vector<Change>& changes,
                const std::string& propagation = DeleteOptions().propagation);

  // Kinds among `manifests` that neither the server nor a CRD among them has (I13). Sorted, each once, with the
  // apiVersion.
  Result<std::vector<std::string>> MissingKinds(const Context& ctx, const std::vector<Manifest>& manifests);

 private:
  struct Live {
    Resource resource;
    Object object;
  };
  Result<std::optional<Live>> Find(const Context& ctx, const ObjectId& id);
  Result<Change> DeleteOne(const Context& ctx, const ObjectId& id,
                           const std::function<std::string(const Object& live)>& keep, const std::string& propagation);

  Client& client_;
  ApplyOptions options_;
};

// What may be reported of the server's warnings of an object, each once: one apply may be several requests. Of a Secret
// the names of fields alone, since any other text may repeat its values (behaviour.md F9). Pure.
std::vector<std::string> ReportableWarnings(const ObjectId& id, std::vector<std::string> warnings);

// Hash of `manager`'s Apply entry in metadata.managedFields; "" where there is none. A foreign change of a field that
// is ours takes the field out of that entry, so the hash tells drift from noise.
std::string FieldsHash(const Object& live, std::string_view manager);

}  // namespace capi::kube
