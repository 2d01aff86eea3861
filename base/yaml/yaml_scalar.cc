#include "base/yaml/yaml_scalar.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::yaml {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text == word) return true;
  return false;
}

// Words with a meaning: null, booleans, infinities, not-a-number.
std::optional<Scalar> ResolveWord(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return Scalar(nullptr);
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return Scalar(true);
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return Scalar(false);
  if (IsOneOf(text, {".nan", ".NaN", ".NAN"})) return Scalar(std::numeric_limits<double>::quiet_NaN());
  if (IsOneOf(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) return Scalar(kInfinity);
  if (IsOneOf(text, {"-.inf", "-.Inf", "-.INF"})) return Scalar(-kInfinity);
  return std::nullopt;
}

// Go's strconv.ParseInt and ParseUint with base 0 and 64 bits: decimal, 0x, 0b, 0o and 0 for octal.
std::optional<Scalar> ParseInteger(std::string_view text) {
  bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  bool negative = sign && text[0] == '-';
  if (sign) text.remove_prefix(1);
  int base = 10;
  if (text.size() >= 2 && text[0] == '0') {
    char c = static_cast<char>(text[1] | 0x20);
    base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
    text.remove_prefix(c == 'x' || c == 'b' || c == 'o' ? 2 : 1);
  }
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (negative) {
    if (value > kMax + 1) return std::nullopt;
    return Scalar(static_cast<std::int64_t>(~value + 1));
  }
  if (value <= kMax) return Scalar(static_cast<std::int64_t>(value));
  if (sign) return std::nullopt;
  return Scalar(value);
}

// "0b-1" is a number to go-yaml.
std::optional<Scalar> ParseBinaryWithSign(std::string_view text) {
  if (text.substr(0, 2) != "0b" || text.size() < 4 || (text[2] != '-' && text[2] != '+')) return std::nullopt;
  return ParseInteger(fmt::format("{}0b{}", text[2], text.substr(3)));
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  auto digits = [&] {
    size_t start = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  bool whole = digits() > 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// None where the value is beyond a double.
std::optional<Scalar> ParseFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);  // tells too small (0) from too large
    if (std::isinf(value)) return std::nullopt;
  }
  return Scalar(value);
}

// Only fractions without a leading digit are so strict.
bool UnderscoresSeparateDigits(std::string_view text) {
  auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '_' && (!digit(i - 1) || !digit(i + 1))) return false;
  return true;
}

std::optional<Scalar> ResolveNumber(std::string_view text) {
  std::string plain;
  if (text.find('_') != text.npos) {
    if (text[0] == '.' && !UnderscoresSeparateDigits(text)) return std::nullopt;
    plain = ReplaceAll(std::string(text), "_", "");
    text = plain;
  }
  if (text[0] == '.') return ParseFloat(text);
  if (auto integer = ParseInteger(text)) return integer;
  if (auto number = ParseFloat(text)) return number;
  return ParseBinaryWithSign(text);
}

// What the text means without a tag; none for a string.
std::optional<Scalar> ResolvePlain(std::string_view text) {
  if (text.empty()) return Scalar(nullptr);
  char c = text[0];
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') {
    if (auto word = ResolveWord(text)) return word;
    return ResolveNumber(text);
  }
  if (std::string_view("yYnNtTfFoO~").find(c) != std::string_view::npos) return ResolveWord(text);
  return std::nullopt;
}

std::string_view TagOf(const std::optional<Scalar>& scalar) {
  constexpr std::array<std::string_view, 6> kTags = {"null", "bool", "int", "int", "float", "str"};
  return scalar ? kTags[scalar->index()] : "str";
}

