#include "cli/declare/render_provider.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/find_release.h"
#include "cli/frame/lookup.h"
#include "cli/frame/provider_objects.h"
#include "templating/render.h"

namespace capi::cli {
namespace {

using Secret = std::map<std::string, std::string>;  // decoded

std::string Where(std::string_view kind, const api::ObjectRef& ref) {
  return fmt::format("{} {}/{}", kind, ref.ns, ref.name);
}

Result<Secret> ReadSecret(const Context& ctx, kube::Client& client, const std::optional<api::ObjectRef>& ref) {
  Secret out;
  if (!ref) return out;
  auto object = TRY_WITH(client.Get(ctx, kube::Builtin("Secret"), ref->ns, ref->name), Where("Secret", *ref));
  const Json* data = Find(object.json(), {"data"});
  if (data == nullptr || !data->is_object()) return out;
  for (const auto& [key, value] : data->items()) {
    if (value.is_string())
      out[key] = TRY_WITH(Base64Decode(value.get_ref<const std::string&>()), Where("Secret", *ref));
  }
  return out;
}

Result<templating::ImageOverrides> ReadImages(const Secret& secret, const std::optional<api::ObjectRef>& ref) {
  auto images = secret.find("images");
  if (images == secret.end()) return templating::ImageOverrides();
  auto parsed = ParseYaml(images->second);
  // The parser's words could repeat what the Secret holds: the place is enough.
  if (!parsed.ok()) return Error{Code::kInvalidArgument, Where("Secret", *ref) + ", key images: not YAML", {}};
  return TRY_WITH(templating::ReadImageOverrides(*parsed), Where("Secret", *ref) + ", key images");
}

Result<std::string> ReadAdditional(const Context& ctx, kube::Client& client, const std::optional<api::ObjectRef>& ref) {
  if (!ref) return std::string();
  auto map = TRY_WITH(client.Get(ctx, kube::Builtin("ConfigMap"), ref->ns, ref->name), Where("ConfigMap", *ref));
  const Json* text = Find(map.json(), {"data", "manifests"});
  if (text != nullptr && text->is_string()) return text->get<std::string>();
  return Error{Code::kFailedPrecondition, Where("ConfigMap", *ref) + " has no key manifests under data", {}};
}

Result<api::Release> ReadReleaseOf(const Context& ctx, kube::Client& client, const Config& config,
                                   const api::Provider& provider, const Secret& secret, Notes& notes) {
  ReleaseSources sources{config};
  if (auto token = secret.find("github-token"); token != secret.end()) sources.github_token = token->second;
  kube::ObjectList maps;
  if (provider.spec.fetch_config && provider.spec.fetch_config->selector) {
    maps = TRY(client.List(ctx, kube::Builtin("ConfigMap"), provider.id.ns));
    for (const kube::Object& map : maps.items) sources.maps.push_back(&map);
  }
  return FindRelease(ctx, sources, provider, notes);
}

Error RenderFailed(const api::Provider& provider, const api::Release& release, const templating::RenderError& error) {
  if (error.missing.empty()) return error.error.With(release.source);
  const auto& secret = provider.spec.config_secret;
  return {Code::kFailedPrecondition,
          fmt::format("{} needs [{}]: put {} into {}, or set {} in the environment for this command", release.source,
                      Join(error.missing, ", "), error.missing.size() == 1 ? "it" : "them",
                      secret ? Where("Secret", *secret) : "a Secret that spec.configSecret names",
                      error.missing.size() == 1 ? "it" : "them"),
          {}};
}

}  // namespace

Result<RenderedProvider> RenderProvider(const Context& ctx, kube::Client& client, const Config& config,
                                        const api::Provider& provider, Notes& notes) {
  const Secret secret = TRY(ReadSecret(ctx, client, provider.spec.config_secret));
  const api::Release release = TRY(ReadReleaseOf(ctx, client, config, provider, secret, notes));
  RenderedProvider out;
  out.version = release.version.ToString();
  for (const auto& [name, value] : secret) {
    if (name != "images") out.masked.Add(value);
  }
  Lookup lookup(config);
  std::set<std::string> elsewhere;
  templating::RenderInput input;
  input.type = provider.id.type;
  input.name = provider.id.name;
  input.release = &release;
  input.spec = &provider.spec;
  input.target_namespace = provider.id.ns;
  input.additional_manifests = TRY(ReadAdditional(ctx, client, provider.spec.additional_manifests));
  input.images = TRY(ReadImages(secret, provider.spec.config_secret));
  input.cluster_scoped = [&](const kube::GroupKind& kind) -> std::optional<bool> {
    auto resource = client.mapper().For(ctx, kind);
    return resource.ok() ? std::optional(!resource->namespaced) : std::nullopt;
  };
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    if (auto own = secret.find(name); own != secret.end()) return own->second;
    auto value = lookup.function()(name);
    if (value) {
      out.masked.Add(*value);
      elsewhere.insert(name);
    }
    return value;
  };
  templating::RenderResult result = templating::Render(input);
  if (lookup.error()) return *lookup.error();
  if (result.error) return RenderFailed(provider, release, *result.error);
  if (!elsewhere.empty()) {
    notes.Warn(
        fmt::format("{}: the values of [{}] are those of this command's environment and configuration: its Secret "
                    "doesn't have them",
                    Describe(provider.id), Join(std::vector<std::string>(elsewhere.begin(), elsewhere.end()), ", ")));
  }
  out.warnings = std::move(result.output->warnings);
  for (kube::Object& object : result.output->objects) out.manifests.push_back(kube::ToManifest(std::move(object)));
  return out;
}

}  // namespace capi::cli
