#include "api/schema/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "api/reasons.h"
#include "api/text.h"
#include "base/strings.h"

namespace capi::api {
namespace {

using Kind = FieldError::Kind;

constexpr size_t kLongestMatched = 256;  // no text that a pattern takes is longer

// The server drops nulls in the place of fields that it knows, of which none is nullable; an item of a list stays.
bool Has(const Json& value, std::string_view key) {
  if (!value.is_object()) return false;
  auto found = value.find(key);
  return found != value.end() && !found->is_null();
}

// The rules of the schemas, which are CEL there.
struct KnownRule {
  std::string_view rule;
  bool (*holds)(const Json& self);
};

constexpr KnownRule kRules[] = {
    {"[has(self.oci), has(self.url), has(self.selector), has(self.git)].exists_one(x,x)",
     [](const Json& self) {
       return Has(self, "oci") + Has(self, "url") + Has(self, "selector") + Has(self, "git") == 1;
     }},
    {"!(has(self.manifestPatches) && has(self.patches))",
     [](const Json& self) { return !(Has(self, "manifestPatches") && Has(self, "patches")); }},
    {"!(has(self.image) && has(self.imageUrl))",
     [](const Json& self) { return !(Has(self, "image") && Has(self, "imageUrl")); }},
    {"!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
     [](const Json& self) {
       return !Has(self, "minDomains") || GetString(self, {"whenUnsatisfiable"}) == "DoNotSchedule";
     }},
    {"!(has(self.rollingUpdate) && has(self.type) && self.type == 'Recreate')",
     [](const Json& self) { return !(Has(self, "rollingUpdate") && GetString(self, {"type"}) == "Recreate"); }},
    {"!(has(self.metricsAddress) && has(self.metrics) && has(self.metrics.bindAddress))",
     [](const Json& self) {
       return !(Has(self, "metricsAddress") && Has(self, "metrics") && Has(self["metrics"], "bindAddress"));
     }},
    // Of a change: one object alone can't break it.
    {"!(has(oldSelf.debug) && oldSelf.debug && has(self.debug) && self.debug) || self == oldSelf",
     [](const Json&) { return true; }},
};

// What the schemas say, and the check carries out, or needn't: what a server defaults or merges is no mistake.
constexpr std::string_view kKeywords[] = {"type",
                                          "description",
                                          "default",
                                          "format",  // int64 alone, which every integer is
                                          "properties",
                                          "additionalProperties",
                                          "required",
                                          "items",
                                          "enum",
                                          "pattern",
                                          "minLength",
                                          "minimum",
                                          "anyOf",  // of x-kubernetes-int-or-string alone
                                          "x-kubernetes-int-or-string",
                                          "x-kubernetes-list-map-keys",
                                          "x-kubernetes-list-type",
                                          "x-kubernetes-map-type",
                                          "x-kubernetes-preserve-unknown-fields",
                                          "x-kubernetes-validations"};

const KnownRule* FindRule(std::string_view rule) {
  for (const KnownRule& known : kRules) {
    if (known.rule == rule) return &known;
  }
  return nullptr;
}

std::string TypeOf(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.is_array() ? "array" : value.is_null() ? "null" : "object";
}

bool HasType(const Json& value, const std::string& type) {
  if (type == "number") return value.is_number();
  return TypeOf(value) == type;
}

bool Matches(const std::string& text, const std::string& pattern) {
  return text.size() <= kLongestMatched && std::regex_search(text, std::regex(pattern));
}

class Check {
 public:
  explicit Check(std::vector<SchemaError>& out) : out_(out) {}

  void Value(const Json& value, const Json& schema, const std::string& path) {
    const std::string type = GetString(schema, {"type"});
    if (!type.empty() && !HasType(value, type)) return WrongType(path, type, value);
    if (GetBool(schema, {"x-kubernetes-int-or-string"}) && !value.is_number_integer() && !value.is_string())
      return WrongType(path, "integer,string", value);
    if (value.is_string()) Text(value.get_ref<const std::string&>(), schema, path);
    if (value.is_number()) Number(value, schema, path);
    if (value.is_array()) List(value, schema, path);
    if (value.is_object()) Object(value, schema, path);
    Rules(value, schema, path);
  }

  void Push(const std::string& step) { steps_.push_back(step); }
  void Pop() { steps_.pop_back(); }

 private:
  void Add(Kind kind, const std::string& path, std::string value, std::string detail) {
    out_.push_back({steps_, false, {kind, path, std::move(value), std::move(detail), reason::kInvalidSpec}});
  }

  void WrongType(const std::string& path, const std::string& type, const Json& value) {
    Add(Kind::kInvalid, path, TypeOf(value),
        fmt::format("{} in body must be of type {}: \"{}\"", path, type, TypeOf(value)));
  }

