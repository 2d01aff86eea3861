#include "operator/ui/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advice/explain.h"
#include "api/reasons.h"
#include "api/validate/git_reference.h"
#include "api/validate/oci_reference.h"
#include "base/http/url.h"
#include "operator/decide/hold.h"

namespace capi::ops::ui {
namespace {

namespace reason = api::reason;

// Of the Secrets that a spec names, those that the message is about.
std::vector<Need> SecretsIn(const api::ProviderSpec& spec, const std::string& message) {
  std::vector<Need> out;
  for (const auto& [field, need] : ReferencesOf(spec)) {
    const bool is_named = message.find(fmt::format("{} {}/{} ", need.kind, need.ns, need.name)) != message.npos;
    if (need.kind == "Secret" && is_named && std::find(out.begin(), out.end(), need) == out.end()) out.push_back(need);
  }
  return out;
}

// The host alone: a URL's user, password and query are nobody's business.
std::vector<Need> SourceOf(const api::ProviderSpec& spec) {
  if (!spec.fetch_config) return {};
  const api::FetchConfig& fetch = *spec.fetch_config;
  std::string host;
  if (fetch.git) {
    if (auto git = api::ParseGitReference(*fetch.git); git.ok()) host = git->HostPort();
  } else if (!fetch.oci.empty()) {
    if (auto oci = api::ParseOciReference(fetch.oci); oci.ok()) host = oci->host;
  } else if (auto url = http::Url::Parse(fetch.url); url.ok()) {
    host = url->HostHeader();
  }
  return host.empty() ? std::vector<Need>() : std::vector<Need>{{"Source", "", host}};
}

std::vector<Need> NeedsOf(const api::Provider& provider, const advice::Explanation& why) {
  const api::ProviderSpec& spec = provider.spec;
  if (why.reason == reason::kSecretNotFound) return SecretsIn(spec, why.message);
  if (why.reason == reason::kMissingVariables && spec.config_secret) {
    return {{"Secret", spec.config_secret->ns, spec.config_secret->name}};
  }
  if (why.reason == reason::kAdditionalManifestsNotFound && spec.additional_manifests) {
    return {{"ConfigMap", spec.additional_manifests->ns, spec.additional_manifests->name}};
  }
  if (why.reason == reason::kServiceAccountNotFound && !spec.service_account.empty()) {
    return {{"ServiceAccount", provider.id.ns, spec.service_account}};
  }
  return TellsOfSource(why.reason) ? SourceOf(spec) : std::vector<Need>();
}

void AddNamed(const std::map<std::string, std::vector<std::string>>& keys_of, const std::string& name,
              std::vector<std::string>& keys) {
  auto found = keys_of.find(name);
  if (found == keys_of.end()) return;
  for (const std::string& key : found->second) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
}

}  // namespace

std::vector<Reference> ReferencesOf(const api::ProviderSpec& spec) {
  std::vector<Reference> out;
  auto add = [&out](std::string field, std::string kind, const api::ObjectRef& ref) {
    out.push_back({std::move(field), {std::move(kind), ref.ns, ref.name}});
  };
  if (spec.config_secret) add("spec.configSecret", "Secret", *spec.config_secret);
  if (spec.additional_manifests) add("spec.additionalManifests", "ConfigMap", *spec.additional_manifests);
  if (!spec.fetch_config) return out;
  const api::FetchConfig& fetch = *spec.fetch_config;
  if (fetch.secret_ref) add("spec.fetchConfig.secretRef", "Secret", *fetch.secret_ref);
  if (fetch.git && fetch.git->secret_ref) add("spec.fetchConfig.git.secretRef", "Secret", *fetch.git->secret_ref);
  if (fetch.verify) add("spec.fetchConfig.verify.secretRef", "Secret", fetch.verify->secret_ref);
  return out;
}

std::map<std::string, Place> Connect(const std::vector<CachedPtr>& providers) {
  // [KIND/]NAMESPACE/NAME, and KIND/NAME.
  std::map<std::string, std::vector<std::string>> by_name, by_kind;
  std::vector<std::string> cores;
  std::set<std::string> ready;
  for (const CachedPtr& one : providers) {
    const api::ProviderId& id = one->provider->id;
    by_name[id.ns + "/" + id.name].push_back(id.Key());
    by_name[id.Key()].push_back(id.Key());
    by_kind[id.ToString()].push_back(id.Key());
    if (id.type == api::ProviderType::kCore) cores.push_back(id.Key());
  }
  std::map<std::string, Place> out;
  for (const CachedPtr& one : providers) {
    const std::string key = one->provider->id.Key();
    Place& place = out[key];
    const advice::Explanation why = advice::Explain(*one->provider);
    if (why.ready) {
      ready.insert(key);
      continue;
    }
    const advice::Awaited awaited = advice::AwaitedBy(why.reason, why.message);
    if (awaited.core) place.waits_for = cores;
    for (const std::string& name : awaited.named) AddNamed(by_name, name, place.waits_for);
    for (const std::string& name : awaited.of_kind) AddNamed(by_kind, name, place.waits_for);
    std::erase(place.waits_for, key);
    place.needs = NeedsOf(*one->provider, why);
    if (awaited.core && cores.empty()) place.needs.push_back({"CoreProvider", "", "cluster-api"});
  }
  auto next = [&](const std::string& key) {
    auto place = out.find(key);
    if (place == out.end() || place->second.waits_for.size() != 1) return std::string();
    return ready.contains(place->second.waits_for.front()) ? "" : place->second.waits_for.front();
  };
  for (auto& [key, place] : out) place.root = advice::RootOf(key, next);
  return out;
}

}  // namespace capi::ops::ui
