#include "cli/declare/diff/object_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/unified_diff.h"
#include "base/yaml/yaml.h"
#include "kube/apply/preview.h"
#include "kube/meta/kind.h"

namespace capi::cli {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kBefore = "*** (before)";
constexpr std::string_view kAfter = "*** (after)";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr size_t kShortest = 3, kShortestLine = 8, kLongestScalar = 4096;
// No secrets, and in every other object.
constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "none", "null", "enabled", "disabled", "default"};

void DropNoDifference(kube::Object& object) {
  // It repeats the object, a Secret's values with it.
  if (Json* annotations = Find(object.json(), {"metadata", "annotations"}); annotations && annotations->is_object())
    annotations->erase(std::string(kLastApplied));
  kube::DropServersOwn(object);
}

Json* MapAt(std::optional<kube::Object>& object, const char* key) {
  Json* map = object ? Find(object->json(), {key}) : nullptr;
  return map != nullptr && map->is_object() ? map : nullptr;
}

void MaskSecret(std::optional<kube::Object>& before, std::optional<kube::Object>& after) {
  for (const char* map : {"data", "stringData"}) {
    Json* a = MapAt(before, map);
    Json* b = MapAt(after, map);
    if (a != nullptr) {
      for (auto& [key, value] : a->items()) {
        auto other = b == nullptr ? Json::iterator() : b->find(key);
        bool both = b != nullptr && other != b->end();
        bool same = both && *other == value;
        value = both && !same ? kBefore : kMask;
        if (both) *other = same ? kMask : kAfter;
      }
    }
    if (b == nullptr) continue;
    for (auto& [key, value] : b->items()) {
      if (a == nullptr || !a->contains(key)) value = kMask;
    }
  }
}

// Texts and numbers at one path, and what is below. Null for what isn't there.
class MaskBoth {
 public:
  explicit MaskBoth(const MaskedValues& masked) : masked_(masked) {}

  void Value(Json* a, Json* b) {
    if (IsScalar(a) || IsScalar(b)) Scalar(a, b);
    if (a != nullptr && a->is_structured()) Below(*a, b, true);
    if (b != nullptr && b->is_structured()) Below(*b, a, false);
  }

 private:
  static bool IsScalar(const Json* value) { return value != nullptr && (value->is_string() || value->is_number()); }

  bool Holds(const Json* value) const {
    if (!IsScalar(value)) return false;
    return value->is_number() ? masked_.IsOne(*value) : masked_.StandIn(value->get_ref<const std::string&>());
  }

  void Scalar(Json* a, Json* b) const {
    if (!Holds(a) && !Holds(b)) return;
    // Where both differ, what the other one has in the place of the value is a value, too.
    bool differ = IsScalar(a) && IsScalar(b) && *a != *b;
    if (differ) {
      *a = kBefore;
      *b = kAfter;
      return;
    }
    for (Json* one : {a, b}) {
      if (IsScalar(one)) *one = one->is_number() ? std::string(kMask) : masked_.Mask(one->get<std::string>());
    }
  }

  // With `first`, all members of `value` beside those of `other`; else those that `other` lacks.
  void Below(Json& value, Json* other, bool first) {
    for (auto& item : value.items()) {
      Json* there = Member(other, value.is_array(), item.key());
      if (there != nullptr && !first) continue;
      first ? Value(&item.value(), there) : Value(nullptr, &item.value());
    }
  }

  static Json* Member(Json* other, bool list, const std::string& key) {
    if (other == nullptr || (list ? !other->is_array() : !other->is_object())) return nullptr;
    if (!list) return other->contains(key) ? &(*other)[key] : nullptr;
    size_t index = std::stoul(key);
    return index < other->size() ? &(*other)[index] : nullptr;
  }

  const MaskedValues& masked_;
};

// All but who the object is, which the name of the difference has too.
void MaskValues(std::optional<kube::Object>& before, std::optional<kube::Object>& after, const MaskedValues& masked) {
  std::vector<std::string> keys;
  for (const auto* object : {&before, &after}) {
    if (!*object) continue;
    for (const auto& item : (*object)->json().items()) keys.push_back(item.key());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  auto at = [](std::optional<kube::Object>& object, const std::string& key) -> Json* {
    return object && object->json().contains(key) ? &object->json()[key] : nullptr;
  };
  for (const std::string& key : keys) {
    if (key == "apiVersion" || key == "kind" || key == "metadata") continue;
    MaskBoth(masked).Value(at(before, key), at(after, key));
  }
  for (const char* part : {"annotations", "labels"}) {
    auto within = [&](std::optional<kube::Object>& object) -> Json* {
      Json* metadata = at(object, "metadata");
      return metadata != nullptr && metadata->is_object() && metadata->contains(part) ? &(*metadata)[part] : nullptr;
    };
    MaskBoth(masked).Value(within(before), within(after));
  }
}

std::string TextOf(const std::optional<kube::Object>& object) { return object ? ToYaml(object->json()) : ""; }

}  // namespace

void MaskedValues::AddForm(std::string_view form) {
  if (form.size() < kShortest || std::find(values_.begin(), values_.end(), form) != values_.end()) return;
  values_.emplace_back(form);
}

void MaskedValues::Add(const std::string& value) {
  if (value.size() < kShortest) return;
  if (std::find(std::begin(kWords), std::end(kWords), ToLower(value)) != std::end(kWords)) return;
  AddForm(value);
  AddForm(Trim(value));
  AddForm(Base64Encode(value));
  // YAML folds lines, and indents them.
  for (const std::string& line : Split(value, '\n')) {
    if (std::string_view text = Trim(line); text.size() >= kShortestLine) AddForm(text);
  }
  std::sort(values_.begin(), values_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (value.size() > kLongestScalar) return;
  auto read = ParseYaml(value);
  // A text that YAML would take for something else comes with quotes of its own.
  if (read.ok() && read->is_string() && *read != value) Add(read->get<std::string>());
  if (read.ok() && read->is_number() && ToJsonText(*read).size() >= kShortest) numbers_.push_back(*std::move(read));
}

bool MaskedValues::IsOne(const Json& number) const {
  return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
}

bool MaskedValues::StandIn(const std::string& text) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const std::string& value) { return text.find(value) != text.npos; });
}

std::string MaskedValues::Mask(std::string text) const {
  for (const std::string& value : values_) text = ReplaceAll(std::move(text), value, kMask);
  return text;
}

std::string DiffName(const ObjectStates& states) {
  const kube::ObjectId& id = states.id;
  return fmt::format("{}{}.{}.{}.{}", id.group.empty() ? "" : id.group + ".", states.version, id.kind, id.ns, id.name);
}

std::string DiffOf(ObjectStates states, const MaskedValues& masked) {
  for (auto* object : {&states.before, &states.after}) {
    if (*object) DropNoDifference(**object);
  }
  if (states.id.group.empty() && states.id.kind == "Secret") MaskSecret(states.before, states.after);
  MaskValues(states.before, states.after, masked);
  const std::string name = DiffName(states);
  std::string diff = UnifiedDiff(TextOf(states.before), TextOf(states.after), "LIVE/" + name, "MERGED/" + name);
  return diff.empty() ? "" : fmt::format("diff -u -N LIVE/{} MERGED/{}\n{}", name, name, diff);
}

}  // namespace capi::cli
