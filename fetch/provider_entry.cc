#include "fetch/provider_entry.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kTypes =
    "CoreProvider, BootstrapProvider, InfrastructureProvider, ControlPlaneProvider, IPAMProvider, "
    "RuntimeExtensionProvider, AddonProvider";
constexpr std::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

Result<std::string> Text(const Json& entry, const char* key) {
  auto field = entry.find(key);
  if (field == entry.end() || field->is_null()) return std::string();
  if (field->is_string()) return field->get<std::string>();
  if (field->is_number() || field->is_boolean()) return ToJsonText(*field);
  return Invalid(fmt::format("{} is no text", key));
}

Status CheckName(const ProviderEntry& entry, const api::ProviderKind* kind) {
  if (entry.name.empty()) return Invalid("name value cannot be empty");
  if (ToLower(entry.name) != entry.name)
    return Invalid(fmt::format("provider name {} must be in lower case", entry.name));
  bool core = kind != nullptr && kind->type == api::ProviderType::kCore;
  if ((entry.name == "cluster-api") != core) {
    return Invalid(fmt::format("name cluster-api must be used with the CoreProvider type (name: {}, type: {})",
                               entry.name, entry.type));
  }
  if (!IsDns1123Subdomain(entry.name)) return Invalid(fmt::format("invalid provider name: {}", kSubdomain));
  return Ok();
}

Result<api::ProviderType> Check(const ProviderEntry& entry) {
  const api::ProviderKind* kind = api::KindByName(entry.type);
  TRY(CheckName(entry, kind));
  if (entry.url.empty()) return Invalid("provider URL value cannot be empty");
  TRY_WITH(CheckUrl(entry.url), "error parsing provider URL");
  if (kind == nullptr) return Invalid(fmt::format("invalid provider type. Allowed values are [{}]", kTypes));
  return kind->type;
}

}  // namespace

Result<ProviderEntry> ReadProviderEntry(const Json& entry) {
  if (!entry.is_object()) return Invalid("an entry of providers must be a map of name, url and type");
  ProviderEntry out;
  out.name = TRY(Text(entry, "name"));
  out.url = TRY(Text(entry, "url"));
  out.type = TRY(Text(entry, "type"));
  return out;
}

Result<api::ProviderType> CheckProviderEntry(const ProviderEntry& entry) {
  return TRY_WITH(Check(entry), fmt::format("error validating configuration for the {} with name {}. Please fix the "
                                            "providers value in clusterctl configuration file",
                                            entry.type, entry.name));
}

}  // namespace capi::fetch
