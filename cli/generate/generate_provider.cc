#include "cli/generate/generate_provider.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/lookup.h"
#include "cli/frame/output.h"
#include "cli/frame/provider_release.h"
#include "templating/render.h"

namespace capi::cli {
namespace {

constexpr std::string_view kFlags =
    "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";

struct Choice {
  api::ProviderType type;
  ProviderName name;
};

Result<Choice> TheOneProvider(const GenerateProviderOptions& options) {
  const std::string* chosen = nullptr;
  api::ProviderType chosen_type = {};
  for (const auto& [type, name] : options.providers) {
    if (name.empty()) continue;
    if (chosen != nullptr)
      return Error{Code::kInvalidArgument, fmt::format("only one of {} should be set", kFlags), {}};
    chosen = &name;
    chosen_type = type;
  }
  if (chosen == nullptr)
    return Error{Code::kInvalidArgument, fmt::format("at least one of {} should be set", kFlags), {}};
  ProviderName name = TRY(ProviderName::Parse(*chosen));
  return Choice{chosen_type, std::move(name)};
}

// What an error of the engine is about. Missing variables are told as clusterctl tells them.
Error Explain(const templating::RenderError& error, const ProviderRelease& found) {
  if (!error.missing.empty()) return error.error;
  return error.error.With(fmt::format("{} of {}", found.file, found.release.source));
}

Result<templating::RenderOutput> Render(const Config& config, const GenerateProviderOptions& options,
                                        const ProviderRelease& found) {
  Lookup lookup(config);
  templating::RenderInput input;
  input.type = found.source.type;
  input.name = found.source.name;
  input.release = &found.release;
  input.variables = lookup.function();
  input.target_namespace = options.target_namespace;
  input.images = TRY(config.Images());
  input.keep_namespace_object = true;
  input.skip_substitution = options.raw || options.describe;
  auto result = templating::Render(input);
  if (lookup.error()) return *lookup.error();
  if (result.error) return Explain(*result.error, found);
  return *std::move(result.output);
}

// The URL without file and version, which are told on lines of their own.
std::string BaseUrl(std::string url) {
  for (int cuts = 0; cuts < 2; ++cuts) {
    url.resize(url.find_last_of('/') == url.npos ? 0 : url.find_last_of('/') + (cuts == 1 ? 1 : 0));
  }
  return url;
}

std::string Describe(const ProviderRelease& found, const templating::RenderOutput& rendered) {
  std::string out;
  auto line = [&](std::string_view key, std::string_view value) { out += fmt::format("{:<20}{}\n", key, value); };
  line("Name:", found.source.name);
  line("Type:", api::KindOf(found.source.type).kind);
  line("URL:", BaseUrl(found.source.url));
  line("Version:", found.release.version.ToString());
  line("File:", found.file);
  line("TargetNamespace:", rendered.target_namespace);
  auto list = [&](std::string_view title, const std::vector<std::string>& items) {
    if (!items.empty()) out += fmt::format("{}\n", title);
    for (const std::string& item : items) out += fmt::format("  - {}\n", item);
  };
  list("Variables:", rendered.variables);
  list("Images:", rendered.images);
  return out + "\n";
}

// Object by object; each is freed once it is written.
template <typename Write>
void Print(std::vector<kube::Object>& objects, Write write) {
  bool first = true;
  for (kube::Object& object : objects) {
    if (!first) write("---\n");
    first = false;
    write(ToYaml(object.json()));
    object = kube::Object();
  }
}

}  // namespace

Status GenerateProvider(const Context& ctx, const GlobalOptions& global, const GenerateProviderOptions& options,
                        World& world) {
  Notes notes(world.err);
  Choice choice = TRY(TheOneProvider(options));
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ProviderRelease found = TRY(FetchProvider(ctx, config, choice.type, choice.name, notes));
  auto rendered = Render(config, options, found);
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);
  if (!rendered.ok()) return rendered.error();
  if (options.describe) {
    world.out << Describe(found, *rendered);
    return Ok();
  }
  found.release = {};  // the text is no longer needed, and large
  if (options.write_to.empty() || options.write_to == "-") {
    Print(rendered->objects, [&](std::string_view piece) { world.out << piece; });
    return Ok();
  }
  std::string yaml;
  Print(rendered->objects, [&](std::string_view piece) { yaml += piece; });
  return WriteOutputFile(options.write_to, yaml);
}

}  // namespace capi::cli
