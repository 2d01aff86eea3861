// A resource as discovery tells it: where a kind is served.
#pragma once

#include <string>
#include <vector>

#include "kube/meta/object.h"

namespace capi::kube {

// A first member that no value without a name can be for. A value.
struct ByNameOnly {
  explicit ByNameOnly() = default;
  bool operator==(const ByNameOnly&) const = default;
};

// Made with the names of its members alone, {.group = ...}: four of them are texts, and values without names were once
// taken in another order. A value.
struct Resource {
  [[no_unique_address]] ByNameOnly by_name_only = ByNameOnly();
  std::string group, version;
  std::string plural;  // "deployments"
  std::string kind;
  bool namespaced = true;
  std::vector<std::string> verbs;         // empty when not from discovery
  std::vector<std::string> subresources;  // "status", "scale"

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "/apis/apps/v1/namespaces/NS/deployments/NAME"; without `ns` all namespaces, without `name` the collection.
  std::string Path(std::string_view ns, std::string_view name, std::string_view subresource = "") const;
  bool operator==(const Resource&) const = default;
};

// Kinds that every API server serves, so that no discovery is needed for them.
const Resource& Builtin(std::string_view kind);      // "Secret", "Deployment", ...; ends the process for an unknown one
const Resource* FindBuiltin(const GroupKind& kind);  // null where it isn't one of them

}  // namespace capi::kube
