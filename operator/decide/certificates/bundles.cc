#include "operator/decide/certificates/bundles.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

#include "api/certificates/names.h"
#include "base/strings.h"
#include "kube/meta/kind.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {
namespace {

int NumberOf(const std::vector<std::string>& parts, size_t index) {
  int number = 0;
  if (index >= parts.size()) return number;
  const std::string& text = parts[index];
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void ForEachManager(const kube::Object& object,
                    const std::function<void(const std::string& manager, const Json& fields)>& take) {
  const Json* entries = Find(object.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return;
  for (const Json& entry : *entries) {
    const Json* fields = Find(entry, {"fieldsV1"});
    if (fields != nullptr && fields->is_object()) take(GetString(entry, {"manager"}), *fields);
  }
}

// Where it has, or may have, a bundle, of all that somebody has a field of: the place, and those fields.
void ForEachPlace(const Json& fields, const std::function<void(const std::string& place, const Json& below)>& take) {
  if (const Json* below = Find(fields, {"f:spec", "f:conversion", "f:webhook"})) take(kOnlyPlace, *below);
  const Json* spec = Find(fields, {"f:spec"});
  if (spec != nullptr && (spec->contains("f:service") || spec->contains("f:caBundle"))) take(kOnlyPlace, *spec);
  const Json* webhooks = Find(fields, {"f:webhooks"});
  if (webhooks == nullptr || !webhooks->is_object()) return;
  for (const auto& [key, below] : webhooks->items()) {
    if (!key.starts_with("k:")) continue;
    auto named = ParseJson(key.substr(2));
    if (named.ok()) take(GetString(*named, {"name"}), below);
  }
}

}  // namespace

bool HasBundles(const kube::GroupKind& kind) {
  return kube::Is(kind, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration") ||
         kube::Is(kind, "admissionregistration.k8s.io", "MutatingWebhookConfiguration") ||
         kube::Is(kind, "apiregistration.k8s.io", "APIService") ||
         kube::Is(kind, "apiextensions.k8s.io", "CustomResourceDefinition");
}

bool TellsOfCertificates(const kube::GroupKind& kind) { return HasBundles(kind) || kube::Is(kind, "", "Secret"); }

std::string BundleMark(const std::string& bundle_hash, int count, const std::set<std::string>& others) {
  const std::string mark = fmt::format("{}/{}", bundle_hash, count);
  return others.empty() ? mark
                        : fmt::format("{}/{}", mark, Join(std::vector<std::string>(others.begin(), others.end()), ","));
}

int FilledIn(const std::string& mark) { return NumberOf(Split(mark, '/'), 1); }

std::set<std::string> NotFilledIn(const std::string& mark) {
  const auto parts = Split(mark, '/');
  const auto others = parts.size() > 2 ? Split(parts[2], ',') : std::vector<std::string>();
  return {others.begin(), others.end()};
}

bool HasUnknown(const std::string& mark, const kube::Object& object) {
  const std::set<std::string> others = NotFilledIn(mark), held = HeldPlaces(object), places = PlacesIn(object);
  return std::any_of(places.begin(), places.end(),
                     [&](const std::string& place) { return !held.contains(place) && !others.contains(place); });
}

bool SaysOf(const std::string& mark, const std::string& bundle_hash, int held) {
  const auto parts = Split(mark, '/');
  return parts.size() >= 2 && parts[0] == bundle_hash && parts[1] == std::to_string(held);
}

std::set<std::string> PlacesIn(const kube::Object& object) {
  std::set<std::string> places;
  ForEachManager(object, [&](const std::string&, const Json& fields) {
    ForEachPlace(fields, [&](const std::string& place, const Json&) { places.insert(place); });
  });
  return places;
}

std::set<std::string> HeldPlaces(const kube::Object& object) {
  std::set<std::string> places;
  ForEachManager(object, [&](const std::string& manager, const Json& fields) {
    if (manager != api::kCertificateManager) return;
    ForEachPlace(fields, [&](const std::string& place, const Json& below) {
      const bool held = below.contains("f:caBundle") || Find(below, {"f:clientConfig", "f:caBundle"}) != nullptr;
      if (held) places.insert(place);
    });
  });
  return places;
}

}  // namespace capi::ops
