#include "operator/decide/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const api::ProviderId kAws{api::ProviderType::kInfrastructure, "aws-system", "aws"};

HeldRights Held(const char* rules) { return HeldRights(Json{{"resourceRules", *ParseYaml(rules)}}); }

kube::Manifest NewManifest(const char* yaml) { return kube::ToManifest(kube::Object(*ParseYaml(yaml))); }

std::vector<std::string> Words(const std::vector<Right>& rights) {
  std::vector<std::string> words;
  for (const Right& r : rights) words.push_back(r.verb + " " + r.resource + "." + r.group + " " + r.ns + "/" + r.name);
  return words;
}

std::optional<kube::Resource> Lookup(const kube::GroupKind& kind) {
  const kube::Resource* known = kube::FindBuiltin(kind);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

std::vector<std::string> Missing(const std::vector<const char*>& release, const HeldByNamespace& held,
                                 const kube::Inventory& applied = {}) {
  std::vector<kube::Manifest> manifests;
  for (const char* yaml : release) manifests.push_back(NewManifest(yaml));
  return Words(MissingRights(manifests, applied, Lookup, {held, held}));
}

// Held in the whole cluster.
std::vector<std::string> Missing(const std::vector<const char*>& release, const HeldRights& held,
                                 const kube::Inventory& applied = {}) {
  return Missing(release, HeldByNamespace{{"", held}, {"aws-system", held}}, applied);
}

TEST(HeldRights, HoldsAsRbacDoes) {
  const struct {
    const char* rules;
    Right right;
    bool held;
  } cases[] = {
      {"[]", {"", "secrets", "get", "", "a"}, false},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get]}]", {"", "secrets", "get", "", "a"}, true},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get]}]", {"", "secrets", "list", "", ""}, false},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get]}]", {"apps", "secrets", "get", "", "a"}, false},
      {"[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]", {"apps", "deployments", "patch", "", "a"}, true},
      {"[{apiGroups: [apps], resources: ['*/scale'], verbs: [patch]}]",
       {"apps", "deployments/scale", "patch", "", "a"},
       true},
      {"[{apiGroups: [apps], resources: ['*/scale'], verbs: [patch]}]",
       {"apps", "deployments", "patch", "", "a"},
       false},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get], resourceNames: [a]}]",
       {"", "secrets", "get", "", "a"},
       true},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get], resourceNames: [a]}]",
       {"", "secrets", "get", "", "b"},
       false},
      {"[{apiGroups: [''], resources: [secrets], verbs: [list], resourceNames: [a]}]",
       {"", "secrets", "list", "", ""},
       false},
      {"[5, {verbs: 7}, {apiGroups: [''], resources: secrets, verbs: [get]}]", {"", "secrets", "get", "", "a"}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Held(c.rules).Holds(c.right), c.held) << c.rules << " " << Words({c.right}).front();
  }
}

// The API server lets nobody give away what he hasn't.
TEST(HeldRights, CoversARoleWhereEachOfItsRightsIsHeld) {
  const HeldRights held(
      *ParseYaml("{resourceRules: [{apiGroups: [''], resources: [pods, nodes], verbs: [get, list]},"
                 " {apiGroups: [''], resources: [secrets], resourceNames: [a], verbs: [get]}],"
                 " nonResourceRules: [{nonResourceURLs: [/metrics*], verbs: [get]}]}"));
  const struct {
    const char* rules;
    bool covered;
  } cases[] = {
      {"[]", true},
      {"[{apiGroups: [''], resources: [pods], verbs: [get, list]}]", true},
      {"[{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: [nodes], verbs: [list]}]",
       true},
      {"[{apiGroups: [''], resources: [pods], verbs: [get, delete]}]", false},
      {"[{apiGroups: ['', apps], resources: [pods], verbs: [get]}]", false},
      {"[{apiGroups: [''], resources: ['*'], verbs: [get]}]", false},
      {"[{apiGroups: [''], resources: [secrets], resourceNames: [a], verbs: [get]}]", true},
      {"[{apiGroups: [''], resources: [secrets], resourceNames: [a, b], verbs: [get]}]", false},
      {"[{apiGroups: [''], resources: [secrets], verbs: [get]}]", false},
      {"[{nonResourceURLs: [/metrics/cadvisor], verbs: [get]}]", true},
      {"[{nonResourceURLs: [/healthz], verbs: [get]}]", false},
  };
  for (const auto& c : cases) EXPECT_EQ(held.Covers(Json{{"rules", *ParseYaml(c.rules)}}), c.covered) << c.rules;
  const Json aggregated{{"aggregationRule", Json::object()}, {"rules", Json::array()}};
  EXPECT_FALSE(held.Covers(aggregated)) << "whatever somebody adds to it later";
  EXPECT_FALSE(Held("[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]").Covers(aggregated)) << "and every URL";
  EXPECT_TRUE(HeldRights(*ParseYaml("{resourceRules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}], "
                                    "nonResourceRules: [{nonResourceURLs: ['*'], verbs: ['*']}]}"))
                  .Covers(aggregated));
}

