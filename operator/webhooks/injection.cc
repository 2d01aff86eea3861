#include "operator/webhooks/injection.h"

#include "base/encoding.h"

namespace capi::ops {
namespace {

Json ClientConfig(const std::string& bundle) { return {{"clientConfig", {{"caBundle", bundle}}}}; }

// The entries of a webhook configuration. All of them, also those that are right: what an apply no longer names is
// taken away.
std::optional<Json> Entries(const kube::Object& target, const std::string& bundle) {
  const Json* webhooks = Find(target.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return std::nullopt;
  Json entries = Json::array();
  bool right = true;
  for (const Json& webhook : *webhooks) {
    right = right && GetString(webhook, {"clientConfig", "caBundle"}) == bundle;
    Json entry = ClientConfig(bundle);
    entry["name"] = GetString(webhook, {"name"});
    entries.push_back(std::move(entry));
  }
  if (right) return std::nullopt;
  return Json{{"webhooks", std::move(entries)}};
}

std::optional<Json> Conversion(const kube::Object& target, const std::string& bundle) {
  if (GetString(target.json(), {"spec", "conversion", "strategy"}) != "Webhook") return std::nullopt;
  if (GetString(target.json(), {"spec", "conversion", "webhook", "clientConfig", "caBundle"}) == bundle) {
    return std::nullopt;
  }
  return Json{{"spec", {{"conversion", {{"webhook", ClientConfig(bundle)}}}}}};
}

}  // namespace

std::string_view OtherInjector(const kube::Object& target) {
  for (std::string_view name : {"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret",
                                "cert-manager.io/inject-apiserver-ca"}) {
    if (target.has_annotation(name)) return name;
  }
  return "";
}

std::optional<kube::Object> InjectionFor(const kube::Resource& resource, const kube::Object& target,
                                         std::string_view bundle_pem) {
  if (!OtherInjector(target).empty()) return std::nullopt;
  std::string bundle = Base64Encode(bundle_pem);
  bool is_crd = resource.kind == "CustomResourceDefinition";
  auto fields = is_crd ? Conversion(target, bundle) : Entries(target, bundle);
  if (!fields) return std::nullopt;
  Json& out = *fields;
  out["apiVersion"] = resource.api_version();
  out["kind"] = resource.kind;
  out["metadata"] = {{"name", target.name()}, {"uid", target.uid()}};
  return kube::Object(std::move(out));
}

}  // namespace capi::ops
