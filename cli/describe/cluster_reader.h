// Reads what the tree of a cluster needs from a management cluster, with few requests: lists by the cluster's label,
// and of providers' objects one by one only as long as they are few.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/describe/cluster_tree.h"
#include "kube/client/client.h"

namespace capi::cli::describe {

// Of one cluster. `client` must outlive it. Thread-compatible.
class ClusterReader : public Externals {
 public:
  ClusterReader(Context ctx, kube::Client& client, std::string ns, std::string name, ConditionStyle style);

  // What Cluster API defines; ClusterResourceSets where they are wanted.
  Result<ClusterParts> Read(bool resource_sets);

  const ClusterObject* Get(const Reference& reference) override;
  const ControlPlane* GetControlPlane(const Reference& reference) override;

  // The first error that leaves open what Get was asked for: a server that went away, say.
  const Status& status() const { return status_; }
  // A line for each object that was named and couldn't be had, and why.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  // A kind of a provider, and the objects of it that are known.
  struct Kind {
    std::optional<kube::Resource> resource;  // nullopt: it can't be read
    std::string contract;
    int asked = 0;
    std::map<std::string, std::optional<ClusterObject>> objects;  // by name; nullopt: isn't there
  };

  using OnObject = std::function<void(const kube::Object&)>;
  // `begin` is called before the first object, and where the listing begins anew.
  Status ListByLabel(const kube::Resource& resource, const std::function<void()>& begin, const OnObject& on_object);
  Result<std::vector<MachineObject>> ListMachines(const char* plural, const char* kind);
  Status ReadResourceSets(ClusterParts& parts);
  Kind& KindOf(const Reference& reference);
  Status FindKind(const Reference& reference, Kind& kind);
  // nullopt where it can't be had.
  std::optional<kube::Object> GetOne(const Reference& reference, const Kind& kind);
  void Miss(const Reference& reference, const Error& error);

  const Context ctx_;
  kube::Client& client_;
  const std::string ns_, name_;
  const ConditionStyle style_;
  std::map<std::pair<std::string, std::string>, Kind> kinds_;
  std::optional<ControlPlane> control_plane_;
  Status status_;
  std::vector<std::string> missing_;
};

}  // namespace capi::cli::describe
