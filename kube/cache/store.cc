#include "kube/cache/store.h"

namespace capi::kube {

bool SameVersion(const ObjectPtr& a, const ObjectPtr& b) {
  if (a == nullptr || b == nullptr) return false;
  std::string version = a->resource_version();
  return !version.empty() && version == b->resource_version() && a->uid() == b->uid();
}

ObjectPtr Store::Get(std::string_view ns, std::string_view name) const {
  MutexLock lock(mu_);
  auto found = objects_.find(Less::View(ns, name));
  return found == objects_.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> Store::List() const {
  MutexLock lock(mu_);
  std::vector<ObjectPtr> out;
  out.reserve(objects_.size());
  for (const auto& [key, object] : objects_) out.push_back(object);
  return out;
}

std::vector<ObjectPtr> Store::List(std::string_view ns) const {
  MutexLock lock(mu_);
  std::vector<ObjectPtr> out;
  for (auto at = objects_.lower_bound(Less::View(ns, "")); at != objects_.end() && at->first.first == ns; ++at) {
    out.push_back(at->second);
  }
  return out;
}

std::optional<Store::Change> Store::Put(ObjectPtr object) {
  Key key{object->ns(), object->name()};
  MutexLock lock(mu_);
  ObjectPtr& slot = objects_[std::move(key)];
  if (SameVersion(slot, object)) return std::nullopt;
  Change change{slot, object};
  slot = std::move(object);
  return change;
}

std::optional<Store::Change> Store::Remove(std::string_view ns, std::string_view name) {
  MutexLock lock(mu_);
  auto found = objects_.find(Less::View(ns, name));
  if (found == objects_.end()) return std::nullopt;
  Change change{std::move(found->second), nullptr};
  objects_.erase(found);
  return change;
}

std::vector<Store::Change> Store::Replace(Objects objects) {
  MutexLock lock(mu_);
  objects_.swap(objects);
  std::vector<Change> out;
  for (const auto& [key, was] : objects) {
    if (!objects_.contains(key)) out.push_back({was, nullptr});
  }
  for (const auto& [key, is] : objects_) {
    auto before = objects.find(key);
    ObjectPtr was = before == objects.end() ? nullptr : before->second;
    if (was != is && !SameVersion(was, is)) out.push_back({was, is});
  }
  return out;
}

void Store::Prune(std::string_view ns, const std::function<bool(const Object&)>& keep) {
  MutexLock lock(mu_);
  for (auto at = objects_.lower_bound(Less::View(ns, "")); at != objects_.end() && at->first.first == ns;) {
    at = keep(*at->second) ? std::next(at) : objects_.erase(at);
  }
}

}  // namespace capi::kube
