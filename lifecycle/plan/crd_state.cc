#include "lifecycle/plan/crd_state.h"

namespace capi::lifecycle {
namespace {

// What a watch keeps of a version says it in one word.
bool HasStatus(const Json& version) {
  return GetBool(version, {"status"}) || Find(version, {"subresources", "status"}) != nullptr;
}

}  // namespace

CrdState StateOf(const kube::Object& crd) {
  const Json& json = crd.json();
  CrdState state;
  state.name = crd.name();
  state.resource_version = crd.resource_version();
  state.group = GetString(json, {"spec", "group"});
  state.kind = GetString(json, {"spec", "names", "kind"});
  state.plural = GetString(json, {"spec", "names", "plural"});
  state.namespaced = GetString(json, {"spec", "scope"}) == "Namespaced";
  if (const Json* versions = Find(json, {"spec", "versions"}); versions != nullptr && versions->is_array()) {
    for (const Json& version : *versions) {
      state.versions.push_back(GetString(version, {"name"}));
      if (GetBool(version, {"served"})) state.served.push_back(state.versions.back());
      if (!GetBool(version, {"storage"})) continue;
      state.storage = state.versions.back();
      state.has_status = HasStatus(version);
    }
  }
  if (const Json* stored = Find(json, {"status", "storedVersions"}); stored != nullptr && stored->is_array()) {
    for (const Json& version : *stored) {
      if (version.is_string()) state.stored.push_back(version.get<std::string>());
    }
  }
  return state;
}

}  // namespace capi::lifecycle
