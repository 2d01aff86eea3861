// Which objects of a kind are wanted, by name or by labels, and by whom: what a watch that many share keeps.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "kube/meta/label_selector.h"
#include "kube/meta/object.h"

namespace capi::ops {

// One object of a namespace, or those with some labels. A value.
struct Selection {
  std::string ns, name;        // without a name: by the labels
  kube::LabelSelector labels;  // an empty one takes all of the namespace

  bool Takes(const kube::Object& object) const;
};
// As a list or watch is asked for it. nullopt: it is anything else.
std::optional<Selection> SelectionOf(const std::string& ns, const std::string& label_selector,
                                     const std::string& field_selector);

// Thread-safe. What one object costs doesn't depend on how many other names are wanted, only on the label selectors of
// its own namespace.
class Selections {
 public:
  void Add(const std::string& user, const Selection& selection);  // in the place of the one that it had
  void Remove(const std::string& user);
  bool Take(const kube::Object& object) const;
  std::set<std::string> UsersOf(const kube::Object& object) const;

 private:
  void Drop(const std::string& user) CAPI_REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<std::string, Selection> of_user_ CAPI_GUARDED_BY(mu_);
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_name_ CAPI_GUARDED_BY(mu_);  // of a namespace
  std::map<std::string, std::set<std::string>> by_labels_ CAPI_GUARDED_BY(mu_);  // users, by namespace
};

}  // namespace capi::ops
