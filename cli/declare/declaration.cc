#include "cli/declare/declaration.h"

#include <fmt/format.h>

#include "api/release.h"
#include "api/release_maps.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/install/provider_manifests.h"
#include "fetch/url.h"
#include "templating/workload_template.h"

namespace capi::cli {
namespace {

// The operator takes spec.version, whatever version the URL names. (It isn't given one of a folder on a server.)
Result<std::string> OfAnyVersion(const std::string& url) {
  if (TRY(fetch::KindOfUrl(url)) == fetch::UrlKind::kGitLab) {
    fetch::GitLabUrl parts = TRY(fetch::ParseGitLabUrl(url));
    return url.substr(0, url.size() - parts.version.size() - parts.file.size() - 1) + "latest/" + parts.file;
  }
  fetch::GitHubUrl parts = TRY(fetch::ParseGitHubUrl(url));
  return ReplaceAll(url, "/releases/" + parts.version + "/", "/releases/latest/");
}

// Where the operator is to look, and what it can't. A release that is on this machine alone, by an override, a mirror
// or a folder, goes along (as with `init`).
Status DeclareSource(const Config& config, const InventoryEntry& entry, ProviderSource source, Declaration& out) {
  const api::ProviderId& id = entry.id;
  const api::KnownProvider* known = api::FindKnownProvider(id.type, id.name);
  const std::string url = source.url;
  const bool elsewhere = known != nullptr && TRY(fetch::KindOfUrl(url)) == fetch::UrlKind::kFolder;
  if (elsewhere) source.url = known->Url();
  ReleaseSource from = TRY(SourceOf(config, source, entry.version, url.substr(url.rfind('/') + 1)));
  Json& spec = out.object.json()["spec"];
  out.needs_release = from.kind == ReleaseSource::Kind::kInCluster;
  if (out.needs_release) spec["fetchConfig"]["selector"]["matchLabels"] = api::ReleaseSelector(id);
  if (from.kind == ReleaseSource::Kind::kUrl) spec["fetchConfig"]["url"] = TRY(OfAnyVersion(url));
  if (elsewhere && !out.needs_release) {
    out.remarks.push_back(fmt::format(
        "The configuration takes its releases from {}, which the operator doesn't read. It takes them from {}, "
        "or from the folder of its flag --releases-dir.",
        url, known->Url()));
  }
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
  TRY(DeclareSource(config, entry, std::move(source), out));
  return out;
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
