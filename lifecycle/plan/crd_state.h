// What matters of a CRD that is in the cluster: its versions, and at which of them objects may be stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

// How a migration of a CRD's objects stands (U3). A value.
struct MigrationProgress {
  size_t objects = 0;          // looked at so far
  std::optional<Error> error;  // why the last try ended
  // From now: after an error to the next try, after an end to when it shows; not set while one runs or has its turn
  // next.
  std::optional<Millis> next;
};

// A CRD as it is in the cluster, without its schemas. A value.
struct CrdState {
  std::string name, group, kind, plural;
  std::string resource_version;
  bool namespaced = false;
  bool has_status = false;  // the stored version has a status subresource
  std::string storage;      // the version at which objects are written
  std::vector<std::string> versions, served;
  std::vector<std::string> stored;  // status.storedVersions: objects may lie at any of these
  MigrationProgress migration = {};
};

// Of a CRD as the server has it, or as a watch keeps it (operator/observe/slim.h).
CrdState StateOf(const kube::Object& crd);

}  // namespace capi::lifecycle
