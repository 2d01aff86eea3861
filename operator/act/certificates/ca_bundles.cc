#include "operator/act/certificates/ca_bundles.h"

#include "api/certificates/names.h"
#include "base/encoding.h"
#include "kube/meta/kind.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {
namespace {

bool IsWebhooks(const kube::GroupKind& kind) {
  return kind.group == "admissionregistration.k8s.io" &&
         (kind.kind == "ValidatingWebhookConfiguration" || kind.kind == "MutatingWebhookConfiguration");
}

bool IsApiService(const kube::GroupKind& kind) { return kube::Is(kind, "apiregistration.k8s.io", "APIService"); }

// All of them: what an apply no longer names is taken away.
int FillWebhooks(const kube::Object& live, const Json& bundle, Json& out) {
  const Json* webhooks = Find(live.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array() || webhooks->empty()) return 0;
  Json entries = Json::array();
  for (const Json& webhook : *webhooks) {
    entries.push_back({{"name", GetString(webhook, {"name"})}, {"clientConfig", {{"caBundle", bundle}}}});
  }
  const int count = static_cast<int>(entries.size());
  out["webhooks"] = std::move(entries);
  return count;
}

int Fill(const kube::Object& live, const Json& bundle, Json& out) {
  const kube::GroupKind kind = live.id().group_kind();
  if (IsWebhooks(kind)) return FillWebhooks(live, bundle, out);
  if (IsApiService(kind)) {
    if (Find(live.json(), {"spec", "service"}) == nullptr) return 0;
    out["spec"] = {{"caBundle", bundle}};
    return 1;
  }
  if (GetString(live.json(), {"spec", "conversion", "strategy"}) != "Webhook") return 0;
  out["spec"] = {{"conversion", {{"webhook", {{"clientConfig", {{"caBundle", bundle}}}}}}}};
  return 1;
}

kube::Object Marked(const kube::Resource& resource, const kube::Object& live, const std::string& hash, int count,
                    Json fields) {
  fields["apiVersion"] = resource.api_version();
  fields["kind"] = resource.kind;
  Json& metadata = fields["metadata"];
  metadata = {{"name", live.name()}, {"uid", live.uid()}};
  metadata["annotations"][std::string(api::kAnnotationCaBundle)] = BundleMark(hash, count);
  return kube::Object(std::move(fields));
}

}  // namespace

bool HasBundles(const kube::GroupKind& kind) {
  return IsWebhooks(kind) || IsApiService(kind) || kube::Is(kind, "apiextensions.k8s.io", "CustomResourceDefinition");
}

kube::Object BundlesFor(const kube::Resource& resource, const kube::Object& live, const std::string& pem,
                        const std::string& hash) {
  Json out = Json::object();
  const int count = Fill(live, Base64Encode(pem), out);
  return Marked(resource, live, hash, count, std::move(out));
}

kube::Object WithoutBundles(const kube::Resource& resource, const kube::Object& live, const std::string& hash) {
  return Marked(resource, live, hash, 0, Json::object());
}

kube::WriteOptions AsCertifier() {
  return {.field_manager = std::string(api::kCertificateManager), .metadata_only = true};
}

}  // namespace capi::ops
