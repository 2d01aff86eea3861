#include "cli/cert_manager/cert_manager.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/http/testing.h"
#include "cli/frame/config.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

// An API server that gives each path below one answer: the status, and of a CRD its labels.
class Answers {
 public:
  explicit Answers(std::map<std::string, std::pair<int, std::string>> answers)
      : answers_(std::move(answers)), server_([this](http_testing::Peer& peer, int) { Serve(peer); }) {
    kube::Config config;
    config.server = server_.url();
    client_ = kube::Client::Connect(config, {.user_agent = "test", .max_retries = 0}).value();
  }
  kube::Client& client() { return *client_; }

 private:
  void Serve(http_testing::Peer& peer) {
    while (true) {
      std::string request = peer.ReadRequest();
      if (request.empty()) return;
      std::pair<int, std::string> answer = {404, R"({"kind":"Status","reason":"NotFound","message":"no"})"};
      for (const auto& [path, given] : answers_) {
        if (request.substr(0, request.find("\r\n")).find(path) != std::string::npos) answer = given;
      }
      peer.Write(fmt::format("HTTP/1.1 {} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                             answer.first, answer.second.size(), answer.second));
    }
  }

  std::map<std::string, std::pair<int, std::string>> answers_;
  http_testing::RawServer server_;
  std::unique_ptr<kube::Client> client_;
};

const std::pair<int, std::string> kDone = {201, R"({"kind":"Issuer","metadata":{"name":"x"}})"};
const std::pair<int, std::string> kNoWebhook = {
    500,
    R"({"kind":"Status","reason":"InternalError","message":"failed calling webhook \"webhook.cert-manager.io\""})"};
const std::pair<int, std::string> kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};
const std::pair<int, std::string> kTheirs = {200, R"({"kind":"CustomResourceDefinition","metadata":{"name":"x"}})"};
const std::pair<int, std::string> kOurs = {
    200,
    R"({"kind":"CustomResourceDefinition","metadata":{"labels":{"clusterctl.cluster.x-k8s.io/core":"cert-manager"}}})"};

// L10.
TEST(ProbeCertManager, TellsWhatIsThereAndWhoseItIs) {
  struct Case {
    std::map<std::string, std::pair<int, std::string>> answers;
    CertManagerState want;
    bool needed;
  };
  const std::string issuers = "/namespaces/default/issuers", certificates = "/namespaces/default/certificates";
  for (const Case& c : {
           Case{{}, CertManagerState::kMissing, true},
           Case{{{issuers, kDone}, {certificates, kDone}}, CertManagerState::kAnswers, false},
           Case{{{issuers, kDone}, {"customresourcedefinitions/issuers", kTheirs}},
                CertManagerState::kStartsOther,
                false},
           Case{
               {{issuers, kNoWebhook}, {"customresourcedefinitions/", kTheirs}}, CertManagerState::kStartsOther, false},
           Case{{{issuers, kNoWebhook}, {"customresourcedefinitions/", kOurs}}, CertManagerState::kStartsOurs, true},
       }) {
    Answers server(c.answers);
    auto got = ProbeCertManager(Context{}, server.client());
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(*got, c.want);
    EXPECT_EQ(NeedsCertManager(*got, {}), c.needed);
    EXPECT_FALSE(NeedsCertManager(*got, {.external = true}));
  }
  Answers without_rights({{issuers, kForbidden}});
  auto got = ProbeCertManager(Context{}, without_rights.client());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kPermissionDenied);
}

TEST(AwaitCertManager, SaysWhatItMetLast) {
  Answers server({{"/namespaces/default/issuers", kNoWebhook}});
  std::ostringstream err;
  Notes notes(err);
  CertManagerSettings settings;
  settings.timeout = Millis(0);
  auto got = AwaitCertManager(Context{}, server.client(), settings, notes);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(got.error().message, testing::HasSubstr("webhook.cert-manager.io"));
  EXPECT_EQ(err.str(), "Waiting for cert-manager to be available...\n");
}

Config ConfigOf(const std::string& yaml, Variables variables = {}) {
  return Config::Parse({"clusterctl.yaml", yaml}, From(std::move(variables))).value();
}

TEST(CertManagerSettings, AreThoseOfTheConfiguration) {
  std::ostringstream err;
  Notes notes(err);
  auto none = ReadCertManagerSettings(ConfigOf(""), notes);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->url, "https://github.com/cert-manager/cert-manager/releases/" + none->version + "/cert-manager.yaml");
  EXPECT_EQ(none->timeout, std::chrono::minutes(10));
  auto given = ReadCertManagerSettings(
      ConfigOf("cert-manager: {URL: '${ROOT}/x', version: v1.20, timeout: 5m, externallyProvisioned: true}",
               {{"ROOT", "/r"}}),
      notes);
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->url, "/r/x");
  EXPECT_EQ(given->version, "v1.20");
  EXPECT_EQ(given->timeout, std::chrono::minutes(5));
  EXPECT_TRUE(given->external);
  EXPECT_EQ(err.str(), "");
  EXPECT_TRUE(ReadCertManagerSettings(ConfigOf("cert-manager: {timeout: foo}"), notes).ok());
  EXPECT_EQ(err.str(), "Invalid value set for cert-manager configuration timeout=\"foo\"\n");
  for (const char* bad :
       {"cert-manager: 7", "cert-manager: {url: [a]}", "cert-manager: {externallyProvisioned: maybe}"}) {
    EXPECT_FALSE(ReadCertManagerSettings(ConfigOf(bad), notes).ok()) << bad;
  }
}

TEST(FetchCertManager, ReadsTheReleaseAndOverridesItsImages) {
  TestFolder folder;
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
      "spec: {template: {spec: {containers: [{name: c, image: quay.io/jetstack/c:v1}]}}}\n";
  folder.Put("cert-manager/v1.2.3/cert-manager.yaml", deployment);
  folder.Put("cert-manager/v1.2.4/cert-manager.yaml", "a: b\n");
  folder.Put("cert-manager/v1.2.5/cert-manager.yaml", "# nothing\n");
  Config config = ConfigOf("images: {cert-manager: {repository: mirror.example.com}}");
  std::ostringstream err;
  Notes notes(err);
  CertManagerSettings settings{.url = folder / "cert-manager/latest/cert-manager.yaml", .version = "v1.2.3"};
  auto got = FetchCertManager(Context{}, config, settings, notes);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(templating::ListImages(*got), std::vector<std::string>{"mirror.example.com/c:v1"});
  for (const char* version : {"v1.2.4", "v1.2.5", "v9.9.9", "x"}) {
    settings.version = version;
    EXPECT_FALSE(FetchCertManager(Context{}, config, settings, notes).ok()) << version;
  }
}

}  // namespace
}  // namespace capi::cli
