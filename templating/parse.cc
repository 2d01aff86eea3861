#include "templating/parse.h"

#include <fmt/format.h>

#include "base/yaml.h"

namespace capi::templating {
namespace {

Error Invalid(std::string message) {
  return Error{Code::kInvalidArgument, "failed to parse yaml: " + std::move(message), {}};
}

// What keeps `value` from being an object; "" when nothing does.
std::string_view Defect(const Json& value) {
  if (!value.is_object()) return "is no map";
  if (GetString(value, {"kind"}).empty()) return "has no kind";
  if (GetString(value, {"apiVersion"}).empty()) return "has no apiVersion";
  const Json* metadata = Find(value, {"metadata"});
  if (metadata != nullptr && !metadata->is_object() && !metadata->is_null()) return "has metadata that is no map";
  // A List is passed on as it is, as clusterctl does.
  if (GetString(value, {"metadata", "name"}).empty() && GetString(value, {"kind"}) != "List") return "has no name";
  return "";
}

}  // namespace

Result<std::vector<kube::Object>> ParseObjects(const Source& source, const Substituted& substituted) {
  std::string_view text = substituted.text;
  const auto& segments = substituted.segments;
  auto documents = ParseYamlStream(text);
  if (!documents.ok()) return Invalid(ExplainYamlError(documents.error().message, text, segments, source));
  if (documents->empty()) return Invalid("there is no object in it");
  std::vector<kube::Object> out;
  out.reserve(documents->size());
  for (YamlDocument& document : *documents) {
    std::string_view defect = Defect(document.value);
    if (!defect.empty()) {
      auto line = static_cast<size_t>(document.line);
      return Invalid(fmt::format("the document on {} {}", PlaceOfOutputLine(line, text, segments, source), defect));
    }
    out.emplace_back(std::move(document.value));
  }
  return out;
}

}  // namespace capi::templating
