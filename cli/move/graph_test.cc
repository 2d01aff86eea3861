#include "cli/move/graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::cli::move {
namespace {

// "Kind name", "Kind other/name" in another namespace than team, or "Kind /name" without one.
struct Made {
  std::string what;
  std::vector<std::string> owners = {};
  Json more = Json::object();  // beside apiVersion, kind and the like
};

kube::Resource ResourceOfKind(const std::string& kind) {
  static const std::map<std::string, std::string> groups = {{"Secret", ""},
                                                            {"ConfigMap", ""},
                                                            {"ClusterResourceSet", "addons.cluster.x-k8s.io"},
                                                            {"ClusterResourceSetBinding", "addons.cluster.x-k8s.io"},
                                                            {"Template", "infrastructure.cluster.x-k8s.io"},
                                                            {"Identity", "infrastructure.cluster.x-k8s.io"},
                                                            {"Forced", "infrastructure.cluster.x-k8s.io"},
                                                            {"Tree", "infrastructure.cluster.x-k8s.io"}};
  auto found = groups.find(kind);
  kube::Resource out{.group = found == groups.end() ? "cluster.x-k8s.io" : found->second,
                     .version = "v1beta2",
                     .plural = ToLower(kind) + "s",
                     .kind = kind};
  out.namespaced = kind != "Identity";
  return out;
}

MovedKind KindOf(const std::string& kind) {
  MovedKind out{.resource = ResourceOfKind(kind)};
  out.hierarchy = kind == "Cluster" || kind == "ClusterClass" || kind == "ClusterResourceSet" || kind == "Identity" ||
                  kind == "Tree";
  out.moves = out.hierarchy || kind == "Forced";
  return out;
}

kube::Object ObjectOf(const Made& made) {
  auto words = Split(made.what, ' ');
  std::string name = words[1], ns = "team";
  if (size_t slash = name.find('/'); slash != name.npos) {
    ns = name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  kube::Resource resource = ResourceOfKind(words[0]);
  Json json = {{"apiVersion", resource.api_version()},
               {"kind", words[0]},
               {"metadata", {{"name", name}, {"uid", "uid of " + made.what}}}};
  if (!ns.empty()) json["metadata"]["namespace"] = ns;
  for (const std::string& owner : made.owners) {
    auto of = Split(owner, ' ');
    json["metadata"]["ownerReferences"].push_back(
        {{"apiVersion", "x/v1"}, {"kind", of[0]}, {"name", of[1]}, {"uid", "uid of " + owner}});
  }
  json.merge_patch(made.more);
  return kube::Object(json);
}

Result<Graph> GraphOf(const std::vector<Made>& objects, std::set<NamespacedName> used_elsewhere = {}) {
  GraphInput input{.ns = "team", .used_elsewhere = std::move(used_elsewhere)};
  std::map<std::string, size_t> kinds;
  for (const Made& made : objects) {
    std::string kind = Split(made.what, ' ')[0];
    if (!kinds.contains(kind)) {
      kinds[kind] = input.kinds.size();
      input.kinds.push_back(KindOf(kind));
    }
    size_t at = kinds[kind];
    input.nodes.push_back(NodeOf(ObjectOf(made), at, input.kinds[at]));
  }
  return MakeGraph(std::move(input));
}

// "Cluster team/a | Machine team/m, Secret team/s"; what stays in the source has a star.
std::string Order(const Graph& graph) {
  std::string out;
  for (const auto& group : graph.groups) {
    if (!out.empty()) out += " | ";
    std::vector<std::string> names;
    for (size_t i : group) names.push_back(graph.Describe(i) + (graph.places[i].stays ? "*" : ""));
    std::sort(names.begin(), names.end());
    out += Join(names, ", ");
  }
  return out;
}

const Json kUsesShared = {{"spec", {{"topology", {{"classRef", {{"name", "quick"}, {"namespace", "shared"}}}}}}}};
const Json kUsesQuick = {{"spec", {{"topology", {{"classRef", {{"name", "quick"}}}}}}}};
const Json kMoveLabelled = {{"metadata", {{"labels", {{"clusterctl.cluster.x-k8s.io/move", ""}}}}}};
const Json kHierarchyLabelled = {{"metadata", {{"labels", {{"clusterctl.cluster.x-k8s.io/move-hierarchy", ""}}}}}};

struct Case {
  const char* about;
  std::vector<Made> objects;
  std::string order;
  std::set<NamespacedName> used_elsewhere = {};
};

class Shapes : public testing::TestWithParam<Case> {};

// L17.
TEST_P(Shapes, GiveTheOrder) {
  auto graph = GraphOf(GetParam().objects, GetParam().used_elsewhere);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(Order(*graph), GetParam().order);
}

const Case kShapes[] = {
    {"nothing", {}, ""},
    {"foreign objects don't move",
     {{"Secret password"}, {"ConfigMap settings"}, {"Machine alone"}, {"Template alone"}, {"Cluster a"}},
     "Cluster team/a"},
    {"by ownerReferences, owners first whatever the order they are seen in",
     {{"Machine m", {"MachineSet ms"}},
      {"MachineSet ms", {"MachineDeployment md"}},
      {"MachineDeployment md", {"Cluster a"}},
      {"Cluster a"},
      {"Secret boot", {"Machine m"}}},
     "Cluster team/a | MachineDeployment team/md | MachineSet team/ms | Machine team/m | Secret team/boot"},
    {"behind the last of several owners",
     {{"Cluster a"}, {"MachineSet ms", {"Cluster a"}}, {"Template t", {"Cluster a", "MachineSet ms"}}},
     "Cluster team/a | MachineSet team/ms | Template team/t"},
    {"Secrets by their name, where they have no owner",
     {{"Cluster a"},
      {"Secret a-kubeconfig"},
      {"Secret a-ca"},
      {"Secret a-apiserver-etcd-client"},
      {"Secret a-b-ca"},
      {"Secret a-unknown"},
      {"Secret other/a-ca"},
      {"Secret a-sa", {"Thing t"}},
      {"Secret ca"},
      {"Secret -ca"}},
     "Cluster team/a | Secret team/a-apiserver-etcd-client, Secret team/a-ca, Secret team/a-kubeconfig"},
    {"ClusterResourceSets with their bindings",
     {{"Cluster a"},
      {"ClusterResourceSet crs"},
      {"ConfigMap content", {"ClusterResourceSet crs"}},
      {"ClusterResourceSetBinding a", {}, {{"spec", {{"clusterName", "a"}}}}},
      {"ClusterResourceSetBinding b", {}, {{"spec", {{"clusterName", "b"}}}}}},
     "Cluster team/a, ClusterResourceSet team/crs | ClusterResourceSetBinding team/a, ConfigMap team/content"},
    {"a ClusterClass before the Clusters that use it, both of them, with its templates",
     {{"Cluster a", {}, kUsesQuick},
      {"Cluster b", {}, kUsesQuick},
      {"ClusterClass quick"},
      {"ClusterClass unused"},
      {"Template t", {"ClusterClass quick"}}},
     "ClusterClass team/quick, ClusterClass team/unused | Cluster team/a, Cluster team/b, Template team/t"},
    {"a template of two owners, one of them a ClusterClass",
     {{"Cluster a", {}, kUsesQuick}, {"ClusterClass quick"}, {"Template t", {"ClusterClass quick", "Cluster a"}}},
     "ClusterClass team/quick | Cluster team/a | Template team/t"},
    {"a ClusterClass of another namespace stays there, and its templates",
     {{"Cluster a", {}, kUsesShared},
      {"ClusterClass shared/quick"},
      {"Template shared/t", {"ClusterClass shared/quick"}}},
     "ClusterClass shared/quick* | Cluster team/a, Template shared/t*"},
    {"so does one that Clusters elsewhere use",
     {{"Cluster a", {}, kUsesQuick},
      {"ClusterClass quick"},
      {"Template t", {"ClusterClass quick"}},
      {"ClusterClass own"}},
     "ClusterClass team/own, ClusterClass team/quick* | Cluster team/a, Template team/t*",
     {{"team", "quick"}, {"team", "another"}}},
    {"what has no namespace stays, with what it owns",
     {{"Identity /main"}, {"Secret provider/credentials", {"Identity /main"}}, {"Cluster a"}},
     "Cluster team/a, Identity main* | Secret provider/credentials*"},
    {"a Secret below both isn't deleted",
     {{"Identity /main"}, {"Secret s", {"Identity /main", "Cluster a"}}, {"Cluster a"}},
     "Cluster team/a, Identity main* | Secret team/s*"},
    {"a Cluster below what has no namespace moves all the same, with what it owns",
     {{"Identity /main"},
      {"Cluster a", {"Identity /main"}},
      {"Machine m", {"Cluster a"}},
      {"Secret s", {"Identity /main"}}},
     "Identity main* | Cluster team/a, Secret team/s* | Machine team/m"},
    {"labels of kinds and objects",
     {{"Forced f"},
      {"Secret of-forced", {"Forced f"}},
      {"Tree t"},
      {"Secret of-tree", {"Tree t"}},
      {"Secret labelled", {}, kMoveLabelled},
      {"ConfigMap root", {}, kHierarchyLabelled},
      {"Secret leaf", {"ConfigMap root"}}},
     "ConfigMap team/root, Forced team/f, Secret team/labelled, Tree team/t | Secret team/leaf, Secret team/of-tree"},
    {"seen twice, moved once",
     {{"Cluster a"}, {"Cluster a"}, {"Machine m", {"Cluster a", "Cluster a"}}},
     "Cluster team/a | Machine team/m"},
    {"an owner that doesn't move holds nothing up",
     {{"Cluster a", {"Application app"}}, {"Secret s", {"Cluster a", "Machine alone"}}, {"Machine alone"}},
     "Cluster team/a | Secret team/s"},
};
INSTANTIATE_TEST_SUITE_P(Move, Shapes, testing::ValuesIn(kShapes));

// L17.
TEST(MoveGraph, TellsOfOwnersThatStayBehind) {
  auto graph =
      GraphOf({{"Cluster a", {"Application app"}}, {"Secret s", {"Cluster a", "Machine alone"}}, {"Machine alone"}});
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(graph->notes,
              testing::ElementsAre(
                  "Secret team/s is owned by Machine alone, which isn't moved: in the target it has no such owner",
                  "Cluster team/a is owned by Application app, which isn't moved: in the target it has no such owner"));
}

// L17.
TEST(MoveGraph, RefusesACircle) {
  auto graph =
      GraphOf({{"Cluster a"}, {"MachineSet x", {"Cluster a", "MachineSet y"}}, {"MachineSet y", {"MachineSet x"}}});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.code(), Code::kFailedPrecondition);
  EXPECT_THAT(graph.error().message, testing::HasSubstr("MachineSet team/x, MachineSet team/y"));
}

// L17: a chain as long as the namespace is big, and as many children of one.
TEST(MoveGraph, IsMadeOfManyObjects) {
  std::vector<Made> objects = {{"Cluster c0"}};
  for (int i = 1; i < 2000; ++i)
    objects.push_back({fmt::format("Machine c{}", i), {i == 1 ? "Cluster c0" : fmt::format("Machine c{}", i - 1)}});
  for (int i = 0; i < 2000; ++i) objects.push_back({fmt::format("Secret s{}", i), {"Cluster c0"}});
  auto graph = GraphOf(objects);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->groups.size(), 2000u);
  EXPECT_EQ(graph->groups[1].size(), 2001u);
  EXPECT_EQ(graph->moving(), 4000u);
}

