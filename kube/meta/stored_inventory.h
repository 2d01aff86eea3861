// status.inventory as it is kept of each provider: packed, and told apart from others without being read.
#pragma once

#include <cstdint>
#include <vector>

#include "kube/meta/object.h"
#include "kube/meta/packed_json.h"

namespace capi::kube {

// Hashes of objects' identities, sorted; of this process alone.
using IdHashes = std::vector<std::uint32_t>;

// A value; copies share what they keep. Thread-compatible.
class StoredInventory : public PackedJson {
 public:
  StoredInventory() = default;             // null
  StoredInventory(const Json& inventory);  // not explicit: each Json is one, also what is no inventory

  // False: it lists none of these. True: it does, but for one case in a million or so; only a look at it tells. A
  // thousand providers have fifty thousand entries.
  bool MayListOneOf(const IdHashes& ids) const;

 private:
  std::shared_ptr<const IdHashes> ids_;
};

IdHashes HashesOf(const std::vector<ObjectId>& ids);

}  // namespace capi::kube
