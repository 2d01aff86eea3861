#include "operator/webhooks/certificates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/kinds.h"
#include "base/encoding.h"
#include "base/http/testing.h"
#include "base/testing/await.h"
#include "base/testing/must.h"

namespace capi::ops {
namespace {

TEST(DataOf, LeavesOutWhatIsNoBase64) {
  kube::Object secret(Json{{"data", {{"a", "YQ=="}, {"b", "%"}, {"c", 5}, {"d", ""}}}});
  EXPECT_EQ(DataOf(secret), (SecretData{{"a", "a"}, {"c", ""}, {"d", ""}}));
  EXPECT_TRUE(DataOf(kube::Object()).empty());
  EXPECT_TRUE(DataOf(kube::Object(Json{{"data", "x"}})).empty());
}

TEST(ActPace, GivesTenAtOnceAndThenOneInFifteenSeconds) {
  const MonoTime start(std::chrono::hours(1));
  ActPace pace;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(start), start) << i;
    pace.Acted(start);
  }
  EXPECT_EQ(pace.Next(start), start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(14)), start + Seconds(15));
  pace.Acted(start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(15)), start + Seconds(30));
  const MonoTime later = start + Seconds(1000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(later), later) << i;
    pace.Acted(later);
  }
  EXPECT_GT(pace.Next(later), later);
}

const std::string kCore = "coreproviders.operator.cluster.x-k8s.io",
                  kAddon = "addonproviders.operator.cluster.x-k8s.io";

Json Crd(const std::string& name, const std::string& bundle, const char* version = "1") {
  Json config = {{"url", "https://a"}, {"caBundle", Base64Encode(bundle)}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", version}}},
          {"spec", {{"conversion", {{"strategy", "Webhook"}, {"webhook", {{"clientConfig", config}}}}}}}};
}

// The leader's part with a server that streams what the test has, and lets nobody write the core's CRD, nor the Secret.
// Its clock stands still.
class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() {
    const CertificateInputs inputs{{"a"}, clock_.Now(), {}};
    data_ = Must(MakeCertificate(CertificateStep::kMakeAll, {}, inputs), "certificate");
    Json values = Json::object();
    for (const auto& [key, value] : data_) values[key] = Base64Encode(value);
    has_[kCertificateSecret] = {{"apiVersion", "v1"},
                                {"kind", "Secret"},
                                {"metadata", {{"name", kCertificateSecret}, {"namespace", "own"}, {"uid", "u"}}},
                                {"data", values}};
    has_[kCore] = Crd(kCore, "");
    auto client =
        kube::Client::Connect({.server = server_.url()}, {.user_agent = "certificates-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    events_.emplace(*client_, "certificates-test", clock_);
  }

  void Run(const std::string& host) {
    certificates_.emplace(
        *client_, "own", std::vector<std::string>{host}, [](const http::Certificate&) { return Ok(); }, metrics_,
        *events_, Context{}.log);
    certificates_->AddTo(manager_);
    running_ = std::jthread([this](std::stop_token stop) {
      Status ended = manager_.Run(Context{.stop = std::move(stop)});
      EXPECT_TRUE(ended.ok()) << ended.error().message;
    });
  }
  void Has(const std::string& name, const Json& object) {
    MutexLock lock(mu_);
    has_[name] = object;
  }
  void Modify(const std::string& name, const Json& object) {
    MutexLock lock(mu_);
    ASSERT_TRUE(open_.contains(name));
    open_[name]->Write(Event("MODIFIED", object));
  }
  bool AwaitWrites(const std::string& name, int count) {
    return Await([&] {
      MutexLock lock(mu_);
      return writes_[name] >= count;
    });
  }

  FakeClock clock_;
  SecretData data_;

 private:
  static std::string Event(const char* type, const Json& object) {
    const std::string line = ToJsonText({{"type", type}, {"object", object}}) + "\n";
    return fmt::format("{:x}\r\n{}\r\n", line.size(), line);
  }
  static std::string Answer(int status, const std::string& body) {
    return fmt::format("HTTP/1.1 {} x\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  }
  // The name of what the request is about, which its path or its field selector has.
  static std::string NameIn(const std::string& head) {
    std::vector<std::string> names = {kCertificateSecret};
    for (const auto& kind : api::kProviderKinds) names.push_back(fmt::format("{}.{}", kind.plural, api::kGroup));
    for (const std::string& name : names) {
      if (head.find(name) != std::string::npos) return name;
    }
    return "a configuration";
  }
  void Serve(http_testing::Peer& peer) {
    for (std::string head = peer.ReadRequest(); !head.empty(); head = peer.ReadRequest()) {
      const std::string name = NameIn(head.substr(0, head.find('\r')));
      if (head.starts_with("GET ")) return Stream(peer, name);
      MutexLock lock(mu_);
      ++writes_[name];
      const bool refused = name == kCore || name == kCertificateSecret;
      peer.Write(refused ? Answer(403, R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})")
                         : Answer(200, ToJsonText(has_[name])));
    }
  }
  void Stream(http_testing::Peer& peer, const std::string& name) {
    {
      MutexLock lock(mu_);
      std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      if (has_.contains(name)) text += Event("ADDED", has_[name]);
      Json end = {{"resourceVersion", "100"}, {"annotations", {{"k8s.io/initial-events-end", "true"}}}};
      peer.Write(text + Event("BOOKMARK", {{"metadata", end}}));
      open_[name] = &peer;
    }
    peer.WaitForEnd();
    MutexLock lock(mu_);
    open_.erase(name);
  }

  Mutex mu_;
  std::map<std::string, Json> has_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, http_testing::Peer*> open_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, int> writes_ CAPI_GUARDED_BY(mu_);
  http_testing::RawServer server_{[this](http_testing::Peer& peer, int) { Serve(peer); }, /*parallel=*/true};
  std::unique_ptr<kube::Client> client_;
  kube::Metrics metrics_;
  std::optional<kube::EventRecorder> events_;
  std::optional<WebhookCertificates> certificates_;
  kube::Manager manager_{clock_};
  std::jthread running_;  // ends first
};

// T7: no time passes here, so that only an event can end the wait for the next try.
TEST_F(CertificatesTest, ATargetThatCanNotBeWrittenHoldsUpNoOther) {
  Has(kAddon, Crd(kAddon, data_[certificate_key::kBundle]));
  Run("a");
  ASSERT_TRUE(AwaitWrites(kCore, 1));
  clock_.AwaitWaiters(2);  // the manager, and the leader for its next try
  Modify(kAddon, Crd(kAddon, "", "2"));
  EXPECT_TRUE(AwaitWrites(kAddon, 1));
}

// T7: the certificate is for another host, and a new one can't be stored: the one that is served is trusted.
TEST_F(CertificatesTest, ASecretThatCanNotBeWrittenHoldsUpNoInjection) {
  Has(kAddon, Crd(kAddon, ""));
  Run("b");
  EXPECT_TRUE(AwaitWrites(kCertificateSecret, 1));
  EXPECT_TRUE(AwaitWrites(kAddon, 1));
}

}  // namespace
}  // namespace capi::ops
