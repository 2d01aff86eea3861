// The set of objects a provider owns, as kept in status.inventory.
//
// Format: docs/formats.md, "Inventory". Rules: docs/behaviour.md U4, U7, U11.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "kube/meta/packed_json.h"

namespace capi::kube {

// What is known of one applied object.
struct InventoryEntry {
  std::string version;  // of its apiVersion, as applied last
  std::string hash;     // of what was applied; "" from the announcement of anything else until that is applied
  std::string fields;   // hash of our entry in its managedFields after the apply; "" when unknown
  bool stale = false;   // the release no longer has it: to be pruned once the new objects are healthy (U4)
  bool operator==(const InventoryEntry&) const = default;
  bool ever_applied() const { return !hash.empty() || !fields.empty(); }
};

// A sorted map of ids. A value. Thread-compatible.
class Inventory {
 public:
  // Fails with kInvalidArgument when an entry is malformed. An unreadable inventory must stop a prune or a
  // delete: it is never taken for an empty one.
  static Result<Inventory> Parse(const Json& status_inventory);  // null is empty
  static Result<Inventory> Parse(const PackedJson& status_inventory) { return Parse(status_inventory.Unpack()); }
  Json ToJson() const;

  void Put(const ObjectId& id, InventoryEntry entry) { entries_[id] = std::move(entry); }
  void Remove(const ObjectId& id) { entries_.erase(id); }
  bool Contains(const ObjectId& id) const { return entries_.contains(id); }
  const InventoryEntry* Find(const ObjectId& id) const;
  const std::map<ObjectId, InventoryEntry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  bool has_stale() const;  // something is to be pruned
  bool operator==(const Inventory&) const = default;

 private:
  std::map<ObjectId, InventoryEntry> entries_;
};

}  // namespace capi::kube
