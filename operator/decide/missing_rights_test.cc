#include "operator/decide/missing_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

const api::ProviderId kAws{api::ProviderType::kInfrastructure, "aws-system", "aws"};

// T3: the message is for a person, and its details are YAML to apply.
TEST(MissingRightsHold, EndsInTheRoleThatGivesThem) {
  const std::vector<Right> missing = {{"", "services", "create", "aws-system", "s"},
                                      {"", "services", "watch", "aws-system", ""},
                                      {"rbac.authorization.k8s.io", "clusterroles", "bind", "", "aws"},
                                      {"rbac.authorization.k8s.io", "clusterroles", "escalate", "", "aws"}};
  const Hold hold = MissingRightsHold(kAws, {.rights = missing});
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

// Whoever lists Secrets reads them all, and nothing takes that.
TEST(RoleWith, LetsNobodyListSecrets) {
  const Json role = *ParseYaml(RoleWith(kAws, std::vector<Right>{{"", "secrets", "create", "aws-system", "s"},
                                                                 {"", "services", "create", "aws-system", "s"}}));
  EXPECT_EQ(role.at("rules"), *ParseYaml(R"(
- {apiGroups: [""], resources: [services], verbs: [create, delete, get, list, patch, update, watch]}
- {apiGroups: [""], resources: [secrets], verbs: [create, delete, get, patch, update]}
)"));
}

// T8: a ServiceAccount gets its rights where they are needed, and the roles don't become the operator's.
TEST(RolesFor, BindsThemInEachNamespace) {
  const std::vector<Right> missing = {{"", "namespaces", "get", "", "aws-system"},
                                      {"", "services", "create", "aws-system", "s"}};
  const Hold hold = MissingRightsHold(kAws, {.rights = missing, .account = "tenant"});
  EXPECT_EQ(hold.message,
            "ServiceAccount aws-system/tenant (spec.serviceAccountName) lacks rights that this release needs: get "
            "namespaces, create services in namespace aws-system; nothing of it was applied");
  auto documents = ParseYamlStream(hold.details);
  ASSERT_TRUE(documents.ok()) << documents.error().message;
  ASSERT_EQ(documents->size(), 4u);
  const char* kinds[] = {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"};
  for (size_t i = 0; i < 4; ++i) {
    const Json& one = (*documents)[i].value;
    const Json& role = (*documents)[i / 2 * 2].value;
    EXPECT_EQ(GetString(one, {"kind"}), kinds[i]);
    EXPECT_EQ(GetString(one, {"metadata", "namespace"}), i < 2 ? "" : "aws-system");
    EXPECT_EQ(one.at("metadata").at("labels"), (Json{{"app.kubernetes.io/part-of", "infrastructure-aws"}}))
        << "it isn't the operator's, and doesn't go with it";
    if (i == 2) {
      EXPECT_EQ(one.at("rules"), *ParseYaml("[{apiGroups: [''], resources: [services], verbs: [create]}]"));
    }
    if (i % 2 == 0) continue;
    EXPECT_EQ(one.at("roleRef"), (Json{{"apiGroup", "rbac.authorization.k8s.io"},
                                       {"kind", kinds[i - 1]},
                                       {"name", role.at("metadata").at("name")}}));
    EXPECT_EQ(one.at("subjects"), *ParseYaml("[{kind: ServiceAccount, name: tenant, namespace: aws-system}]"));
  }
  const Json act_as =
      *ParseYaml(RoleWith(kAws, std::vector<Right>{{"", "serviceaccounts", "impersonate", "aws-system", "tenant"}}));
  EXPECT_EQ(act_as.at("rules"), *ParseYaml("[{apiGroups: [''], resources: [serviceaccounts], resourceNames: [tenant], "
                                           "verbs: [impersonate]}]"))
      << "this one alone";
}

// T8: the operator watches what a tenant's release has, and needs to be able to do no more with it.
TEST(RoleWith, HasWatchesAloneWhereAServiceAccountWrites) {
  const std::vector<Right> watches = {{"", "pods", "list", "", ""}, {"", "pods", "watch", "", ""}};
  EXPECT_EQ(ParseYaml(RoleWith(kAws, watches, true))->at("rules"),
            *ParseYaml("[{apiGroups: [''], resources: [pods], verbs: [list, watch]}]"));
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
  const std::vector<Right> of_all = {{"", "nodes", "watch", "", ""}};
  auto of = [&](const char* account) {
    return GetString((*ParseYamlStream(RolesFor(kAws, account, of_all)))[0].value, {"metadata", "name"});
  };
  EXPECT_NE(of("tenant"), of("another")) << "one binding would take from the one what it gives the other";
  EXPECT_NE(of("tenant"), GetString(*ParseYaml(RoleWith(kAws, of_all, true)), {"metadata", "name"}));
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
    const Hold hold = MissingRightsHold(kAws, {.rights = missing});
    EXPECT_LT(hold.details.size(), kMostDetails);
    auto role = ParseYaml(hold.details);
    ASSERT_TRUE(role.ok()) << role.error().message;
    EXPECT_GT(hold.details.size(), 2000u);
    for (const Json& rule : role->at("rules")) EXPECT_FALSE(rule.at("verbs").empty());
    const Hold of_an_account = MissingRightsHold(kAws, {.rights = missing, .account = "tenant"});
    EXPECT_LT(of_an_account.details.size(), kMostDetails);
    EXPECT_TRUE(ParseYamlStream(of_an_account.details).ok());
  }
}

}  // namespace
}  // namespace capi::ops
