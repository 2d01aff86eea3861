#include "cli/local_clusters/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "templating/workload_template.h"

namespace capi::cli::local_clusters {
namespace {

constexpr std::array<std::string_view, 11> kWords = {"SECRET",     "PASSWORD",   "PASSWD",     "PASSPHRASE",
                                                     "TOKEN",      "CREDENTIAL", "B64ENCODED", "PRIVATE_KEY",
                                                     "ACCESS_KEY", "API_KEY",    "APIKEY"};
// What ends so is the name of something, which isn't secret.
constexpr std::array<std::string_view, 3> kNameEnds = {"_NAME", "_NAMESPACE", "_KIND"};
// Shorter values occur by chance.
constexpr size_t kLeastValue = 4;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Reference(std::string_view name) { return fmt::format("${{{}}}", name); }

// In the place of a value while YAML is read: a text without any character that YAML knows.
std::string MarkOf(std::string_view name, const std::string& mark) {
  return fmt::format("x{}-{}-{}x", mark, name, mark);
}

// Calls `see` with each text of a value, `see_key` with each key.
void EachText(Json& value, const std::function<void(std::string&)>& see,
              const std::function<void(const std::string&)>& see_key) {
  std::vector<Json*> todo = {&value};
  while (!todo.empty()) {
    Json* one = todo.back();
    todo.pop_back();
    if (one->is_string()) see(one->get_ref<std::string&>());
    if (!one->is_structured()) continue;
    if (one->is_object()) {
      for (auto& [key, member] : one->items()) see_key(key);
    }
    for (Json& member : *one) todo.push_back(&member);
  }
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// `text` with the values in the place of their references, and how often each was there. A value may have the text of a
// reference: it stays.
std::string Replaced(const std::string& text, const FilledIn& values, std::map<std::string, size_t>& found) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 1)) {
    size_t end = text.find('}', at);
    if (end == std::string::npos || at < done) continue;
    auto value = values.find(text.substr(at + 2, end - at - 2));
    if (value == values.end()) continue;
    ++found[value->first];
    out += text.substr(done, at - done) + value->second;
    done = end + 1;
  }
  return out + text.substr(done);
}

// Takes the marks out of a text: their names go to `names`. False where a mark was taken apart.
bool Unmark(std::string& text, const std::vector<std::string>& credentials, const std::string& mark,
            std::set<std::string>& names) {
  for (const std::string& name : credentials) {
    const std::string marked = MarkOf(name, mark);
    if (!Has(text, marked)) continue;
    text = ReplaceAll(std::move(text), marked, Reference(name));
    names.insert(name);
  }
  return !Has(text, mark);
}

// The variables whose value is in the text of a Secret.
Result<std::set<std::string>> InSecrets(std::string_view text, const templating::VariableDefaults& defaults,
                                        const templating::Variables& variables, const CredentialRules& rules,
                                        const std::string& mark) {
  std::vector<std::string> all;
  auto lookup = [&](const std::string& name) -> std::optional<std::string> {
    auto value = variables(name);
    if (rules.no.contains(name) || (rules.plain.contains(name) && value)) return value;
    auto known = defaults.find(name);
    const bool required = known != defaults.end() && !known->second;
    if (!value && !required) return std::nullopt;
    all.push_back(name);
    return MarkOf(name, mark);
  };
  std::string marked = TRY(templating::FillIn(text, lookup));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::set<std::string> out;
  std::string apart;
  for (YamlDocument& document : TRY(ParseYamlStream(marked))) {
    if (GetString(document.value, {"kind"}) != "Secret") continue;
    auto see = [&](std::string& one) {
      if (!Unmark(one, all, mark, out)) apart = GetString(document.value, {"metadata", "name"});
    };
    EachText(document.value, see, [](const std::string&) {});
  }
  if (apart.empty()) return out;
  return Invalid(fmt::format(
      "the template's Secret {} has a part of a variable's value, and a file can't refer to that: write the variable "
      "as it is, ${{NAME}}, into the Secret",
      apart));
}

