#include "templating/testing/release_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::templating {
namespace {

// As many objects as there are lines that name the kind of one: the YAML parser is the renderer's too, and what it lost
// both would lack.
Result<std::vector<YamlDocument>> DocumentsOf(const std::string& components, const api::VariableValues& values) {
  std::vector<YamlDocument> documents = TRY(ParseYamlStream(api::FillVariables(components, values)));
  size_t kinds = 0;
  for (const auto& line : Split(components, '\n')) kinds += line.starts_with("kind: ") ? 1 : 0;
  if (documents.size() == kinds) return documents;
  return Error{Code::kInternal, fmt::format("{} objects, and {} lines \"kind: ...\"", documents.size(), kinds), {}};
}

void FindImages(const Json& object, std::set<std::string>& images) {
  for (const char* list : {"containers", "initContainers"}) {
    const Json* containers = Find(object, {"spec", "template", "spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : *containers) images.insert(GetString(container, {"image"}));
  }
}

}  // namespace

size_t ReleaseText::Count(std::string_view kind) const {
  return static_cast<size_t>(
      std::count_if(objects.begin(), objects.end(), [&](const Json& o) { return GetString(o, {"kind"}) == kind; }));
}

bool ReleaseText::CanBeInOneNamespace() const {
  std::set<std::vector<std::string>> seen;
  for (const Json& o : objects) {
    std::string version = GetString(o, {"apiVersion"});
    std::string group = version.substr(0, version.find('/') == version.npos ? 0 : version.find('/'));
    if (!seen.insert({group, GetString(o, {"kind"}), GetString(o, {"metadata", "name"})}).second) return false;
  }
  return Count("Namespace") <= 1;
}

ReleaseText ReadReleaseText(const std::string& components) {
  ReleaseText out;
  out.values = api::RequiredVariablesOf(components);
  for (const auto& [name, value] : api::AllVariablesOf(components)) out.variables.insert(name);
  for (YamlDocument& document : ValueOrAbort(DocumentsOf(components, out.values), "components")) {
    FindImages(document.value, out.images);
    out.objects.push_back(std::move(document.value));
  }
  return out;
}

}  // namespace capi::templating
