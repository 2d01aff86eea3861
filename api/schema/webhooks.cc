#include "api/schema/webhooks.h"

#include <fmt/format.h>

#include "api/schema/crds.h"
#include "base/strings.h"

namespace capi::api {
namespace {

std::string PathOf(std::string_view verb, const ProviderKind& kind) {
  return fmt::format("/{}-{}-{}-{}", verb, ReplaceAll(std::string(kGroup), ".", "-"), kVersion, ToLower(kind.kind));
}

// v1alpha1 too: the API server converts what it sends.
Json Webhook(const ProviderKind& kind, const std::string& path) {
  Json rule = {{"apiGroups", {kGroup}},
               {"apiVersions", {kVersion}},
               {"operations", {"CREATE", "UPDATE"}},
               {"resources", {kind.plural}},
               {"scope", "Namespaced"}};
  Json service = {{"namespace", kOperatorNamespace}, {"name", kWebhookService}, {"path", path}, {"port", 443}};
  return {{"name", fmt::format("v{}.kb.io", ToLower(kind.kind))},
          {"admissionReviewVersions", {"v1"}},
          {"clientConfig", {{"service", std::move(service)}}},
          {"failurePolicy", "Fail"},
          {"matchPolicy", "Equivalent"},
          {"rules", Json::array({std::move(rule)})},
          {"sideEffects", "None"},
          {"timeoutSeconds", 10}};
}

Json Configuration(std::string_view kind, std::string_view name) {
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}, {"labels", {{"app.kubernetes.io/name", "capi-operator"}}}}},
          {"webhooks", Json::array()}};
}

}  // namespace

std::string MutatingPath(const ProviderKind& kind) { return PathOf("mutate", kind); }
std::string ValidatingPath(const ProviderKind& kind) { return PathOf("validate", kind); }

Json MutatingWebhookConfiguration() {
  Json out = Configuration("MutatingWebhookConfiguration", kMutatingConfiguration);
  for (const ProviderKind& kind : kProviderKinds) {
    Json webhook = Webhook(kind, MutatingPath(kind));
    webhook["reinvocationPolicy"] = "IfNeeded";  // another webhook may write a reference
    out["webhooks"].push_back(std::move(webhook));
  }
  return out;
}

Json ValidatingWebhookConfiguration() {
  Json out = Configuration("ValidatingWebhookConfiguration", kValidatingConfiguration);
  for (const ProviderKind& kind : kProviderKinds) out["webhooks"].push_back(Webhook(kind, ValidatingPath(kind)));
  return out;
}

}  // namespace capi::api
