// What goes of a provider that no operator looks after (behaviour.md L23). Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kube/meta/object.h"

namespace capi::lifecycle {

// What else goes than the provider's own objects. A value.
struct RemovalScope {
  bool crds = false;
  bool entry = false;  // the one in clusterctl's inventory
};

// Of the objects that have the provider's labels, those that a removal deletes. `ns` is where the provider is; what
// lies elsewhere stays, and so does the Namespace, which others may live in.
std::vector<kube::ObjectId> ToRemove(const std::vector<kube::ObjectId>& labelled, const std::string& ns,
                                     const RemovalScope& scope);

// Of the objects that need a provider (X2) so many are named. Who looks for them is content with one more.
inline constexpr size_t kUsersNamed = 5;
// "A n/a, B n/b", or five of them "and more". Not how many: that would cost a look at all, and change while it is read.
std::string UsersInWords(std::span<const std::string> users);

// Kubernetes makes these of a Service, with its labels.
bool IsGenerated(const kube::ObjectId& id);

// The objects that an older release had, and the newer one, of which these are the objects, has no more. CRDs and
// Namespaces stay: users' objects are in them; and so does what Kubernetes makes of what stays. So does what is an
// object of the newer one under another group: some servers have one object under two, with one uid.
std::vector<kube::ObjectId> NotReleased(const std::vector<kube::Object>& live,
                                        const std::vector<kube::ObjectId>& released);

// Those of them that a provider in `ns` had; the entry in clusterctl's inventory stays.
std::vector<kube::ObjectId> Leftovers(const std::vector<kube::Object>& labelled,
                                      const std::vector<kube::ObjectId>& released, const std::string& ns);

}  // namespace capi::lifecycle
