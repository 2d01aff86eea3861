#include "lifecycle/in_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <set>

#include "kube/client/status_error.h"
#include "kube/meta/object_conditions.h"
#include "lifecycle/plan/crd_state.h"

namespace capi::lifecycle {
namespace {

constexpr std::string_view kLabelCluster = "cluster.x-k8s.io/cluster-name";
constexpr std::string_view kCore = "cluster.x-k8s.io";
// Of the core's kinds, those that exist for one Cluster alone.
constexpr std::string_view kOfOneCluster[] = {"Cluster", "Machine", "MachineSet", "MachineDeployment", "MachinePool"};
constexpr int kPage = 100;  // the first few are enough, most times

bool IsOfOneCluster(const std::string& group, const std::string& kind) {
  return group == kCore &&
         std::find(std::begin(kOfOneCluster), std::end(kOfOneCluster), kind) != std::end(kOfOneCluster);
}

std::uint64_t Sum(const std::string& uid) { return std::hash<std::string>()(uid); }

void ForEachOwner(const kube::Object& object, const std::function<void(const Json&)>& see) {
  const Json* owners = Find(object.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const Json& owner : *owners) see(owner);
}

bool BelongsByItself(const kube::Object& object) {
  bool belongs = object.has_label(kLabelCluster) || IsOfOneCluster(object.group_version().group, object.kind());
  ForEachOwner(object, [&](const Json& owner) {
    std::string group = kube::GroupVersion::Parse(GetString(owner, {"apiVersion"})).group;
    belongs |= IsOfOneCluster(group, GetString(owner, {"kind"}));
  });
  return belongs;
}

std::vector<std::uint64_t> OwnersOf(const kube::Object& object) {
  std::vector<std::uint64_t> out;
  ForEachOwner(object, [&](const Json& owner) { out.push_back(Sum(GetString(owner, {"uid"}))); });
  return out;
}

// What is found on the way through the objects of several CRDs. Thread-compatible.
class UserSearch {
 public:
  explicit UserSearch(size_t most) : most_(most) {}

  void NextCrd() {
    users_before_ = users_.size();
    owned_before_ = owned_.size();
  }
  // Objects of the CRD come at this version now; null for none.
  void Begin(std::shared_ptr<const kube::Resource> resource) {
    resource_ = std::move(resource);
    users_.erase(users_.begin() + static_cast<std::ptrdiff_t>(users_before_), users_.end());
    owned_.erase(owned_.begin() + static_cast<std::ptrdiff_t>(owned_before_), owned_.end());
  }
  bool IsFull() const { return users_.size() >= most_; }
  void See(const kube::Object& object) {
    const bool belongs = BelongsByItself(object);
    // Who owns what belongs by itself says nothing: it may be anybody.
    std::vector<std::uint64_t> owners;
    if (!belongs) owners = OwnersOf(object);
    if (!belongs && owners.empty()) return;
    ClusterUser user{resource_, object.ns(), object.name(), Sum(object.uid()), std::move(owners)};
    if (belongs) {
      users_.push_back(std::move(user));
    } else {
      owned_.push_back(std::move(user));
    }
  }
  // Then all that belong by themselves are known, unless they are enough already.
  std::vector<ClusterUser> Take() {
    std::set<std::uint64_t> known;
    for (const ClusterUser& user : users_) known.insert(user.uid);
    for (bool grows = true; grows && !IsFull();) {
      grows = false;
      std::erase_if(owned_, [&](ClusterUser& user) {
        if (IsFull() || std::none_of(user.owners.begin(), user.owners.end(),
                                     [&](std::uint64_t owner) { return known.contains(owner); })) {
          return false;
        }
        known.insert(user.uid);
        users_.push_back(std::move(user));
        return grows = true;
      });
    }
    return std::move(users_);
  }

