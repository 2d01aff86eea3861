#include "cli/move/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

#include "base/strings.h"

namespace capi::cli::move {
namespace {

// What Cluster API calls the Secrets of a cluster.
constexpr std::array<std::string_view, 6> kPurposes = {"kubeconfig", "ca",    "etcd",
                                                       "sa",         "proxy", "apiserver-etcd-client"};

// The cluster that a Secret belongs to by its name alone; "" for none.
std::string ClusterOfSecret(const std::string& name) {
  for (std::string_view purpose : kPurposes) {
    size_t rest = name.size() - purpose.size() - 1;
    if (name.size() > purpose.size() + 1 && name[rest] == '-' && name.ends_with(purpose)) return name.substr(0, rest);
  }
  return "";
}

void Sort(Graph& graph) {
  auto key = [&](const Node& node) {
    const kube::Resource& resource = graph.kinds[node.kind].resource;
    return std::tie(resource.group, resource.kind, node.ns, node.name, node.uid);
  };
  std::sort(graph.nodes.begin(), graph.nodes.end(), [&](const Node& a, const Node& b) { return key(a) < key(b); });
  auto same = [](const Node& a, const Node& b) { return a.uid == b.uid; };
  graph.nodes.erase(std::unique(graph.nodes.begin(), graph.nodes.end(), same), graph.nodes.end());
}

// Builds a graph step by step. Thread-compatible.
class Builder {
 public:
  Builder(Graph& graph, const GraphInput& input) : graph_(graph), input_(input), owned_(graph.nodes.size()) {}

  Status Build() {
    FindClusters();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) AddOwners(i);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) Mark(i);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) Keep(i);
    LeaveOut();
    return Order();
  }

 private:
  void FindClusters() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      graph_.by_uid[node.uid] = i;
      if (node.role == Role::kCluster) clusters_[{node.ns, node.name}] = i;
      if (node.role == Role::kClusterClass) classes_[{node.ns, node.name}] = i;
    }
  }

  void Own(size_t owner, size_t i) {
    graph_.places[i].owners.push_back(owner);
    owned_[owner].push_back(i);
  }

  void OwnByName(const std::map<NamespacedName, size_t>& names, const NamespacedName& name, size_t i) {
    auto found = names.find(name);
    if (found != names.end() && !name.name.empty()) Own(found->second, i);
  }

  void AddOwners(size_t i) {
    const Node& node = graph_.nodes[i];
    for (const Owner& owner : node.owners) {
      auto found = graph_.by_uid.find(owner.uid);
      if (found != graph_.by_uid.end()) Own(found->second, i);
    }
    if (node.role == Role::kSecret && node.owners.empty())
      OwnByName(clusters_, {node.ns, ClusterOfSecret(node.name)}, i);
    if (node.role == Role::kResourceSetBinding) OwnByName(clusters_, {node.ns, node.cluster}, i);
    if (node.role == Role::kCluster) OwnByName(classes_, node.cluster_class, i);
  }

  // `visit` says of each node below `start`, and of itself, whether to go on below it.
  void Walk(size_t start, const std::function<bool(size_t)>& visit) {
    std::vector<size_t> open = {start};
    while (!open.empty()) {
      size_t at = open.back();
      open.pop_back();
      if (!visit(at)) continue;
      open.insert(open.end(), owned_[at].begin(), owned_[at].end());
    }
  }

  void Mark(size_t i) {
    Place& place = graph_.places[i];
    const Node& node = graph_.nodes[i];
    bool global = graph_.kind(i).global();
    place.shared |= global;
    place.stays |= global;
    if (!node.hierarchy) {
      place.moves |= node.moves;
      return;
    }
    Walk(i, [&](size_t at) {
      Place& below = graph_.places[at];
      below.moves = true;
      if (global && graph_.nodes[at].role == Role::kCluster) return false;  // two clusters can't both have it
      below.shared |= global;
      below.stays |= global;
      return walked_.insert({at, global}).second;
    });
  }

  // A ClusterClass that is used outside of what is moved, or lies there, stays with all that it owns.
  void Keep(size_t i) {
    const Node& node = graph_.nodes[i];
    if (node.role != Role::kClusterClass || input_.ns.empty()) return;
    if (node.ns == input_.ns && !input_.used_elsewhere.contains({node.ns, node.name})) return;
    Walk(i, [&](size_t at) {
      if (graph_.nodes[at].role == Role::kCluster) return false;  // which only uses it
      graph_.places[at].stays = true;
      return kept_.insert(at).second;
    });
  }

  // Owners that don't move.
  void LeaveOut() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.places[i].moves) continue;
      std::erase_if(graph_.places[i].owners, [&](size_t owner) { return !graph_.places[owner].moves; });
      for (const Owner& owner : graph_.nodes[i].owners) {
        auto found = graph_.by_uid.find(owner.uid);
        if (found != graph_.by_uid.end() && graph_.places[found->second].moves) continue;
        graph_.notes.push_back(
            fmt::format("{} is owned by {} {}, which isn't moved: in the target it has no such owner",
                        graph_.Describe(i), owner.kind, owner.name));
      }
    }
  }

  Status Order() {
    std::vector<size_t> waits_for(graph_.nodes.size()), group;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      waits_for[i] = graph_.places[i].owners.size();
      if (graph_.places[i].moves && waits_for[i] == 0) group.push_back(i);
    }
    size_t placed = 0;
    while (!group.empty()) {
      std::vector<size_t> next;
      for (size_t i : group) {
        for (size_t below : owned_[i])
          if (graph_.places[below].moves && --waits_for[below] == 0) next.push_back(below);
      }
      placed += group.size();
      std::sort(next.begin(), next.end());
      graph_.groups.push_back(std::exchange(group, std::move(next)));
    }
    return placed == graph_.moving() ? Ok() : Circle(waits_for);
  }

  Status Circle(const std::vector<size_t>& waits_for) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.places[i].moves && waits_for[i] > 0) names.push_back(graph_.Describe(i));
    return Error{Code::kFailedPrecondition,
                 fmt::format("objects own each other in a circle, or belong to such: {}. Remove one of their "
                             "ownerReferences",
                             JoinNames(names, 5)),
                 {}};
  }

  Graph& graph_;
  const GraphInput& input_;
  std::vector<std::vector<size_t>> owned_;  // of each node those that it owns
  std::map<NamespacedName, size_t> clusters_, classes_;
  std::set<std::pair<size_t, bool>> walked_;
  std::set<size_t> kept_;
};

}  // namespace

std::string Graph::Describe(size_t node) const {
  const Node& of = nodes[node];
  return fmt::format("{} {}{}{}", kind(node).resource.kind, of.ns, of.ns.empty() ? "" : "/", of.name);
}

std::vector<size_t> Graph::Moving(Role role) const {
  std::vector<size_t> out;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (places[i].moves && nodes[i].role == role) out.push_back(i);
  return out;
}

size_t Graph::moving() const {
  return static_cast<size_t>(
      std::count_if(places.begin(), places.end(), [](const Place& place) { return place.moves; }));
}

Result<Graph> MakeGraph(GraphInput input) {
  Graph graph;
  graph.kinds = std::move(input.kinds);
  graph.nodes = std::move(input.nodes);
  Sort(graph);
  graph.places.resize(graph.nodes.size());
  TRY(Builder(graph, input).Build());
  return graph;
}

}  // namespace capi::cli::move
