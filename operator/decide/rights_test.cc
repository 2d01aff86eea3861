#include "operator/decide/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const api::ProviderId kAws{api::ProviderType::kInfrastructure, "aws-system", "aws"};

HeldRights Held(const char* rules) { return HeldRights(Json{{"resourceRules", *ParseYaml(rules)}}); }

kube::Manifest NewManifest(const char* yaml) { return kube::ToManifest(kube::Object(*ParseYaml(yaml))); }

std::vector<std::string> Words(const std::vector<Right>& rights) {
  std::vector<std::string> words;
  for (const Right& r : rights) words.push_back(r.verb + " " + r.resource + "." + r.group + " " + r.ns + "/" + r.name);
  return words;
}

std::vector<std::string> Missing(const std::vector<const char*>& release, const HeldByNamespace& held,
                                 const kube::Inventory& applied = {}) {
  std::vector<kube::Manifest> manifests;
  for (const char* yaml : release) manifests.push_back(NewManifest(yaml));
  auto lookup = [](const kube::GroupKind& kind) -> std::optional<kube::Resource> {
    const kube::Resource* known = kube::FindBuiltin(kind);
    return known == nullptr ? std::nullopt : std::optional(*known);
  };
  return Words(MissingRights(WhatIsSent(applied, manifests), applied, lookup, held));
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

// T3: the message is for a person, and its details are YAML to apply.
TEST(MissingRightsHold, EndsInTheRoleThatGivesThem) {
  const std::vector<Right> missing = {{"", "services", "create", "aws-system", "s"},
                                      {"", "services", "watch", "aws-system", ""},
                                      {"rbac.authorization.k8s.io", "clusterroles", "bind", "", "aws"},
                                      {"rbac.authorization.k8s.io", "clusterroles", "escalate", "", "aws"}};
  const Hold hold = MissingRightsHold(kAws, missing);
  EXPECT_EQ(hold.reason, "PermissionsMissing");
  EXPECT_EQ(hold.message,
            "the operator lacks rights that this release needs: bind, escalate clusterroles.rbac.authorization.k8s.io "
            "aws, create, watch services in namespace aws-system; nothing of it was applied");
  auto role = ParseYaml(hold.details);
  ASSERT_TRUE(role.ok()) << role.error().message;
  EXPECT_EQ(GetString(*role, {"kind"}), "ClusterRole");
  EXPECT_EQ(GetString(*role, {"metadata", "labels", "operator.cluster.x-k8s.io/aggregate-to-manager"}), "true");
  EXPECT_EQ(role->at("rules"), *ParseYaml(R"(
- {apiGroups: [""], resources: [services], verbs: [create, delete, get, list, patch, update, watch]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [aws], verbs: [bind, escalate]}
)"));
}

// A role of the same name with other rules would take back what the first one gave, and the two would follow each other
// without an end.
TEST(RoleWith, IsAnotherForOtherRights) {
  auto name = [](const std::vector<Right>& missing) {
    return GetString(*ParseYaml(RoleWith(kAws, missing)), {"metadata", "name"});
  };
  const std::string services = name({{"", "services", "create", "aws-system", "s"}});
  EXPECT_THAT(services, HasSubstr("capi-operator-infrastructure-aws-"));
  EXPECT_EQ(services, name({{"", "services", "watch", "aws-system", ""}})) << "the same rules";
  EXPECT_NE(services, name({{"", "secrets", "create", "aws-system", "s"}}));
}

// A condition has room for 8 KiB: a role that is cut off would be no YAML, or another role.
TEST(MissingRightsHold, FitsIntoACondition) {
  const std::string rbac = "rbac.authorization.k8s.io", long_name(200, 'x');
  std::vector<Right> kinds, groups, grants, names;
  for (int i = 0; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    kinds.push_back({"group.example.com", "kinds-with-a-long-name-" + n, "create", "ns", "name"});
    groups.push_back({"group-" + n, "kinds", "create", "ns", "name"});
    grants.push_back({rbac, "clusterroles", "bind", "", "capi-manager-role-" + n});
    names.push_back({rbac, "clusterroles", "bind", "", long_name + n});
  }
  for (const auto& missing : {kinds, groups, grants, names}) {
    const Hold hold = MissingRightsHold(kAws, missing);
    EXPECT_LT(hold.details.size(), kMostDetails);
    auto role = ParseYaml(hold.details);
    ASSERT_TRUE(role.ok()) << role.error().message;
    EXPECT_GT(hold.details.size(), 2000u);
    for (const Json& rule : role->at("rules")) EXPECT_FALSE(rule.at("verbs").empty());
  }
}

}  // namespace
}  // namespace capi::ops