 private:
  const size_t most_;
  std::shared_ptr<const kube::Resource> resource_;
  std::vector<ClusterUser> users_;
  std::deque<ClusterUser> owned_;  // by what isn't known to belong; many, and never copied
  size_t users_before_ = 0, owned_before_ = 0;
};

// Of a CRD that no version answered for. It is served from when it is Established until it is gone, though not by every
// API server at once: each hears of it by itself. Before and after that there are no objects of it.
Status NoneWhereItIsNotServed(kube::Client& client, const Context& ctx, const std::string& crd) {
  const auto live = TRY_WITH(ReadCrd(client, ctx, crd), crd);
  if (!live) return Ok();
  const auto conditions = kube::Conditions(*live);
  const auto* established = kube::FindCondition(conditions, "Established");
  if (established != nullptr && established->status == "False") return Ok();
  return Error{
      Code::kUnavailable,
      fmt::format("{}: an API server doesn't serve any of its versions yet, so whether it has objects can't be told",
                  crd),
      {}};
}

}  // namespace

Result<std::optional<kube::Object>> ReadCrd(kube::Client& client, const Context& ctx, const std::string& name) {
  auto live = client.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", name);
  if (live.ok()) return std::optional(std::move(live).value());
  if (kube::IsGone(live.error())) return std::optional<kube::Object>();
  Error error = live.error();
  if (error.code == Code::kNotFound) error.code = Code::kUnavailable;
  return error;
}

Result<std::vector<kube::Resource>> ReadableResources(const kube::Object& crd) {
  const CrdState state = StateOf(crd);
  std::vector<kube::Resource> out;
  for (const std::string& version : state.served) {
    const bool storage = version == state.storage;
    if (!storage && std::find(state.stored.begin(), state.stored.end(), version) == state.stored.end()) continue;
    kube::Resource resource;
    resource.group = state.group;
    resource.version = version;
    resource.plural = state.plural;
    resource.kind = state.kind;
    resource.namespaced = state.namespaced;
    out.insert(storage ? out.begin() : out.end(), std::move(resource));
  }
  if (!out.empty()) return out;
  return Error{Code::kUnavailable, crd.name() + ": no version that objects are stored at is served", {}};
}

// While nobody converts, the storage version can't be read as long as an object is stored at an older one: between a
// paused upgrade that switched it and the migration. All of them being stored at the older one, that one can. A 404
// says that this path isn't served, never that there are no objects.
Result<bool> SeeReadable(kube::Client& client, const Context& ctx, const kube::Object& crd, kube::ListOptions options,
                         const std::string& ns, const std::function<void(const kube::Resource&)>& begin,
                         const std::function<bool(kube::Object)>& see) {
  options.metadata_only = options.may_change = true;
  std::optional<Error> error;
  for (const kube::Resource& resource : TRY(ReadableResources(crd))) {
    Status seen = client.ForEach(
        ctx, resource, resource.namespaced ? ns : "", options, [&] { begin(resource); },
        [&](kube::Object object) -> Result<bool> { return see(std::move(object)); });
    if (seen.ok()) return true;
    TRY(ctx.Check());
    if (seen.code() != Code::kNotFound && !error) {
      error = seen.error().With(fmt::format("{} at {}", crd.name(), resource.version));
    }
  }
  if (error) return *error;
  TRY(NoneWhereItIsNotServed(client, ctx, crd.name()));
  return false;
}

Result<ReadObjects> ListReadable(kube::Client& client, const Context& ctx, const kube::Object& crd,
                                 kube::ListOptions options, const std::string& ns) {
  ReadObjects out;
  if (options.max_bytes == 0) options.max_bytes = kube::kMaxHeldBytes;
  bool served = TRY(SeeReadable(
      client, ctx, crd, std::move(options), ns,
      [&](const kube::Resource& resource) {
        out = ReadObjects{resource, {}};
      },
      [&](kube::Object object) {
        out.items.push_back(std::move(object));
        return true;
      }));
  return served ? std::move(out) : ReadObjects{};
}

std::string NameOf(const kube::Object& object) {
  return object.ns().empty() ? fmt::format("{} {}", object.kind(), object.name())
                             : fmt::format("{} {}/{}", object.kind(), object.ns(), object.name());
}

std::string NameOf(const ClusterUser& user) {
  const std::string& kind = user.resource->kind;
  return user.ns.empty() ? fmt::format("{} {}", kind, user.name) : fmt::format("{} {}/{}", kind, user.ns, user.name);
}

bool StillBelongs(const kube::Object& now, const ClusterUser& user) {
  return Sum(now.uid()) == user.uid && (BelongsByItself(now) || (!user.owners.empty() && OwnersOf(now) == user.owners));
}

Result<std::vector<ClusterUser>> FindUsers(kube::Client& client, const Context& ctx,
                                           const std::vector<const kube::Object*>& crds, size_t most) {
  UserSearch search(most);
  const kube::ListOptions options{.limit = kPage, .managed_fields = false};
  for (const kube::Object* crd : crds) {
    search.NextCrd();
    bool served = TRY(SeeReadable(
        client, ctx, *crd, options, "",
        [&](const kube::Resource& resource) { search.Begin(std::make_shared<const kube::Resource>(resource)); },
        [&](const kube::Object& object) {
          search.See(object);
          return !search.IsFull();
        }));
    if (!served) search.Begin(nullptr);
    if (search.IsFull()) break;
  }
  return search.Take();
}

void SlimToOwners(kube::Object& object) {
  kube::Object slim = kube::IdentityOf(object);
  if (object.has_label(kLabelCluster)) slim.set_label(kLabelCluster, object.label(kLabelCluster));
  if (const Json* owners = Find(object.json(), {"metadata", "ownerReferences"})) {
    slim.json()["metadata"]["ownerReferences"] = *owners;
  }
  object = std::move(slim);
}

}  // namespace capi::lifecycle
