// Where the versions of a provider come from whose object leads to a registry (L12, L13), on an API server and a
// registry in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <set>

#include "base/encoding.h"
#include "base/mutex.h"
#include "cli/upgrade/upgrades_testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// aws v2.0.0 and v2.1.0, for an object that leads to its registry and has a Secret of that namespace.
class ReleasesInARegistry : public Upgrades {
 protected:
  void SetUp() override {
    Configure("");
    const std::map<std::string, std::string> tokens = {{"OCI_USERNAME", std::string(fetch::kOciUser)},
                                                       {"OCI_PASSWORD", std::string(fetch::kOciPassword)}};
    for (const char* ns : {"capa-system", "other"}) cluster_.PutSecret(ns, "tokens", tokens);
  }
  void Override(const std::string& file) {
    cluster_.folder.Put("o/infrastructure-aws/" + file, "a: b\n");
    Configure("overridesFolder: " + cluster_.folder / "o" + "\n");
  }
  Outcome Apply() { return Run({"upgrade", "apply", "-i", "aws:v2.1.0"}); }
  static std::map<std::string, fetch::OciArtifact> Artifacts() {
    const fetch::OciArtifact one = {
        .files = {{"metadata.yaml", kSeries},
                  {"components.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n"}}};
    return {{"v2.0.0", one}, {"v2.1.0", one}};
  }
  void LeadTo(const fetch::OciStandIn& registry, const std::string& ns) {
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["spec"]["fetchConfig"] = {{"oci", registry.reference()}};
      aws["spec"]["configSecret"] = {{"name", "tokens"}, {"namespace", ns}};
    });
  }
};

// Who only looks may not read Secrets.
TEST_F(ReleasesInARegistry, APublicOneIsAskedByWhoMayNotReadTheSecret) {  // L12, T9
  fetch::OciStandIn registry(Artifacts());
  LeadTo(registry, "capa-system");
  cluster_.forbidden = "/secrets/";
  Outcome got = Run({"upgrade", "plan"});
  EXPECT_EQ(got.code, 0);
  EXPECT_THAT(got.out, HasSubstr(kNewer)) << got.err;
}

// Each read of one waits until both are under way.
TEST_F(ReleasesInARegistry, TheSecretsOfSeveralAreReadSideBySide) {  // L12
  fetch::OciStandIn registry(Artifacts());
  LeadTo(registry, "capa-system");
  cluster_.Add(kMine);
  cluster_.Change(UpgradeCluster::PathOf(kMine), [&](Json& mine) {
    mine["spec"]["fetchConfig"] = {{"oci", registry.reference()}};
    mine["spec"]["configSecret"] = {{"name", "tokens"}};
  });
  Mutex mu;
  std::condition_variable_any came;
  int under_way = 0;
  bool together = true;
  cluster_.before_read = [&](const std::string& path) {
    if (path.find("/secrets/") == path.npos) return;
    MutexLock lock(mu);
    ++under_way;
    came.notify_all();
    together = came.wait_for(mu, std::chrono::seconds(10), [&] { return under_way == 2; }) && together;
  };
  Outcome got = Run({"upgrade", "plan"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr(kNewer));
  MutexLock lock(mu);
  EXPECT_EQ(under_way, 2);
  EXPECT_TRUE(together);
}

TEST_F(ReleasesInARegistry, APrivateOneThatRefusesSaysWhichSecretWasNotRead) {  // L12, L13, T9
  fetch::OciStandIn registry(Artifacts(), fetch::OciAuth::kBasic);
  LeadTo(registry, "capa-system");
  const std::string unread = "; you may not read Secret capa-system/tokens, which may have credentials for it";
  cluster_.forbidden = "/secrets/";
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.err, AllOf(HasSubstr("asks for a user and a password"), HasSubstr(unread)));
  Outcome apply = Apply();
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, AllOf(HasSubstr("asks for a user and a password"), HasSubstr(unread)));
  cluster_.forbidden = "/nothing/";
  EXPECT_THAT(Run({"upgrade", "plan"}).err, Not(HasSubstr("you may not read")));
}