constexpr const char* kMonitor =
    "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: m, namespace: aws-system}}";
constexpr const char* kMonitorCrd =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "podmonitors.monitoring.coreos.com}, spec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: "
    "PodMonitor, plural: podmonitors}, versions: [{name: v1, served: true, storage: true}]}}";
constexpr const char* kService = "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: aws-system}}";
constexpr const char* kOtherService = "{apiVersion: v1, kind: Service, metadata: {name: t, namespace: aws-system}}";
constexpr const char* kRole =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aws}, rules: [{apiGroups: [''], "
    "resources: [nodes], verbs: [get]}]}";
constexpr const char* kBinding =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: aws}, roleRef: {kind: "
    "ClusterRole, name: aws}, subjects: []}";
constexpr const char* kForeignBinding =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: aws}, roleRef: {kind: "
    "ClusterRole, name: cluster-admin}, subjects: []}";
constexpr const char* kRbacKinds =
    "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles, clusterrolebindings], verbs: [create, patch, "
    "list, watch]}";

// T3: of a release, before anything is written.
TEST(MissingRights, OfWhatIsSent) {
  EXPECT_THAT(Missing({kService, kOtherService}, Held("[]")),
              ElementsAre("create services. aws-system/s", "list services. /", "patch services. aws-system/s",
                          "watch services. /"))
      << "each once, whatever the number of objects";
  EXPECT_THAT(Missing({kService}, Held("[{apiGroups: [''], resources: [services], verbs: [patch, list, watch]}]")),
              ElementsAre("create services. aws-system/s"));
  kube::Inventory applied;
  applied.Put({"", "Service", "aws-system", "s"}, {"v1", "another", "f"});
  EXPECT_THAT(Missing({kService}, Held("[]"), applied), ElementsAre("patch services. aws-system/s"));
  applied.Put({"", "Service", "aws-system", "s"}, {"v1", NewManifest(kService).hash, "f"});
  EXPECT_THAT(Missing({kService}, Held("[]"), applied), IsEmpty()) << "nothing is sent";
  applied = {};
  constexpr const char* kServices = "[{apiGroups: [''], resources: [services], verbs: [create, patch, list, watch]}]";
  EXPECT_THAT(Missing({kService}, HeldByNamespace{{"", Held("[]")}, {"aws-system", Held(kServices)}}),
              ElementsAre("list services. /", "watch services. /"))
      << "one watch is for all namespaces";
  EXPECT_THAT(Missing({"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: aws-system}}"},
                      Held("[{apiGroups: [''], resources: [secrets], verbs: [create, patch]}]")),
              IsEmpty())
      << "it does without a watch of those";
  constexpr const char* kManager =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: aws-system}}";
  EXPECT_THAT(Missing({kManager}, Held("[{apiGroups: [apps], resources: ['*'], verbs: [create, patch, list, watch]}]")),
              ElementsAre("get deployments.apps aws-system/d"))
      << "U2: whether there is one already";
  kube::Inventory announced;
  announced.Put({"apps", "Deployment", "aws-system", "d"}, {"v1", "", ""});
  EXPECT_THAT(Missing({kManager}, Held("[{apiGroups: [apps], resources: ['*'], verbs: [patch]}]"), announced),
              ElementsAre("create deployments.apps aws-system/d", "get deployments.apps aws-system/d",
                          "list deployments.apps /", "watch deployments.apps /"))
      << "U7: what was announced may not be there yet";
  EXPECT_THAT(Missing({kMonitor}, Held("[]")), IsEmpty()) << "I13 says that there is no such kind";
  EXPECT_THAT(
      Missing({kMonitor, kMonitorCrd}, Held("[{apiGroups: [apiextensions.k8s.io], resources: ['*'], verbs: ['*']}]")),
      ElementsAre("create podmonitors.monitoring.coreos.com aws-system/m", "list podmonitors.monitoring.coreos.com /",
                  "patch podmonitors.monitoring.coreos.com aws-system/m", "watch podmonitors.monitoring.coreos.com /"))
      << "of a kind that comes with it";
}

