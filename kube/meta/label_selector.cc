#include "kube/meta/label_selector.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::kube {
namespace {

bool IsAlnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends; up to 63.
bool IsNamePart(std::string_view text) {
  if (text.empty() || text.size() > 63 || !IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsLabelKey(std::string_view key) {
  size_t slash = key.find('/');
  if (slash == key.npos) return IsNamePart(key);
  return IsDns1123Subdomain(key.substr(0, slash)) && IsNamePart(key.substr(slash + 1));
}

Error Bad(std::string_view where, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", where, what), {}};
}

}  // namespace

Status LabelSelector::Add(Requirement r, const std::string& where) {
  if (!IsLabelKey(r.key)) return Bad(where, fmt::format("\"{}\" is no label key", r.key));
  bool wants_values = r.op == Operator::kIn || r.op == Operator::kNotIn;
  if (wants_values && r.values.empty()) return Bad(where, "needs values");
  if (!wants_values && !r.values.empty()) return Bad(where, "takes no values");
  for (const std::string& v : r.values) {
    if (!v.empty() && !IsNamePart(v)) return Bad(where, fmt::format("\"{}\" is no label value", v));
  }
  std::sort(r.values.begin(), r.values.end());
  auto at = std::upper_bound(requirements_.begin(), requirements_.end(), r.key,
                             [](const std::string& key, const Requirement& other) { return key < other.key; });
  requirements_.insert(at, std::move(r));
  return Ok();
}

Result<LabelSelector::Requirement> LabelSelector::RequirementFromJson(const Json& expression,
                                                                      const std::string& field) {
  Requirement out{GetString(expression, {"key"}), Operator::kIn, {}};
  std::string op = GetString(expression, {"operator"});
  if (op == "In") {
    out.op = Operator::kIn;
  } else if (op == "NotIn") {
    out.op = Operator::kNotIn;
  } else if (op == "Exists") {
    out.op = Operator::kExists;
  } else if (op == "DoesNotExist") {
    out.op = Operator::kDoesNotExist;
  } else {
    return Bad(field + ".operator", fmt::format("\"{}\" is not In, NotIn, Exists or DoesNotExist", op));
  }
  const Json* values = Find(expression, {"values"});
  if (values == nullptr || values->is_null()) return out;
  if (!values->is_array()) return Bad(field + ".values", "is no list");
  for (const Json& value : *values) {
    if (!value.is_string()) return Bad(field + ".values", "holds what is no text");
    out.values.push_back(value.get<std::string>());
  }
  return out;
}

Result<LabelSelector> LabelSelector::FromJson(const Json& selector) {
  if (!selector.is_object()) return Bad("selector", "is no object");
  LabelSelector out;
  if (const Json* labels = Find(selector, {"matchLabels"}); labels != nullptr && !labels->is_null()) {
    if (!labels->is_object()) return Bad("matchLabels", "is no object");
    for (const auto& [key, value] : labels->items()) {
      std::string field = fmt::format("matchLabels[{}]", key);
      if (!value.is_string()) return Bad(field, "is no text");
      TRY(out.Add({key, Operator::kIn, {value.get<std::string>()}}, field));
    }
  }
  if (const Json* list = Find(selector, {"matchExpressions"}); list != nullptr && !list->is_null()) {
    if (!list->is_array()) return Bad("matchExpressions", "is no list");
    for (size_t i = 0; i < list->size(); ++i) {
      std::string field = fmt::format("matchExpressions[{}]", i);
      Requirement requirement = TRY(RequirementFromJson((*list)[i], field));
      TRY(out.Add(std::move(requirement), field));
    }
  }
  return out;
}

// Reads "a=b, c in (d,e), !f" from the left.
class LabelSelector::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<LabelSelector> Run() {
    LabelSelector out;
    SkipSpace();
    while (at_ < text_.size()) {
      Requirement requirement = TRY(ReadRequirement());
      TRY(out.Add(std::move(requirement), Where()));
      SkipSpace();
      if (at_ == text_.size()) break;
      if (!Take(",")) return Bad(Where(), fmt::format("expected a comma at byte {}", at_));
      SkipSpace();
      if (at_ == text_.size()) return Bad(Where(), "ends with a comma");
    }
    return out;
  }

 private:
  std::string Where() const { return fmt::format("selector \"{}\"", text_); }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  std::string ReadWord() {
    SkipSpace();
    size_t start = at_;
    while (at_ < text_.size() && std::string_view(" \t,()=!").find(text_[at_]) == std::string_view::npos) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Result<Requirement> ReadRequirement() {
    if (Take("!")) return Requirement{ReadWord(), Operator::kDoesNotExist, {}};
    Requirement out{ReadWord(), Operator::kExists, {}};
    SkipSpace();
    if (at_ == text_.size() || text_[at_] == ',') return out;
    if (Take("!=")) return out.op = Operator::kNotIn, out.values = {ReadWord()}, out;
    if (Take("==") || Take("=")) return out.op = Operator::kIn, out.values = {ReadWord()}, out;
    std::string word = ReadWord();
    if (word != "in" && word != "notin") {
      return Bad(Where(), fmt::format("\"{}\" is not =, ==, !=, in or notin", word));
    }
    out.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    SkipSpace();
    if (!Take("(")) return Bad(Where(), fmt::format("expected ( at byte {}", at_));
    while (true) {
      out.values.push_back(ReadWord());
      SkipSpace();
      if (Take(")")) return out;
      if (!Take(",")) return Bad(Where(), fmt::format("expected , or ) at byte {}", at_));
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

Result<LabelSelector> LabelSelector::Parse(std::string_view text) { return Parser(text).Run(); }

bool LabelSelector::Matches(const Json& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const Json* found = Find(labels, {r.key});
    bool present = found != nullptr && found->is_string();
    bool listed = present && std::binary_search(r.values.begin(), r.values.end(), found->get_ref<const std::string&>());
    switch (r.op) {
      case Operator::kIn: return listed;
      case Operator::kNotIn: return !listed;  // also where the label is missing
      case Operator::kExists: return present;
      case Operator::kDoesNotExist: return !present;
    }
    return false;
  });
}

std::string LabelSelector::ToString() const {
  std::string out;
  for (const Requirement& r : requirements_) {
    if (!out.empty()) out += ",";
    bool one = r.values.size() == 1;
    switch (r.op) {
      case Operator::kIn:
        out += one ? r.key + "=" + r.values[0] : fmt::format("{} in ({})", r.key, Join(r.values, ","));
        break;
      case Operator::kNotIn:
        out += one ? r.key + "!=" + r.values[0] : fmt::format("{} notin ({})", r.key, Join(r.values, ","));
        break;
      case Operator::kExists: out += r.key; break;
      case Operator::kDoesNotExist: out += "!" + r.key; break;
    }
  }
  return out;
}

}  // namespace capi::kube
