#include "cli/declare/recovery.h"

#include <optional>
#include <utility>

#include "api/version.h"
#include "kube/apply/read_live.h"

namespace capi::cli {

Result<LiveVariables> RecoverLive(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                  const api::Release& release, const templating::ImageOverrides& images,
                                  const std::string& additional) {
  templating::RenderInput input;
  input.type = id.type;
  input.name = id.name;
  input.release = &release;
  input.target_namespace = id.ns;
  input.images = images;
  input.additional_manifests = additional;
  input.cluster_scoped = [&](const kube::GroupKind& kind) -> std::optional<bool> {
    auto resource = client.mapper().For(ctx, kind);
    return resource.ok() ? std::optional(!resource->namespaced) : std::nullopt;
  };
  auto marked = TRY(templating::MarkVariables(std::move(input)));
  auto live = TRY(kube::ReadLive(ctx, client, marked.objects));
  auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  return LiveVariables{templating::RecoverVariables(marked, live, nothing), std::move(marked.defaults)};
}

std::set<LiveRelease> LiveReleases(const api::ProviderStatus& status) {
  std::set<LiveRelease> out;
  const std::string& installed = status.installed_version;
  bool noted = installed.empty();
  for (const api::HistoryEntry& entry : status.history) {
    out.insert({entry.version, entry.digest});
    noted = noted || api::SameVersion(entry.version, installed);
    if (entry.outcome.empty() || entry.outcome == api::outcome::kSucceeded) break;
  }
  if (!noted) out.insert({installed, ""});
  return out;
}

Result<RecoveredValues> AskForRest(const Config& config, const LiveVariables& live,
                                   const std::optional<SecretValuesByKey>& there) {
  RecoveredValues out;
  out.values = live.found.values;
  std::vector<std::string> names = live.found.lost;
  // "NAME (where it stands) why": one with a default can do without.
  for (const std::string& unclear : live.found.unclear) names.push_back(unclear.substr(0, unclear.find(' ')));
  for (const std::string& name : names) {
    if (there && there->contains(name)) {
      out.values[name] = there->at(name);
      continue;
    }
    auto value = TRY(config.Get(name));
    auto fallback = live.defaults.find(name);
    bool needed = fallback == live.defaults.end() || !fallback->second;
    if (value) {
      out.values[name] = *std::move(value);
      out.asked.push_back(name);
    } else if (needed) {
      out.missing.push_back(name);
    }
  }
  return out;
}

}  // namespace capi::cli
