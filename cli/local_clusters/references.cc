#include "cli/local_clusters/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/local_clusters/parts.h"
#include "templating/envsubst/template.h"
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
constexpr size_t kLeastLine = 6;
constexpr char kLeftOut[] = "(left out)";
// What the members are called, in lower case and with other words before, that hold credentials themselves: providers
// write what Secrets have there, and people who name no Secret.
constexpr std::array<std::string_view, 8> kSecretMembers = {
    "token",           // KubeadmConfig: bootstrapToken.token, discovery.tlsBootstrapToken; VCDCluster: refreshToken
    "password",        // VSphereCluster: cloudProviderConfiguration.global; VCDCluster: userContext
    "passwd",          // KubeadmConfig: users
    "content",         // KubeadmConfig, RKE2Config, KThreesConfig: files
    "userdata",        // KubevirtMachine
    "userdatabase64",  // the same of cloud-init
    "talosconfig",     // TalosConfig: status, the cluster's own administrator
    "privateregistry"  // KThreesConfig: agentConfig
};
constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Reference(std::string_view name) { return fmt::format("${{{}}}", name); }

// In the place of a value while YAML is read: a text without any character that YAML knows.
std::string MarkOf(std::string_view name, const std::string& mark) {
  return fmt::format("x{}-{}-{}x", mark, name, mark);
}

// Calls `see` with each text of a value, `see_key` with each key.
void EachText(Json& value, const std::function<void(std::string&)>& see,
              const std::function<void(const std::string&)>& see_key) {
  std::vector<Json*> pending = {&value};
  while (!pending.empty()) {
    Json* one = pending.back();
    pending.pop_back();
    if (one->is_string()) see(one->get_ref<std::string&>());
    if (!one->is_structured()) continue;
    if (one->is_object()) {
      for (auto& [key, member] : one->items()) see_key(key);
    }
    for (Json& member : *one) pending.push_back(&member);
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

// Which variables a template gave to a lookup as marks. A value.
using Marked = std::set<std::string>;

// A Secret, or a List that has one.
bool HasSecret(const Json& document) {
  std::vector<const Json*> pending = {&document};
  while (!pending.empty()) {
    const Json* one = pending.back();
    pending.pop_back();
    const std::string kind = GetString(*one, {"kind"});
    if (kind == "Secret") return true;
    const Json* items = kind.ends_with("List") ? Find(*one, {"items"}) : nullptr;
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : *items) pending.push_back(&item);
  }
  return false;
}

// Where each document of a text begins, in order, and whether a Secret is in it.
Result<std::vector<std::pair<size_t, bool>>> SecretsIn(const std::string& text) {
  std::vector<std::pair<size_t, bool>> out;
  for (const YamlDocument& document :
       TRY_WITH(ParseYamlStream(text),
                "the template, with a word in the place of each variable (a variable whose value is YAML itself has to "
                "be named with --no-credential)"))
    out.emplace_back(document.offset, HasSecret(document.value));
  return out;
}

// The variables whose value, or a part of it, is in the text of a Secret; `others` gets those that aren't marked. A
// template that has an error has none: it is told later.
Result<Marked> InSecrets(const templating::Template& parsed, const templating::Variables& lookup, const Marked& marked,
                         const std::string& mark, std::set<std::string>& others) {
  templating::TemplateError error;
  auto output = parsed.Evaluate(lookup, error);
  if (!output) return Marked();
  auto documents = TRY(SecretsIn(output->text));
  Marked out;
  for (size_t i = 0; i < documents.size(); ++i) {
    if (!documents[i].second) continue;
    const size_t begin = documents[i].first;
    const size_t end = i + 1 < documents.size() ? documents[i + 1].first : output->text.size();
    for (const templating::OutputSegment& segment : output->segments) {
      if (segment.output < begin || segment.output >= end || segment.variable.empty()) continue;
      (marked.contains(segment.variable) ? out : others).insert(segment.variable);
    }
    const std::string text = output->text.substr(begin, end - begin);
    for (const std::string& name : marked) {
      if (Has(text, MarkOf(name, mark))) out.insert(name);  // in another one's default
    }
  }
  return out;
}

// A file can refer to the whole of a value alone.
Status CheckWhole(const templating::Template& parsed, const templating::Variables& lookup, const Marked& marked,
                  const std::string& mark) {
  templating::TemplateError error;
  auto output = parsed.Evaluate(lookup, error);
  if (!output) return Ok();
  for (size_t i = 0; i < output->segments.size(); ++i) {
    const templating::OutputSegment& segment = output->segments[i];
    if (!marked.contains(segment.variable)) continue;
    const size_t end = i + 1 < output->segments.size() ? output->segments[i + 1].output : output->text.size();
    if (output->text.substr(segment.output, end - segment.output) == MarkOf(segment.variable, mark)) continue;
    return Invalid(
        fmt::format("the template takes a credential apart, and a file can't refer to a part: write {} as it is, "
                    "{}, or say with --no-credential {} that it is none",
                    segment.variable, Reference(segment.variable), segment.variable));
  }
  return Ok();
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

// The values that are long enough, and `with_lines` those of their lines that are, without the indentation, each with
// its name.
std::vector<std::pair<std::string, std::string>> ValuesOf(const FilledIn& filled, bool with_lines) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : filled) {
    if (value.size() >= kLeastValue) out.emplace_back(value, name);
    if (!with_lines || !Has(value, "\n")) continue;
    for (const std::string& line : Split(value, '\n')) {
      if (Trim(line).size() >= kLeastLine) out.emplace_back(Trim(line), name);
    }
  }
  return out;
}

