#include "templating/patch/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/json_memory.h"
#include "base/strings.h"

namespace capi::templating {
namespace {

constexpr const char* kDirective = "$patch";
constexpr size_t kShown = 100;  // bytes of a name in an error

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

// A list whose items are found by their key. Thread-compatible.
class KeyedList {
 public:
  // `list` must outlive it.
  KeyedList(Json& list, std::string_view key) : list_(list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (const Json* id = IdOf(list[i], key)) items_.emplace(Id{id}, i);
    }
  }

  // What making one of `list` takes, in bytes of work.
  static size_t CostOf(const Json& list, std::string_view key) {
    constexpr size_t kItem = 1'200;
    size_t bytes = 0;
    for (const Json& item : list) bytes += kItem + GetString(item, {key}).size();
    return bytes;
  }

  // What tells an item from others: a text or a number. Null where it has none.
  static const Json* IdOf(const Json& item, std::string_view key) {
    const Json* id = Find(item, {key});
    return id == nullptr || id->is_null() || id->is_structured() ? nullptr : id;
  }

  // The first item with that key, which must outlive the list; appended as an empty map where there is none.
  Json& At(const Json& id) {
    if (!items_.contains(Id{&id})) {
      items_.emplace(Id{&id}, list_.size());
      list_.push_back(Json::object());
    }
    auto found = items_.lower_bound(Id{&id});
    found->first.value = &id;  // the item's own goes where the item is replaced
    return list_[found->second];
  }

  void Remove(const Json& id) {
    auto [first, last] = items_.equal_range(Id{&id});
    for (auto item = first; item != last; ++item) removed_.push_back(item->second);
    items_.erase(first, last);
  }

  // Takes out what was removed: until then every item has its place.
  void Finish() {
    if (removed_.empty()) return;
    std::sort(removed_.begin(), removed_.end());
    auto& items = list_.get_ref<Json::array_t&>();
    auto next = removed_.begin();
    size_t kept = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (next != removed_.end() && *next == i) {
        ++next;
      } else {
        if (kept != i) items[kept] = std::move(items[i]);
        ++kept;
      }
    }
    items.resize(kept);
  }

 private:
  // By pointer: through aliases, a few bytes of YAML make megabytes of keys. An item that moves keeps its members where
  // they are.
  struct Id {
    mutable const Json* value;
    bool operator<(const Id& other) const { return *value < *other.value; }
  };

  Json& list_;
  std::multimap<Id, size_t> items_;  // by key, those of one key in their order
  std::vector<size_t> removed_;
};

// Merges one patch; nests no deeper than its input, which the parsers bound.
class Merger {
 public:
  explicit Merger(PatchBudget& budget) : budget_(budget) {}

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
    return Invalid(fmt::format("unknown $patch directive \"{}\"", Shorten(directive, kShown)));
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
    TRY(budget_.Work(KeyedList::CostOf(target, key)));
    KeyedList list(target, key);
    for (const Json& item : patch) {
      if (!replaces_all(item)) TRY(MergeItem(list, item, name, key));
    }
    list.Finish();
    return Ok();
  }

  Status MergeItem(KeyedList& list, const Json& item, std::string_view name, std::string_view key) {
    const Json* id = KeyedList::IdOf(item, key);
    if (id == nullptr) {
      return Invalid(fmt::format("an item of list \"{}\" has no \"{}\" to merge it by", Shorten(name, kShown), key));
    }
    std::string directive = Directive(item);
    if (directive == "delete") {
      list.Remove(*id);
      return Ok();
    }
    if (!directive.empty() && directive != "merge" && directive != "replace") return Unknown(directive);
    return Merge(list.At(*id), item, "", true);
  }

  PatchBudget& budget_;
};

}  // namespace

Status MergePatch(Json& target, const Json& patch, PatchBudget& budget) {
  TRY(budget.Add(MemoryOf(patch)));
  return Merger(budget).Merge(target, patch, "", false);
}

}  // namespace capi::templating
