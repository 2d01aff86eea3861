#include "operator/webhooks/certificates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/encoding.h"
#include "base/testing/await.h"
#include "base/testing/value_or_abort.h"
#include "operator/observe/server_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(DataOf, LeavesOutWhatIsNoBase64) {
  kube::Object secret(Json{{"data", {{"a", "YQ=="}, {"b", "%"}, {"c", 5}, {"d", ""}}}});
  EXPECT_EQ(DataOf(secret), (SecretData{{"a", "a"}, {"c", ""}, {"d", ""}}));
  EXPECT_TRUE(DataOf(kube::Object()).empty());
  EXPECT_TRUE(DataOf(kube::Object(Json{{"data", "x"}})).empty());
}

TEST(WritePace, GivesTenAtOnceAndThenOneInFifteenSeconds) {  // T7
  const MonoTime start(std::chrono::hours(1));
  WritePace pace;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(start), start) << i;
    pace.Tried(start);
  }
  EXPECT_EQ(pace.Next(start), start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(14)), start + Seconds(15));
  pace.Tried(start + Seconds(15));
  EXPECT_EQ(pace.Next(start + Seconds(15)), start + Seconds(30));
  const MonoTime later = start + Seconds(1000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.Next(later), later) << i;
    pace.Tried(later);
  }
  EXPECT_GT(pace.Next(later), later);
}

TEST(WritePace, DoublesTheTimeAfterAFailureUpToTwoMinutes) {  // F5
  MonoTime now(std::chrono::hours(1));
  WritePace pace;
  auto fail = [&] {
    pace.Tried(now);
    pace.Failed(now);
    const MonoTime next = pace.Next(now);
    EXPECT_EQ(pace.Next(next - Millis(1)), next) << "to ask changes nothing";
    const auto wait = std::chrono::duration_cast<Seconds>(next - now).count();
    now = next;
    return wait;
  };
  for (int wait : {1, 2, 4, 8, 16, 32, 64, 120, 120}) EXPECT_EQ(fail(), wait);
  pace.Succeeded();
  EXPECT_EQ(pace.Next(now - Seconds(100)), now - Seconds(100));
  EXPECT_EQ(fail(), 1);
}

const std::string kCore = "coreproviders.operator.cluster.x-k8s.io",
                  kBootstrap = "bootstrapproviders.operator.cluster.x-k8s.io",
                  kAddon = "addonproviders.operator.cluster.x-k8s.io";
const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                  kAdmission = "/apis/admissionregistration.k8s.io/v1/", kSecrets = "/api/v1/namespaces/own/secrets";

Json Crd(const std::string& name, const std::string& bundle, int version = 1) {
  Json config = {{"url", "https://a"}, {"caBundle", Base64Encode(bundle)}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", std::to_string(version)}}},
          {"spec", {{"conversion", {{"strategy", "Webhook"}, {"webhook", {{"clientConfig", config}}}}}}}};
}