// Takes pieces of a date off the front of a text. Thread-compatible.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  // A number of `min` to `max` digits, not above `limit`.
  bool Number(size_t min, size_t max, int limit, int* value = nullptr) {
    size_t digits = 0;
    int number = 0;
    for (; digits < std::min(max, rest_.size()) && IsDigit(rest_[digits]); ++digits)
      number = number * 10 + (rest_[digits] - '0');
    rest_.remove_prefix(digits);
    if (value != nullptr) *value = number;
    return digits >= min && number <= limit;
  }
  bool OneOf(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_[0]) == chars.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipFraction() {
    if (rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') || !IsDigit(rest_[1])) return;
    rest_.remove_prefix(1);
    while (!rest_.empty() && IsDigit(rest_[0])) rest_.remove_prefix(1);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  std::string_view rest_;
};

// One of the formats that go-yaml takes for a date: "2006-1-2", "2006-1-2 15:4:5.9", "2006-1-2T15:4:5.9Z07:00".
bool IsTimestamp(std::string_view text) {
  DateReader date(text);
  int year = 0, month = 0, day = 0;
  if (!date.Number(4, 4, 9999, &year) || !date.OneOf("-")) return false;
  if (!date.Number(1, 2, 12, &month) || !date.OneOf("-") || !date.Number(1, 2, 31, &day)) return false;
  std::chrono::year_month_day full(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                   std::chrono::day(static_cast<unsigned>(day)));
  if (!full.ok()) return false;
  if (date.at_end()) return true;
  bool zoned = date.OneOf("Tt");
  if (!zoned && !date.OneOf(" ")) return false;
  if (!date.Number(1, 2, 23) || !date.OneOf(":") || !date.Number(1, 2, 59) || !date.OneOf(":")) return false;
  if (!date.Number(1, 2, 59)) return false;
  date.SkipFraction();
  if (!zoned || date.OneOf("Z")) return date.at_end();
  return date.OneOf("+-") && date.Number(2, 2, 24) && date.OneOf(":") && date.Number(2, 2, 60) && date.at_end();
}

// An integral value as Go's JSON encoder writes it: the shortest digits that tell the double, then zeros.
std::string WholeDigits(double value) {
  std::array<char, 64> text;
  char* end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  std::string_view shortest(text.data(), static_cast<size_t>(end - text.data()));
  size_t e = shortest.find('e');
  auto zeros = static_cast<size_t>(std::atoi(shortest.data() + e + 1));
  std::string out(shortest.substr(0, e));
  size_t point = out.find('.');
  if (point != out.npos) {
    zeros -= out.size() - point - 1;
    out.erase(point, 1);
  }
  return out.append(zeros, '0');
}

Result<Scalar> DecodeBinary(std::string_view text) {
  auto bytes = Base64Decode(text);
  if (!bytes.ok()) return Error{Code::kInvalidArgument, "!!binary value contains invalid base64 data", {}};
  // JSON is text: what is no UTF-8 is replaced, as Go's encoder does.
  if (IsValidUtf8(*bytes)) return Scalar(*std::move(bytes));
  return Scalar(Json::parse(ToJsonText(Json(*bytes))).get<std::string>());
}

Result<Scalar> ResolveTagged(std::string_view tag, std::string_view text) {
  bool known = tag.substr(0, kTagPrefix.size()) == kTagPrefix;
  std::string_view name = known ? tag.substr(kTagPrefix.size()) : "";
  if (name == "binary") return DecodeBinary(text);
  if (!IsOneOf(name, {"bool", "int", "float", "null", "timestamp"})) return Scalar(std::string(text));
  if (name == "timestamp" && IsTimestamp(text)) return Scalar(std::string(text));
  std::optional<Scalar> found = ResolvePlain(text);
  if (TagOf(found) == name) return *std::move(found);
  if (name == "float" && found && std::holds_alternative<std::int64_t>(*found))
    return Scalar(static_cast<double>(std::get<std::int64_t>(*found)));
  return Error{Code::kInvalidArgument, fmt::format("cannot decode a !!{} as a !!{}", TagOf(found), name), {}};
}

}  // namespace

Result<Scalar> Resolve(std::string_view tag, bool plain, std::string_view text) {
  if (!tag.empty()) return ResolveTagged(tag, text);
  if (plain)
    if (auto found = ResolvePlain(text)) return *std::move(found);
  return Scalar(std::string(text));
}

bool ReadsAsString(std::string_view text) { return !ResolvePlain(text) && !IsTimestamp(text); }

Result<Json> ToJson(Scalar scalar) {
  switch (scalar.index()) {
    case 0: return Json(nullptr);
    case 1: return Json(std::get<bool>(scalar));
    case 2: return Json(std::get<std::int64_t>(scalar));
    case 3: return Json(std::get<std::uint64_t>(scalar));
    case 5: return Json(std::get<std::string>(std::move(scalar)));
    default: break;
  }
  double value = std::get<double>(scalar);
  if (!std::isfinite(value)) {
    std::string_view name = std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    return Error{Code::kInvalidArgument, fmt::format("unsupported value: {}", name), {}};
  }
  if (value == std::trunc(value) && std::fabs(value) < 1e21) {
    if (auto whole = ParseInteger(WholeDigits(value))) return ToJson(*whole);
  }
  return Json(value);
}

Result<std::string> ToKey(const Scalar& scalar) {
  switch (scalar.index()) {
    case 1: return std::string(std::get<bool>(scalar) ? "true" : "false");
    case 2: return std::to_string(std::get<std::int64_t>(scalar));
    case 4: return FormatGoFloat(std::get<double>(scalar), 32);
    case 5: return std::get<std::string>(scalar);
    default: break;
  }
  return Error{Code::kInvalidArgument,
               fmt::format("unsupported map key of type {}", scalar.index() == 0 ? "null" : "uint64"),
               {}};
}

std::string FormatGoFloat(double value, int bits) {
  float narrow = static_cast<float>(value);
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value) || (bits == 32 && std::isinf(narrow))) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 512> text;
  auto print = [&](std::chars_format format) {
    char* end = bits == 32 ? std::to_chars(text.data(), text.data() + text.size(), narrow, format).ptr
                           : std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
    return std::string(text.data(), end);
  };
  std::string scientific = print(std::chars_format::scientific);
  int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 6) return scientific;
  return print(std::chars_format::fixed);
}

}  // namespace capi::yaml
