#include "lifecycle/plan/scale.h"

#include <charconv>

#include "api/kinds.h"

namespace capi::lifecycle {
namespace {

const std::string& FormerCount() {
  static const std::string name(api::kAnnotationOriginalReplicas);
  return name;
}

// nullopt where somebody wrote something else into the annotation.
std::optional<int> Count(const std::string& text) {
  int count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  bool number = error == std::errc() && end == text.data() + text.size() && count >= 0;
  return number ? std::optional<int>(count) : std::nullopt;
}

}  // namespace

bool HasReplicas(const kube::ObjectId& id) {
  return id.group == "apps" && (id.kind == "Deployment" || id.kind == "StatefulSet");
}

std::int64_t Replicas(const kube::Object& object) { return GetInt(object.json(), {"spec", "replicas"}, 1); }

std::string ScaledBy(const kube::Object& live) {
  std::string out;
  const Json* entries = Find(live.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return out;
  for (const Json& entry : *entries) {
    const bool scales =
        GetString(entry, {"subresource"}) == "scale" && Find(entry, {"fieldsV1", "f:spec", "f:replicas"}) != nullptr;
    if (scales && GetString(entry, {"manager"}) != api::kFieldManager) out = GetString(entry, {"manager"});
  }
  return out;
}

kube::Manifest WithoutReplicas(const kube::Manifest& manifest) {
  auto json = ParseJson(manifest.text);
  if (!json.ok() || Find(*json, {"spec", "replicas"}) == nullptr) return manifest;
  json->at("spec").erase("replicas");
  kube::Manifest without = kube::ToManifest(kube::Object(std::move(json).value()));
  // A hash with a key stays one.
  if (manifest.hash != kube::TextHash(manifest.text))
    without.hash = kube::TextHash(manifest.hash + " without replicas");
  return without;
}

Json ScaleDownPatch(const kube::Object& live, const std::string& scaled_by) {
  bool noted = !live.annotation(FormerCount()).empty();
  std::int64_t replicas = Replicas(live);
  if (noted && replicas == 0) return nullptr;
  Json patch = {{"metadata", {{"resourceVersion", live.resource_version()}}}, {"spec", {{"replicas", 0}}}};
  if (noted) return patch;
  patch["metadata"]["annotations"] = {{FormerCount(), std::to_string(replicas)}};
  if (!scaled_by.empty()) patch["metadata"]["annotations"][kAnnotationScaledBy] = scaled_by;
  return patch;
}

Json ScaleUpPatch(const kube::Object& live, std::optional<int> declared) {
  const Json* annotations = capi::Find(live.json(), {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->contains(FormerCount())) return nullptr;
  int replicas = declared.value_or(Count(live.annotation(FormerCount())).value_or(1));
  Json patch = {{"metadata", {{"resourceVersion", live.resource_version()}}}, {"spec", {{"replicas", replicas}}}};
  patch["metadata"]["annotations"] = {{FormerCount(), nullptr}};
  if (live.has_annotation(kAnnotationScaledBy)) patch["metadata"]["annotations"][kAnnotationScaledBy] = nullptr;
  return patch;
}

std::optional<Claim> ClaimToReturn(const kube::Object& live, std::optional<int> declared) {
  Claim claim{live.annotation(kAnnotationScaledBy), Count(live.annotation(FormerCount())).value_or(0)};
  bool due = !claim.by.empty() && !declared && claim.replicas > 0 && Replicas(live) != claim.replicas;
  return due ? std::optional<Claim>(claim) : std::nullopt;
}

}  // namespace capi::lifecycle