// The leader's part with three CRDs of providers, of which nobody may write the core's, nor the Secret. Time stands
// still.
class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() {
    const CertificateInputs inputs{{"a"}, clock_.Now(), {}};
    data_ = ValueOrAbort(MakeCertificate(CertificateStep::kMakeAll, {}, inputs), "certificate");
    server_.AnswerWrites([this](const std::string& path) {
      const std::string name = path.substr(path.rfind('/') + 1);
      MutexLock lock(mu_);
      ++writes_[name];
      if (name == hangs_) {
        changed_.wait_for(mu_, Seconds(60), [&] {
          mu_.AssertHeld();
          return name != hangs_;
        });
      }
      if (name == kCertificateSecret) return secret_status_;
      return name == kCore ? 403 : 200;
    });
    for (const char* kind : {"validating", "mutating"}) server_.Has(kAdmission + kind + "webhookconfigurations", {});
  }

  // With a certificate that is for host "a". The bundle is in all CRDs but the core's, and those of `lack`.
  void Run(const std::string& host, const std::set<std::string>& lack = {}, bool secrets = true) {
    if (secrets) server_.Has(kSecrets, {Secret(1)});
    std::vector<Json> crds = {Crd(kCore, "")};
    for (const std::string& name : {kBootstrap, kAddon}) {
      crds.push_back(Crd(name, lack.contains(name) ? "" : data_[certificate_key::kBundle]));
    }
    server_.Has(kCrds, crds);
    certificates_.emplace(
        *server_.client, "own", std::vector<std::string>{host}, [](const http::Certificate&) { return Ok(); }, metrics_,
        events_, Context{}.log);
    certificates_->AddTo(manager_);
    running_ = std::jthread([this](std::stop_token stop) {
      Status ended = manager_.Run(Context{.stop = std::move(stop), .log = Log()});
      EXPECT_TRUE(ended.ok()) << ended.error().message;
    });
  }
  Json Secret(int version) {
    Json values = Json::object();
    for (const auto& [key, value] : data_) values[key] = Base64Encode(value);
    Json metadata = {{"name", kCertificateSecret}, {"namespace", "own"}, {"uid", "u"}};
    metadata["resourceVersion"] = std::to_string(version);
    return {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", std::move(metadata)}, {"data", std::move(values)}};
  }
  void AnswerSecrets(int status) {
    MutexLock lock(mu_);
    secret_status_ = status;
  }
  // Writes of it get no answer ("": all get one).
  void Hang(const std::string& name) {
    MutexLock lock(mu_);
    hangs_ = name;
    changed_.notify_all();
  }
  // There were none before: not even the kind.
  void HasNoSecret() { server_.Has(kSecrets, {}); }
  void Stop() {
    running_.request_stop();
    running_.join();
  }
  bool Said(const std::string& what) {
    MutexLock lock(mu_);
    return said_.find(what) != said_.npos;
  }
  // The messages of the events of that reason.
  std::vector<std::string> Events(const std::string& reason) {
    std::stop_source stop;
    stop.request_stop();
    events_.Run(Context{.stop = stop.get_token()});
    MutexLock lock(mu_);
    return recorded_[reason];
  }
  // Somebody takes the bundle out, and it is put back.
  ::testing::AssertionResult ComesBack(const std::string& name) {
    const int before = Writes(name);
    server_.Send(kCrds, "MODIFIED", Crd(name, "", ++version_));
    if (AwaitWrites(name, before + 1)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << name << " was written " << before << " times, and no more";
  }
  void TouchSecret() { server_.Send(kSecrets, "MODIFIED", Secret(++version_)); }
  int Writes(const std::string& name) {
    MutexLock lock(mu_);
    return writes_[name];
  }
  bool AwaitWrites(const std::string& name, int count) {
    return Await([&] { return Writes(name) >= count; });
  }
  // Once the pass has ended that made the last write.
  void Advance(Millis by) {
    clock_.AwaitWaiters(2);  // the manager, and the leader for an event or the next try
    clock_.Advance(by);
  }

  FakeClock clock_;
  SecretData data_;

 private:
  Logger Log() {
    auto keep = [](void* test, std::string_view line) {
      auto& to = *static_cast<CertificatesTest*>(test);
      MutexLock lock(to.mu_);
      to.said_.append(line) += '\n';
    };
    return Logger::ToSink(LogLevel::kInfo, LogFormat::kText, keep, this);
  }

  Mutex mu_;
  std::condition_variable_any changed_;
  std::string said_ CAPI_GUARDED_BY(mu_), hangs_ CAPI_GUARDED_BY(mu_);
  int secret_status_ CAPI_GUARDED_BY(mu_) = 403;
  std::map<std::string, std::vector<std::string>> recorded_ CAPI_GUARDED_BY(mu_);  // messages of events, by reason
  std::map<std::string, int> writes_ CAPI_GUARDED_BY(mu_);                         // tries, by name
  int version_ = 1;
  ops::testing::WatchServer server_;
  kube::Metrics metrics_;
  kube::EventRecorder events_{
      {.create = [this](const Context&, const kube::Object& event) -> Status {
         MutexLock lock(mu_);
         recorded_[GetString(event.json(), {"reason"})].push_back(GetString(event.json(), {"message"}));
         return Ok();
       },
       .patch = [](const Context&, const std::string&, const std::string&, const Json&) -> Status { return Ok(); }},
      "certificates-test",
      clock_};
  std::optional<WebhookCertificates> certificates_;
  kube::Manager manager_{clock_};
  std::jthread running_;  // ends first
};

// T7: no time passes here, so that only an event can end the wait for the next try.
TEST_F(CertificatesTest, ATargetThatCanNotBeWrittenHoldsUpNoOther) {
  Run("a");
  ASSERT_TRUE(AwaitWrites(kCore, 1));
  clock_.AwaitWaiters(2);
  EXPECT_TRUE(ComesBack(kAddon));
}

// F5: what our own writes bring is events, too. Each had the core's tried again and its time doubled, within
// milliseconds, and what that took of a pace that all shared was missing to the others.
TEST_F(CertificatesTest, AnEventBringsNoTryOfATargetBeforeItsTime) {
  Run("a");
  ASSERT_TRUE(AwaitWrites(kCore, 1));
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(ComesBack(kAddon)) << i;
    ASSERT_TRUE(ComesBack(kBootstrap)) << i;
  }
  EXPECT_EQ(Writes(kCore), 1);
  Advance(Seconds(1));
  ASSERT_TRUE(AwaitWrites(kCore, 2));
  Advance(Seconds(1));
  ASSERT_TRUE(ComesBack(kAddon));
  EXPECT_EQ(Writes(kCore), 2) << "two seconds after the second failure";
  Advance(Seconds(1));
  EXPECT_TRUE(AwaitWrites(kCore, 3));
}

