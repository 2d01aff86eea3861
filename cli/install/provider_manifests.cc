#include "cli/install/provider_manifests.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/release_maps.h"
#include "base/yaml/yaml.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_release.h"
#include "fetch/url.h"

namespace capi::cli {
namespace {

// Of GitLab servers the operator asks that one alone, unless whoever runs it names others (T2), which nobody knows
// here.
constexpr std::string_view kAskedGitLab = "gitlab.com";

// A GitLab that this machine has a token for is likely to want one, and the operator isn't given it.
Result<bool> OperatorFetches(const Config& config, const std::string& url) {
  switch (TRY(fetch::KindOfUrl(url))) {
    case fetch::UrlKind::kGitHub: return true;
    case fetch::UrlKind::kGitLab:
      return TRY(fetch::ParseGitLabUrl(url)).host == kAskedGitLab &&
             TRY(config.Get("gitlab-access-token")).value_or("").empty();
    case fetch::UrlKind::kHttpFolder:  // of such hosts it asks those alone that whoever runs it names
    case fetch::UrlKind::kFolder: break;
  }
  return false;
}

bool Concerns(const std::string& key, const std::string& label) {
  return key == "all" || key == label || key.starts_with(label + "/");
}

}  // namespace

Result<ReleaseSource> SourceOf(const Config& config, const ProviderSource& source, const std::string& version,
                               const std::string& file) {
  std::string label = api::ManifestLabel(source.type, source.name);
  const std::string overrides = TRY(config.OverridesFolder());
  if (!TRY(OperatorFetches(config, source.url)) || IsOverridden(overrides, label, version, file) ||
      TRY(HasMirror(config)))
    return ReleaseSource{ReleaseSource::Kind::kInCluster, ""};
  const auto* known = api::FindKnownProvider(source.type, source.name);
  if (known != nullptr && known->Url() == source.url) return ReleaseSource{};
  return ReleaseSource{ReleaseSource::Kind::kUrl, source.url};
}

templating::ImageOverrides ImagesOf(const templating::ImageOverrides& images, const std::string& label) {
  templating::ImageOverrides out;
  for (const auto& [key, image] : images) {
    if (Concerns(key, label)) out[key] = image;
  }
  return out;
}

bool HasImageOverrides(const templating::ImageOverrides& images, const std::string& label) {
  return !ImagesOf(images, label).empty();
}

std::string ImagesText(const templating::ImageOverrides& images) {
  Json out = Json::object();
  for (const auto& [key, one] : images) {
    Json& entry = out[key] = Json::object();
    for (const auto& [name, value] : {std::pair("repository", one.repository), {"name", one.name}, {"tag", one.tag}}) {
      if (!value.empty()) entry[name] = value;
    }
  }
  return out.empty() ? "" : ToYaml(out);
}

std::map<std::string, std::string> SecretValues(const Candidate& candidate, const templating::ImageOverrides& images) {
  std::map<std::string, std::string> out = candidate.values;
  std::string text = ImagesText(ImagesOf(images, candidate.label()));
  if (!text.empty()) out["images"] = text;
  return out;
}

kube::Object ProviderObjectOf(const api::ProviderId& id, const std::string& version,
                              const std::optional<api::ObjectRef>& secret, const ReleaseSource& source) {
  Json json = {{"apiVersion", fmt::format("{}/{}", api::kGroup, api::kVersion)}, {"kind", api::KindOf(id.type).kind}};
  json["metadata"] = {{"name", id.name}, {"namespace", id.ns}};
  json["spec"] = {{"version", version}};
  if (secret) json["spec"]["configSecret"] = {{"name", secret->name}};
  if (secret && secret->ns != id.ns) json["spec"]["configSecret"]["namespace"] = secret->ns;
  if (source.kind == ReleaseSource::Kind::kUrl) json["spec"]["fetchConfig"] = {{"url", source.url}};
  if (source.kind == ReleaseSource::Kind::kInCluster)
    json["spec"]["fetchConfig"]["selector"]["matchLabels"] = api::ReleaseSelector(id);
  return kube::Object(std::move(json));
}

std::vector<kube::Object> ReleaseMapsOf(const api::ProviderId& id, const api::Release& release) {
  auto labels = api::ReleaseSelector(id);
  labels[std::string(api::kLabelReleaseVersion)] = api::ReleaseVersionLabel(release.version.ToString());
  auto maps = api::PackRelease(id, release, labels);
  std::reverse(maps.begin(), maps.end());
  return maps;
}

}  // namespace capi::cli
