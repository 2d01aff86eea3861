#include "cli/cert_manager/release.h"

#include <fmt/format.h>

#include "api/types.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_release.h"
#include "templating/customise/images.h"

namespace capi::cli {
namespace {

constexpr std::string_view kKey = "cert-manager";  // and its label in folders, and its component under `images`
constexpr std::string_view kDefaultVersion = "v1.21.1";
constexpr std::string_view kDefaultUrl =
    "https://github.com/cert-manager/cert-manager/releases/v1.21.1/cert-manager.yaml";

Result<bool> ReadSwitch(const std::string& text) {
  if (text == "true" || text == "1") return true;
  if (text.empty() || text == "false" || text == "0") return false;
  return Error{Code::kInvalidArgument,
               fmt::format("cert-manager.externallyProvisioned is \"{}\": write true or false", text),
               {}};
}

Status AddObject(Json value, int line, std::vector<kube::Object>& out) {
  kube::Object object(std::move(value));
  if (!object.kind().empty() && !object.name().empty()) {
    out.push_back(std::move(object));
    return Ok();
  }
  return Error{Code::kInvalidArgument, fmt::format("line {}: no Kubernetes object", line), {}};
}

std::string FileOf(const CertManagerSettings& settings) { return settings.url.substr(settings.url.rfind('/') + 1); }

}  // namespace

Millis CertManagerTimeout(const std::string& text, bool& valid) {
  valid = true;
  if (text.empty()) return std::chrono::minutes(10);
  auto read = api::ParseDuration(text);
  valid = read.ok();
  return read.ok() ? *read : std::chrono::minutes(10);
}

Result<CertManagerSettings> ReadCertManagerSettings(const Config& config, Notes& notes) {
  CertManagerSettings out;
  out.url = TRY(config.GetMember(kKey, "url")).value_or(std::string(kDefaultUrl));
  out.url = TRY(config.Expand("cert-manager.url", out.url));
  out.version = TRY(config.GetMember(kKey, "version")).value_or(std::string(kDefaultVersion));
  std::string external = TRY(config.GetMember(kKey, "externallyProvisioned")).value_or("");
  out.external = TRY(ReadSwitch(ToLower(external)));
  std::string timeout = TRY(config.GetMember(kKey, "timeout")).value_or("");
  bool valid = true;
  out.timeout = CertManagerTimeout(timeout, valid);
  if (!valid) notes.Say(0, "Invalid value set for cert-manager configuration", {{"timeout", timeout}});
  return out;
}

Result<std::string> ReadCertManagerManifests(const Context& ctx, const Config& config,
                                             const CertManagerSettings& settings, Notes& notes) {
  auto version = TRY_WITH(api::Version::ParseTolerant(settings.version), "cert-manager.version");
  fetch::UrlOptions options = TRY(UrlOptionsOf(config));
  options.github.more_files = {FileOf(settings)};
  options.gitlab.url_token = options.gitlab.token;  // the configuration names this URL, too
  auto plain = TRY_WITH(fetch::OpenUrl(settings.url, kKey, options), "cert-manager.url");
  auto repository = WithOverrides(std::move(plain), TRY(config.OverridesFolder()), std::string(kKey), notes);
  std::string file = repository->ComponentsFile();
  return TRY_WITH(repository->File(ctx, version, file), fmt::format("failed to read \"{}\" of cert-manager", file));
}

Result<std::vector<kube::Object>> FetchCertManager(const Context& ctx, const Config& config,
                                                   const CertManagerSettings& settings, Notes& notes) {
  const std::string text = TRY(ReadCertManagerManifests(ctx, config, settings, notes)), file = FileOf(settings);
  auto documents = TRY_WITH(ParseYamlStream(text), fmt::format("failed to parse \"{}\" of cert-manager", file));
  std::vector<kube::Object> out;
  for (YamlDocument& document : documents)
    TRY_WITH(AddObject(std::move(document.value), document.line, out), fmt::format("\"{}\" of cert-manager", file));
  if (out.empty()) return Error{Code::kInvalidArgument, fmt::format("\"{}\" of cert-manager is empty", file), {}};
  auto images = TRY(config.Images());
  TRY_WITH(templating::FixImages(out, kKey, images), "failed to apply image overrides");
  return out;
}

}  // namespace capi::cli
