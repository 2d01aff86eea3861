#include "operator/observe/in_use.h"

#include "lifecycle/plan/removal.h"

namespace capi::ops {
namespace {

// Of looks at what goes meanwhile.
constexpr int kLooks = 3;

Watches::Key WatchOf(const lifecycle::ClusterUser& user) {
  return {Watches::Purpose::kInUse, *user.resource, user.ns, "", "metadata.name=" + user.name, true};
}

std::vector<std::string> InWords(const std::vector<lifecycle::ClusterUser>& users) {
  std::vector<std::string> out;
  for (const auto& user : users) out.push_back(NameOf(user));
  return out;
}

}  // namespace

// Those that are there, each with a watch that tells of its end.
Result<UseFinder::Users> UseFinder::StillThere(const Context& ctx, const std::string& key, const Users& users) {
  for (const auto& user : users) watches_.Begin(ctx, WatchOf(user), key, lifecycle::SlimToOwners);
  Users there;
  for (const auto& user : users) {
    auto watch = TRY(watches_.Need(ctx, WatchOf(user), key, lifecycle::SlimToOwners));
    kube::ObjectPtr now = watch->Get(user.ns, user.name);
    if (now && StillBelongs(*now, user)) there.push_back(user);
  }
  return there;
}

// As long as all that were found are there, others don't matter; when one has gone, it is looked for others: what is
// named is there.
Result<std::vector<std::string>> UseFinder::Find(const Context& ctx, const std::string& key,
                                                 const std::vector<kube::ObjectPtr>& crds) {
  const Users known = Known(key);
  if (!known.empty()) {
    auto there = StillThere(ctx, key, known);
    if (there.ok() && there->size() == known.size()) return InWords(known);
    TRY(ctx.Check());  // else: at another version of the CRD another one may be readable
  }
  std::vector<const kube::Object*> all;
  for (const auto& crd : crds) all.push_back(crd.get());
  for (int look = 1;; ++look) {
    const Users found = TRY(lifecycle::FindUsers(client_, ctx, all, lifecycle::kUsersNamed + 1));
    Users there = TRY(StillThere(ctx, key, found));
    if (there.size() < found.size() && look < kLooks) continue;
    if (there.empty() && !found.empty()) {
      return Error{Code::kUnavailable, "what uses it goes faster than it can be looked for", {}};
    }
    Know(key, there);
    return InWords(there);
  }
}

UseFinder::Users UseFinder::Known(const std::string& key) {
  MutexLock lock(mu_);
  auto it = known_.find(key);
  return it == known_.end() ? Users() : it->second;
}

void UseFinder::Know(const std::string& key, Users users) {
  MutexLock lock(mu_);
  known_[key] = std::move(users);
}

void UseFinder::Forget(const std::string& key) {
  MutexLock lock(mu_);
  known_.erase(key);
}

}  // namespace capi::ops
