#include "cli/move/discover.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/kinds.h"
#include "cli/move/work.h"

namespace capi::cli::move {
namespace {

// A CustomResourceDefinition has up to a megabyte, other objects some kilobytes.
constexpr int kCrdsOfPage = 5;
constexpr int kObjectsOfPage = 250;

// Only of these more is read than their metadata. So no value of a Secret is.
bool NeedsAll(const MovedKind& kind) {
  Role role = RoleOf({kind.resource.group, kind.resource.kind});
  return role != Role::kOther && role != Role::kSecret && role != Role::kClusterClass;
}

// A place in which objects of a kind are listed.
struct Listing {
  size_t kind;
  std::string ns;
};

std::vector<Listing> Listings(const std::vector<MovedKind>& kinds, const std::vector<InstalledProvider>& providers,
                              const std::string& ns) {
  std::vector<Listing> out;
  for (size_t i = 0; i < kinds.size(); ++i) {
    out.push_back({i, kinds[i].global() ? "" : ns});
    if (RoleOf({kinds[i].resource.group, kinds[i].resource.kind}) != Role::kSecret) continue;
    std::set<std::string> others;
    for (const InstalledProvider& provider : providers)
      if (provider.type == api::ProviderType::kInfrastructure && provider.ns != ns) others.insert(provider.ns);
    for (const std::string& other : others) out.push_back({i, other});
  }
  return out;
}

// Adds objects to those that are to be a graph. Thread-compatible.
class Reader {
 public:
  Reader(const Context& ctx, kube::Client& client, GraphInput& input) : ctx_(ctx), client_(client), input_(input) {}

  Status ReadAll(const std::vector<InstalledProvider>& providers) {
    std::vector<Listing> listings = Listings(input_.kinds, providers, input_.ns);
    std::vector<std::vector<Node>> found(listings.size());
    TRY(ForEach(ctx_, listings.size(), [&](size_t i) -> Status {
      found[i].clear();
      const MovedKind& kind = input_.kinds[listings[i].kind];
      return EachObject(
          ctx_, client_, kind.resource, listings[i].ns, {.limit = kObjectsOfPage, .metadata_only = !NeedsAll(kind)},
          [&](const kube::Object& object) { found[i].push_back(NodeOf(object, listings[i].kind, kind)); });
    }));
    for (std::vector<Node>& nodes : found) std::move(nodes.begin(), nodes.end(), std::back_inserter(input_.nodes));
    return Ok();
  }

  // Those that Clusters of the namespace use from others.
  Status ReadClasses() {
    std::set<NamespacedName> names;
    for (const Node& node : input_.nodes) {
      const NamespacedName& name = node.cluster_class;
      if (node.role == Role::kCluster && !name.name.empty() && name.ns != input_.ns) names.insert(name);
    }
    for (const NamespacedName& name : names) {
      kube::Object found = TRY(Fetch(ClassResource().api_version(), "ClusterClass", name));
      for (const TemplateReference& reference : TemplatesOf(found))
        TRY(Fetch(reference.api_version, reference.kind, {name.ns, reference.name}));
    }
    return Ok();
  }

  // Which ClusterClasses of the namespace Clusters of others use.
  Status ReadUsers() {
    auto is_class = [&](const Node& node) { return node.role == Role::kClusterClass && node.ns == input_.ns; };
    if (std::none_of(input_.nodes.begin(), input_.nodes.end(), is_class)) return Ok();
    return EachObject(ctx_, client_, ClusterResource(), "", {.limit = kObjectsOfPage},
                      [&](const kube::Object& cluster) {
                        NamespacedName used = ClassOf(cluster);
                        if (cluster.ns() != input_.ns && !used.name.empty()) input_.used_elsewhere.insert(used);
                      });
  }

 private:
  Result<size_t> KindIndex(const std::string& api_version, const std::string& kind) {
    kube::GroupVersion version = kube::GroupVersion::Parse(api_version);
    auto same = [&](const MovedKind& known) {
      return known.resource.group == version.group && known.resource.kind == kind;
    };
    auto found = std::find_if(input_.kinds.begin(), input_.kinds.end(), same);
    if (found != input_.kinds.end()) return static_cast<size_t>(found - input_.kinds.begin());
    input_.kinds.push_back({.resource = TRY(client_.mapper().For(ctx_, {version.group, kind}, version.version))});
    return input_.kinds.size() - 1;
  }

