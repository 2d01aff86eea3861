#include "cli/frame/structured.h"

#include <fmt/format.h>

#include "api/text.h"
#include "base/yaml/yaml.h"

namespace capi::cli {

Result<OutputFormat> ParseOutputFormat(const std::string& text) {
  if (text == "text") return OutputFormat::kText;
  if (text == "json") return OutputFormat::kJson;
  if (text == "yaml") return OutputFormat::kYaml;
  return Error{Code::kInvalidArgument,
               fmt::format("invalid output format {}, valid values: [json text yaml]", api::GoQuote(text)),
               {}};
}

std::string Format(OutputFormat format, const Json& facts) {
  return format == OutputFormat::kJson ? facts.dump(2) + "\n" : ToYaml(facts);
}

}  // namespace capi::cli
