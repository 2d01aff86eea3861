#include "templating/substitute.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace capi::templating {
namespace {

RenderError VariableError(std::string message, std::vector<std::string> missing = {}) {
  return {RenderStep::kVariables, Error{Code::kInvalidArgument, std::move(message), {}}, std::move(missing)};
}

RenderError At(const Source& source, const TemplateError& error) {
  return VariableError(fmt::format("variable at {}: {}", source.Place(error.offset), error.message));
}

}  // namespace

std::optional<RenderError> Substitute(const Source& source, const Variables& variables, bool substitute,
                                      Substituted& out, size_t max_output) {
  TemplateError error;
  auto parsed = Template::Parse(source.text(), error);
  if (!parsed) return At(source, error);
  out.text = source.text();

  Variables lookup = variables ? variables : [](const std::string&) { return std::nullopt; };
  std::vector<std::string> missing;
  for (auto& [name, fallback] : parsed->Variables()) {
    out.variables.push_back(name);
    if (substitute && !fallback && !lookup(name)) missing.push_back(name);
  }
  if (!substitute) return std::nullopt;
  if (!missing.empty()) {
    auto message = fmt::format(
        "failed to perform variable substitution: value for variables [{}] is not set. Please set the value using os "
        "environment variables or the clusterctl config file",
        Join(missing, ", "));
    return VariableError(std::move(message), std::move(missing));
  }
  if (parsed->IsPlainText()) return std::nullopt;

  auto evaluated = parsed->Evaluate(lookup, error, max_output);
  if (!evaluated) return At(source, error);
  out.output = std::move(evaluated->text);
  out.segments = std::move(evaluated->segments);
  out.text = out.output;
  return std::nullopt;
}

}  // namespace capi::templating