  Result<kube::Object> Fetch(const std::string& api_version, const std::string& kind, const NamespacedName& name) {
    std::string what = fmt::format("failed to get {} {}/{}, which a Cluster uses", kind, name.ns, name.name);
    size_t index = TRY_WITH(KindIndex(api_version, kind), what);
    kube::Object object;
    TRY_WITH(Retried(ctx_,
                     [&]() -> Status {
                       object = TRY(client_.Get(ctx_, input_.kinds[index].resource, name.ns, name.name));
                       return Ok();
                     }),
             what);
    input_.nodes.push_back(NodeOf(object, index, input_.kinds[index]));
    return object;
  }

  const Context& ctx_;
  kube::Client& client_;
  GraphInput& input_;
};

// A provider that was installed by other means may lack the label by which a move knows its kinds. Objects of these
// would stay, and once their owners are gone, be deleted as garbage.
Result<std::vector<std::string>> UnlabelledKinds(const Context& ctx, kube::Client& client) {
  std::vector<std::string> out;
  std::string selector = fmt::format("{},!{}", api::kLabelProvider, api::kLabelClusterctl);
  TRY(EachObject(ctx, client, kube::Builtin("CustomResourceDefinition"), "",
                 {.label_selector = selector, .metadata_only = true}, [&](const kube::Object& crd) {
                   out.push_back(fmt::format("CustomResourceDefinition {} lacks the label {}: its objects aren't moved",
                                             crd.name(), api::kLabelClusterctl));
                 }));
  return out;
}

}  // namespace

const kube::Resource& ClusterResource() {
  static const auto& resource = *new kube::Resource{
      .group = std::string(kCoreGroup), .version = std::string(kContract), .plural = "clusters", .kind = "Cluster"};
  return resource;
}

const kube::Resource& ClassResource() {
  static const auto& resource = *new kube::Resource{.group = std::string(kCoreGroup),
                                                    .version = std::string(kContract),
                                                    .plural = "clusterclasses",
                                                    .kind = "ClusterClass"};
  return resource;
}

Status EachObject(const Context& ctx, kube::Client& client, const kube::Resource& resource, const std::string& ns,
                  const kube::ListOptions& options, const std::function<void(const kube::Object&)>& see) {
  kube::ListOptions slim = options;
  slim.managed_fields = false;
  Status listed = client.ForEach(ctx, resource, ns, slim, [&](const kube::Object& object) -> Result<bool> {
    see(object);
    return true;
  });
  if (listed.ok() || listed.code() == Code::kNotFound) return Ok();
  return listed.error().With(
      fmt::format("failed to list {}", kube::GroupKind{resource.group, resource.kind}.ToString()));
}

Result<std::vector<MovedKind>> ReadKinds(const Context& ctx, kube::Client& client) {
  std::vector<MovedKind> out;
  TRY(Retried(ctx, [&]() -> Status {
    out = BuiltinMovedKinds();
    return EachObject(ctx, client, kube::Builtin("CustomResourceDefinition"), "",
                      {.label_selector = std::string(api::kLabelClusterctl), .limit = kCrdsOfPage},
                      [&](const kube::Object& crd) {
                        if (auto kind = MovedKindOf(crd)) out.push_back(*std::move(kind));
                      });
  }));
  return out;
}

Result<Graph> ReadGraph(const Context& ctx, kube::Client& client, const std::vector<InstalledProvider>& providers,
                        const std::string& ns) {
  GraphInput input;
  input.ns = ns;
  input.kinds = TRY(ReadKinds(ctx, client));
  auto notes = TRY(UnlabelledKinds(ctx, client));
  Reader reader(ctx, client, input);
  TRY(reader.ReadAll(providers));
  TRY(reader.ReadClasses());
  TRY(Retried(ctx, [&] { return reader.ReadUsers(); }));
  Graph graph = TRY(MakeGraph(std::move(input)));
  graph.notes.insert(graph.notes.begin(), notes.begin(), notes.end());
  return graph;
}

Result<kube::Object> ReadNode(const Context& ctx, kube::Client& client, const Graph& graph, size_t i) {
  const Node& node = graph.nodes[i];
  kube::Object object = TRY(client.Get(ctx, graph.kind(i).resource, node.ns, node.name));
  if (object.uid() == node.uid) return object;
  return Error{Code::kFailedPrecondition, "it was deleted and made again meanwhile", {}};
}

Result<std::set<std::string>> NamespacesWithClusters(const Context& ctx, kube::Client& client) {
  std::set<std::string> out;
  TRY(EachObject(ctx, client, ClusterResource(), "", {.metadata_only = true},
                 [&](const kube::Object& cluster) { out.insert(cluster.ns()); }));
  return out;
}

}  // namespace capi::cli::move
