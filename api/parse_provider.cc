#include <fmt/format.h>

#include "api/types.h"

namespace capi::api {

Provider ParseProviderMeta(const kube::Object& object) {
  Provider out;
  const ProviderKind* kind = KindByName(object.kind());
  out.id = {kind != nullptr ? kind->type : ProviderType::kCore, object.ns(), object.name()};
  out.uid = object.uid();
  out.resource_version = object.resource_version();
  out.generation = object.generation();
  out.deleting = object.deleting();
  out.has_finalizer = object.has_finalizer(kFinalizer);
  out.created = GetString(object.json(), {"metadata", "creationTimestamp"});
  if (const Json* annotations = Find(object.json(), {"metadata", "annotations"});
      annotations != nullptr && annotations->is_object()) {
    for (const auto& [key, value] : annotations->items()) {
      if (value.is_string()) out.annotations[key] = value.get<std::string>();
    }
  }
  // In whose name what is there may be removed (T8), though the rest of the spec can't be read.
  out.spec.service_account = GetString(object.json(), {"spec", "serviceAccountName"});
  if (const Json* status = Find(object.json(), {"status"})) out.status = ParseStatus(*status);
  return out;
}

Result<Provider> ParseProvider(const kube::Object& object) {
  if (KindByName(object.kind()) == nullptr || object.group_version().group != kGroup) {
    return Error{Code::kInvalidArgument,
                 fmt::format("kind: {} {} is no provider kind of {}", object.api_version(), object.kind(), kGroup),
                 {}};
  }
  Provider out = ParseProviderMeta(object);
  const Json* spec = Find(object.json(), {"spec"});
  if (spec != nullptr) out.spec = TRY(ParseSpec(*spec, out.id.ns));
  return out;
}

}  // namespace capi::api