// T7: others' admission webhooks are asked before a CRD is written. One that didn't answer held up all other targets,
// one after the other, and the Secret, for half a minute each.
TEST_F(CertificatesTest, ATargetThatDoesNotAnswerHoldsUpNoOther) {
  Hang(kCore);
  Run("b", {kBootstrap, kAddon});
  for (const std::string& name : {kCore, kBootstrap, kAddon, std::string(kCertificateSecret)}) {
    EXPECT_TRUE(AwaitWrites(name, 1)) << name;
  }
  Hang("");
}

// F4: at a stop, and when the lease is lost, each write that was under way was told of as an error.
TEST_F(CertificatesTest, AStopIsNoFailure) {
  Hang(kCore);
  Run("a");
  ASSERT_TRUE(AwaitWrites(kCore, 1));
  Stop();
  Hang("");
  EXPECT_TRUE(Said("caches are in sync"));
  EXPECT_FALSE(Said("can't be told"));
}

// T7, F7: Secrets could not be watched at first, and the manager had gone on without them. When they could be, there
// was none, which is no event: the certificate was made ten minutes later.
TEST_F(CertificatesTest, WithoutASecretItIsMadeSoonAfterSecretsCanBeWatched) {
  Run("a", {}, /*secrets=*/false);
  int seconds = 0;
  for (; seconds < 600 && !Await([&] { return Said("can't be watched"); }, Millis(20)); ++seconds) {
    clock_.AwaitWaiters(1);
    clock_.Advance(Seconds(1));
  }
  ASSERT_GT(seconds, 29);
  ASSERT_LT(seconds, 600);
  HasNoSecret();
  int looks = 0;  // the watch is opened anew, and it is looked at
  for (; looks < 30 && !Await([&] { return Writes("secrets") > 0; }, Millis(500)); ++looks) Advance(Seconds(10));
  EXPECT_LT(looks, 30) << "in five minutes";
}

// T7: the certificate is for another host, and a new one can't be stored: the one that is served is trusted.
TEST_F(CertificatesTest, ASecretThatCanNotBeWrittenHoldsUpNoInjection) {
  Run("b", {kAddon});
  EXPECT_TRUE(AwaitWrites(kCertificateSecret, 1));
  EXPECT_TRUE(AwaitWrites(kAddon, 1));
}

// T7: the log and an event repeated a refusal, and with it the private keys of what was refused.
TEST_F(CertificatesTest, ARefusalOfTheSecretTellsNoKey) {
  Run("b");
  ASSERT_TRUE(Await([&] { return Said("the certificate of the webhooks can't be written"); }));
  Stop();
  const std::vector<std::string> events = Events("CertificateNotWritten");
  ASSERT_THAT(events, SizeIs(1));
  for (const char* key : {"ca.key", "tls.key"}) {
    EXPECT_TRUE(Said(fmt::format(R"(\"{}\":\"***\")", key))) << key << ": what was refused is repeated";
    EXPECT_THAT(events[0], HasSubstr(fmt::format(R"("{}":"***")", key))) << "and so it is here";
  }
  // The CA's key is the former one; the serving certificate and its key are new.
  const std::string authority = data_[certificate_key::kAuthorityKey], begin = "-----BEGIN PRIVATE KEY-----";
  ASSERT_TRUE(authority.starts_with(begin));
  for (const std::string& form : {authority, Base64Encode(authority), begin, Base64Encode(begin)}) {
    EXPECT_FALSE(Said(form)) << form;
    EXPECT_THAT(events[0], Not(HasSubstr(form)));
  }
}

// T7: while the next try of a Secret that somebody else writes all the time waits for its turn, the CRDs don't wait.
TEST_F(CertificatesTest, AFightOverTheSecretHoldsUpNoInjection) {
  AnswerSecrets(409);
  Run("b");
  for (int tries = 1; tries <= 10; ++tries) {
    ASSERT_TRUE(AwaitWrites(kCertificateSecret, tries));
    TouchSecret();
  }
  ASSERT_TRUE(ComesBack(kAddon));
  ASSERT_TRUE(ComesBack(kBootstrap)) << "in a later pass";
  EXPECT_EQ(Writes(kCertificateSecret), 10);
  EXPECT_EQ(Writes(kCore), 1);
  Advance(Seconds(1));
  EXPECT_TRUE(AwaitWrites(kCore, 2)) << "at its own time";
}

}  // namespace
}  // namespace capi::ops
