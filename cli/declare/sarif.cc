// SARIF, the Static Analysis Results Interchange Format, version 2.1.0 of OASIS.
#include <filesystem>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/declare/findings.h"

namespace capi::cli {
namespace {

// A URI, relative where the path is: readers take it from the root of the repository.
std::string UriOf(const std::string& file) {
  if (file == "-") return "stdin";
  const std::string path = std::filesystem::path(file).lexically_normal().generic_string();
  return (path.starts_with('/') ? "file://" : "") + PercentEscape(path, "/");
}

Json Rules() {
  Json out = Json::array();
  for (const LintRule& rule : LintRules()) {
    out.push_back({{"id", rule.id},
                   {"shortDescription", {{"text", rule.about}}},
                   {"defaultConfiguration", {{"level", NameOf(rule.level)}}}});
  }
  return out;
}

Json ResultOf(const Finding& finding) {
  const LintRule& rule = FindLintRule(finding.rule);
  Json location = {{"physicalLocation",
                    {{"artifactLocation", {{"uri", UriOf(finding.file)}}},
                     {"region", {{"startLine", finding.place.line}, {"startColumn", finding.place.column}}}}}};
  if (!finding.object.empty())
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", finding.object}, {"kind", "object"}}});
  return {{"ruleId", rule.id},
          {"ruleIndex", &rule - LintRules().data()},
          {"level", NameOf(finding.level)},
          {"message", {{"text", (finding.object.empty() ? "" : finding.object + ": ") + finding.message}}},
          {"locations", Json::array({location})}};
}

}  // namespace

Json FindingsAsSarif(const std::vector<Finding>& findings) {
  Json results = Json::array();
  for (const Finding& finding : findings) results.push_back(ResultOf(finding));
  Json driver = {{"name", "clusterctl lint"}, {"version", kProjectVersion}, {"rules", Rules()}};
  Json run = {{"tool", {{"driver", driver}}}, {"results", results}, {"columnKind", "unicodeCodePoints"}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
}

}  // namespace capi::cli
