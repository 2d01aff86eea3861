#include "operator/report/secret_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace capi::ops {
namespace {

constexpr std::string_view kHidden = "***";
constexpr size_t kAnywhere = 8, kWord = 3;   // characters
constexpr size_t kMostOfNumber = 64;         // longer texts are no numbers
constexpr size_t kMostOfMessage = 16 << 10;  // no message repeats a longer value whole

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

void SecretValues::Add(std::string_view value) {
  auto add = [this](std::string_view form) {
    if (!IsKnownToAll(form)) forms_.emplace(form);
  };
  if (IsKnownToAll(value)) return;
  for (const std::string& line : Split(value, '\n')) {
    if (std::string_view text = Trim(line); text.size() >= kAnywhere) add(text);
  }
  if (value.size() > kMostOfMessage) return;
  const std::string escaped = Escaped(value);
  if (value.size() >= kWord) values_.emplace(escaped);
  add(value);
  add(Trim(value));
  add(escaped);
  if (value.size() >= kWord) add(Base64Encode(value));
  for (const std::string& number : AsNumber(value)) add(number);
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
  auto stands_there = [text](const std::string& value) { return text.find(value) != text.npos; };
  std::erase_if(forms_, stands_there);
  std::erase_if(values_, stands_there);
}

std::string SecretValues::Hide(std::string text) const {
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
  return std::any_of(values_.begin(), values_.end(),
                     [text](const std::string& value) { return text.find(value) != text.npos; });
}

}  // namespace capi::ops
