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

template <typename T>
concept MadeByPlace = requires(std::string text) {
  T{text, text, text, text, true};
};
template <typename T>
concept MadeByName = requires(std::string text) {
  T{.group = text, .version = text, .plural = text, .kind = text};
};

// U11: plural and kind of one were swapped, and the kind that it stood for was never found.
TEST(Resource, IsMadeByTheNamesOfItsMembers) {
  EXPECT_FALSE(MadeByPlace<Resource>);
  EXPECT_TRUE(MadeByName<Resource>);
  Resource made{.group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"};
  EXPECT_EQ(made.Path("n", "d"), "/apis/apps/v1/namespaces/n/deployments/d");
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
