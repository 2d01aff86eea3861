#include "operator/report/secret_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

constexpr std::string_view kHidden = "***";
constexpr size_t kAnywhere = 8, kWord = 3;   // characters
constexpr size_t kMostOfNumber = 64;         // longer texts are no numbers
constexpr size_t kMostOfMessage = 16 << 10;  // no message repeats a longer value whole
// A Secret of a mebibyte can have a hundred thousand lines, and each is looked for in each message.
constexpr size_t kMostForms = 4'000, kMostBytes = 1 << 20;
constexpr size_t kMostCompared = 512u << 20;  // bytes of a text, times the values that are looked for: half a second

bool IsTooMuch(size_t forms, std::string_view text) { return forms * text.size() > kMostCompared; }

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool IsKnownToAll(std::string_view value) {
  constexpr std::string_view kKnown[] = {"", "true", "false", "yes", "no", "on", "off", "null", "nil", "~"};
  std::string lower = ToLower(value);
  return std::find(std::begin(kKnown), std::end(kKnown), lower) != std::end(kKnown);
}

// As a server prints a number that it has read where a text is to be.
std::vector<std::string> AsNumber(std::string_view value) {
  if (value.size() > kMostOfNumber) return {};
  auto read = ParseYaml(value);
  if (!read.ok() || !read->is_number()) return {};
  return {ToJsonText(*read), fmt::format("{:g}", read->get<double>())};
}

// Between the quotes of a JSON or Go text.
std::string Escaped(std::string_view value) {
  if (!IsValidUtf8(value)) return std::string(value);
  std::string quoted = ToJsonText(Json(std::string(value)));
  return quoted.substr(1, quoted.size() - 2);
}

// Whether what stands at `at` is to be hidden, by the rule for its length.
bool IsRepeated(std::string_view text, size_t at, size_t size) {
  if (size >= kAnywhere) return true;
  std::string_view before = text.substr(0, at), after = text.substr(at + size);
  bool begins = before.empty() || !IsWordCharacter(before.back());
  bool ends = after.empty() || !IsWordCharacter(after.front());
  if (size >= kWord) return begins && ends;
  constexpr std::string_view kQuotes = "\"'`";
  bool quoted = !before.empty() && !after.empty() && before.back() == after.front() &&
                kQuotes.find(before.back()) != kQuotes.npos;
  bool named = before.ends_with("alue:") || before.ends_with("alue: ");
  return quoted || (named && ends);
}

}  // namespace

void SecretValues::HideAll() {
  hides_all_ = true;
  forms_.clear();
  values_.clear();
}

void SecretValues::AddForm(std::string_view form) {
  if (hides_all_ || IsKnownToAll(form) || !forms_.emplace(form).second) return;
  bytes_ += form.size();
  if (forms_.size() > kMostForms || bytes_ > kMostBytes) HideAll();
}

void SecretValues::Add(std::string_view value) {
  if (hides_all_ || IsKnownToAll(value)) return;
  for (const std::string& line : Split(value, '\n')) {
    if (std::string_view text = Trim(line); text.size() >= kAnywhere) AddForm(text);
  }
  if (hides_all_ || value.size() > kMostOfMessage) return;
  const std::string escaped = Escaped(value);
  if (value.size() >= kWord) values_.emplace(escaped);
  AddForm(value);
  AddForm(Trim(value));
  AddForm(escaped);
  if (value.size() >= kWord) AddForm(Base64Encode(value));
  for (const std::string& number : AsNumber(value)) AddForm(number);
}

void SecretValues::Add(const SecretValues& others) {
  if (others.hides_all_) return HideAll();
  for (const std::string& form : others.forms_) AddForm(form);
  if (!hides_all_) values_.insert(others.values_.begin(), others.values_.end());
}

bool SecretValues::Has(const SecretValues& others) const {
  auto all_of = [](const auto& some, const auto& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end(), all.key_comp());
  };
  return hides_all_ || (!others.hides_all_ && all_of(others.forms_, forms_) && all_of(others.values_, values_));
}

void SecretValues::AddObject(const kube::Object& object) {
  if (object.id().group_kind() != kube::GroupKind{"", "Secret"}) return;
  for (const char* field : {"data", "stringData"}) {
    const Json* values = Find(object.json(), {field});
    if (values == nullptr || !values->is_object()) continue;
    for (const auto& [key, value] : values->items()) {
      std::string text = value.is_string() ? value.get<std::string>() : ToJsonText(value);
      Add(text);
      auto decoded = Base64Decode(text);
      if (field == std::string_view("data") && decoded.ok()) Add(*decoded);
    }
  }
}

void SecretValues::Except(std::string_view text) {
  if (IsTooMuch(forms_.size(), text)) return HideAll();
  auto stands_there = [text](const std::string& value) { return text.find(value) != text.npos; };
  std::erase_if(forms_, stands_there);
  std::erase_if(values_, stands_there);
}

std::string SecretValues::Hide(std::string text) const {
  if (text.empty()) return text;
  if (hides_all_ || IsTooMuch(forms_.size(), text)) return std::string(kNotShown);
  return HideKnown(std::move(text));
}

std::string SecretValues::HideKnown(std::string text) const {
  for (const std::string& form : forms_) {
    for (size_t at = text.find(form); at != text.npos; at = text.find(form, at)) {
      if (IsRepeated(text, at, form.size())) {
        text.replace(at, form.size(), kHidden);
        at += kHidden.size();
      } else {
        ++at;
      }
    }
  }
  return text;
}

bool SecretValues::StandIn(std::string_view text) const {
  if (hides_all_ || IsTooMuch(values_.size(), text)) return true;
  return std::any_of(values_.begin(), values_.end(),
                     [text](const std::string& value) { return text.find(value) != text.npos; });
}

}  // namespace capi::ops