  void Text(const std::string& text, const Json& schema, const std::string& path) {
    if (const Json* words = Find(schema, {"enum"}); words != nullptr) {
      std::vector<std::string> quoted;
      for (const Json& word : *words) quoted.push_back(GoQuote(word.get<std::string>()));
      bool one = std::find(words->begin(), words->end(), Json(text)) != words->end();
      if (!one) Add(Kind::kUnsupported, path, text, "supported values: " + Join(quoted, ", "));
    }
    if (auto least = GetInt(schema, {"minLength"}); static_cast<std::int64_t>(text.size()) < least)
      Add(Kind::kInvalid, path, text, fmt::format("{} in body should be at least {} chars long", path, least));
    std::string pattern = GetString(schema, {"pattern"});
    if (!pattern.empty() && !Matches(text, pattern))
      Add(Kind::kInvalid, path, Shorten(text, kLongestMatched),
          fmt::format("{} in body should match '{}'", path, pattern));
  }

  void Number(const Json& value, const Json& schema, const std::string& path) {
    const Json* least = Find(schema, {"minimum"});
    if (least == nullptr || value >= *least) return;
    Add(Kind::kInvalid, path, value.dump(),
        fmt::format("{} in body should be greater than or equal to {}", path, least->dump()));
  }

  void List(const Json& list, const Json& schema, const std::string& path) {
    const Json* items = Find(schema, {"items"});
    if (items == nullptr) return;
    if (GetString(schema, {"x-kubernetes-list-type"}) == "map") Keys(list, schema, path);
    for (size_t i = 0; i < list.size(); ++i) {
      Push(std::to_string(i));
      Value(list[i], *items, fmt::format("{}[{}]", path, i));
      Pop();
    }
  }

  // Of a list that is a map no two items have the same keys.
  void Keys(const Json& list, const Json& schema, const std::string& path) {
    std::vector<Json> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      Json keys = Json::object();
      for (const Json& key : *Find(schema, {"x-kubernetes-list-map-keys"})) {
        const auto& name = key.get_ref<const std::string&>();
        const Json* given = Find(list[i], {name});
        const Json* fallback = Find(schema, {"items", "properties", name, "default"});
        if (given != nullptr && !given->is_null()) keys[name] = *given;
        if (!keys.contains(name) && fallback != nullptr) keys[name] = *fallback;
      }
      if (std::find(seen.begin(), seen.end(), keys) != seen.end()) {
        Push(std::to_string(i));
        Add(Kind::kDuplicate, fmt::format("{}[{}]", path, i), ToJsonText(keys), "");
        Pop();
      }
      seen.push_back(std::move(keys));
    }
  }

  void Object(const Json& object, const Json& schema, const std::string& path) {
    Required(object, schema, path);
    const Json* fields = Find(schema, {"properties"});
    const Json* values = Find(schema, {"additionalProperties"});
    bool free = GetBool(schema, {"x-kubernetes-preserve-unknown-fields"});
    for (const auto& [key, value] : object.items()) {
      auto field = fields == nullptr ? Json::const_iterator() : fields->find(key);
      bool known = fields != nullptr && field != fields->end();
      Push(key);
      const std::string below = path + "." + key;
      if (known || values != nullptr) {
        if (!value.is_null()) Value(value, known ? *field : *values, below);
      } else if (!free) {
        out_.push_back({steps_, true, {Kind::kInvalid, below, "", "unknown field", reason::kInvalidSpec}});
      }
      Pop();
    }
  }

  void Required(const Json& object, const Json& schema, const std::string& path) {
    const Json* required = Find(schema, {"required"});
    if (required == nullptr) return;
    for (const Json& name : *required) {
      const auto& key = name.get_ref<const std::string&>();
      if (!Has(object, key)) Add(Kind::kRequired, path + "." + key, "", "it is missing");
    }
  }

  void Rules(const Json& value, const Json& schema, const std::string& path) {
    const Json* rules = Find(schema, {"x-kubernetes-validations"});
    if (rules == nullptr) return;
    for (const Json& one : *rules) {
      const KnownRule* known = FindRule(GetString(one, {"rule"}));
      if (known != nullptr && !known->holds(value)) Add(Kind::kInvalid, path, "", GetString(one, {"message"}));
    }
  }

  std::vector<SchemaError>& out_;
  std::vector<std::string> steps_;
};

}  // namespace

std::string SchemaError::ToString() const {
  return unknown_field ? fmt::format("unknown field {}", GoQuote(error.path)) : error.ToString();
}

std::vector<SchemaError> CheckSchema(const Json& value, const Json& schema, std::string_view path) {
  std::vector<SchemaError> out;
  Check check(out);
  for (const std::string& step : Split(path, '.')) check.Push(step);
  if (!value.is_null()) check.Value(value, schema, std::string(path));
  return out;
}

bool KnowsKeyword(std::string_view keyword) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), keyword) != std::end(kKeywords);
}

bool KnowsRule(std::string_view rule) { return FindRule(rule) != nullptr; }

}  // namespace capi::api