// L17.
TEST(MovedKind, IsReadFromItsDefinition) {
  struct Case {
    const char *group, *kind, *label, *versions;
    std::string want;  // version, m for moves, h for its hierarchy
  };
  const char* stored_last = R"([{"name":"v1","served":true},{"name":"v2","served":true,"storage":true}])";
  const char* not_served = R"([{"name":"v1","served":true},{"name":"v2","served":false,"storage":true}])";
  const Case cases[] = {
      {"cluster.x-k8s.io", "Machine", "x", stored_last, "v2"},
      {"cluster.x-k8s.io", "Cluster", "x", stored_last, "v2mh"},
      {"cluster.x-k8s.io", "ClusterClass", "x", not_served, "v1mh"},
      {"addons.cluster.x-k8s.io", "ClusterResourceSet", "x", stored_last, "v2mh"},
      {"example.com", "Cluster", "x", stored_last, "v2"},
      {"example.com", "A", "clusterctl.cluster.x-k8s.io/move", stored_last, "v2m"},
      {"example.com", "A", "clusterctl.cluster.x-k8s.io/move-hierarchy", stored_last, "v2mh"},
      {"example.com", "A", "x", R"([{"name":"v1","served":false,"storage":true}])", "none"},
      {"example.com", "A", "x", "null", "none"},
  };
  for (const Case& c : cases) {
    Json crd = {{"metadata", {{"labels", {{c.label, "false"}}}}},
                {"spec",
                 {{"group", c.group},
                  {"names", {{"kind", c.kind}, {"plural", "as"}}},
                  {"scope", "Cluster"},
                  {"versions", *ParseJson(c.versions)}}}};
    auto kind = MovedKindOf(kube::Object(crd));
    std::string got = "none";
    if (kind) got = kind->resource.version + (kind->moves ? "m" : "") + (kind->hierarchy ? "h" : "");
    EXPECT_EQ(got, c.want) << crd;
    if (kind) EXPECT_TRUE(kind->global());
  }
}

// L17.
TEST(TemplatesOf, AreAllThatAClassRefersTo) {
  auto part = [](const char* name) {
    return Json{{"templateRef", {{"apiVersion", "g/v1"}, {"kind", "T"}, {"name", name}}}};
  };
  Json worker = {{"infrastructure", part("d")}, {"bootstrap", part("e")}};
  Json pool = {{"infrastructure", part("f")}, {"bootstrap", part("e")}};
  Json control = part("b");
  control["machineInfrastructure"] = part("c");
  kube::Object cluster_class(Json{{"spec",
                                   {{"infrastructure", part("a")},
                                    {"controlPlane", control},
                                    {"workers", {{"machineDeployments", {worker}}, {"machinePools", {pool}}}}}}});
  std::string names;
  for (const TemplateReference& reference : TemplatesOf(cluster_class)) names += reference.name;
  EXPECT_EQ(names, "abcdef");
  EXPECT_TRUE(TemplatesOf(kube::Object(Json{{"spec", {{"workers", 1}}}})).empty());
}

}  // namespace
}  // namespace capi::cli::move
