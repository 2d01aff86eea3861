#include "api/schema/crds.h"

#include <fmt/format.h>

#include "api/schema/schema.h"
#include "base/strings.h"

namespace capi::api {
namespace {

Json Column(std::string_view name, std::string_view path, std::string_view description) {
  return {{"name", name}, {"type", "string"}, {"jsonPath", path}, {"description", description}};
}

Json ReadyColumn(std::string_view name, std::string_view field, std::string_view description) {
  return Column(name, fmt::format(".status.conditions[?(@.type=='Ready')].{}", field), description);
}

std::string_view Description(ProviderType type) {
  switch (type) {
    case ProviderType::kCore: return "The core provider: Cluster API itself. Its name is cluster-api.";
    case ProviderType::kBootstrap:
      return "A provider that turns machines into nodes; its name is that of the provider.";
    case ProviderType::kControlPlane: return "A provider of control planes; its name is that of the provider.";
    case ProviderType::kInfrastructure: return "A provider of infrastructure; its name is that of the provider.";
    case ProviderType::kIpam: return "A provider of IP addresses; its name is that of the provider.";
    case ProviderType::kRuntimeExtension: return "A runtime extension; its name is that of the provider.";
    case ProviderType::kAddon: return "A provider of add-ons for clusters; its name is that of the provider.";
  }
  return "";
}

Json Version(const ProviderKind& kind, ApiVersion version) {
  bool current = version == ApiVersion::kV1Alpha2;
  Json out = {{"name", current ? kVersion : kOldVersion},
              {"served", true},
              {"storage", current},
              {"subresources", {{"status", Json::object()}}},
              {"additionalPrinterColumns", PrinterColumns()},
              {"schema", {{"openAPIV3Schema", ProviderSchema(Description(kind.type), version)}}}};
  if (!current) {
    out["deprecated"] = true;
    out["deprecationWarning"] =
        fmt::format("{}/{} {} is deprecated; write it as {}/{}", kGroup, kOldVersion, kind.kind, kGroup, kVersion);
  }
  return out;
}

// Where the manifests have our webhook. What the operator that serves it is trusted by, it writes there itself.
Json Conversion() {
  Json service = {{"namespace", kOperatorNamespace}, {"name", kWebhookService}, {"path", "/convert"}, {"port", 443}};
  return {{"strategy", "Webhook"},
          {"webhook", {{"conversionReviewVersions", {"v1"}}, {"clientConfig", {{"service", std::move(service)}}}}}};
}

}  // namespace

Json PrinterColumns() {
  Json age = {{"name", "Age"},
              {"type", "date"},
              {"jsonPath", ".metadata.creationTimestamp"},
              {"description", "Since when the object exists."}};
  Json message = ReadyColumn("Message", "message", "Particulars of the Ready condition.");
  message["priority"] = 1;  // shown with -o wide
  return Json::array({Column("Installed", ".status.installedVersion", "Version that is installed."),
                      Column("Desired", ".spec.version", "Version that is declared."),
                      Column("Contract", ".status.contract", "Cluster API contract of the installed version."),
                      ReadyColumn("Ready", "status", "Whether the provider is as declared and healthy."),
                      ReadyColumn("Reason", "reason", "Why it is ready or not."), std::move(age), std::move(message)});
}

bool HasOldVersion(ProviderType type) {
  return type == ProviderType::kCore || type == ProviderType::kBootstrap || type == ProviderType::kControlPlane ||
         type == ProviderType::kInfrastructure;
}

Json CustomResourceDefinition(const ProviderKind& kind) {
  Json names = {{"kind", kind.kind},
                {"listKind", std::string(kind.kind) + "List"},
                {"plural", kind.plural},
                {"singular", ToLower(kind.kind)},
                {"shortNames", {kind.short_name}},
                {"categories", {"capi-providers", "cluster-api-operator"}}};
  Json spec = {{"group", kGroup},
               {"scope", "Namespaced"},
               {"names", std::move(names)},
               {"versions", Json::array({Version(kind, ApiVersion::kV1Alpha2)})}};
  if (HasOldVersion(kind.type)) {
    spec["versions"].push_back(Version(kind, ApiVersion::kV1Alpha1));
    spec["conversion"] = Conversion();
  }
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", fmt::format("{}.{}", kind.plural, kGroup)}}},
          {"spec", std::move(spec)}};
}

}  // namespace capi::api
