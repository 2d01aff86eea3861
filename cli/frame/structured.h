// What -o chooses of: a table for people, or the same facts for programs. Every command that reads and tells something
// takes all of these.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace capi::cli {

enum class OutputFormat { kTable, kWide, kName, kJson, kYaml };

// "table" (which "text" means, too), "wide", "name", "json" or "yaml". kInvalidArgument names them, and `more`, which a
// command has beside them.
Result<OutputFormat> ParseOutputFormat(const std::string& text, const std::string& more = "");

// All words that ParseOutputFormat takes, sorted.
std::vector<std::string> OutputFormatNames(const std::string& more = "");

// Indented, with a line break at the end. Never throws: invalid UTF-8 is replaced.
std::string ToPrettyJson(const Json& value);

// What a command tells. A value.
struct Answer {
  std::string table;
  std::string wide = {};                // "" where the table has all
  std::vector<std::string> names = {};  // of the objects that it is about, as kubectl takes them where that knows them
  Json facts = {};
};
std::string Format(OutputFormat format, const Answer& answer);

}  // namespace capi::cli
