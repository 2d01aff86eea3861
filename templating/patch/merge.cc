#include "templating/patch/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace capi::templating {
namespace {

constexpr const char* kDirective = "$patch";

struct ListKey {
  std::string_view list, key;
};

// Lists of maps in built-in types, and what tells their items apart. Others (tolerations, rules, subjects) are atomic.
constexpr ListKey kListKeys[] = {
    {"containers", "name"},
    {"env", "name"},
    {"ephemeralContainers", "name"},
    {"hostAliases", "ip"},
    {"imagePullSecrets", "name"},
    {"initContainers", "name"},
    {"ownerReferences", "uid"},
    {"ports", "containerPort"},
    {"secrets", "name"},
    {"topologySpreadConstraints", "topologyKey"},
    {"volumeDevices", "devicePath"},
    {"volumeMounts", "mountPath"},
    {"volumes", "name"},
    {"webhooks", "name"},
};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// "" for none.
std::string Directive(const Json& value) { return GetString(value, {kDirective}); }

bool HasDirective(const Json& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& item) { return !Directive(item).empty(); });
}

// The key of a list called `list`; "" where it is atomic. A Service's ports have no containerPort.
std::string_view KeyOf(std::string_view list, const Json& items) {
  auto found = std::find_if(std::begin(kListKeys), std::end(kListKeys), [&](const auto& k) { return k.list == list; });
  if (found == std::end(kListKeys)) return "";
  auto has = [&](const Json& item) { return item.is_object() && item.contains(found->key); };
  if (list == "ports" && std::none_of(items.begin(), items.end(), has)) return "port";
  return found->key;
}

Json WithoutDirective(Json value) {
  value.erase(kDirective);
  return value;
}

// Merges one patch; nests no deeper than its input, which the parsers bound.
class Merger {
 public:
  Status Merge(Json& target, const Json& patch, std::string_view name, bool by_key) {
    if (patch.is_array()) return MergeList(target, patch, name, by_key);
    if (!patch.is_object()) {
      target = patch;
      return Ok();
    }
    std::string directive = Directive(patch);
    if (directive == "replace") {
      target = WithoutDirective(patch);
      return Ok();
    }
    if (!directive.empty() && directive != "merge") return Unknown(directive);
    return MergeMembers(target, patch, by_key || directive == "merge");
  }

 private:
  static Error Unknown(std::string_view directive) {
    return Invalid(fmt::format("unknown $patch directive \"{}\"", directive));
  }

  Status MergeMembers(Json& target, const Json& patch, bool by_key) {
    if (!target.is_object()) target = Json::object();
    for (const auto& [key, value] : patch.items()) {
      if (key == kDirective) continue;
      if (value.is_null() || Directive(value) == "delete") {
        target.erase(key);
      } else {
        TRY(Merge(target[key], value, key, by_key));
      }
    }
    return Ok();
  }

  Status MergeList(Json& target, const Json& patch, std::string_view name, bool by_key) {
    bool asked = HasDirective(patch);
    std::string_view key = KeyOf(name, patch);
    if (key.empty() && asked) key = "name";
    if ((!by_key && !asked) || key.empty()) {
      target = patch;
      return Ok();
    }
    if (!target.is_array()) target = Json::array();
    auto replaces_all = [](const Json& item) { return Directive(item) == "replace" && item.size() == 1; };
    if (std::any_of(patch.begin(), patch.end(), replaces_all)) target = Json::array();
    for (const Json& item : patch) {
      if (!replaces_all(item)) TRY(MergeItem(target, item, name, key));
    }
    return Ok();
  }

  Status MergeItem(Json& list, const Json& item, std::string_view name, std::string_view key) {
    const Json* id = Find(item, {key});
    if (id == nullptr) return Invalid(fmt::format("an item of list \"{}\" has no \"{}\" to merge it by", name, key));
    auto same = std::find_if(list.begin(), list.end(), [&](const Json& other) {
      const Json* other_id = Find(other, {key});
      return other_id != nullptr && *other_id == *id;
    });
    std::string directive = Directive(item);
    if (directive == "delete") {
      if (same != list.end()) list.erase(same);
      return Ok();
    }
    if (!directive.empty() && directive != "merge" && directive != "replace") return Unknown(directive);
    if (same == list.end()) {
      list.push_back(Json::object());
      same = std::prev(list.end());
    }
    return Merge(*same, item, "", true);
  }
};

}  // namespace

Status MergePatch(Json& target, const Json& patch) { return Merger().Merge(target, patch, "", false); }

}  // namespace capi::templating
