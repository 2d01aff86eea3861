// The objects of one collection, by namespace and name.
#pragma once

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

namespace capi::kube {

using ObjectPtr = std::shared_ptr<const Object>;

// Thread-safe. Readers share the objects; nobody changes one.
class Store {
 public:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  // Compares without making strings.
  struct Less {
    using is_transparent = void;
    using View = std::pair<std::string_view, std::string_view>;
    bool operator()(const View& a, const View& b) const { return a < b; }
  };
  using Objects = std::map<Key, ObjectPtr, Less>;
  // `was` is null for an added object, `is` for a deleted one.
  struct Change {
    ObjectPtr was, is;
  };

  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  std::vector<ObjectPtr> List() const;                     // sorted by namespace and name
  std::vector<ObjectPtr> List(std::string_view ns) const;  // of one namespace

  // nullopt when the store has that version of the object already, or has nothing to remove.
  std::optional<Change> Put(ObjectPtr object);
  std::optional<Change> Remove(std::string_view ns, std::string_view name);
  // All at once, for readers: what isn't in `objects` is gone. Deletions come first.
  std::vector<Change> Replace(Objects objects);
  // Drops what of a namespace isn't kept any more.
  void Prune(std::string_view ns, const std::function<bool(const Object&)>& keep);

 private:
  mutable Mutex mu_;
  Objects objects_ CAPI_GUARDED_BY(mu_);
};

// True for two pointers to the same version of an object.
bool SameVersion(const ObjectPtr& a, const ObjectPtr& b);

}  // namespace capi::kube
