#include "operator/act/certificates/ca_bundles.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
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

// Those that the object has now.
std::set<std::string> WebhooksOf(const kube::Object& live) {
  std::set<std::string> names;
  const Json* webhooks = Find(live.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return names;
  for (const Json& webhook : *webhooks) names.insert(GetString(webhook, {"name"}));
  return names;
}

// Of all that are ours: what an apply no longer names is taken away. The places that it names.
std::set<std::string> FillWebhooks(const kube::Object& live, const Json& bundle, const std::vector<bool>& others,
                                   Json& out) {
  std::set<std::string> filled;
  const Json* webhooks = Find(live.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return filled;
  Json entries = Json::array();
  for (size_t i = 0; i < webhooks->size(); ++i) {
    if (i < others.size() && others[i]) continue;
    const std::string name = GetString((*webhooks)[i], {"name"});
    entries.push_back({{"name", name}, {"clientConfig", {{"caBundle", bundle}}}});
    filled.insert(name);
  }
  if (!filled.empty()) out["webhooks"] = std::move(entries);
  return filled;
}

std::set<std::string> Fill(const kube::Object& live, const Json& bundle, const std::vector<bool>& others, Json& out) {
  const kube::GroupKind kind = live.id().group_kind();
  if (!IsApiService(kind) && !IsCrd(kind)) return FillWebhooks(live, bundle, others, out);
  if (others.empty() || others.front()) return {};
  if (IsApiService(kind)) {
    out["spec"] = {{"caBundle", bundle}};
  } else {
    out["spec"] = {{"conversion", {{"webhook", {{"clientConfig", {{"caBundle", bundle}}}}}}}};
  }
  return {kOnlyPlace};
}

// What is left to others: of all places where the object has, or may have, a bundle.
std::set<std::string> LeftOut(const kube::Object& live, const std::set<std::string>& filled) {
  std::set<std::string> left = PlacesIn(live);
  left.merge(WebhooksOf(live));
  for (const std::string& place : filled) left.erase(place);
  return left;
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
  const std::set<std::string> filled = Fill(live, Base64Encode(pem), others, fields);
  fields["apiVersion"] = resource.api_version();
  fields["kind"] = resource.kind;
  Json& metadata = fields["metadata"];
  metadata = {{"name", live.name()}, {"uid", live.uid()}};
  metadata["annotations"][std::string(api::kAnnotationCaBundle)] =
      BundleMark(hash, static_cast<int>(filled.size()), LeftOut(live, filled));
  return kube::Object(std::move(fields));
}

bool HasThem(const kube::Object& live, const kube::Object& bundles) {
  const std::string mark = bundles.annotation(api::kAnnotationCaBundle);
  const CertificateMarks marks = MarksIn(live);
  if (marks.bundle != mark || marks.held != FilledIn(mark) || marks.came) return false;
  if (!IsSameAt(bundles, live, {"spec", "caBundle"})) return false;
  if (!IsSameAt(bundles, live, {"spec", "conversion", "webhook", "clientConfig", "caBundle"})) return false;
  const auto wanted = WebhookBundles(bundles), has = WebhookBundles(live);
  return std::includes(has.begin(), has.end(), wanted.begin(), wanted.end());
}

kube::WriteOptions AsCertifier() {
  return {.field_manager = std::string(api::kCertificateManager), .metadata_only = true};
}

}  // namespace capi::ops
