#include "cli/cert_manager/cert_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/api_testing.h"
#include "cli/frame/config.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

const Answer kDone = {201, R"({"kind":"Issuer","metadata":{"name":"x"}})"};
const Answer kNoWebhook = {
    500,
    R"({"kind":"Status","reason":"InternalError","message":"failed calling webhook \"webhook.cert-manager.io\""})"};
const Answer kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};
const Answer kTheirs = {200, R"({"kind":"CustomResourceDefinition","metadata":{"name":"x"}})"};
const Answer kOurs = {
    200,
    R"({"kind":"CustomResourceDefinition","metadata":{"labels":{"clusterctl.cluster.x-k8s.io/core":"cert-manager"}}})"};

const Answer kOne = {200, R"({"kind":"DeploymentList","metadata":{},"items":[{"metadata":{"name":"cert-manager"}}]})"};
const Answer kNone = {200, R"({"kind":"DeploymentList","metadata":{},"items":[]})"};

const Answer kBegun = {
    200,
    R"({"kind":"CustomResourceDefinition","metadata":{"labels":{"clusterctl.cluster.x-k8s.io/core":"cert-manager"},)"
    R"("annotations":{"cert-manager.clusterctl.cluster.x-k8s.io/installing":"true"}}})"};

// L10.
TEST(ProbeCertManager, TellsWhatIsThereAndWhoseItIs) {
  struct Case {
    std::map<std::string, std::vector<Answer>> answers;
    CertManagerState want;
    bool needed;
  };
  const std::string issuers = "/namespaces/default/issuers", certificates = "/namespaces/default/certificates";
  const std::string deployments = "/deployments?labelSelector=clusterctl.cluster.x-k8s.io%2Fcore%3Dcert-manager";
  for (const Case& c : {
           Case{{}, CertManagerState::kMissing, true},
           Case{{{issuers, {kDone}}, {certificates, {kDone}}}, CertManagerState::kAnswers, false},
           Case{{{issuers, {kDone}}, {"customresourcedefinitions/issuers", {kTheirs}}},
                CertManagerState::kStarts,
                false},
           Case{{{issuers, {kNoWebhook}}, {"customresourcedefinitions/", {kTheirs}}}, CertManagerState::kStarts, false},
           // Its webhook is away for a moment: no reason to install another version over it.
           Case{{{issuers, {kNoWebhook}}, {"customresourcedefinitions/", {kOurs}}, {deployments, {kOne}}},
                CertManagerState::kStarts,
                false},
           // Somebody has put another one over what clusterctl left, and that one is away for a moment.
           Case{{{issuers, {kNoWebhook}},
                 {"customresourcedefinitions/", {kOurs}},
                 {deployments, {kNone}},
                 {"/deployments?labelSelector=app", {kOne}}},
                CertManagerState::kStarts,
                false},
           // Its Namespace was deleted: nothing will answer by itself. Somebody else's has other labels.
           Case{{{issuers, {kNoWebhook}}, {"customresourcedefinitions/", {kOurs}}, {"/deployments?", {kNone}}},
                CertManagerState::kBrokenOff,
                true},
           Case{{{issuers, {kNoWebhook}}, {"customresourcedefinitions/", {kTheirs}}, {deployments, {kNone}}},
                CertManagerState::kStarts,
                false},
           Case{
               {{issuers, {kNoWebhook}}, {"customresourcedefinitions/", {kBegun}}}, CertManagerState::kBrokenOff, true},
           // Its kinds take anything while its webhooks aren't there yet.
           Case{{{issuers, {kDone}}, {certificates, {kDone}}, {"customresourcedefinitions/", {kBegun}}},
                CertManagerState::kBrokenOff,
                true},
           Case{{{issuers, {kDone}},
                 {certificates, {kDone}},
                 {"customresourcedefinitions/", {kOurs}},
                 {deployments, {kOne}}},
                CertManagerState::kAnswers,
                false},
           // Its Namespace was deleted, and the webhooks that nobody served any more.
           Case{{{issuers, {kDone}},
                 {certificates, {kDone}},
                 {"customresourcedefinitions/", {kOurs}},
                 {"/deployments?", {kNone}}},
                CertManagerState::kBrokenOff,
                true},
       }) {
    FakeApi server(c.answers);
    auto got = ProbeCertManager(Context{}, server.client());
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->state, c.want);
    EXPECT_EQ(NeedsCertManager(got->state, {}), c.needed);
    EXPECT_FALSE(NeedsCertManager(got->state, {.external = true}));
  }
  FakeApi without_rights({{issuers, {kForbidden}}});
  auto got = ProbeCertManager(Context{}, without_rights.client());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kPermissionDenied);
}

// L10: while it isn't whole, its kinds say so.
TEST(InstallCertManager, IsToldByItsKindsUntilAllIsApplied) {
  const std::string crd = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/issuers.cert-manager.io";
  const Answer list = {200, R"({"kind":"APIResourceList","groupVersion":"apiextensions.k8s.io/v1","resources":[)"
                            R"({"name":"customresourcedefinitions","kind":"CustomResourceDefinition"}]})"};
  for (bool refused : {false, true}) {
    FakeApi server({{"GET /apis/apiextensions.k8s.io/v1 ", {list}}, {crd, {refused ? kForbidden : kOurs}}});
    std::ostringstream err;
    Notes notes(err);
    kube::Object object({{"apiVersion", "apiextensions.k8s.io/v1"},
                         {"kind", "CustomResourceDefinition"},
                         {"metadata", {{"name", "issuers.cert-manager.io"}}}});
    Status got = InstallCertManager(Context{}, server.client(), {object}, {.url = "", .version = "v1.19.1"}, notes);
    EXPECT_EQ(got.ok(), !refused);
    auto asked = server.Asked("PATCH");
    ASSERT_GE(asked.size(), 1u);
    EXPECT_THAT(asked.front(), testing::HasSubstr(R"(x-k8s.io/installing":"true")"));
    bool ended = asked.size() > 1 && asked[1].find(R"(x-k8s.io/installing":null)") != std::string::npos;
    EXPECT_EQ(ended, !refused);
  }
}

// L10.
TEST(CheckNoOlder, DoesNotReplaceANewerOne) {
  kube::Object crd(Json{{"kind", "CustomResourceDefinition"}, {"metadata", {{"name", "issuers.cert-manager.io"}}}});
  crd.set_annotation("cert-manager.clusterctl.cluster.x-k8s.io/version", "v1.20.0");
  const CertManagerFound found = {CertManagerState::kBrokenOff, {crd}};
  for (const char* fine : {"v1.20.0", "v1.20.1", "v1.21.0"})
    EXPECT_TRUE(CheckNoOlder(found, {.url = "", .version = fine}, {}).ok()) << fine;
  EXPECT_TRUE(CheckNoOlder({}, {.url = "", .version = "v1.19.0"}, {}).ok());
  Status older = CheckNoOlder(found, {.url = "", .version = "v1.19.0"}, {});
  ASSERT_FALSE(older.ok());
  EXPECT_THAT(older.error().message,
              testing::HasSubstr("cert-manager v1.20.0, which clusterctl installed, is there in part"));
}

TEST(AwaitCertManager, SaysWhatItMetLast) {
  FakeApi server({{"/namespaces/default/issuers", {kNoWebhook}}});
  std::ostringstream err;
  Notes notes(err);
  CertManagerSettings settings;
  settings.timeout = Millis(0);
  auto got = AwaitCertManager(Context{}, server.client(), settings, false, notes);
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
