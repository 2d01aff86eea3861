// Which objects move, in which order, and which of them stay in the source as well. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/move/node.h"

namespace capi::cli::move {

// A value.
struct GraphInput {
  std::vector<MovedKind> kinds;
  std::vector<Node> nodes;  // one that was seen twice counts once
  // The namespace that is moved; "" where all there is moves, out of files.
  std::string ns;
  // ClusterClasses that Clusters outside of the namespace use.
  std::set<NamespacedName> used_elsewhere;
};

// What the graph says of a node. A value.
struct Place {
  bool moves = false;
  // Of the cluster as a whole, or below such an object: one that the target has is left as it is. No Cluster is, nor
  // what is below it.
  bool shared = false;
  bool stays = false;          // it isn't deleted in the source
  std::vector<size_t> owners;  // of those that move; also by name, and a Cluster's class
};

// A value.
struct Graph {
  std::vector<MovedKind> kinds;
  std::vector<Node> nodes;  // by kind, namespace and name
  std::vector<Place> places;
  // Those that move: owners are in an earlier group. Objects of one group have nothing to do with each other.
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> by_uid;
  std::vector<std::string> notes;  // what a person should know: owners that don't move

  const MovedKind& kind(size_t node) const { return kinds[nodes[node].kind]; }
  std::string Describe(size_t node) const;      // "Machine team/m-1"
  std::vector<size_t> Moving(Role role) const;  // in order
  bool Leaves(size_t node) const { return places[node].moves && !places[node].stays; }
  size_t moving() const;
};

// kFailedPrecondition for objects that own each other in a circle.
Result<Graph> MakeGraph(GraphInput input);

}  // namespace capi::cli::move
