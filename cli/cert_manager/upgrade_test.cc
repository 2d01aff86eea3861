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
  ASSERT_FALSE(nothing.ok()) << "no reason to say that it is up to date";
  EXPECT_EQ(nothing.code(), Code::kNotFound);
  EXPECT_THAT(nothing.error().message, testing::HasSubstr("clusterctl init installs it again"));
  FakeApi forbids({{kCrd, {kForbidden}}});
  EXPECT_EQ(FindCertManager(Context{}, config, forbids.client(), notes).code(), Code::kPermissionDenied);
  auto external =
      FindCertManager(Context{}, ConfigOf("cert-manager: {externallyProvisioned: true}"), forbids.client(), notes);
  EXPECT_TRUE(external.ok() && !*external) << "somebody else upgrades it";
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
