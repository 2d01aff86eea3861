#include "cli/local_clusters/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/types.h"
#include "cli/describe/cluster_reader.h"
#include "cli/describe/cluster_tree.h"
#include "cli/frame/management_cluster.h"
#include "cli/local_clusters/parts.h"
#include "cli/local_clusters/patience.h"

namespace capi::cli::local_clusters {
namespace {

kube::Resource Own(const char* plural, const char* kind) {
  return {.group = "cluster.x-k8s.io", .version = std::string(kContract), .plural = plural, .kind = kind};
}

// That of a topology is in no manifest.
std::optional<kube::ObjectId> ControlPlaneOf(const kube::Object& cluster) {
  const std::string kind = GetString(cluster.json(), {"spec", "controlPlaneRef", "kind"}),
                    name = GetString(cluster.json(), {"spec", "controlPlaneRef", "name"});
  if (kind.empty() || name.empty()) return std::nullopt;
  return kube::ObjectId{GetString(cluster.json(), {"spec", "controlPlaneRef", "apiGroup"}), kind, cluster.ns(), name};
}

// The condition that tells most of an object.
std::string WordsOf(const describe::ClusterObject& object) {
  for (const char* type : {"Available", "Ready"}) {
    const describe::Condition* found = describe::FindCondition(object.conditions, type);
    if (found == nullptr) continue;
    const std::string reason = found->status == "True" || found->reason.empty() ? "" : ": " + found->reason;
    return fmt::format("  {}={}{}", found->type, found->status, reason);
  }
  return "";
}

// What an object is called stays, whatever the words of a credential are.
void AddLines(const describe::ClusterNode& node, const std::string& indent, const Hider& hider,
              std::vector<std::string>& out) {
  const std::string role = node.role.empty() ? "" : node.role + " - ";
  out.push_back(indent + role + describe::NodeName(node) + hider.WithoutValues(WordsOf(node.object)));
  for (const auto& child : node.children) AddLines(*child, indent + "  ", hider, out);
}

}  // namespace

const kube::Resource& ClusterResource() {
  static const auto& resource = *new kube::Resource(Own("clusters", "Cluster"));
  return resource;
}

const kube::Resource& MachineResource() {
  static const auto& resource = *new kube::Resource(Own("machines", "Machine"));
  return resource;
}

std::string ByCluster(const std::string& name) { return "cluster.x-k8s.io/cluster-name=" + name; }

Result<std::vector<kube::Resource>> KindsOfClusterApi(const Context& ctx, kube::Client& client) {
  std::vector<kube::Resource> out;
  std::set<kube::GroupKind> seen;
  for (const kube::Resource& resource : TRY(client.mapper().All(ctx))) {
    if (!IsOfClusterApi(resource.group)) continue;
    if (std::find(resource.verbs.begin(), resource.verbs.end(), "list") == resource.verbs.end()) continue;
    if (!seen.insert({resource.group, resource.kind}).second) continue;  // another version of the same
    // Of that one nothing has to be converted, by a webhook that may be away.
    auto best = client.mapper().For(ctx, {resource.group, resource.kind});
    out.push_back(best.ok() ? *best : resource);
  }
  return out;
}

Result<ClusterState> ClusterWatch::Read(const Context& ctx, const ClusterName& name) {
  ClusterState out{name.ns, name.name, {}, {}, {}, {}, forgiven_};
  out.cluster = TRY(IfThere(client_.Get(OneCall(ctx), ClusterResource(), name.ns, name.name)));
  // Machines last: those that what makes them has counted are seen then.
  if (out.cluster) TRY(ReadMakers(ctx, name, out.makers));
  const kube::GroupKind of_machines{MachineResource().group, MachineResource().kind};
  std::set<kube::ObjectId> wanted, machines;
  for (const kube::ObjectId& id : others_) {
    const bool listed = out.cluster && id.group_kind() == of_machines;  // most of them, once they have their label
    if (id.ns == name.ns) (listed ? machines : wanted).insert(id);
  }
  for (const kube::Object& seen : out.makers) wanted.erase(seen.id());
  for (const kube::ObjectId& id : wanted) TRY(ReadOther(ctx, id, out.others));
  if (!out.cluster) return out;
  auto control_plane = ControlPlaneOf(*out.cluster);
  if (control_plane && !wanted.contains(*control_plane)) TRY(ReadOther(ctx, *control_plane, out.makers));
  kube::ListOptions options;
  options.label_selector = ByCluster(name.name);
  out.machines = TRY(client_.List(OneCall(ctx), MachineResource(), name.ns, options)).items;
  for (const kube::Object& seen : out.machines)
    machines.erase({of_machines.group, of_machines.kind, seen.ns(), seen.name()});
  for (const kube::ObjectId& id : machines) TRY(ReadOther(ctx, id, out.others));
  return out;
}

Status ClusterWatch::ReadMakers(const Context& ctx, const ClusterName& name, std::vector<kube::Object>& out) {
  kube::ListOptions options;
  options.label_selector = ByCluster(name.name);
  for (const char* kind : {"MachineDeployment", "MachineSet", "MachinePool"}) {
    auto resource = client_.mapper().For(OneCall(ctx), {ClusterResource().group, kind});
    if (!resource.ok() && resource.code() == Code::kNotFound) continue;
    if (!resource.ok()) return resource.error();
    kube::ObjectList list = TRY(client_.List(OneCall(ctx), *resource, name.ns, options));
    for (kube::Object& object : list.items) out.push_back(std::move(object));
  }
  return Ok();
}

Status ClusterWatch::ReadOther(const Context& ctx, const kube::ObjectId& id, std::vector<kube::Object>& out) {
  auto resource = client_.mapper().For(OneCall(ctx), id.group_kind());
  if (!resource.ok() && resource.code() == Code::kNotFound) return Ok();
  if (!resource.ok()) return resource.error();
  if (!resource->namespaced) return Ok();
  auto object = TRY(IfThere(client_.Get(OneCall(ctx), *resource, id.ns, id.name)));
  if (object) out.push_back(*std::move(object));
  return Ok();
}

Result<std::vector<std::string>> ClusterWatch::Tree(const Context& ctx, const ClusterName& name,
                                                    std::vector<std::string>& missing) {
  std::vector<std::string> out;
  describe::ClusterReader reader(ctx, client_, name.ns, name.name, describe::ConditionStyle::kV1Beta2);
  describe::ClusterParts parts = TRY(reader.Read(false));
  describe::ClusterNode root = BuildClusterTree(parts, {}, reader);
  AddLines(root, "", hider_, out);
  missing = reader.missing();
  if (!reader.status().ok()) missing.push_back(reader.status().error().message);
  return out;
}

void ClusterWatch::Draw(const Context& ctx, const std::vector<ClusterName>& clusters, const std::string& what,
                        const std::string& waits_for) {
  if (!live_) return;
  std::vector<std::string> lines;
  for (const ClusterName& name : clusters) {
    std::vector<std::string> missing;
    auto tree = Tree(OneCall(ctx), name, missing);
    for (std::string& why : missing) why = hider_.WithoutValues(std::move(why));
    if (!tree.ok())
      tree =
          std::vector{fmt::format("Cluster {}/{}: {}", name.ns, name.name, hider_.WithoutValues(tree.error().message))};
    for (const auto* part : {&*tree, &missing}) lines.insert(lines.end(), part->begin(), part->end());
  }
  if (lines.size() > kMostLines) {
    const size_t more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(fmt::format("and {} lines more", more));
  }
  lines.push_back(fmt::format("{}: waiting. {}", what, hider_.WithoutValues(waits_for)));
  lines_.Draw(lines);
}

Status ClusterWatch::Await(const Context& ctx, const std::vector<ClusterName>& clusters, const Judge& judge,
                           const std::string& what) {
  const MonoTime begun = ctx.clock->Monotonic();
  std::string waits_for = "nothing of it was seen yet", trouble;
  while (true) {
    bool done = true;
    std::string first;
    std::optional<Error> failed;
    for (const ClusterName& name : clusters) {
      auto state = Read(ctx, name);
      if (!state.ok() && !state.error().Transient() && ctx.Check().ok()) return state.error().With(what);
      if (!state.ok() && !failed) failed = state.error();
      Verdict verdict = state.ok() ? judge(*state) : Verdict{false, state.error().message, ""};
      if (!verdict.terminal.empty())
        return Error{Code::kFailedPrecondition, fmt::format("{}: {}", what, verdict.terminal), {}};
      if (!verdict.done && first.empty()) first = verdict.waits_for;
      done = done && verdict.done;
    }
    if (done) return Ok();
    if (ctx.Check().ok()) {
      waits_for = first;
      // Hours may pass, and without a terminal nothing else is seen.
      if (failed && failed->message != trouble && on_trouble_) {
        lines_.Draw({});
        on_trouble_(what, *failed);
      }
      trouble = failed ? failed->message : "";
    }
    Draw(ctx, clusters, what, waits_for);
    if (ctx.Check().ok() && ctx.clock->Sleep(ctx.stop, kPause) && ctx.Check().ok()) continue;
    if (ctx.stop.stop_requested()) return Error{Code::kCancelled, fmt::format("{}: {}", what, waits_for), {}};
    auto took = std::chrono::duration_cast<Seconds>(ctx.clock->Monotonic() - begun);
    return Error{Code::kDeadlineExceeded,
                 fmt::format("{}: not done after {}: {}", what, api::FormatDuration(took), waits_for),
                 {}};
  }
}

}  // namespace capi::cli::local_clusters
