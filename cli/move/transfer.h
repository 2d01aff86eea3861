// The objects of a graph are created in the target, group by group.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/move/graph.h"
#include "cli/move/work.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// What becomes of an object that the target has already. An object of the cluster as a whole (Place::shared) is left as
// it is in any case.
enum class Existing {
  kGoOn,  // the same, or of an interrupted move: that goes on with it. Any other is refused.
  kKeep,  // it is left as it is
};

// How a graph's objects come to the target. Thread-compatible.
class Transfer {
 public:
  // Gives an object of the graph as the source has it.
  using Read = std::function<Result<kube::Object>(size_t node)>;

  Transfer(const Context& ctx, const Graph& graph, const Ends& ends, kube::Client& target, Read read, Existing existing,
           Progress& progress);

  // Looks at what the target has. kFailedPrecondition where it lacks a kind, or has an object in the way; changes
  // nothing.
  Status Check();
  // Creates namespaces and objects, Clusters and ClusterClasses paused.
  Status Run();
  // Whether the target has a part of a move between the same ends that hasn't ended. After Check().
  bool GoesOn() const;

 private:
  struct There {
    bool exists = false;
    bool in_flight = false;  // part of a move between the same ends that hasn't ended
  };

  Status CheckKinds();
  Status Look();
  void See(const kube::Object& object, size_t kind);
  Result<std::string> InTheWay(size_t i);
  Status MakeNamespace(const std::string& ns);
  Status CreateOne(size_t i);
  kube::Object Copy(size_t i, const kube::Object& source) const;
  // The uid of the one that is there.
  Result<std::string> GoOnWith(size_t i, kube::Object copy);
  Error OnceMore(size_t i);  // what is there is going: it is to be created, then
  Result<std::string> Replace(size_t i, kube::Object copy, const kube::Object& there);
  Status RestoreManagers(size_t i, const kube::Object& source);

  const Context& ctx_;
  const Graph& graph_;
  const Ends ends_;
  kube::Client& target_;
  const Read read_;
  const Existing existing_;
  Progress& progress_;
  std::map<kube::ObjectId, size_t> by_id_;
  std::vector<There> there_;           // of each node
  std::vector<std::string> new_uids_;  // of those that were created; a group's are read by later groups alone
};

}  // namespace capi::cli::move
