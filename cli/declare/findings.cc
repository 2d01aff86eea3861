#include "cli/declare/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/frame/printable.h"

namespace capi::cli {
namespace {

constexpr LintRule kRules[] = {
    {"yaml", Level::kError, "The file is YAML that can be read, and no key stands twice in one map."},
    {"api-version", Level::kError, "The kind is served at the version that the object is written for."},
    {"unknown-kind", Level::kError, "An object of this API has one of its kinds, and one of its kinds has this API."},
    {"unknown-field", Level::kError, "The object has no field that its kind doesn't have."},
    {"schema", Level::kError, "Each field has a value of its type, and one that it can have."},
    {"invalid", Level::kError, "The object is one that the operator's webhook takes."},
    {"unwise", Level::kWarning, "The object has nothing that is legal but unwise."},
    {"duplicate-provider", Level::kError, "There is one object for each provider, whatever its namespace."},
    {"unpinned-version", Level::kWarning,
     "spec.version is set. Where it isn't, the operator chooses a version and writes it into the object."},
    {"foreign-reference", Level::kWarning, "References stay in the namespace of the object."},
    {"version-not-found", Level::kError, "The release is there."},
    {"release", Level::kError, "The release can be read, and is installed with what the object says."},
    {"contract", Level::kError, "The contract of the provider is one that the core provider takes."},
    {"missing-variable", Level::kError, "Each variable that the release needs has a value."},
    {"secret-elsewhere", Level::kNote,
     "The Secret with the variables isn't in the files: these keys are needed there."},
    {"no-effect", Level::kWarning, "Each patch and each override is for an object of the release."},
    {"not-checked", Level::kWarning, "Everything could be checked."},
};

}  // namespace

std::string_view NameOf(Level level) {
  return level == Level::kError ? "error" : level == Level::kWarning ? "warning" : "note";
}

std::span<const LintRule> LintRules() { return kRules; }

const LintRule& FindLintRule(std::string_view id) {
  for (const LintRule& rule : kRules) {
    if (rule.id == id) return rule;
  }
  std::abort();
}

void SortFindings(std::vector<Finding>& findings) {
  auto key = [](const Finding& f) { return std::tie(f.file, f.place, f.rule, f.message); };
  std::stable_sort(findings.begin(), findings.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

size_t Count(const std::vector<Finding>& findings, Level level) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.level == level; }));
}

std::string FindingsAsText(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings) {
    out += PrintableLine(fmt::format("{}:{}:{}: {}: {}{} [{}]", one.file, one.place.line, one.place.column,
                                     NameOf(one.level), one.object.empty() ? "" : one.object + ": ", one.message,
                                     one.rule)) +
           "\n";
  }
  return out;
}

Json FindingsAsJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& one : findings) {
    list.push_back({{"file", one.file},
                    {"line", one.place.line},
                    {"column", one.place.column},
                    {"level", NameOf(one.level)},
                    {"rule", one.rule},
                    {"object", one.object},
                    {"message", one.message}});
  }
  return {{"findings", list},
          {"errors", Count(findings, Level::kError)},
          {"warnings", Count(findings, Level::kWarning)},
          {"notes", Count(findings, Level::kNote)}};
}

namespace {

// For SARIF, the Static Analysis Results Interchange Format, version 2.1.0 of OASIS.

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