// T3: as the API server judges who gives rights away.
TEST(MissingRights, OfRolesAndTheirBindings) {
  auto held = [](const std::string& more) { return Held(("[" + std::string(kRbacKinds) + more + "]").c_str()); };
  EXPECT_THAT(Missing({kRole, kBinding}, held("")),
              ElementsAre("bind clusterroles.rbac.authorization.k8s.io /aws",
                          "escalate clusterroles.rbac.authorization.k8s.io /aws"));
  EXPECT_THAT(Missing({kRole, kBinding}, held(", {apiGroups: [''], resources: [nodes], verbs: [get]}")), IsEmpty())
      << "it may give what it has";
  EXPECT_THAT(Missing({kRole, kBinding},
                      held(", {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}")),
              ElementsAre("bind clusterroles.rbac.authorization.k8s.io /aws"));
  const HeldRights nodes = held(", {apiGroups: [''], resources: [nodes], verbs: [get]}");
  EXPECT_THAT(Missing({kRole}, HeldByNamespace{{"", held("")}, {"aws-system", nodes}}),
              ElementsAre("escalate clusterroles.rbac.authorization.k8s.io /aws"))
      << "what a RoleBinding gives isn't held in the whole cluster";
  constexpr const char* kAggregated =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aws}, "
      "aggregationRule: {clusterRoleSelectors: [{matchLabels: {part: of}}]}}";
  constexpr const char* kPart =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: part, labels: {part: of}}, "
      "rules: [{apiGroups: [''], "
      "resources: [nodes], verbs: [get]}]}";
  EXPECT_THAT(Missing({kAggregated, kPart, kBinding}, nodes),
              ElementsAre("escalate clusterroles.rbac.authorization.k8s.io /aws"))
      << "what is put together of what is held may be bound";
  constexpr const char* kOther =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: other}, rules: [{apiGroups: "
      "[apps], resources: [deployments], verbs: [get]}]}";
  EXPECT_THAT(Missing({kAggregated, kPart, kOther, kBinding}, nodes),
              ElementsAre("escalate clusterroles.rbac.authorization.k8s.io /aws",
                          "escalate clusterroles.rbac.authorization.k8s.io /other"))
      << "it selects its parts";
  EXPECT_THAT(Missing({kAggregated, kPart, kBinding}, held("")),
              ElementsAre("bind clusterroles.rbac.authorization.k8s.io /aws",
                          "escalate clusterroles.rbac.authorization.k8s.io /aws",
                          "escalate clusterroles.rbac.authorization.k8s.io /part"));
  for (const char* rule : {"{}", "{clusterRoleSelectors: part}", "{clusterRoleSelectors: []}"}) {
    const std::string of_nobody =
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aws}, aggregationRule: " +
        std::string(rule) + "}";
    EXPECT_THAT(Missing({of_nobody.c_str(), kPart, kBinding}, held("")),
                ElementsAre("escalate clusterroles.rbac.authorization.k8s.io /aws",
                            "escalate clusterroles.rbac.authorization.k8s.io /part"))
        << "it selects nothing: " << rule;
  }
  const std::string local =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: aws, namespace: "
      "aws-system}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}";
  const std::string locally =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: aws, "
      "namespace: aws-system}, roleRef: {kind: Role, name: aws}, subjects: []}";
  const HeldRights all = Held("[{apiGroups: ['*'], resources: ['*'], verbs: [create, patch, list, watch]}]");
  EXPECT_THAT(Missing({local.c_str(), locally.c_str()}, all),
              ElementsAre("bind roles.rbac.authorization.k8s.io aws-system/aws",
                          "escalate roles.rbac.authorization.k8s.io aws-system/aws"));
  EXPECT_THAT(Missing({kRole,
                       "{apiVersion: other.example.com/v1, kind: ClusterRoleBinding, metadata: {name: aws}, roleRef: "
                       "{kind: ClusterRole, name: aws}}"},
                      held("")),
              ElementsAre("escalate clusterroles.rbac.authorization.k8s.io /aws"))
      << "of another group";
  EXPECT_THAT(Missing({kForeignBinding}, held("")), IsEmpty()) << "what that role has only the API server knows";
}

