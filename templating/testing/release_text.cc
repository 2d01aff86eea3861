#include "templating/testing/release_text.h"

#include <algorithm>

#include "base/testing/must.h"
#include "base/yaml.h"

namespace capi::templating {
namespace {

// `${NAME}` becomes its value, `${NAME:=default}` its default.
std::string Filled(std::string text, const api::VariableValues& values) {
  for (size_t at = 0; (at = text.find("${", at)) != std::string::npos;) {
    size_t end = text.find('}', at);
    if (end == std::string::npos) break;
    std::string inside = text.substr(at + 2, end - at - 2);
    size_t sign = inside.find_first_of(":=-");
    std::string value;
    if (sign == std::string::npos) {
      auto known = values.find(inside);
      value = known == values.end() ? "" : known->second;
    } else {
      value = inside.substr(sign + (inside.compare(sign, 2, ":=") == 0 || inside.compare(sign, 2, ":-") == 0 ? 2 : 1));
    }
    text.replace(at, end - at + 1, value);
    at += value.size();
  }
  return text;
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
  for (YamlDocument& document : Must(ParseYamlStream(Filled(components, out.values)), "components")) {
    FindImages(document.value, out.images);
    out.objects.push_back(std::move(document.value));
  }
  return out;
}

}  // namespace capi::templating
