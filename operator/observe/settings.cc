#include "operator/observe/settings.h"

#include <fmt/core.h>

#include "base/encoding.h"
#include "base/strings.h"
#include "templating/customise/images.h"
#include "templating/envsubst/glob.h"

namespace capi::ops {
namespace {

Result<std::string> WithoutVariables(const std::string& url) {
  if (url.find("${") == url.npos) return url;
  return Error{Code::kInvalidArgument,
               fmt::format("url {} has a variable, which the operator doesn't expand: write the URL out", url),
               {}};
}

}  // namespace

Result<ConfigFile> ParseConfigFile(std::string_view yaml, std::string source) {
  auto read = TRY(fetch::ConfigurationFile::Parse(yaml, std::move(source)));
  ConfigFile file;
  if (const Json* images = read.Key("images")) {
    auto overrides = templating::ReadImageOverrides(*images);
    if (!overrides.ok()) return read.At({"images"}, overrides.error());
    file.images = *std::move(overrides);
  }
  file.providers = TRY(read.Providers(WithoutVariables));
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