bool HoldsCredential(const std::string& member, bool of_talos) {
  const std::string lower = ToLower(member);
  if (of_talos && lower == "data") return true;  // a machine's whole configuration
  return std::any_of(kSecretMembers.begin(), kSecretMembers.end(),
                     [&](std::string_view end) { return lower.ends_with(end); });
}

// A variable of a topology, an entry of a list of settings: {name: X, value: Y}.
bool IsNamedCredential(const Json& object, bool of_talos) {
  const std::string name = GetString(object, {"name"});
  return HoldsCredential(name, of_talos) || NamesCredential(name);
}

void KeepMember(Json& object, Json& from, const char* member) {
  if (Json* kept = Find(from, {member})) object[member] = std::move(*kept);
}

// All of it once more.
void DropLastApplied(kube::Object& object) {
  if (Json* annotations = Find(object.json(), {"metadata", "annotations"}); annotations && annotations->is_object())
    annotations->erase(kLastApplied);
}

// Of whole texts in the place of variables: where a variable that a Secret has as well stands for a number or a
// boolean, its reference, which is a text, would be refused once half of the objects are there. `plain`: with the
// values.
Status CheckTexts(const std::vector<kube::Object>& objects, const std::vector<kube::Object>& plain,
                  const std::set<std::string>& names) {
  for (size_t i = 0; i < std::min(objects.size(), plain.size()); ++i) {
    // All that these have is text.
    if (objects[i].kind() == "Secret" || objects[i].kind() == "ConfigMap") continue;
    std::vector<std::pair<const Json*, const Json*>> pending = {{&objects[i].json(), &plain[i].json()}};
    while (!pending.empty()) {
      const auto [one, value] = pending.back();
      pending.pop_back();
      if (one->is_string() && value->is_primitive() && !value->is_string()) {
        for (const std::string& name : names) {
          if (one->get_ref<const std::string&>() != Reference(name)) continue;
          return Invalid(
              fmt::format("{} {}: {} stands for a number or a boolean there, and in a Secret as well: a file can refer "
                          "to a text alone. Say with --no-credential {} that it is none",
                          objects[i].kind(), objects[i].name(), name, name));
        }
      }
      if (one->is_object() && value->is_object()) {
        for (const auto& [key, member] : one->items()) {
          if (auto other = value->find(key); other != value->end()) pending.emplace_back(&member, &*other);
        }
      }
      if (!one->is_array() || !value->is_array()) continue;
      for (size_t at = 0; at < std::min(one->size(), value->size()); ++at)
        pending.emplace_back(&(*one)[at], &(*value)[at]);
    }
  }
  return Ok();
}

}  // namespace

