#include "kube/testing/control_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "kube/testing/programs.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;

constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
)";

// Programs that are found before the real ones while it lives.
class TemporaryPrograms {
 public:
  TemporaryPrograms() {
    if (const char* before = std::getenv("CAPI_ASSETS_BIN")) before_ = before;
    setenv("CAPI_ASSETS_BIN", folder_.path().c_str(), 1);
  }
  ~TemporaryPrograms() {
    if (before_) setenv("CAPI_ASSETS_BIN", before_->c_str(), 1);
    if (!before_) unsetenv("CAPI_ASSETS_BIN");
  }
  void Put(const std::string& name, std::string_view script) {
    EXPECT_TRUE(WriteFile(folder_.path() + "/" + name, script, 0755).ok());
  }

 private:
  TemporaryFolder folder_;
  std::optional<std::string> before_;
};

Result<Object> GetDeployment(Client& client) { return client.Get(Context{}, Builtin("Deployment"), "default", "web"); }

TEST(ControlPlane, DeploymentsBecomeAvailableAndGarbageIsCollected) {
  auto client = ControlPlane::Shared().NewClient();
  ApplyYaml(*client, kDeployment);
  EXPECT_TRUE(Eventually([&] {
    auto live = GetDeployment(*client);
    return live.ok() && GetInt(live->json(), {"status", "availableReplicas"}) == 2;
  }));
  ASSERT_TRUE(client->Delete(Context{}, Builtin("Deployment"), "default", "web").ok());
  EXPECT_TRUE(Eventually([&] {
    auto pods = client->List(Context{}, Builtin("Pod"), "default", {.label_selector = "app=web"});
    return pods.ok() && pods->items.empty();
  }));
}

TEST(ControlPlane, ApiServerComesBackOnThePortWithItsData) {
  auto plane = ControlPlane::Start();
  ASSERT_TRUE(plane.ok()) << plane.error().message;
  auto client = (*plane)->NewClient();
  ApplyYaml(*client, kDeployment);
  ASSERT_TRUE((*plane)->StopApiServer().ok());
  EXPECT_EQ(GetDeployment(*client).code(), Code::kUnavailable);
  auto restarted = (*plane)->StartApiServer();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message;
  auto live = GetDeployment(*client);
  EXPECT_TRUE(live.ok()) << live.error().message;
}

TEST(ControlPlane, AuditLogCountsRequestsByUserAgent) {
  ControlPlane& plane = ControlPlane::Shared();
  auto client = plane.NewClient("audit-probe/1");
  ASSERT_TRUE(client->List(Context{}, Builtin("Secret"), "default").ok());
  EXPECT_TRUE(Eventually([&] {
    auto log = ReadFile(plane.audit_log());
    return log.ok() && log->find("audit-probe/1") != std::string::npos;
  }));
}

TEST(ControlPlane, KubeconfigAndClientCertificatesWork) {
  ControlPlane& plane = ControlPlane::Shared();
  auto version = RunProgram(
      {*FindProgram("kubectl"), "--kubeconfig", plane.kubeconfig(), "get", "namespace", "default", "--output=name"}, "",
      Seconds(30));
  ASSERT_TRUE(version.ok()) << version.error().message;
  EXPECT_EQ(*version, "namespace/default\n");

  auto certificate = plane.ClientCertificate("jane", "system:masters");
  ASSERT_TRUE(certificate.ok());
  Config config = plane.config();
  config.credentials = nullptr;
  config.tls.cert_pem = certificate->cert_pem;
  config.tls.key_pem = certificate->key_pem;
  auto client = Client::Connect(config, {.user_agent = "test"});
  ASSERT_TRUE(client.ok());
  auto list = (*client)->List(Context{}, Builtin("Secret"), "kube-system");
  EXPECT_TRUE(list.ok()) << list.error().message;
}

// Nothing that a test starts can be reached from elsewhere.
TEST(ControlPlane, ListensOnLoopbackAlone) {
  ControlPlane& plane = ControlPlane::Shared();
  auto listening =
      RunProgram({"/bin/sh", "-c", "ss --listening --tcp --numeric --processes --no-header"}, "", Seconds(30));
  if (!listening.ok()) GTEST_SKIP() << "ss is not there: " << listening.error().message;
  bool seen = false;
  for (const std::string& line : Split(*listening, '\n')) {
    for (const char* program : {"etcd", "kube-apiserver", "kube-controller", "kube-scheduler", "kwok"}) {
      if (line.find(std::string("\"") + program) == std::string::npos) continue;
      EXPECT_THAT(line, HasSubstr("127.0.0.1:")) << line;
      seen = seen || plane.server().find(line.substr(line.find("127.0.0.1:"), 15)) != std::string::npos;
    }
  }
  EXPECT_TRUE(seen) << *listening;
}

TEST(ControlPlane, LeavesNothingBehind) {
  std::string folder;
  {
    auto plane = ControlPlane::Start();
    ASSERT_TRUE(plane.ok()) << plane.error().message;
    folder = (*plane)->folder();
    EXPECT_TRUE(std::filesystem::exists(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// A start that fails says why, with the program's own words.
TEST(ControlPlane, FailedStartShowsTheLog) {
  TemporaryPrograms broken;
  broken.Put("etcd", "#!/bin/sh\nexec sleep 1000\n");
  broken.Put("kube-apiserver", "#!/bin/sh\necho cannot bind the port >&2\nexit 1\n");
  auto plane = ControlPlane::Start();
  ASSERT_FALSE(plane.ok());
  EXPECT_THAT(plane.error().message, HasSubstr("cannot bind the port"));
}

}  // namespace
}  // namespace capi::kube
