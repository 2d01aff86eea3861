// What a check of files found, and how it is told: as text, as JSON, and as SARIF for what reads reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/yaml/yaml_places.h"

namespace capi::cli {

enum class Level { kNote, kWarning, kError };
std::string_view NameOf(Level level);  // "error", as SARIF has it too

// One rule of the checks. A value.
struct LintRule {
  std::string_view id;  // "unknown-field"
  Level level;          // of its findings, where they don't say another one
  std::string_view about;
};
std::span<const LintRule> LintRules();
// Ends the process for an id that is none: they are constants.
const LintRule& FindLintRule(std::string_view id);

// A value.
struct Finding {
  std::string rule;
  Level level = Level::kError;
  std::string file;  // as it was named; "-" for standard input
  YamlPlace place;
  std::string object;  // "InfrastructureProvider capa-system/aws"; "" where it is about no one object
  std::string message;
};

// In order of files and places.
void SortFindings(std::vector<Finding>& findings);
size_t Count(const std::vector<Finding>& findings, Level level);

// "file:4:3: error: message [rule]", a line each.
std::string FindingsAsText(const std::vector<Finding>& findings);
Json FindingsAsJson(const std::vector<Finding>& findings);
// SARIF 2.1.0.
Json FindingsAsSarif(const std::vector<Finding>& findings);

}  // namespace capi::cli
