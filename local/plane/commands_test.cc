#include "local/plane/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const PlanePrograms kPrograms{"/bin/etcd", "/bin/kube-apiserver", "/bin/kube-controller-manager"};

class Commands : public ::testing::Test {
 protected:
  TempFolder temp_;
  PlaneFolder folder_ = ValueOrAbort(PlaneFolder::Make(temp_ / "plane"), "folder");
};

// Rule G1: nothing of a plane listens but on loopback, and only those who have its certificates may ask.
TEST_F(Commands, ListenOnLoopbackAlone) {
  const auto apiserver = ApiServerCommand(kPrograms, folder_, "/run/egress.yaml", 6443);
  EXPECT_EQ(apiserver.front(), "/bin/kube-apiserver");
  for (const char* flag : {"--bind-address=127.0.0.1", "--secure-port=6443", "--anonymous-auth=false",
                           "--authorization-mode=RBAC", "--egress-selector-config-file=/run/egress.yaml"})
    EXPECT_THAT(apiserver, Contains(flag));
  for (const std::string& flag : EtcdCommand(kPrograms, folder_)) EXPECT_THAT(flag, Not(HasSubstr("http")));
  EXPECT_THAT(EtcdCommand(kPrograms, folder_), Contains("--data-dir=" + folder_.path() + "/etcd"));
  EXPECT_THAT(ControllerManagerCommand(kPrograms, folder_), Contains("--secure-port=0"));
}

// Rule G1: other tools lead the person's kubeconfig to other clusters.
TEST_F(Commands, TheControllerManagerWorksInThePlaneAlone) {
  EXPECT_THAT(ControllerManagerCommand(kPrograms, folder_),
              Contains("--kubeconfig=" + folder_.path() + "/pki/kubeconfig"));
}

// Rule G4: Deployments are the node's.
TEST_F(Commands, NoControllerOfKubernetesRunsDeployments) {
  for (const std::string& flag : ControllerManagerCommand(kPrograms, folder_)) {
    EXPECT_THAT(flag, Not(HasSubstr("deployment")));
    EXPECT_THAT(flag, Not(HasSubstr("replicaset")));
  }
}

// Rule G3: no proxy stands between the API server and webhooks, and no credential of the user is in its environment.
TEST_F(Commands, HaveNothingOfTheUsersEnvironmentButPaths) {
  const auto environment = ControlPlaneEnvironment(folder_, [](const std::string& name) -> std::optional<std::string> {
    return name == "TMPDIR" ? std::nullopt : std::optional("of " + name);
  });
  EXPECT_THAT(environment, UnorderedElementsAre("CAPI_LOCAL_PLANE=" + folder_.id(), "PATH=of PATH", "HOME=of HOME"));
}

// Rule G6.
TEST_F(Commands, TheApiServerAsksForServicesAtTheSocket) {
  auto config = ParseYaml(EgressConfiguration("/run/user/1000/a b/egress.sock"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(GetString(*config, {"kind"}), "EgressSelectorConfiguration");
  const Json& selection = (*config)["egressSelections"][0];
  EXPECT_EQ(GetString(selection, {"name"}), "cluster");
  EXPECT_EQ(GetString(selection, {"connection", "proxyProtocol"}), "HTTPConnect");
  EXPECT_EQ(GetString(selection, {"connection", "transport", "uds", "udsName"}), "/run/user/1000/a b/egress.sock");
}

}  // namespace
}  // namespace capi::local
