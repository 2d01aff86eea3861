#include <fmt/core.h>
#include <yaml.h>

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "base/yaml/yaml_scalar.h"

namespace capi {
namespace {

int Digit(unsigned char c) { return c >= '0' && c <= '9' ? c - '0' : -1; }
// Beyond ASCII everything counts as a letter.
bool Letter(unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? true : c >= 0x80; }

// The number that begins at `i`; `end` is set behind it.
long long NumberAt(std::string_view text, size_t i, long long before, size_t& end) {
  constexpr long long kLimit = 1'000'000'000'000'000;  // more digits than this don't matter
  long long number = before;
  for (end = i; end < text.size() && Digit(static_cast<unsigned char>(text[end])) >= 0; ++end)
    number = std::min(kLimit, number * 10 + Digit(static_cast<unsigned char>(text[end])));
  return number;
}

// go-yaml's order of keys: numbers inside by value ("a2" before "a10"), letters after everything else.
bool KeyLess(std::string_view a, std::string_view b) {
  auto [ia, ib] = std::mismatch(a.begin(), a.begin() + static_cast<long>(std::min(a.size(), b.size())), b.begin());
  auto i = static_cast<size_t>(ia - a.begin());
  if (i == std::min(a.size(), b.size())) return a.size() < b.size();
  auto ca = static_cast<unsigned char>(*ia), cb = static_cast<unsigned char>(*ib);
  bool la = Letter(ca), lb = Letter(cb);
  if (la && lb) return ca < cb;
  if (la || lb) return lb;
  long long before = 0;  // a zero inside a number counts, one that leads it doesn't
  if (ca == '0' || cb == '0')
    for (size_t j = i; j > 0 && Digit(static_cast<unsigned char>(a[j - 1])) >= 0; --j)
      if (a[j - 1] != '0') before = 1;
  size_t end_a = 0, end_b = 0;
  long long na = NumberAt(a, i, before, end_a), nb = NumberAt(b, i, before, end_b);
  if (na != nb) return na < nb;
  if (end_a != end_b) return end_a < end_b;
  return ca < cb;
}

// "1:30" would be a number to other YAML 1.1 readers: ^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$
bool IsBase60(std::string_view text) {
  size_t i = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  auto digit = [&](size_t at) { return at < text.size() && Digit(static_cast<unsigned char>(text[at])) >= 0; };
  if (!digit(i)) return false;
  while (digit(i) || (i < text.size() && text[i] == '_')) ++i;
  size_t groups = 0;
  for (; i < text.size() && text[i] == ':'; ++groups) {
    ++i;
    if (!digit(i)) return false;
    if (digit(i + 1)) {
      if (text[i] > '5') return false;
      ++i;
    }
    ++i;
  }
  if (groups == 0) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    while (digit(i) || (i < text.size() && text[i] == '_')) ++i;
  }
  return i == text.size();
}

// libyaml's emitter into a string: the one that go-yaml's derives from. Thread-compatible.
class Emitter {
 public:
  Emitter() {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_output(&emitter_, &Append, &out_);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  std::string Document(const Json& value) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
    Value(value);
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    yaml_stream_end_event_initialize(&event);
    Emit(event);
    // libyaml marks the end after text that may go on; go-yaml doesn't.
    constexpr std::string_view kEnd = "...\n";
    if (out_.size() > kEnd.size() && out_.ends_with("\n...\n")) out_.resize(out_.size() - kEnd.size());
    return std::move(out_);
  }

 private:
  static int Append(void* out, unsigned char* data, size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
    return 1;
  }

  void Emit(yaml_event_t& event) { yaml_emitter_emit(&emitter_, &event); }

  void Value(const Json& value) {
    switch (value.type()) {
      case Json::value_t::object: return Map(value);
      case Json::value_t::array: return List(value);
      case Json::value_t::string: return Text(value.get_ref<const std::string&>());
      case Json::value_t::number_float: return Float(value.get<double>());
      default: return Scalar(value.is_discarded() ? "null" : value.dump(), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void Map(const Json& value) {
    std::vector<const Json::object_t::value_type*> members;
    members.reserve(value.size());
    for (const auto& member : value.get_ref<const Json::object_t&>()) members.push_back(&member);
    // The order isn't a strict weak one ("10" < "900z" < "9b" < "10"): std::sort may run off with it.
    std::stable_sort(members.begin(), members.end(), [](auto* a, auto* b) { return KeyLess(a->first, b->first); });
    yaml_event_t event;
    yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
    Emit(event);
    for (const auto* member : members) {
      // Plain, it would be read as a merge (which is what go-yaml's readers make of go-yaml's own output).
      if (member->first == "<<") {
        Scalar(member->first, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
      } else {
        Text(member->first);
      }
      Value(member->second);
    }
    yaml_mapping_end_event_initialize(&event);
    Emit(event);
  }

  void List(const Json& value) {
    yaml_event_t event;
    yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
    Emit(event);
    for (const Json& item : value) Value(item);
    yaml_sequence_end_event_initialize(&event);
    Emit(event);
  }

  void Float(double value) {
    auto number = yaml::ToJson(value);
    if (!number.ok() || number->is_number_float())
      return Scalar(yaml::FormatGoFloat(value, 64), YAML_PLAIN_SCALAR_STYLE);
    Scalar(number->dump(), YAML_PLAIN_SCALAR_STYLE);
  }

  void Text(const std::string& text) {
    if (!IsValidUtf8(text)) return Text(Json::parse(ToJsonText(Json(text))).get<std::string>());
    if (text.find('\n') != text.npos) return Scalar(text, YAML_LITERAL_SCALAR_STYLE);
    bool plain = yaml::ReadsAsString(text) && !IsBase60(text);
    Scalar(text, plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void Scalar(const std::string& text, yaml_scalar_style_t style) {
    yaml_event_t event;
    yaml_scalar_event_initialize(&event, nullptr, nullptr, reinterpret_cast<const yaml_char_t*>(text.data()),
                                 static_cast<int>(text.size()), 1, 1, style);
    Emit(event);
  }

  std::string out_;
  yaml_emitter_t emitter_ = {};
};

}  // namespace

std::string ToYaml(const Json& value) { return Emitter().Document(value); }

}  // namespace capi
