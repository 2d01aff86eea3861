// `describe providers --watch` on a real API server, whose operator the test plays.
#include "cli/describe/providers/watch_providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <streambuf>
#include <thread>

#include "base/files.h"
#include "cli/testing.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::cli::describe {
namespace {

// What one thread writes and another one reads. Thread-safe.
class SharedText : public std::streambuf {
 public:
  std::string text() const {
    MutexLock lock(mu_);
    return text_;
  }
  bool Has(const std::string& part) const { return text().find(part) != std::string::npos; }
  // The last picture.
  std::string Last() const {
    const std::string all = text();
    const size_t at = all.rfind("--- ");
    return at == all.npos ? "" : all.substr(at);
  }

 protected:
  int overflow(int c) override {
    MutexLock lock(mu_);
    text_ += static_cast<char>(c);
    return c;
  }
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    MutexLock lock(mu_);
    text_.append(data, static_cast<size_t>(size));
    return size;
  }

 private:
  mutable Mutex mu_;
  std::string text_ CAPI_GUARDED_BY(mu_);
};

class WatchProvidersTest : public testing::Test {
 protected:
  void SetUp() override {
    kube::ControlPlane& plane = kube::ControlPlane::Shared(false);
    client_ = plane.NewClient();
    const std::vector<std::string> files = ListDir("manifests/crds").value();
    for (const std::string& file : files) {
      if (file.ends_with(".yaml")) kube::ApplyYaml(*client_, ReadFile("manifests/crds/" + file).value());
    }
    for (const api::ProviderKind& kind : api::kProviderKinds) {
      ASSERT_TRUE(kube::Eventually([&] { return client_->List({}, api::ResourceOf(kind.type), "").ok(); }));
    }
    proxy_ = kube::FaultProxy::Start(plane.config()).value();
    kubeconfig_ = proxy_->WriteKubeconfig(folder_.path());
  }
  void TearDown() override {
    watching_ = {};  // before what it uses
  }

  void Watch(OutputFormat format = OutputFormat::kTable) {
    watching_ = std::jthread([this, format](std::stop_token stop) {
      std::istringstream in;
      std::ostream out(&out_), err(&err_);
      World world{From({}), in, out, err};
      auto cluster = ManagementCluster::Open({.kubeconfig = kubeconfig_, .context = ""}, world.getenv);
      ended_ = WatchProviders(Context{}.WithStop(std::move(stop)), *cluster, "", {.format = format}, world);
    });
  }
  // As Ctrl-C does.
  Status Stop() {
    watching_.request_stop();
    watching_.join();
    return ended_;
  }
  void SetReady(const std::string& status, const std::string& reason, const std::string& message) {
    auto aws = client_->Get({}, Kind(), "watched", "aws").value();
    Json condition = {{"type", "Ready"}, {"status", status}, {"reason", reason}, {"message", message}};
    condition["lastTransitionTime"] = "2026-01-02T03:04:05Z";
    aws.json()["status"] = {{"installedVersion", "v2.0.0"},
                            {"contract", "v1beta2"},
                            {"observedGeneration", aws.generation()},
                            {"conditions", Json::array({condition})}};
    auto written = client_->Update({}, Kind(), aws, {.subresource = "status"});
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  static kube::Resource Kind() { return api::ResourceOf(api::ProviderType::kInfrastructure); }

  TestFolder folder_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::string kubeconfig_;
  SharedText out_, err_;
  Status ended_ = Ok();
  std::jthread watching_;
};

constexpr char kAws[] =
    "{apiVersion: v1, kind: Namespace, metadata: {name: watched}}\n---\n"
    "{apiVersion: operator.cluster.x-k8s.io/v1alpha2, kind: InfrastructureProvider, "
    "metadata: {name: aws, namespace: watched}, spec: {version: v2.0.0}}\n";
constexpr char kManager[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: aws-manager, namespace: watched, labels: {cluster.x-k8s.io/provider: infrastructure-aws}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: manager, image: "a:v2.0.0"}]}
)";

// L16: each change is shown, an outage told and waited out, and a stop is no error.
TEST_F(WatchProvidersTest, EachChangeIsShown) {
  Watch();
  ASSERT_TRUE(kube::Eventually([&] { return out_.Has("There are no providers in the cluster"); })) << err_.text();
  kube::ApplyYaml(*client_, kAws);
  ASSERT_TRUE(kube::Eventually([&] { return out_.Has("The operator has not looked at it yet."); })) << out_.text();
  SetReady("False", "SecretNotFound", "there is no Secret watched/aws");
  ASSERT_TRUE(kube::Eventually([&] { return out_.Has("there is no Secret watched/aws\n"); })) << out_.text();
  EXPECT_TRUE(out_.Last().find("Do: ") != std::string::npos) << out_.Last();
  kube::ApplyYaml(*client_, kManager);
  ASSERT_TRUE(kube::Eventually([&] { return out_.Has("Deployment/aws-manager"); })) << out_.text();

  proxy_->SetAway(true);
  ASSERT_TRUE(kube::Eventually([&] { return err_.Has("Warning: the cluster can't be asked since 20"); })) << "in 30 s";
  SetReady("True", "WorkloadsReady", "");
  proxy_->SetAway(false);
  ASSERT_TRUE(kube::Eventually([&] { return err_.Has("The cluster answers again\n"); })) << err_.text();
  ASSERT_TRUE(kube::Eventually([&] { return out_.Last().find("WorkloadsReady") != std::string::npos; }));

  ASSERT_TRUE(client_->Delete({}, Kind(), "watched", "aws").ok());
  ASSERT_TRUE(kube::Eventually([&] { return out_.Last().find("There are no providers") != std::string::npos; }))
      << out_.Last();
  EXPECT_TRUE(Stop().ok()) << ended_.error().message;
  EXPECT_EQ(out_.text().find('\x1b'), std::string::npos);
}

// L16: a look that fails for another reason than an outage ends it, with what it says.
TEST_F(WatchProvidersTest, ARefusalEndsIt) {
  Watch(OutputFormat::kJson);
  ASSERT_TRUE(kube::Eventually([&] { return out_.Has("\"providers\""); })) << err_.text();
  proxy_->SetFaults([](const kube::ProxyRequest& request) {
    return request.target.find("coreproviders") == std::string::npos ? kube::Fault{} : kube::Fault{.status = 403};
  });
  proxy_->CutAllConnections();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: watched}}");
  watching_.join();
  ASSERT_FALSE(ended_.ok());
  EXPECT_THAT(ended_.error().message, testing::HasSubstr("failed to list coreproviders"));
}

}  // namespace
}  // namespace capi::cli::describe
