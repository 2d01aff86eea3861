#include "cli/move/copy.h"

#include <fmt/format.h>

#include <array>

#include "base/encoding.h"
#include "cli/move/claim.h"
#include "cli/move/node.h"

namespace capi::cli::move {
namespace {

constexpr std::array<std::string_view, 8> kOfOneCluster = {
    "uid",      "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "selfLink", "generateName"};

// Whether `target` has all of `source`. Adds the path of what it lacks to `path`.
bool Has(const Json& target, const Json& source, std::string& path) {
  const size_t length = path.size();
  if (source.is_object() && target.is_object()) {
    for (const auto& [key, value] : source.items()) {
      if (value.is_null()) continue;
      path += "." + key;
      auto found = target.find(key);
      if (found == target.end() || !Has(*found, value, path)) return false;
      path.resize(length);
    }
    return true;
  }
  if (source.is_array() && target.is_array() && source.size() == target.size()) {
    for (size_t i = 0; i < source.size(); ++i) {
      path += fmt::format("[{}]", i);
      if (!Has(target[i], source[i], path)) return false;
      path.resize(length);
    }
    return true;
  }
  return source == target;
}

// Which parts of an object are compared.
Json Compared(const kube::Object& object) {
  Json out = object.json();
  for (const char* key : {"apiVersion", "kind", "status", "metadata"}) out.erase(key);
  if (Json* spec = Find(out, {"spec"}); spec != nullptr && RoleOf(object.id().group_kind()) == Role::kCluster)
    spec->erase("paused");
  for (std::string_view key : {"labels", "annotations"}) {
    if (const Json* map = Find(object.json(), {"metadata", key})) Ensure(out, {"metadata", key}) = *map;
  }
  if (Json* annotations = Find(out, {"metadata", "annotations"}); annotations != nullptr && annotations->is_object()) {
    for (std::string_view key :
         {kRecordAnnotation, kRunAnnotation, kPausedAnnotation, kDeleteForMoveAnnotation, kBlockMoveAnnotation})
      annotations->erase(std::string(key));
  }
  return out;
}

}  // namespace

kube::Object CopyOf(kube::Object source, const NewUid& new_uid) {
  Json& metadata = Ensure(source.json(), {"metadata"});
  for (std::string_view key : kOfOneCluster) metadata.erase(std::string(key));
  if (Json* annotations = Find(metadata, {"annotations"}); annotations != nullptr && annotations->is_object()) {
    for (std::string_view key : {kDeleteForMoveAnnotation, kRecordAnnotation, kRunAnnotation})
      annotations->erase(std::string(key));
    if (annotations->empty()) metadata.erase("annotations");
  }
  Json owners = Json::array();
  if (const Json* references = Find(metadata, {"ownerReferences"}); references != nullptr && references->is_array()) {
    for (Json reference : *references) {
      std::string uid = new_uid(GetString(reference, {"uid"}));
      if (uid.empty()) continue;
      reference["uid"] = uid;
      owners.push_back(std::move(reference));
    }
  }
  metadata.erase("ownerReferences");
  if (!owners.empty()) metadata["ownerReferences"] = std::move(owners);
  return source;
}

std::string Digest(const kube::Object& source) {
  Json json = CopyOf(source, [](const std::string& uid) { return uid; }).json();
  json.erase("status");
  json["metadata"].erase("managedFields");
  return Sha256Hex(ToJsonText(json));
}

std::string FirstDifference(const kube::Object& source, const kube::Object& target) {
  std::string path;
  if (Has(Compared(target), Compared(source), path)) return "";
  path = path.empty() ? "" : path.substr(1);
  for (std::string_view data : {"data", "binaryData", "stringData"})
    if (path.starts_with(fmt::format("{}.", data))) return std::string(data);
  return path;
}

}  // namespace capi::cli::move
