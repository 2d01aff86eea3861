#include "operator/observe/selections/selections.h"

namespace capi::ops {
namespace {

template <typename Index, typename Key>
void Erase(Index& index, const Key& key, const std::string& user) {
  auto found = index.find(key);
  if (found == index.end()) return;
  found->second.erase(user);
  if (found->second.empty()) index.erase(found);
}

}  // namespace

bool Selection::Takes(const kube::Object& object) const {
  if (object.ns() != ns) return false;
  if (!name.empty()) return object.name() == name;
  const Json* given = Find(object.json(), {"metadata", "labels"});
  return labels.Matches(given == nullptr ? Json() : *given);
}

std::optional<Selection> SelectionOf(const std::string& ns, const std::string& label_selector,
                                     const std::string& field_selector) {
  constexpr std::string_view kName = "metadata.name=";
  const bool by_name = field_selector.starts_with(kName);
  if (ns.empty() || (by_name ? !label_selector.empty() : !field_selector.empty())) return std::nullopt;
  if (by_name) {
    std::string name = field_selector.substr(kName.size());
    return name.empty() ? std::nullopt : std::optional(Selection{ns, std::move(name), {}});  // nothing has that name
  }
  auto labels = kube::LabelSelector::Parse(label_selector);
  if (!labels.ok()) return std::nullopt;
  return Selection{ns, "", *std::move(labels)};
}

void Selections::Add(const std::string& user, const Selection& selection) {
  MutexLock lock(mu_);
  Drop(user);
  if (selection.name.empty()) {
    by_labels_[selection.ns].insert(user);
  } else {
    by_name_[{selection.ns, selection.name}].insert(user);
  }
  of_user_.emplace(user, selection);
}

void Selections::Remove(const std::string& user) {
  MutexLock lock(mu_);
  Drop(user);
}

void Selections::Drop(const std::string& user) {
  auto found = of_user_.find(user);
  if (found == of_user_.end()) return;
  const Selection& selection = found->second;
  Erase(by_name_, std::pair(selection.ns, selection.name), user);
  Erase(by_labels_, selection.ns, user);
  of_user_.erase(found);
}

bool Selections::Take(const kube::Object& object) const {
  const std::string ns = object.ns();
  MutexLock lock(mu_);
  if (by_name_.contains({ns, object.name()})) return true;
  auto found = by_labels_.find(ns);
  if (found == by_labels_.end()) return false;
  for (const std::string& user : found->second) {
    if (of_user_.at(user).Takes(object)) return true;
  }
  return false;
}

std::set<std::string> Selections::UsersOf(const kube::Object& object) const {
  std::set<std::string> users;
  const std::string ns = object.ns();
  MutexLock lock(mu_);
  if (auto named = by_name_.find({ns, object.name()}); named != by_name_.end()) users = named->second;
  if (auto found = by_labels_.find(ns); found != by_labels_.end()) {
    for (const std::string& user : found->second) {
      if (of_user_.at(user).Takes(object)) users.insert(user);
    }
  }
  return users;
}

}  // namespace capi::ops
