#include "cli/cert_manager/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/api_testing.h"
#include "cli/frame/config.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

const char* const kCrd = "/customresourcedefinitions/issuers.cert-manager.io";

Answer Crd(const std::string& labels) {
  return {200, R"({"kind":"CustomResourceDefinition","metadata":{"name":"issuers.cert-manager.io","labels":{)" +
                   labels + "}}}"};
}
const std::string kLabel = R"("clusterctl.cluster.x-k8s.io/core":"cert-manager")";
Config ConfigOf(const std::string& yaml) { return Config::Parse({"clusterctl.yaml", yaml}, From({})).value(); }

const char* const kApps =
    R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[)"
    R"({"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced",)"
    R"("verbs":["delete","list"]}]}]}]})";

const Answer kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};

// L12: nothing is asked of a source, and nothing said, where it isn't clusterctl's.
// tools/clusterctl_upgrade_e2e_test.py tries the rest on a real server.
TEST(FindCertManager, IsForWhatClusterctlInstalledAlone) {
  std::ostringstream err;
  Notes notes(err);
  const Config config =
      ConfigOf("cert-manager: {url: /nowhere/cert-manager/v1.20.0/cert-manager.yaml, version: v1.20.0}");
  const Answer no_crds = {200, R"({"kind":"List","metadata":{},"items":[]})"};
  const Answer one = {200, R"({"kind":"List","metadata":{},"items":[{"metadata":{"name":"cert-manager"}}]})"};
  const Answer no_groups = {200, R"({"kind":"APIGroupDiscoveryList","items":[]})"};
  for (const auto& answers : std::vector<std::map<std::string, std::vector<Answer>>>{
           {},                   // there is none
           {{kCrd, {Crd("")}}},  // Helm's
           // Its Deployments are gone, and Helm's have taken their place.
           {{kCrd, {Crd(kLabel)}},
            {"/customresourcedefinitions?", {no_crds}},
            {"GET /api ", {no_groups}},
            {"GET /apis ", {no_groups}},
            {"/deployments?labelSelector=clusterctl", {no_crds}},
            {"/deployments?labelSelector=app", {one}}}}) {
    FakeApi server(answers);
    auto got = FindCertManager(Context{}, config, server.client(), notes);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_FALSE(*got);
  }
  FakeApi gone({{kCrd, {Crd(kLabel)}},
                {"/customresourcedefinitions?", {no_crds}},
                {"GET /api ", {no_groups}},
                {"GET /apis ", {no_groups}},
                {"/deployments?", {no_crds}}});
  auto nothing = FindCertManager(Context{}, config, gone.client(), notes);
  ASSERT_TRUE(nothing.ok() && *nothing) << "no reason to say that it is up to date";
  EXPECT_THAT((*nothing)->gone, testing::HasSubstr("clusterctl init installs it again"));
  FakeApi forbids({{kCrd, {kForbidden}}});
  EXPECT_EQ(FindCertManager(Context{}, config, forbids.client(), notes).code(), Code::kPermissionDenied);
  auto external =
      FindCertManager(Context{}, ConfigOf("cert-manager: {externallyProvisioned: true}"), forbids.client(), notes);
  EXPECT_TRUE(external.ok() && !*external) << "somebody else upgrades it";
}

// L13: clusterctl's label stays on what others took over.
TEST(FindCertManager, LeavesAloneWhatOthersTookOver) {
  const Config config =
      ConfigOf("cert-manager: {url: /nowhere/cert-manager/v1.20.0/cert-manager.yaml, version: v1.20.0}");
  struct Case {
    std::string runs, noted, helm, why;
  };
  const Case cases[] = {
      {"v1.19.0", "v1.19.0", "", ""},
      {"", "", "", ""},
      {"v1.19.5", "v1.19.0", "", ""},  // newer than noted, and yet older than what is wanted
      {"v1.20.0", "v1.19.0", "", ""},
      {"v1.21.0", "v1.21.0", "", ""},  // clusterctl's own, of another configuration
      {"v1.21.0", "v1.19.0", "", "v1.21.0 runs, which is newer than the v1.20.0 of the configuration"},
      {"v1.21.0", "", "", "v1.21.0 runs, which is newer than the v1.20.0 of the configuration"},
      {"v1.19.0", "v1.19.0", "certs", "it is Helm's release certs"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.runs + "|" + c.noted + "|" + c.helm);
    Json metadata = {{"name", "cert-manager"}, {"namespace", "cert-manager"}};
    if (!c.runs.empty()) metadata["labels"]["app.kubernetes.io/version"] = c.runs;
    if (!c.noted.empty()) metadata["annotations"][std::string(kCertManagerVersionAnnotation)] = c.noted;
    if (!c.helm.empty()) metadata["annotations"]["meta.helm.sh/release-name"] = c.helm;
    const Json one = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", metadata}};
    const Json list = {{"kind", "List"}, {"metadata", Json::object()}, {"items", Json::array({one})}};
    FakeApi server({{kCrd, {Crd(kLabel)}},
                    {"/customresourcedefinitions?", {{200, R"({"kind":"List","metadata":{},"items":[]})"}}},
                    {"GET /api ", {{200, R"({"kind":"APIGroupDiscoveryList","items":[]})"}}},
                    {"GET /apis ", {{200, kApps}}},
                    {"/deployments?", {{200, ToJsonText(list)}}}});
    std::ostringstream err;
    Notes notes(err);
    auto got = FindCertManager(Context{}, config, server.client(), notes);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->has_value(), c.why.empty());
    const std::string stays = "Warning: cert-manager stays as it is, though clusterctl installed it once: ";
    EXPECT_EQ(err.str(), c.why.empty() ? "" : stays + c.why + "\n");
  }
}

TEST(CertManagerUpgrade, IsToldInClusterctlsWords) {
  CertManagerUpgrade upgrade;
  upgrade.settings.version = "v1.20.0";
  EXPECT_EQ(AsText(upgrade), "Cert-Manager is already up to date\n");
  upgrade.decision = {"v1.19.1", true};
  EXPECT_EQ(AsText(upgrade), "Cert-Manager will be upgraded from \"v1.19.1\" to \"v1.20.0\"\n");
}

}  // namespace
}  // namespace capi::cli
