#include "operator/act/certificates/ca_bundles.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "api/certificates/names.h"
#include "base/encoding.h"
#include "kube/meta/kind.h"
#include "operator/decide/certificates/bundles.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {
namespace {

bool IsApiService(const kube::GroupKind& kind) { return kube::Is(kind, "apiregistration.k8s.io", "APIService"); }

bool IsCrd(const kube::GroupKind& kind) { return kube::Is(kind, "apiextensions.k8s.io", "CustomResourceDefinition"); }

// Of all that are ours: what an apply no longer names is taken away.
int FillWebhooks(const kube::Object& live, const Json& bundle, const std::vector<bool>& others, Json& out) {
  const Json* webhooks = Find(live.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return 0;
  Json entries = Json::array();
  for (size_t i = 0; i < webhooks->size(); ++i) {
    if (i < others.size() && others[i]) continue;
    entries.push_back({{"name", GetString((*webhooks)[i], {"name"})}, {"clientConfig", {{"caBundle", bundle}}}});
  }
  const int count = static_cast<int>(entries.size());
  if (count > 0) out["webhooks"] = std::move(entries);
  return count;
}

int Fill(const kube::Object& live, const Json& bundle, const std::vector<bool>& others, Json& out) {
  const kube::GroupKind kind = live.id().group_kind();
  if (!IsApiService(kind) && !IsCrd(kind)) return FillWebhooks(live, bundle, others, out);
  if (others.empty() || others.front()) return 0;
  if (IsApiService(kind)) {
    out["spec"] = {{"caBundle", bundle}};
  } else {
    out["spec"] = {{"conversion", {{"webhook", {{"clientConfig", {{"caBundle", bundle}}}}}}}};
  }
  return 1;
}

// What `wanted` has at `path` is what `has` has there; nothing is wanted of one that lacks it.
bool IsSameAt(const kube::Object& wanted, const kube::Object& has, JsonPath path) {
  const Json *one = Find(wanted.json(), path), *other = Find(has.json(), path);
  return one == nullptr || (other != nullptr && *one == *other);
}

// By the webhook's name.
std::map<std::string, std::string> WebhookBundles(const kube::Object& object) {
  std::map<std::string, std::string> out;
  const Json* webhooks = Find(object.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return out;
  for (const Json& one : *webhooks) out[GetString(one, {"name"})] = GetString(one, {"clientConfig", "caBundle"});
  return out;
}

}  // namespace

kube::Object BundlesFor(const kube::Resource& resource, const kube::Object& live, const std::string& pem,
                        const std::string& hash, const std::vector<bool>& others) {
  Json fields = Json::object();
  const int count = Fill(live, Base64Encode(pem), others, fields);
  const int places = std::max(PlacesIn(live), static_cast<int>(others.size()));
  fields["apiVersion"] = resource.api_version();
  fields["kind"] = resource.kind;
  Json& metadata = fields["metadata"];
  metadata = {{"name", live.name()}, {"uid", live.uid()}};
  metadata["annotations"][std::string(api::kAnnotationCaBundle)] = BundleMark(hash, count, places - count);
  return kube::Object(std::move(fields));
}

bool HasThem(const kube::Object& live, const kube::Object& bundles) {
  const std::string mark = bundles.annotation(api::kAnnotationCaBundle);
  if (live.annotation(api::kAnnotationCaBundle) != mark || MarksIn(live).held != FilledIn(mark)) return false;
  if (!IsSameAt(bundles, live, {"spec", "caBundle"})) return false;
  if (!IsSameAt(bundles, live, {"spec", "conversion", "webhook", "clientConfig", "caBundle"})) return false;
  const auto wanted = WebhookBundles(bundles), has = WebhookBundles(live);
  return std::includes(has.begin(), has.end(), wanted.begin(), wanted.end());
}

kube::WriteOptions AsCertifier() {
  return {.field_manager = std::string(api::kCertificateManager), .metadata_only = true};
}

}  // namespace capi::ops
