#include "kube/meta/object.h"

#include <algorithm>

namespace capi::kube {

GroupVersion GroupVersion::Parse(std::string_view api_version) {
  size_t slash = api_version.find('/');
  if (slash == api_version.npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

std::string GroupVersion::ToString() const { return group.empty() ? version : group + "/" + version; }

std::string GroupKind::ToString() const { return group.empty() ? kind : kind + "." + group; }

std::string ObjectId::ToString() const {
  std::string out = group_kind().ToString() + "/";
  if (!ns.empty()) out += ns + "/";
  return out + name;
}

bool Object::has_finalizer(std::string_view name) const {
  const Json* list = Find(json_, {"metadata", "finalizers"});
  return list != nullptr && list->is_array() &&
         std::any_of(list->begin(), list->end(), [&](const Json& f) { return f.is_string() && f == name; });
}

ObjectId Object::id() const { return {group_version().group, kind(), ns(), name()}; }

Object IdentityOf(const Object& object) {
  Json metadata = {{"name", object.name()}, {"uid", object.uid()}, {"resourceVersion", object.resource_version()}};
  if (std::string ns = object.ns(); !ns.empty()) metadata["namespace"] = std::move(ns);
  return Object(Json{{"apiVersion", object.api_version()}, {"kind", object.kind()}, {"metadata", std::move(metadata)}});
}

}  // namespace capi::kube
