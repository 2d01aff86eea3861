#include "kube/testing/fault_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/json.h"
#include "base/processes/process.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/programs.h"
#include "kube/testing/tls.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;

constexpr char kToken[] =
    "Authorization: Bearer test-administrator\r\nContent-Type: application/json\r\nUser-Agent: probe/1\r\n";
constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";

class FaultProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto proxy = FaultProxy::Start(ControlPlane::Shared().config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(*proxy);
  }

  std::unique_ptr<TlsStream> Dial() {
    Config config = proxy_->config();
    int port = std::atoi(config.server.c_str() + config.server.rfind(':') + 1);
    auto stream = TlsStream::Connect("127.0.0.1", port, config.tls.ca_pem, nullptr, Seconds(5));
    if (!stream.ok()) ADD_FAILURE() << stream.error().message;
    return std::move(*stream);
  }

  Result<PlainResponse> Do(std::string_view method, std::string_view target, std::string_view body = "") {
    return Ask(*Dial(), method, target, kToken, body);
  }

  // Asks the API server itself.
  bool Exists(const std::string& config_map) {
    auto client = ControlPlane::Shared().NewClient();
    return client->Get(Context{}, Builtin("ConfigMap"), "default", config_map).ok();
  }

  std::unique_ptr<FaultProxy> proxy_;
};

std::string ConfigMapNamed(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + "\"}}";
}

TEST_F(FaultProxyTest, PassesRequestsOnAndCountsThem) {
  auto created = Do("POST", kConfigMaps, ConfigMapNamed("passed"));
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_EQ(created->status, 201) << created->body;
  EXPECT_TRUE(Exists("passed"));
  auto listed = Do("GET", std::string(kConfigMaps) + "?limit=1");
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->status, 200);

  auto requests = proxy_->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].user_agent, "probe/1");
  EXPECT_EQ(requests[1].target, std::string(kConfigMaps) + "?limit=1");
  EXPECT_EQ(requests[1].number, 2);
  EXPECT_FALSE(requests[1].watch);
  proxy_->Reset();
  EXPECT_TRUE(proxy_->requests().empty());
}

TEST_F(FaultProxyTest, StatusIsAnsweredInsteadOfTheServerOrAfterIt) {
  for (bool after : {false, true}) {
    std::string name = after ? "status-after" : "status-instead";
    proxy_->SetFaults(
        [after](const ProxyRequest&) { return Fault{.status = 429, .retry_after = "7", .after_server = after}; });
    auto answer = Do("POST", kConfigMaps, ConfigMapNamed(name));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(GetString(*ParseJson(answer->body), {"reason"}), "TooManyRequests");
    EXPECT_EQ(Exists(name), after);
  }
}

TEST_F(FaultProxyTest, DroppedRequestsReachTheServerOnlyWhenAsked) {
  for (bool after : {false, true}) {
    std::string name = after ? "dropped-after" : "dropped-before";
    proxy_->SetFaults([after](const ProxyRequest&) { return Fault{.drop = true, .after_server = after}; });
    EXPECT_FALSE(Do("POST", kConfigMaps, ConfigMapNamed(name)).ok());
    EXPECT_EQ(Exists(name), after);
  }
}

TEST_F(FaultProxyTest, BodyIsCutAfterSoManyBytes) {
  auto whole = Do("GET", "/api/v1");
  ASSERT_TRUE(whole.ok());
  proxy_->SetFaults(
      [](const ProxyRequest& request) { return request.number == 2 ? Fault{.cut_after = 100} : Fault{}; });
  auto cut = Do("GET", "/api/v1");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->status, 200);
  EXPECT_EQ(cut->body, whole->body.substr(0, 100));
}

// A test's faults once outlived what they looked at: the process that they killed, the numbers that they drew.
TEST_F(FaultProxyTest, FaultsAreDoneWithWhenTheNextAreSet) {
  std::promise<void> called, go_on;
  std::atomic<bool> returned = false;
  proxy_->SetFaults([&](const ProxyRequest&) {
    called.set_value();
    go_on.get_future().wait();
    returned = true;
    return Fault{};
  });
  auto asked = std::async(std::launch::async, [&] { return Do("GET", "/version").ok(); });
  called.get_future().wait();
  auto replaced = std::async(std::launch::async, [&] {
    proxy_->SetFaults(nullptr);
    return returned.load();
  });
  go_on.set_value();
  EXPECT_TRUE(replaced.get());
  EXPECT_TRUE(asked.get());
}

TEST_F(FaultProxyTest, DelayHoldsTheRequestBack) {
  proxy_->SetFaults([](const ProxyRequest&) { return Fault{.delay = Millis(300)}; });
  MonoTime before = SystemClock().Monotonic();
  ASSERT_TRUE(Do("GET", "/version").ok());
  EXPECT_GE(SystemClock().Monotonic() - before, Millis(300));
}

TEST_F(FaultProxyTest, CuttingConnectionsEndsALiveWatch) {
  auto stream = Dial();
  ASSERT_TRUE(
      stream->Write("GET " + std::string(kConfigMaps) + "?watch=true HTTP/1.1\r\nHost: localhost\r\n" + kToken + "\r\n")
          .ok());
  char piece[4096];
  auto first = stream->Read(piece, sizeof piece);
  ASSERT_TRUE(first.ok() && *first > 0);
  EXPECT_THAT(std::string(piece, *first), HasSubstr("200 OK"));
  EXPECT_TRUE(proxy_->requests().at(0).watch);

  std::thread cutter([&] { proxy_->CutAllConnections(); });
  for (auto n = stream->Read(piece, sizeof piece); n.ok() && *n > 0; n = stream->Read(piece, sizeof piece)) {
  }
  cutter.join();
  EXPECT_TRUE(Do("GET", "/version").ok()) << "new connections are served";
}

TEST_F(FaultProxyTest, AwayMeansThatNobodyAnswers) {
  proxy_->SetAway(true);
  Config config = proxy_->config();
  int port = std::atoi(config.server.c_str() + config.server.rfind(':') + 1);
  EXPECT_FALSE(TlsStream::Connect("127.0.0.1", port, config.tls.ca_pem, nullptr, Seconds(5)).ok());
  EXPECT_EQ(proxy_->refused(), 1);
  EXPECT_TRUE(proxy_->requests().empty());
  proxy_->SetAway(false);
  EXPECT_TRUE(Do("GET", "/version").ok());
}

TEST_F(FaultProxyTest, KubeconfigServesKubectl) {
  auto kubectl = FindProgram("kubectl");
  ASSERT_TRUE(kubectl.ok()) << kubectl.error().message;
  std::string kubeconfig = proxy_->WriteKubeconfig(ControlPlane::Shared().folder());
  auto output =
      RunProgram({*kubectl, "--kubeconfig", kubeconfig, "get", "namespaces", "--output=name"}, "", Seconds(30));
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_THAT(*output, HasSubstr("namespace/default\n"));
  EXPECT_THAT(proxy_->requests().back().user_agent, HasSubstr("kubectl"));
}

}  // namespace
}  // namespace capi::kube
