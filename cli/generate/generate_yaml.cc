#include "cli/generate/generate_yaml.h"

#include <fmt/format.h>

#include "base/yaml/yaml.h"
#include "cli/frame/lookup.h"
#include "cli/generate/template_text.h"
#include "templating/workload_template.h"

namespace capi::cli {
namespace {

std::string List(const templating::VariableDefaults& variables) {
  if (variables.empty()) return "\n";
  std::string out = "Variables:\n";
  for (const auto& [name, value] : variables) out += fmt::format("  - {}\n", name);
  return out;
}

// The documents as they are, objects or not, with their keys sorted.
Result<std::string> Print(const std::string& yaml) {
  auto documents = TRY_WITH(ParseYamlStream(yaml), "failed to parse yaml");
  std::string out;
  for (const YamlDocument& document : documents) {
    if (!document.value.is_object()) {
      return Error{Code::kInvalidArgument,
                   fmt::format("failed to parse yaml: line {}: a document is no map of keys", document.line),
                   {}};
    }
    if (!out.empty()) out += "---\n";
    out += ToYaml(document.value);
  }
  return out.empty() ? "\n" : out;
}

}  // namespace

Status GenerateYaml(const Context& ctx, const GlobalOptions& global, const GenerateYamlOptions& options, World& world) {
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  TemplateText text = TRY(ReadTemplateText(ctx, config, options.from, world));
  if (options.list_variables) {
    world.out << List(TRY_WITH(templating::DefaultsOf(text.text), text.source));
    return Ok();
  }
  Lookup lookup(config);
  auto yaml = templating::FillIn(text.text, lookup.function());
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);
  if (lookup.error()) return *lookup.error();
  auto documents = TRY(std::move(yaml));
  world.out << TRY(Print(documents));
  return Ok();
}

}  // namespace capi::cli
