// The objects of one collection, by namespace and name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "kube/meta/object.h"
#include "kube/meta/packed_json.h"

namespace capi::kube {

using ObjectPtr = std::shared_ptr<const Object>;

// How a store keeps an object: as the tree that its readers share, or packed, in a fifth of the memory, each reader
// getting a tree of his own. A value.
class StoredObject {
 public:
  StoredObject() = default;  // none
  StoredObject(ObjectPtr object, bool packed);

  ObjectPtr Get() const;  // null for none
  // The same version of an object; false where either is none, or has no version.
  bool IsSameVersion(const StoredObject& other) const;
  // The very one: a copy of this.
  bool IsSame(const StoredObject& other) const { return object_ == other.object_ && text_.IsSame(other.text_); }
  explicit operator bool() const { return object_ != nullptr || !text_.is_null(); }

 private:
  ObjectPtr object_;
  PackedJson text_;
  std::uint64_t version_ = 0;  // hash of uid and resourceVersion; 0 without one
};

// Thread-safe. Nobody changes an object that he got.
class Store {
 public:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  // Compares without making strings.
  struct Less {
    using is_transparent = void;
    using View = std::pair<std::string_view, std::string_view>;
    bool operator()(const View& a, const View& b) const { return a < b; }
  };
  using Objects = std::map<Key, StoredObject, Less>;
  // `was` is none for an added object, `is` for a deleted one.
  struct Change {
    StoredObject was, is;
  };

  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  StoredObject Stored(std::string_view ns, std::string_view name) const;  // the same, as it is kept
  std::vector<ObjectPtr> List() const;                                    // sorted by namespace and name
  std::vector<ObjectPtr> List(std::string_view ns) const;                 // of one namespace

  // nullopt when the store has that version of the object already, or has nothing to remove.
  std::optional<Change> Put(const ObjectPtr& object, bool packed = false);
  std::optional<Change> Remove(std::string_view ns, std::string_view name);
  // All at once, for readers: what isn't in `objects` is gone. Deletions come first.
  std::vector<Change> Replace(Objects objects);
  // Drops what of a namespace isn't kept any more.
  void Prune(std::string_view ns, const std::function<bool(const Object&)>& keep);

 private:
  std::vector<ObjectPtr> ListFrom(std::string_view ns, const std::function<bool(std::string_view)>& wanted) const;

  mutable Mutex mu_;
  Objects objects_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
