#include "cli/frame/structured.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/printable.h"

namespace capi::cli {
namespace {

constexpr std::pair<const char*, OutputFormat> kFormats[] = {
    {"json", OutputFormat::kJson},  {"name", OutputFormat::kName}, {"table", OutputFormat::kTable},
    {"text", OutputFormat::kTable}, {"wide", OutputFormat::kWide}, {"yaml", OutputFormat::kYaml}};

// What stands twice, once for each contract, say, is one object.
std::string Lines(const std::vector<std::string>& names) {
  std::string out;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) out += PrintableLine(*name) + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> OutputFormatNames(const std::string& more) {
  std::vector<std::string> out;
  for (const auto& [name, format] : kFormats) out.emplace_back(name);
  if (!more.empty()) out.push_back(more);
  std::sort(out.begin(), out.end());
  return out;
}

Result<OutputFormat> ParseOutputFormat(const std::string& text, const std::string& more) {
  for (const auto& [name, format] : kFormats) {
    if (text == name) return format;
  }
  return Error{Code::kInvalidArgument,
               fmt::format("invalid output format {}, valid values: [{}]", api::GoQuote(text),
                           Join(OutputFormatNames(more), " ")),
               {}};
}

std::string ToPrettyJson(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string Format(OutputFormat format, const Answer& answer) {
  switch (format) {
    case OutputFormat::kTable: return answer.table;
    case OutputFormat::kWide: return answer.wide.empty() ? answer.table : answer.wide;
    case OutputFormat::kName: return Lines(answer.names);
    case OutputFormat::kJson: return ToPrettyJson(answer.facts);
    case OutputFormat::kYaml: return ToYaml(answer.facts);
  }
  return "";
}

}  // namespace capi::cli
