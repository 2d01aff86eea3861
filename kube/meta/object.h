// A Kubernetes object as JSON, and its identity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace capi::kube {

// Group and version as in apiVersion: "apps/v1", "v1".
struct GroupVersion {
  std::string group;  // "" for the core group
  std::string version;
  static GroupVersion Parse(std::string_view api_version);
  std::string ToString() const;
  auto operator<=>(const GroupVersion&) const = default;
};

struct GroupKind {
  std::string group;
  std::string kind;
  std::string ToString() const;  // "Deployment.apps", "Secret"
  auto operator<=>(const GroupKind&) const = default;
};

// Identity of an object, independent of the version it is served at.
struct ObjectId {
  std::string group;  // "" for the core group
  std::string kind;
  std::string ns;  // "" for cluster-scoped kinds
  std::string name;

  auto operator<=>(const ObjectId&) const = default;
  GroupKind group_kind() const { return {group, kind}; }
  std::string ToString() const;  // "Deployment.apps/capi-system/capi-controller-manager", "Namespace/capi-system"
};

// An object: JSON with the accessors everyone needs. A value. Thread-compatible.
class Object {
 public:
  Object() : json_(Json::object()) {}
  explicit Object(Json json) : json_(std::move(json)) {}

  const Json& json() const { return json_; }
  Json& json() { return json_; }

  std::string api_version() const { return GetString(json_, {"apiVersion"}); }
  GroupVersion group_version() const { return GroupVersion::Parse(api_version()); }
  std::string kind() const { return GetString(json_, {"kind"}); }
  std::string name() const { return GetString(json_, {"metadata", "name"}); }
  std::string ns() const { return GetString(json_, {"metadata", "namespace"}); }
  std::string uid() const { return GetString(json_, {"metadata", "uid"}); }
  std::string resource_version() const { return GetString(json_, {"metadata", "resourceVersion"}); }
  std::int64_t generation() const { return GetInt(json_, {"metadata", "generation"}); }
  bool deleting() const { return Find(json_, {"metadata", "deletionTimestamp"}) != nullptr; }
  std::string label(std::string_view key) const { return GetString(json_, {"metadata", "labels", key}); }
  bool has_label(std::string_view key) const { return Find(json_, {"metadata", "labels", key}) != nullptr; }
  std::string annotation(std::string_view key) const { return GetString(json_, {"metadata", "annotations", key}); }
  bool has_annotation(std::string_view key) const { return Find(json_, {"metadata", "annotations", key}) != nullptr; }
  bool has_finalizer(std::string_view name) const;

  void set_ns(std::string_view ns) { Ensure(json_, {"metadata", "namespace"}) = ns; }
  void set_label(std::string_view key, std::string_view value) { Ensure(json_, {"metadata", "labels", key}) = value; }
  void set_annotation(std::string_view key, std::string_view value) {
    Ensure(json_, {"metadata", "annotations", key}) = value;
  }

  ObjectId id() const;

 private:
  Json json_;
};

// Who owns which field: often a good part of what a store keeps of an object.
inline void DropManagedFields(Object& object) {
  if (Json* metadata = Find(object.json(), {"metadata"})) metadata->erase("managedFields");
}

// The least that a watch's store may keep of an object (kube/cache/informer.h): apiVersion, kind, namespace, name, uid
// and resourceVersion.
Object IdentityOf(const Object& object);

}  // namespace capi::kube