// What an artifact was signed with lies beside its manifest, whoever asks for it.
TEST_F(ReleasesInARegistry, ASignedOneIsTakenByWhoMayNotReadTheSecret) {  // L13, T14, T9
  fetch::OciStandIn registry(Artifacts());
  bool is_signed = false;
  const std::string payload = "{}", digest = "sha256:" + Sha256Hex(payload);
  const Json layer = {{"mediaType", "application/vnd.dev.cosign.simplesigning.v1+json"},
                      {"digest", digest},
                      {"size", payload.size()},
                      {"annotations", {{"dev.cosignproject.cosign/signature", "c2ln"}}}};
  const std::string tag = "/manifests/sha256-" + registry.digest("v2.1.0").substr(7) + ".sig";
  registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (!is_signed) return std::nullopt;
    if (request.path.ends_with(tag)) return fetch::OciAnswer(200, ToJsonText({{"layers", Json::array({layer})}}));
    if (request.path.ends_with("/blobs/" + digest)) return fetch::OciAnswer(200, payload);
    return std::nullopt;
  });
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"oci", registry.reference()},
                                  {"secretRef", {{"name", "tokens"}}},
                                  {"verify", {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}}}};
  });
  cluster_.forbidden = "/secrets/";
  Outcome got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err,
              AllOf(HasSubstr("the artifact isn't signed"), HasSubstr("; you may not read Secret capa-system/tokens")));
  is_signed = true;
  got = Apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// Its Secret's credentials go there; those of another namespace's don't.
TEST_F(ReleasesInARegistry, APrivateOneIsAskedWithTheCredentialsOfTheProvidersSecret) {  // L12, T9, T1
  fetch::OciStandIn registry(Artifacts(), fetch::OciAuth::kBasic);
  const std::string basic =
      "Basic " + Base64Encode(std::string(fetch::kOciUser) + ":" + std::string(fetch::kOciPassword));
  for (const std::string ns : {"capa-system", "other"}) {
    SCOPED_TRACE(ns);
    LeadTo(registry, ns);
    const size_t before = registry.seen().size();
    Outcome got = Run({"upgrade", "plan"});
    const bool own = ns == "capa-system";
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out.find(kNewer) != std::string::npos, own) << got.out << got.err;
    EXPECT_EQ(got.err.find("capa-system/infrastructure-aws: its versions can't be told: ") == std::string::npos, own);
    const auto seen = registry.seen();
    std::set<std::string> sent;  // the server asks for them first
    for (size_t i = before; i < seen.size(); ++i) sent.insert(seen[i].host + " " + seen[i].authorization);
    EXPECT_EQ(sent.contains("registry " + basic), own);
    EXPECT_EQ(sent.contains("registry "), true);
    sent.erase("registry " + basic);
    EXPECT_THAT(sent, testing::Each(testing::EndsWith(" ")));
  }
}

// What the registry has would be installed, and not what this machine has put in its place.
TEST_F(ReleasesInARegistry, OverridesThatWouldNotCountAreRefused) {  // L13
  fetch::OciStandIn registry(Artifacts());
  LeadTo(registry, "capa-system");
  Override("v2.1.0/infrastructure-components.yaml");
  Outcome got = Apply();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err,
              HasSubstr("Error: InfrastructureProvider capa-system/aws: files in the folder of overrides don't "
                        "count with spec.fetchConfig.oci: move those of v2.1.0 away"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  Configure("");
  got = Apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// What runs came from the registry: what it asked for the operator has from somewhere, whatever lies here.
TEST_F(ReleasesInARegistry, OverridesOfWhatRunsSayNothing) {  // L13
  auto artifacts = Artifacts();
  for (auto& [tag, artifact] : artifacts) artifact.files[1].second += "data: {v: '${FROM_OPERATOR}'}\n";
  fetch::OciStandIn registry(artifacts);
  LeadTo(registry, "capa-system");
  Override("v2.0.0/infrastructure-components.yaml");
  Outcome got = Apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// Its object leads elsewhere since: what runs came of the former source, and is replaced.
TEST_F(ReleasesInARegistry, WhatRunsIsComparedWhereverItCameFrom) {  // L13, T12
  fetch::OciStandIn registry(Artifacts());
  LeadTo(registry, "capa-system");
  cluster_.Put(
      "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.0.0",
      {{"metadata",
        {{"name", "infrastructure-aws-v2.0.0"},
         {"namespace", "capa-system"},
         {"annotations", {{std::string(api::kLabelReleaseSource), "registry.example.org/former:v2.0.0 v2.0.0"}}},
         {"labels",
          {{"provider.cluster.x-k8s.io/type", "infrastructure"},
           {"provider.cluster.x-k8s.io/name", "aws"},
           {"provider.cluster.x-k8s.io/version", "v2.0.0"},
           {std::string(api::kLabelManagedBy), "true"}}}}},
       {"data",
        {{"metadata", kSeries},
         {"components", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: former, namespace: n}\n"}}}});
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0", "--dry-run"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("  - ConfigMap/capa-system/former\n"));
}

// `generate cluster` reads it; nothing is installed from it.
TEST_F(ReleasesInARegistry, ATemplateOfOnesOwnOverridesNothingOfTheRelease) {  // L13
  fetch::OciStandIn registry(Artifacts());
  LeadTo(registry, "capa-system");
  Override("v2.1.0/cluster-template.yaml");
  Outcome got = Apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

}  // namespace
}  // namespace capi::cli
