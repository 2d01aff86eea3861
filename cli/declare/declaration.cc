#include "cli/declare/declaration.h"

#include <fmt/format.h>

#include "api/release.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "fetch/url.h"
#include "templating/workload_template.h"

namespace capi::cli {
namespace {

constexpr std::string_view kGitHub = "https://github.com/";

// The operator takes spec.version, whatever version the URL names.
Result<std::string> OfAnyVersion(const std::string& url) {
  fetch::GitHubUrl parts = TRY(fetch::ParseGitHubUrl(url));
  return ReplaceAll(url, "/releases/" + parts.version + "/", "/releases/latest/");
}

Json Selector(const api::ProviderId& id) {
  return {{"matchLabels",
           {{std::string(api::kLabelReleaseType), api::KindOf(id.type).type_name},
            {std::string(api::kLabelReleaseName), id.name}}}};
}

std::string InConfigMaps(const api::ProviderId& id, const std::string& version) {
  return fmt::format(
      "kubectl create configmap {} --namespace {} --from-file=metadata=metadata.yaml --from-file=components={} && "
      "kubectl label configmap {} --namespace {} {}={} {}={}",
      version, id.ns, api::KindOf(id.type).components_file, version, id.ns, api::kLabelReleaseType,
      api::KindOf(id.type).type_name, api::kLabelReleaseName, id.name);
}

// Where the operator is to look, and what it can't.
Status DeclareSource(const InventoryEntry& entry, const std::string& url, Declaration& out) {
  const api::ProviderId& id = entry.id;
  const api::KnownProvider* known = api::FindKnownProvider(id.type, id.name);
  if (known != nullptr && known->Url() == url) return Ok();
  if (url.starts_with(kGitHub)) {
    out.object.json()["spec"]["fetchConfig"]["url"] = TRY(OfAnyVersion(url));
    return Ok();
  }
  if (known != nullptr) {
    out.remarks.push_back(fmt::format(
        "The configuration takes its releases from {}, which the operator doesn't read. It takes them from {}, "
        "or from the folder of its flag --releases-dir.",
        url, known->Url()));
    return Ok();
  }
  out.object.json()["spec"]["fetchConfig"]["selector"] = Selector(id);
  out.remarks.push_back(fmt::format(
      "The configuration takes its releases from {}, which the operator doesn't read. Put the release into a "
      "ConfigMap: {}",
      url, InConfigMaps(id, entry.version)));
  return Ok();
}

}  // namespace

Result<Declaration> Declare(const Config& config, const InventoryEntry& entry) {
  Declaration out;
  out.object = kube::Object(Json{{"apiVersion", fmt::format("{}/{}", api::kGroup, api::kVersion)},
                                 {"kind", api::KindOf(entry.id.type).kind},
                                 {"metadata", {{"name", entry.id.name}, {"namespace", entry.id.ns}}},
                                 {"spec", {{"version", entry.version}}}});
  auto source = TRY(config.FindProvider(entry.id.type, entry.id.name));
  TRY(DeclareSource(entry, source.url, out));
  return out;
}

Result<templating::ImageOverrides> ImagesOf(const Config& config, const api::ProviderId& id) {
  const std::string label = api::ManifestLabel(id.type, id.name);
  templating::ImageOverrides out;
  for (auto& [key, value] : TRY(config.Images())) {
    if (key == "all" || key == label || key.starts_with(label + "/")) out[key] = value;
  }
  return out;
}

std::string ImagesAsYaml(const templating::ImageOverrides& images) {
  Json out = Json::object();
  for (const auto& [key, image] : images) {
    Json& one = out[key] = Json::object();
    if (!image.repository.empty()) one["repository"] = image.repository;
    if (!image.name.empty()) one["name"] = image.name;
    if (!image.tag.empty()) one["tag"] = image.tag;
  }
  return ToYaml(out);
}

Result<std::vector<std::string>> VariablesOf(const Config& config, std::string_view components) {
  std::vector<std::string> out;
  for (const auto& [name, fallback] : TRY(templating::DefaultsOf(components))) {
    auto value = TRY(config.Get(name));
    if (!fallback || (value && *value != *fallback)) out.push_back(name);
  }
  return out;
}

}  // namespace capi::cli
