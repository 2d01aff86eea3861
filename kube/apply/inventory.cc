#include "kube/apply/inventory.h"

#include <fmt/core.h>

#include <algorithm>

namespace capi::kube {
namespace {

Error Malformed(size_t index, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("inventory entry {}: {}", index, what), {}};
}

// Absent is "", anything but a string is an error.
Result<std::string> Text(const Json& entry, std::string_view key, size_t index) {
  const Json* member = capi::Find(entry, {key});
  if (member == nullptr) return std::string();
  if (!member->is_string()) return Malformed(index, fmt::format("{} is no string", key));
  return member->get<std::string>();
}

Result<std::string> Required(const Json& entry, std::string_view key, size_t index) {
  std::string value = TRY(Text(entry, key, index));
  if (value.empty()) return Malformed(index, fmt::format("{} is missing", key));
  return value;
}

Json EntryToJson(const ObjectId& id, const InventoryEntry& entry) {
  Json json = {{"version", entry.version}, {"kind", id.kind}, {"name", id.name}};
  if (!id.group.empty()) json["group"] = id.group;
  if (!id.ns.empty()) json["namespace"] = id.ns;
  if (!entry.hash.empty()) json["hash"] = entry.hash;
  if (!entry.fields.empty()) json["fields"] = entry.fields;
  if (entry.stale) json["stale"] = true;
  return json;
}

}  // namespace

Result<Inventory> Inventory::Parse(const Json& status_inventory) {
  Inventory out;
  if (status_inventory.is_null()) return out;
  if (!status_inventory.is_array()) return Error{Code::kInvalidArgument, "inventory: no list", {}};
  size_t index = 0;
  for (const Json& json : status_inventory) {
    if (!json.is_object()) return Malformed(index, "no object");
    ObjectId id;
    InventoryEntry entry;
    id.group = TRY(Text(json, "group", index));
    id.kind = TRY(Required(json, "kind", index));
    id.ns = TRY(Text(json, "namespace", index));
    id.name = TRY(Required(json, "name", index));
    entry.version = TRY(Required(json, "version", index));
    entry.hash = TRY(Text(json, "hash", index));
    entry.fields = TRY(Text(json, "fields", index));
    const Json* stale = capi::Find(json, {"stale"});
    if (stale != nullptr && !stale->is_boolean()) return Malformed(index, "stale is no boolean");
    entry.stale = stale != nullptr && stale->get<bool>();
    if (out.Contains(id)) return Malformed(index, id.ToString() + " is there twice");
    out.Put(id, std::move(entry));
    ++index;
  }
  return out;
}

Json Inventory::ToJson() const {
  Json list = Json::array();
  for (const auto& [id, entry] : entries_) list.push_back(EntryToJson(id, entry));
  return list;
}

bool Inventory::has_stale() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.stale; });
}

const InventoryEntry* Inventory::Find(const ObjectId& id) const {
  auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace capi::kube
