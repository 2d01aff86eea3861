#include "operator/observe/settings.h"

#include <fmt/core.h>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "fetch/provider_entry.h"
#include "templating/customise/images.h"
#include "templating/envsubst/glob.h"

namespace capi::ops {
namespace {

Error Bad(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

Result<CustomProvider> ParseProviderEntry(const Json& json) {
  fetch::ProviderEntry entry = TRY(fetch::ReadProviderEntry(json));
  api::ProviderType type = TRY(fetch::CheckProviderEntry(entry));
  return CustomProvider{entry.name, entry.url, type};
}

}  // namespace

Result<ConfigFile> ParseConfigFile(std::string_view yaml) {
  ConfigFile file;
  Json root = TRY(ParseYaml(yaml));
  if (root.is_null()) return file;
  if (!root.is_object()) return Bad("the file is no map");
  if (const Json* images = Find(root, {"images"})) file.images = TRY(templating::ReadImageOverrides(*images));
  const Json* providers = Find(root, {"providers"});
  if (providers == nullptr || providers->is_null()) return file;
  if (!providers->is_array()) return Bad("providers: is no list");
  for (size_t i = 0; i < providers->size(); ++i) {
    file.providers.push_back(TRY_WITH(ParseProviderEntry((*providers)[i]), fmt::format("providers[{}]", i)));
  }
  return file;
}

std::optional<std::string> Settings::Variable(const std::string& name) const {
  auto it = environment.find(name);
  return it == environment.end() ? std::nullopt : std::optional(it->second);
}

std::string Settings::Digest() const {
  std::string text = renderer;
  for (const auto& [name, value] : environment) text += fmt::format("\nvariable {}={}", name, value);
  for (const auto& [key, o] : file.images) text += fmt::format("\nimage {} {} {} {}", key, o.repository, o.name, o.tag);
  return Sha256Hex(text).substr(0, 16);
}

std::optional<std::string> Settings::UrlOf(api::ProviderType type, std::string_view name) const {
  for (const auto& provider : file.providers) {
    if (provider.type == type && provider.name == name) return provider.url;
  }
  const api::KnownProvider* known = api::FindKnownProvider(type, name);
  if (known == nullptr) return std::nullopt;
  return known->Url();
}

std::map<std::string, std::string> SelectEnvironment(const char* const* all, const std::vector<std::string>& patterns) {
  std::map<std::string, std::string> out;
  for (; all != nullptr && *all != nullptr; ++all) {
    std::string_view entry = *all;
    size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    std::string_view name = entry.substr(0, equals);
    for (const auto& pattern : patterns) {
      if (templating::GlobMatches(name, pattern)) out[std::string(name)] = entry.substr(equals + 1);
    }
  }
  return out;
}

}  // namespace capi::ops
