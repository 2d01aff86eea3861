#include "cli/move/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/version.h"

namespace capi::cli::move {
namespace {

using Version = api::Version;

Result<Version> VersionOf(const InstalledProvider& provider, std::string_view where) {
  auto version = Version::Parse(provider.version);
  if (version.ok()) return version;
  return version.error().With(fmt::format("unable to parse the version of provider {} in the {} cluster",
                                          api::ManifestLabel(provider.type, provider.name), where));
}

// "1.12.0", as clusterctl says it.
std::string WithoutV(const Version& version) { return version.ToString().substr(1); }

// Clusters that a move back has copied.
std::set<NamespacedName> Copies(const Graph& graph, const Ends& ends) {
  std::set<NamespacedName> out;
  for (const Node& node : graph.nodes)
    if (node.role == Role::kCluster && node.record && IsOf(*node.record, ends) && node.record->ends != ends)
      out.insert({node.ns, node.name});
  return out;
}

std::string WhatRecordSays(const Graph& graph, size_t i) {
  return fmt::format(
      "{} is part of another move that hasn't ended: run that one again. To forget it, remove the "
      "annotation {}",
      graph.Describe(i), kRecordAnnotation);
}

}  // namespace

std::vector<std::string> Hindrances(const Graph& graph, const Ends& ends,
                                    const std::function<bool(size_t)>& was_ready) {
  std::vector<std::string> out;
  std::set<NamespacedName> copies = Copies(graph, ends);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!graph.places[i].moves) continue;
    if (node.record && !GoesOn(*node.record, ends)) {
      out.push_back(WhatRecordSays(graph, i));
      continue;
    }
    if (node.deleting && !node.leaving) {
      out.push_back(fmt::format("cannot start the move operation while {} is being deleted", graph.Describe(i)));
      continue;
    }
    const std::string& cluster = node.role == Role::kCluster ? node.name : node.cluster;
    if (!node.not_ready.empty() && !copies.contains({node.ns, cluster}) && !was_ready(i))
      out.push_back(fmt::format("cannot start the move operation while {}", node.not_ready));
  }
  return out;
}

std::vector<std::string> NotHeld(const Graph& graph, const std::string& run) {
  std::vector<std::string> out;
  for (Role role : {Role::kCluster, Role::kClusterClass}) {
    for (size_t i : graph.Moving(role)) {
      const std::optional<Record>& record = graph.nodes[i].record;
      if (graph.Leaves(i) && (!record || record->run != run))
        out.push_back(fmt::format("{} was resumed, or another move has paused it", graph.Describe(i)));
    }
  }
  return out;
}

std::vector<size_t> Came(const Graph& before, const Graph& now) {
  std::vector<size_t> out;
  for (size_t i = 0; i < now.nodes.size(); ++i) {
    if (!now.Leaves(i)) continue;
    auto known = before.by_uid.find(now.nodes[i].uid);
    if (known == before.by_uid.end() || !before.Leaves(known->second)) out.push_back(i);
  }
  return out;
}

Result<std::vector<std::string>> LacksOfProviders(const std::vector<InstalledProvider>& source,
                                                  const std::vector<InstalledProvider>& target) {
  std::vector<std::string> out;
  for (const InstalledProvider& provider : source) {
    Version wanted = TRY(VersionOf(provider, "source"));
    std::optional<Version> newest;
    for (const InstalledProvider& other : target) {
      if (other.type != provider.type || other.name != provider.name) continue;
      Version version = TRY(VersionOf(other, "target"));
      if (!newest || *newest < version) newest = version;
    }
    std::string label = api::ManifestLabel(provider.type, provider.name);
    if (!newest) {
      out.push_back(fmt::format("provider {} not found in the target cluster", label));
    } else if (*newest < wanted) {
      out.push_back(
          fmt::format("provider {} in the target cluster is older than in the source cluster (source: {}, "
                      "target: {})",
                      label, WithoutV(wanted), WithoutV(*newest)));
    }
  }
  return out;
}

Status Refuse(const std::string& what, const std::vector<std::string>& why, size_t most) {
  if (why.empty()) return Ok();
  std::string text;
  for (size_t i = 0; i < std::min(why.size(), most); ++i) text += (i > 0 ? "; " : "") + why[i];
  if (why.size() > most) text += fmt::format("; and {} more", why.size() - most);
  return Error{Code::kFailedPrecondition, fmt::format("{}: {}", what, text), {}};
}

}  // namespace capi::cli::move
