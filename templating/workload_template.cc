#include "templating/workload_template.h"

#include <fmt/format.h>

#include "templating/namespace.h"
#include "templating/parse.h"
#include "templating/source.h"
#include "templating/substitute.h"

namespace capi::templating {
namespace {

// Missing variables are told without the step's name before them, as clusterctl tells them of templates.
Error Explain(const RenderError& error) {
  size_t begin = error.missing.empty() ? 0 : error.error.message.find("value for variables");
  return begin == std::string::npos ? error.error : Error{error.error.code, error.error.message.substr(begin), {}};
}

}  // namespace

Result<VariableDefaults> DefaultsOf(std::string_view text) {
  TemplateError error;
  auto parsed = Template::Parse(text, error);
  if (!parsed) {
    return Error{
        Code::kInvalidArgument, fmt::format("{}: {}", Source(text, "").Place(error.offset), error.message), {}};
  }
  return parsed->Variables();
}

Result<std::string> FillIn(std::string_view text, const Variables& variables) {
  Source source(text, "");
  Substituted substituted;
  if (auto error = Substitute(source, variables, true, substituted)) return Explain(*error);
  return std::string(substituted.text);
}

Result<std::vector<kube::Object>> RenderTemplate(std::string_view text, const Variables& variables,
                                                 std::string_view target) {
  Source source(text, "");
  Substituted substituted;
  if (auto error = Substitute(source, variables, true, substituted)) return Explain(*error);
  ParsedObjects parsed = TRY(ParseObjects(source, substituted));
  TRY(FixNamespace(parsed.objects, target, nullptr));
  return std::move(parsed.objects);
}

}  // namespace capi::templating
