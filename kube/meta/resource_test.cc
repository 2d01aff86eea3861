#include "kube/meta/resource.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(Resource, MakesPaths) {
  struct Case {
    std::string_view kind, ns, name, subresource, path;
  };
  const Case cases[] = {
      {"Secret", "n", "s", "", "/api/v1/namespaces/n/secrets/s"},
      {"Secret", "", "", "", "/api/v1/secrets"},
      {"Namespace", "", "n", "", "/api/v1/namespaces/n"},
      {"Namespace", "ignored", "n", "", "/api/v1/namespaces/n"},
      {"Deployment", "n", "d", "status", "/apis/apps/v1/namespaces/n/deployments/d/status"},
      {"ClusterRole", "", "Az09", "", "/apis/rbac.authorization.k8s.io/v1/clusterroles/Az09"},
      {"ClusterRole", "", "system:a b?", "", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%20b%3F"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path);
    EXPECT_EQ(Builtin(c.kind).Path(c.ns, c.name, c.subresource), c.path);
  }
}

TEST(Resource, FindsBuiltinsByGroupAndKind) {
  ASSERT_NE(FindBuiltin({"apps", "Deployment"}), nullptr);
  EXPECT_EQ(FindBuiltin({"apps", "Deployment"})->api_version(), "apps/v1");
  EXPECT_EQ(FindBuiltin({"apps", "Deployment"})->kind, "Deployment");
  EXPECT_EQ(FindBuiltin({"extensions", "Deployment"}), nullptr);
}

TEST(ResourceDeathTest, UnknownBuiltinEndsTheProcess) { EXPECT_DEATH(Builtin("Cluster"), "no built-in kind Cluster"); }

}  // namespace
}  // namespace capi::kube