std::set<std::string> VariablesIn(std::string_view text) {
  std::set<std::string> out;
  templating::TemplateError error;
  auto parsed = templating::Template::Parse(text, error);
  if (!parsed) return out;
  for (const auto& [name, fallback] : parsed->Variables()) out.insert(name);
  // Where none has a value, all defaults are looked at.
  auto see = [&](const std::string& name) -> std::optional<std::string> {
    out.insert(name);
    return std::nullopt;
  };
  static_cast<void>(parsed->Evaluate(see, error));
  return out;
}

bool NamesCredential(std::string_view variable) {
  const std::string upper = ToUpper(variable);
  for (std::string_view end : kNameEnds) {
    if (upper.ends_with(end)) return false;
  }
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return Has(upper, word); });
}

Result<std::vector<kube::Object>> RenderWithReferences(std::string_view text, const templating::Variables& variables,
                                                       const CredentialRules& rules, const std::string& ns,
                                                       const std::string& mark, std::set<std::string>* defaulted) {
  auto defaults = TRY(templating::DefaultsOf(text));
  templating::TemplateError error;
  auto parsed = templating::Template::Parse(text, error);
  if (!parsed) return Invalid(error.message);
  // Marks for the variables of which `is_credential` is true, but for the template's own defaults, which everybody has.
  auto marking = [&](const std::function<bool(const std::string&)>& is_credential,
                     Marked& marked) -> templating::Variables {
    return [&, is_credential](const std::string& name) -> std::optional<std::string> {
      auto value = variables(name);
      if (rules.no.contains(name) || rules.plain.contains(name) || !is_credential(name)) return value;
      auto known = defaults.find(name);
      const bool required = known != defaults.end() && !known->second;
      if (!value && !required) return std::nullopt;
      marked.insert(name);
      return MarkOf(name, mark);
    };
  };
  Marked all, marked;
  const templating::Variables mark_all = marking([](const std::string&) { return true; }, all);
  for (const auto& [name, fallback] : defaults) static_cast<void>(mark_all(name));
  std::set<std::string> plain_in_secrets;
  const Marked secret = TRY(InSecrets(*parsed, mark_all, all, mark, plain_in_secrets));
  auto is_credential = [&](const std::string& name) {
    return rules.yes.contains(name) || NamesCredential(name) || secret.contains(name);
  };
  const templating::Variables lookup = marking(is_credential, marked);
  for (const auto& [name, fallback] : defaults) static_cast<void>(lookup(name));
  TRY(CheckWhole(*parsed, lookup, marked, mark));
  auto objects = TRY(templating::RenderTemplate(text, lookup, ns));
  const std::vector<std::string> names(marked.begin(), marked.end());
  for (kube::Object& object : objects) TRY(ToReferences(object, names, mark));
  std::set<std::string> by_secret_alone;
  for (const std::string& name : secret) {
    if (!rules.yes.contains(name) && !NamesCredential(name)) by_secret_alone.insert(name);
  }
  // With all values: where one is missing, nothing can be told.
  auto plain = templating::RenderTemplate(text, variables, ns);
  if (plain.ok()) TRY(CheckTexts(objects, *plain, by_secret_alone));
  for (const auto& [name, fallback] : defaults) {
    if (defaulted == nullptr || !fallback || rules.no.contains(name) || rules.plain.contains(name)) continue;
    if ((is_credential(name) || plain_in_secrets.contains(name)) && !variables(name)) defaulted->insert(name);
  }
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

Hider::Hider(const FilledIn& filled) : values_(WrittenOf(filled, false)), lines_(WrittenOf(filled, true)) {
  for (const auto& [name, value] : filled) names_.insert(name);
}

// As text of others may have them. The longest first: one may be a part of another.
std::vector<Hider::Written> Hider::WrittenOf(const FilledIn& filled, bool with_lines) {
  std::vector<Written> out;
  for (const auto& [value, name] : ValuesOf(filled, with_lines)) {
    std::string quoted = ToJsonText(Json(value));
    quoted = quoted.substr(1, quoted.size() - 2);
    // Go's writer of JSON, which managers log with.
    std::string of_go = quoted;
    for (const auto& [from, to] : {std::pair("&", "\\u0026"), std::pair("<", "\\u003c"), std::pair(">", "\\u003e")})
      of_go = ReplaceAll(std::move(of_go), from, to);
    for (const std::string& form : {value, quoted, of_go, Base64Encode(value)}) out.emplace_back(form, name);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return out;
}

// From `first` on. What a reference has in its name is no value.
std::string Hider::Hidden(std::string text, const std::vector<Written>& values, size_t first) {
  for (; first < values.size(); ++first) {
    const auto& [value, name] = values[first];
    size_t at = text.find(value);
    if (at == std::string::npos) continue;
    std::string out;
    size_t done = 0;
    for (; at != std::string::npos; at = text.find(value, done)) {
      out += Hidden(text.substr(done, at - done), values, first + 1) + Reference(name);
      done = at + value.size();
    }
    return out + Hidden(text.substr(done), values, first + 1);
  }
  return text;
}

// A reference is none.
void Hider::LeaveOutCredentials(Json& json) const {
  const bool of_talos = GetString(json, {"kind"}).starts_with("TalosConfig");
  // Exactly a reference to a value that was filled in: all else may have more than that.
  auto is_reference = [&](const std::string& text) {
    return text.starts_with("${") && text.ends_with('}') && names_.contains(text.substr(2, text.size() - 3));
  };
  std::vector<Json*> pending = {&json};
  while (!pending.empty()) {
    Json* one = pending.back();
    pending.pop_back();
    if (one->is_object()) {
      for (auto& [name, member] : one->items()) {
        const bool is_text = member.is_string() && HoldsCredential(name, of_talos);
        if (!is_text && (name != "value" || !IsNamedCredential(*one, of_talos))) continue;
        if (!member.is_string() || !is_reference(member.get_ref<const std::string&>())) member = kLeftOut;
      }
    }
    if (!one->is_structured()) continue;
    for (Json& member : *one) pending.push_back(&member);
  }
}

std::string Hider::WithoutValues(std::string text) const { return Hidden(std::move(text), values_); }

std::string Hider::WithoutLines(std::string text) const { return Hidden(std::move(text), lines_); }

std::string Hider::WithoutCutValue(std::string text) const {
  size_t cut = 0, whole = 0;
  for (const auto& [value, name] : values_) {
    if (text.starts_with(value)) whole = std::max(whole, value.size());
    for (size_t length = std::min(value.size() - 1, text.size()); length > cut; --length) {
      if (text.compare(0, length, value, value.size() - length) == 0) cut = length;
    }
  }
  // A whole one is known: without its first bytes it wouldn't be.
  return whole >= cut ? text : text.substr(cut);
}

kube::Object Hider::WithoutCredentials(kube::Object live) const {
  if (IsSecret(live)) {
    live.json().erase("data");
    live.json().erase("stringData");
    DropLastApplied(live);
    return live;
  }
  // A value that is a common word, a user `default`, would change which object it is.
  Json whole = live.json();
  EachText(
      live.json(), [&](std::string& text) { text = Hidden(std::move(text), values_); }, [](const std::string&) {});
  for (const char* member : {"apiVersion", "kind"}) KeepMember(live.json(), whole, member);
  if (Json* metadata = Find(live.json(), {"metadata"})) {
    for (const char* member : {"name", "namespace", "uid", "ownerReferences"})
      KeepMember(*metadata, *Find(whole, {"metadata"}), member);
  }
  const std::string group = live.group_version().group;
  if (IsOfClusterApi(group) || group.starts_with("bootstrap.") || group.starts_with("controlplane.")) {
    DropLastApplied(live);
    LeaveOutCredentials(live.json());
  }
  return live;
}

}  // namespace capi::cli::local_clusters