// Marks become references, and the annotation says which.
Status ToReferences(kube::Object& object, const std::vector<std::string>& credentials, const std::string& mark) {
  std::set<std::string> names;
  bool whole = true, in_key = false;
  std::string before = ToJsonText(object.json());
  auto see = [&](std::string& text) { whole = Unmark(text, credentials, mark, names) && whole; };
  EachText(object.json(), see, [&](const std::string& key) { in_key = in_key || Has(key, mark); });
  const std::string what = fmt::format("{} {}", object.kind(), object.name());
  if (!whole || in_key)
    return Invalid(
        fmt::format("{}: the template takes a credential apart, or makes a key of it: write it as it is, "
                    "${{NAME}}, or say with --no-credential NAME that it is none",
                    ReplaceAll(what, mark, "")));
  for (const std::string& name : names) {
    const std::string reference = Reference(name);
    for (const std::string& identity : {object.kind(), object.api_version(), object.name(), object.ns()}) {
      if (Has(identity, reference))
        return Invalid(fmt::format(
            "{}: its identity has the credential {}: say with --no-credential {} that it is none", what, name, name));
    }
    if (Has(before, reference))
      return Invalid(
          fmt::format("{}: it has the text {} by itself, too, beside the credential {}", what, reference, name));
  }
  if (!names.empty()) object.set_annotation(kFillIn, Join(std::vector<std::string>(names.begin(), names.end()), ","));
  return Ok();
}

}  // namespace

bool NamesCredential(std::string_view variable) {
  const std::string upper = ToUpper(variable);
  for (std::string_view end : kNameEnds) {
    if (upper.ends_with(end)) return false;
  }
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return Has(upper, word); });
}

Result<std::vector<kube::Object>> RenderWithReferences(std::string_view text, const templating::Variables& variables,
                                                       const CredentialRules& rules, const std::string& ns,
                                                       const std::string& mark) {
  auto defaults = TRY(templating::DefaultsOf(text));
  std::set<std::string> secret = TRY(InSecrets(text, defaults, variables, rules, mark));
  std::vector<std::string> marked;
  auto lookup = [&](const std::string& name) -> std::optional<std::string> {
    const bool by_rule = rules.yes.contains(name) || (!rules.no.contains(name) && NamesCredential(name));
    const bool credential =
        !rules.plain.contains(name) && !rules.no.contains(name) && (by_rule || secret.contains(name));
    auto value = variables(name);
    if (!credential) return value;
    auto known = defaults.find(name);
    const bool required = known != defaults.end() && !known->second;
    if (!value && !required) return std::nullopt;  // the template's own default, which is in everybody's template
    marked.push_back(name);
    return MarkOf(name, mark);
  };
  auto objects = TRY(templating::RenderTemplate(text, lookup, ns));
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  for (kube::Object& object : objects) TRY(ToReferences(object, marked, mark));
  return objects;
}

std::vector<std::string> ReferencesOf(const kube::Object& object) {
  std::vector<std::string> out;
  for (const std::string& name : Split(object.annotation(kFillIn), ',')) {
    std::string trimmed(Trim(name));
    if (!trimmed.empty()) out.push_back(std::move(trimmed));
  }
  return out;
}

Result<kube::Object> FillIn(kube::Object object, const templating::Variables& variables, FilledIn& filled,
                            std::set<std::string>& missing) {
  const std::vector<std::string> names = ReferencesOf(object);
  if (Json* annotations = Find(object.json(), {"metadata", "annotations"});
      annotations != nullptr && annotations->is_object()) {
    annotations->erase(std::string(kFillIn));
    if (annotations->empty()) Find(object.json(), {"metadata"})->erase("annotations");
  }
  FilledIn values;
  std::map<std::string, size_t> found;
  for (const std::string& name : names) {
    auto value = variables(name);
    if (!value) missing.insert(name);
    values[name] = value.value_or("");
  }
  auto see = [&](std::string& text) { text = Replaced(text, values, found); };
  EachText(object.json(), see, [](const std::string&) {});
  for (const auto& [name, value] : values) {
    if (found[name] == 0)
      return Invalid(
          fmt::format("metadata.annotations[{}] names {}, but the object has no {}", kFillIn, name, Reference(name)));
    if (!missing.contains(name)) filled[name] = value;
  }
  return object;
}

kube::Object WithoutCredentials(kube::Object live, const FilledIn& filled) {
  if (live.kind() == "Secret" && live.group_version().group.empty()) {
    live.json().erase("data");
    live.json().erase("stringData");
    if (Json* annotations = Find(live.json(), {"metadata", "annotations"}))
      annotations->erase("kubectl.kubernetes.io/last-applied-configuration");  // all of it once more
    return live;
  }
  // The longest first: one may be a part of another.
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& [name, value] : filled) {
    if (value.size() >= kLeastValue) values.emplace_back(value, name);
  }
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  auto see = [&](std::string& text) {
    for (const auto& [value, name] : values) text = ReplaceAll(std::move(text), value, Reference(name));
  };
  EachText(live.json(), see, [](const std::string&) {});
  return live;
}

}  // namespace capi::cli::local_clusters
