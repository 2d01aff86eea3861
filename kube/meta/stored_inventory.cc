#include "kube/meta/stored_inventory.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace capi::kube {
namespace {

std::uint32_t HashOf(std::initializer_list<std::string_view> parts) {
  std::size_t hash = 0;
  for (std::string_view part : parts) {
    hash = hash * 1'099'511'628'211u + std::hash<std::string_view>{}(part);
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::string_view TextOf(const Json& entry, std::string_view member) {
  const Json* found = Find(entry, {member});
  const auto* text = found == nullptr ? nullptr : found->get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

}  // namespace

StoredInventory::StoredInventory(const Json& inventory) : PackedJson(inventory) {
  if (!inventory.is_array() || inventory.empty()) return;
  auto ids = std::make_shared<IdHashes>();
  ids->reserve(inventory.size());
  for (const Json& entry : inventory) {
    ids->push_back(
        HashOf({TextOf(entry, "group"), TextOf(entry, "kind"), TextOf(entry, "namespace"), TextOf(entry, "name")}));
  }
  std::sort(ids->begin(), ids->end());
  ids_ = std::move(ids);
}

bool StoredInventory::MayListOneOf(const IdHashes& ids) const {
  if (ids_ == nullptr) return false;
  auto mine = ids_->begin();
  for (auto theirs = ids.begin(); mine != ids_->end() && theirs != ids.end();) {
    if (*mine == *theirs) return true;
    *mine < *theirs ? (void)++mine : (void)++theirs;
  }
  return false;
}

IdHashes HashesOf(const std::vector<ObjectId>& ids) {
  IdHashes out;
  out.reserve(ids.size());
  for (const ObjectId& id : ids) out.push_back(HashOf({id.group, id.kind, id.ns, id.name}));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace capi::kube
