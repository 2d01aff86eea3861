#include "operator/inputs.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/version.h"

namespace capi::ops {

Result<Settings> LoadSettings(const Options& options, const char* const* environment) {
  Settings settings;
  settings.allow_cross_namespace_references = options.allow_cross_namespace_references;
  settings.require_service_account = options.require_service_account;
  settings.require_verified = options.require_verified;
  settings.check_updates = options.check_updates;
  settings.certificates = options.certificates;
  settings.ns = options.ns;
  settings.environment = SelectEnvironment(environment, options.environment_variables);
  auto text = ReadFile(options.clusterctl_config);
  if (!text.ok() && text.code() != Code::kNotFound) return text.error();
  if (text.ok()) settings.file = TRY(ParseConfigFile(*text, options.clusterctl_config));
  return settings;
}

SourceOptions SourcesFrom(const Options& options, const std::function<const char*(const char*)>& getenv) {
  auto token = [&](const char* name) {
    const char* value = getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  SourceOptions sources;
  sources.github.api_url = options.github_api_url;
  sources.github.download_url = options.github_url;
  sources.github.token = token("GITHUB_TOKEN");
  sources.gitlab.token = token("GITLAB_ACCESS_TOKEN");
  sources.github.user_agent = sources.gitlab.user_agent = fmt::format("capi-operator/{}", kProjectVersion);
  sources.github.proxy = sources.gitlab.proxy = http::ProxyFromEnvironment(getenv);
  sources.oci.user_agent = sources.github.user_agent;
  sources.oci.proxy = sources.github.proxy;
  // T13: one worker at least is there for what needs no network.
  sources.at_once = options.concurrency > 1 ? static_cast<size_t>(options.concurrency) - 1 : 1;
  sources.allowed = options.allowed_sources;
  sources.folder = options.releases_dir;
  return sources;
}

}  // namespace capi::ops
