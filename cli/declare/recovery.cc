#include "cli/declare/recovery.h"

#include <optional>
#include <utility>

namespace capi::cli {
namespace {

Result<std::map<kube::ObjectId, kube::Object>> ReadLive(const Context& ctx, kube::Client& client,
                                                        const std::vector<kube::Object>& objects) {
  std::map<kube::ObjectId, kube::Object> live;
  for (const kube::Object& object : objects) {
    kube::ObjectId id = object.id();
    auto resource = client.mapper().For(ctx, id.group_kind(), object.group_version().version);
    if (!resource.ok() && resource.code() == Code::kNotFound) continue;
    if (!resource.ok()) return resource.error();
    auto found = client.Get(ctx, *resource, id.ns, id.name);
    if (!found.ok() && found.code() == Code::kNotFound) continue;
    if (!found.ok()) return found.error().With(id.ToString());
    live[id] = *std::move(found);
  }
  return live;
}

}  // namespace

Result<LiveVariables> RecoverLive(const Context& ctx, kube::Client& client, const InventoryEntry& entry,
                                  const api::Release& release, const templating::ImageOverrides& images) {
  templating::RenderInput input;
  input.type = entry.id.type;
  input.name = entry.id.name;
  input.release = &release;
  input.target_namespace = entry.id.ns;
  input.images = images;
  input.cluster_scoped = [&](const kube::GroupKind& kind) -> std::optional<bool> {
    auto resource = client.mapper().For(ctx, kind);
    return resource.ok() ? std::optional(!resource->namespaced) : std::nullopt;
  };
  auto marked = TRY(templating::MarkVariables(std::move(input)));
  auto live = TRY(ReadLive(ctx, client, marked.objects));
  auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  return LiveVariables{templating::RecoverVariables(marked, live, nothing), std::move(marked.defaults)};
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
