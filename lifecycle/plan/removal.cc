#include "lifecycle/plan/removal.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "kube/meta/kind.h"
#include "lifecycle/plan/clusterctl_entry.h"

namespace capi::lifecycle {
namespace {

bool Goes(const kube::ObjectId& id, const std::string& ns, const RemovalScope& scope) {
  if (kube::IsCrd(id)) return scope.crds;
  if (kube::Is(id, "", "Namespace")) return false;
  if (id.ns.empty()) return true;
  return id.ns == ns && (scope.entry || !IsEntry(id));
}

}  // namespace

std::vector<kube::ObjectId> ToRemove(const std::vector<kube::ObjectId>& labelled, const std::string& ns,
                                     const RemovalScope& scope) {
  std::vector<kube::ObjectId> out;
  std::copy_if(labelled.begin(), labelled.end(), std::back_inserter(out),
               [&](const kube::ObjectId& id) { return Goes(id, ns, scope); });
  return out;
}

std::string UsersInWords(std::span<const std::string> users) {
  const std::string named = Join(users.subspan(0, std::min(users.size(), kUsersNamed)), ", ");
  return users.size() > kUsersNamed ? named + " and more" : named;
}

bool IsGenerated(const kube::ObjectId& id) {
  return kube::Is(id, "", "Endpoints") || kube::Is(id, "discovery.k8s.io", "EndpointSlice");
}

std::vector<kube::ObjectId> NotReleased(const std::vector<kube::Object>& live,
                                        const std::vector<kube::ObjectId>& released) {
  const std::set<kube::ObjectId> stay(released.begin(), released.end());
  std::set<std::string> uids;
  for (const kube::Object& object : live) {
    if (stay.contains(object.id())) uids.insert(object.uid());
  }
  std::vector<kube::ObjectId> out;
  for (const kube::Object& object : live) {
    const kube::ObjectId id = object.id();
    if (stay.contains(id) || uids.contains(object.uid())) continue;
    if (!IsGenerated(id) && !kube::IsCrd(id) && !kube::IsNamespace(object)) out.push_back(id);
  }
  return out;
}

std::vector<kube::ObjectId> Leftovers(const std::vector<kube::Object>& labelled,
                                      const std::vector<kube::ObjectId>& released, const std::string& ns) {
  return ToRemove(NotReleased(labelled, released), ns, {});
}

}  // namespace capi::lifecycle
