// The objects of a graph are created in the target, group by group.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/move/claim.h"
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

// Creates it where it isn't there.
Status MakeNamespace(const Context& ctx, kube::Client& cluster, const std::string& ns);

// How a graph's objects come to the target. Thread-compatible, CopyAgain() thread-safe.
class Transfer {
 public:
  // Gives an object of the graph as the source has it.
  using Read = std::function<Result<kube::Object>(size_t node)>;

  // `claim` is null out of files, of which nothing is removed.
  Transfer(const Context& ctx, const Graph& graph, const Ends& ends, kube::Client& target, Read read, Existing existing,
           Progress& progress, Claim* claim);

  // Look at what the target has. kFailedPrecondition where it lacks a kind, or has an object in the way; change
  // nothing. Look() comes before CheckObjects(), and GoesOn() and Has() after it.
  Status Look();
  Status CheckKinds();
  Status CheckObjects();
  Status Check();
  // Creates namespaces and objects, Clusters and ClusterClasses that leave the source paused.
  Status Run();
  // Whether the target has a part of a move between the same ends that hasn't ended.
  bool GoesOn() const;
  // Whether it has this object as part of such a move.
  bool Has(size_t node) const { return there_[node].exists && there_[node].in_flight; }

  // The resource version that an object of the source had when it was copied. After Run().
  const std::string& copied_version(size_t node) const { return copied_[node].version; }
  // After a change in the source, copies what is new of it. Gives the resource version there; "" where it is gone.
  // kFailedPrecondition where another run made that change, having taken over.
  Result<std::string> CopyAgain(size_t node);

 private:
  struct There {
    bool exists = false;
    bool in_flight = false;  // part of a move between the same ends that hasn't ended: this one made it, or may have
    bool is_old = false;     // the source's has changed since
    bool joined = false;     // it was there before any move, equal to the source's: it keeps what it has beyond
    bool original = false;   // of which the source has a copy, that a move the other way made: it counts
  };
  struct Copied {
    std::string version, digest;
  };

  void See(const kube::Object& object, size_t kind);
  Result<std::string> InTheWay(size_t i);
  Status Copy(size_t i, const kube::Object& source);
  kube::Object CopyFor(size_t i, const kube::Object& source) const;
  bool IsKept(size_t i) const { return graph_.places[i].shared || existing_ == Existing::kKeep; }
  // The uid of the one that is there.
  Result<std::string> GoOnWith(size_t i, kube::Object copy);
  Error OnceMore(size_t i);  // what is there is going, or gone: it is to be created, then
  Status Release(size_t i, const kube::Object& there, bool is_late);
  Result<std::string> Replace(size_t i, kube::Object copy, const kube::Object& there);
  Result<std::string> Keep(size_t i, const kube::Object& copy, const kube::Object& there, const std::string& path);
  Result<std::string> Join(size_t i, const kube::Object& copy, const kube::Object& there);
  Status Finish(size_t i, const kube::Object& source, bool was_there);

  const Context& ctx_;
  const Graph& graph_;
  const Ends ends_;
  kube::Client& target_;
  const Read read_;
  const Existing existing_;
  Progress& progress_;
  Claim* const claim_;
  std::map<kube::ObjectId, size_t> by_id_;
  std::vector<std::string> of_others_;  // what the target has of other moves, as a person reads it
  std::vector<There> there_;            // of each node
  std::vector<Copied> copied_;          // of each node
  std::vector<std::string> new_uids_;   // of those that were created; a group's are read by later groups alone
};

}  // namespace capi::cli::move
