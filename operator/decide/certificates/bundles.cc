#include "operator/decide/certificates/bundles.h"

#include <fmt/core.h>

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

// Of the webhooks that somebody has a field of: their key, and those fields.
void ForEachWebhook(const Json& fields, const std::function<void(const std::string& key, const Json& below)>& take) {
  const Json* webhooks = Find(fields, {"f:webhooks"});
  if (webhooks == nullptr || !webhooks->is_object()) return;
  for (const auto& [key, below] : webhooks->items()) {
    if (key.starts_with("k:")) take(key.substr(2), below);
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

std::string BundleMark(const std::string& bundle_hash, int count, int others) {
  const std::string mark = BundleMark(bundle_hash, count);
  return others > 0 ? fmt::format("{}/{}", mark, others) : mark;
}

int FilledIn(const std::string& mark) { return NumberOf(Split(mark, '/'), 1); }

int KnownTo(const std::string& mark) {
  const auto parts = Split(mark, '/');
  return NumberOf(parts, 1) + NumberOf(parts, 2);
}

bool SaysOf(const std::string& mark, const std::string& bundle_hash, int held) {
  const auto parts = Split(mark, '/');
  return parts.size() >= 2 && parts[0] == bundle_hash && parts[1] == std::to_string(held);
}

int PlacesIn(const kube::Object& object) {
  std::set<std::string> webhooks;
  bool is_one = false;
  ForEachManager(object, [&](const std::string&, const Json& fields) {
    ForEachWebhook(fields, [&](const std::string& key, const Json&) { webhooks.insert(key); });
    is_one = is_one || Find(fields, {"f:spec", "f:conversion", "f:webhook"}) != nullptr ||
             Find(fields, {"f:spec", "f:service"}) != nullptr;
  });
  return static_cast<int>(webhooks.size()) + (is_one ? 1 : 0);
}

std::set<std::string> HeldWebhooks(const kube::Object& object) {
  std::set<std::string> names;
  ForEachManager(object, [&](const std::string& manager, const Json& fields) {
    if (manager != api::kCertificateManager) return;
    ForEachWebhook(fields, [&](const std::string& key, const Json& below) {
      auto named = ParseJson(key);
      if (named.ok() && Find(below, {"f:clientConfig", "f:caBundle"}) != nullptr) {
        names.insert(GetString(*named, {"name"}));
      }
    });
  });
  return names;
}

}  // namespace capi::ops
