#include "kube/cache/store.h"

namespace capi::kube {

namespace {

std::uint64_t HashOfVersion(const Object& object) {
  const std::string version = object.resource_version();
  if (version.empty()) return 0;
  return std::hash<std::string>{}(object.uid() + "@" + version) | 1;
}

}  // namespace

StoredObject::StoredObject(ObjectPtr object, bool packed) {
  if (object != nullptr) version_ = HashOfVersion(*object);
  if (packed && object != nullptr) {
    text_ = object->json();
  } else {
    object_ = std::move(object);
  }
}

ObjectPtr StoredObject::Get() const {
  return text_.is_null() ? object_ : std::make_shared<const Object>(text_.Unpack());
}

bool StoredObject::IsSameVersion(const StoredObject& other) const {
  return version_ != 0 && version_ == other.version_;
}

// Others needn't wait while it is unpacked.
ObjectPtr Store::Get(std::string_view ns, std::string_view name) const { return Stored(ns, name).Get(); }

StoredObject Store::Stored(std::string_view ns, std::string_view name) const {
  MutexLock lock(mu_);
  auto found = objects_.find(Less::View(ns, name));
  return found == objects_.end() ? StoredObject() : found->second;
}

std::vector<ObjectPtr> Store::List() const {
  return ListFrom("", [](std::string_view) { return true; });
}

std::vector<ObjectPtr> Store::List(std::string_view ns) const {
  return ListFrom(ns, [ns](std::string_view of) { return of == ns; });
}

std::vector<ObjectPtr> Store::ListFrom(std::string_view ns, const std::function<bool(std::string_view)>& wanted) const {
  std::vector<StoredObject> stored;
  {
    MutexLock lock(mu_);
    for (auto at = objects_.lower_bound(Less::View(ns, "")); at != objects_.end() && wanted(at->first.first); ++at) {
      stored.push_back(at->second);
    }
  }
  std::vector<ObjectPtr> out;
  out.reserve(stored.size());
  for (const StoredObject& object : stored) out.push_back(object.Get());
  return out;
}

std::optional<Store::Change> Store::Put(const ObjectPtr& object, bool packed) {
  Key key{object->ns(), object->name()};
  StoredObject is(object, packed);
  MutexLock lock(mu_);
  StoredObject& slot = objects_[std::move(key)];
  if (slot && slot.IsSameVersion(is)) return std::nullopt;
  return Change{std::exchange(slot, is), std::move(is)};
}

std::optional<Store::Change> Store::Remove(std::string_view ns, std::string_view name) {
  MutexLock lock(mu_);
  auto found = objects_.find(Less::View(ns, name));
  if (found == objects_.end()) return std::nullopt;
  Change change{std::move(found->second), {}};
  objects_.erase(found);
  return change;
}

std::vector<Store::Change> Store::Replace(Objects objects) {
  MutexLock lock(mu_);
  objects_.swap(objects);
  std::vector<Change> out;
  for (const auto& [key, was] : objects) {
    if (!objects_.contains(key)) out.push_back({was, {}});
  }
  for (const auto& [key, is] : objects_) {
    auto before = objects.find(key);
    if (before == objects.end()) {
      out.push_back({{}, is});
    } else if (!before->second.IsSame(is) && !before->second.IsSameVersion(is)) {
      out.push_back({before->second, is});
    }
  }
  return out;
}

void Store::Prune(std::string_view ns, const std::function<bool(const Object&)>& keep) {
  MutexLock lock(mu_);
  for (auto at = objects_.lower_bound(Less::View(ns, "")); at != objects_.end() && at->first.first == ns;) {
    at = keep(*at->second.Get()) ? std::next(at) : objects_.erase(at);
  }
}

}  // namespace capi::kube
