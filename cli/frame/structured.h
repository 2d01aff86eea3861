// What -o chooses of: a text for people, or the same facts for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace capi::cli {

enum class OutputFormat { kText, kJson, kYaml };

// "text", "json" or "yaml"; kInvalidArgument names them.
Result<OutputFormat> ParseOutputFormat(const std::string& text);

// Of kJson and kYaml.
std::string Format(OutputFormat format, const Json& facts);

}  // namespace capi::cli