// T3: an upgrade that binds a role of the release which it leaves as it is.
TEST(MissingRights, OfABindingToARoleThatIsThere) {
  const HeldRights held = Held(("[" + std::string(kRbacKinds) + "]").c_str());
  kube::Inventory applied;
  applied.Put({"rbac.authorization.k8s.io", "ClusterRole", "", "aws"}, {"v1", NewManifest(kRole).hash, "f"});
  EXPECT_THAT(Missing({kRole, kBinding}, held, applied),
              ElementsAre("bind clusterroles.rbac.authorization.k8s.io /aws"));
}

// Of fifty namespaces at most is asked: in another one the API server judges who gives rights away.
TEST(MissingRights, OfANamespaceThatNobodyAskedAbout) {
  constexpr const char* kLocal =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: far}, rules: [{apiGroups: "
      "[''], resources: [pods], verbs: [get]}]}";
  const HeldRights all = Held("[{apiGroups: ['*'], resources: ['*'], verbs: [create, patch, list, watch]}]");
  EXPECT_THAT(Missing({kLocal}, HeldByNamespace{{"", all}}), IsEmpty());
  EXPECT_THAT(Missing({kLocal}, HeldByNamespace{{"", all}, {"far", all}}),
              ElementsAre("escalate roles.rbac.authorization.k8s.io far/r"));
}

// T8: a ServiceAccount writes, reads what it writes, and removes it; the operator watches.
TEST(MissingRights, OfAServiceAccountThatWrites) {
  const std::vector<kube::Manifest> release = {NewManifest(kService), NewManifest(kMonitorCrd)};
  const HeldByNamespace none;
  const HeldByNamespace all{{"", Held("[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")}};
  EXPECT_THAT(Words(MissingRights(release, {}, Lookup, {none, all, true})),
              ElementsAre("create services. aws-system/s", "delete services. aws-system/s",
                          "get services. aws-system/s", "patch services. aws-system/s", "update services. aws-system/s",
                          "create customresourcedefinitions.apiextensions.k8s.io /podmonitors.monitoring.coreos.com",
                          "get customresourcedefinitions.apiextensions.k8s.io /podmonitors.monitoring.coreos.com",
                          "patch customresourcedefinitions.apiextensions.k8s.io /podmonitors.monitoring.coreos.com",
                          "update customresourcedefinitions.apiextensions.k8s.io /podmonitors.monitoring.coreos.com"))
      << "CRDs stay";
  const std::vector<kube::Manifest> deployment = {
      NewManifest("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: aws-system}}")};
  EXPECT_THAT(Words(MissingRights(deployment, {}, Lookup, {none, all, true})),
              ::testing::IsSupersetOf({"delete replicasets.apps aws-system/", "get replicasets.apps aws-system/",
                                       "list replicasets.apps aws-system/", "patch replicasets.apps aws-system/"}))
      << "U9: one that is made anew leaves its pods";
  kube::Inventory applied;
  applied.Put({"", "Service", "aws-system", "s"}, {"v1", NewManifest(kService).hash, "f"});
  applied.Put({"", "ConfigMap", "aws-system", "dropped"}, {"v1", "hash", "f"});
  applied.Put({"apiextensions.k8s.io", "CustomResourceDefinition", "", "stays"}, {"v1", "hash", "f"});
  applied.Put({"gone.example", "Kind", "aws-system", "nobody-knows-it"}, {"v1", "hash", "f"});
  EXPECT_THAT(
      Words(MissingRights({release.front()}, applied, Lookup, {none, all, true})),
      ElementsAre("delete configmaps. aws-system/dropped", "get configmaps. aws-system/dropped",
                  "create services. aws-system/s", "delete services. aws-system/s", "get services. aws-system/s",
                  "patch services. aws-system/s", "update services. aws-system/s"))
      << "also of what another account has applied";
  const HeldByNamespace its{{"", all.at("")}, {"aws-system", all.at("")}};
  EXPECT_THAT(Words(MissingRights({release.front()}, {}, Lookup, {its, none, true})),
              ElementsAre("list services. /", "watch services. /"));
}

}  // namespace
}  // namespace capi::ops
