// Where the versions of a provider come from whose object leads to a git repository (L12, L13, T15), on an API server
// in memory and a repository that git itself serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/encoding.h"
#include "cli/upgrade/upgrades_testing.h"
#include "fetch/git/git_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// aws v2.0.0 and v2.1.0 in a folder of a private repository, for an object that leads to it and has a Secret.
class ReleasesInGit : public Upgrades {
 protected:
  ReleasesInGit() : server_({.authorization = "Basic " + Base64Encode("me:s3cret")}) {
    for (const char* tag : {"v2.0.0", "v2.1.0"}) {
      server_.Release(
          tag, {{"aws/metadata.yaml", kSeries},
                {"aws/components.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n"}});
    }
    Configure("");
    cluster_.PutSecret("capa-system", "git", {{"username", "me"}, {"password", "s3cret"}});
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["spec"]["fetchConfig"] = {
          {"git", {{"url", server_.url()}, {"path", "aws"}, {"secretRef", {{"name", "git"}}}}}};
    });
  }

  fetch::GitStandIn server_;
};

TEST_F(ReleasesInGit, AreOfferedAndTaken) {  // L12, L13, T15
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.out, HasSubstr(kNewer)) << plan.err;
  Outcome apply = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// Which a plan doesn't read: the server, which can leave them out, isn't asked for them.
TEST_F(ReleasesInGit, ComponentsThatAreTooLargeHideNoVersion) {  // L12, T15
  server_.Release(
      "v2.1.1", {{"aws/metadata.yaml", kSeries}, {"aws/components.yaml", std::string(api::kMaxReleaseBytes + 1, '#')}});
  const std::string components = server_.Git("rev-parse v2.1.1:aws/components.yaml");
  std::atomic<int> asked = 0;
  server_.set_fault([&](const http::ServerRequest& request) {
    if (request.body.find("want " + components) != std::string::npos) ++asked;
    return std::optional<http::Response>();
  });
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.out, HasSubstr("InfrastructureProvider   v2.0.0            v2.1.1\n")) << plan.err;
  EXPECT_EQ(asked, 0);
  Outcome apply = Run({"upgrade", "apply", "-i", "aws:v2.1.1"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("too large"));
  EXPECT_GT(asked, 0);
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(ReleasesInGit, WhatIsWrongWithTheSecretIsTold) {  // L12, T15
  cluster_.PutSecret("capa-system", "git", {{"token", "s3cret"}});
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.err, AllOf(HasSubstr("the Secret's key token is none that is known"), Not(HasSubstr("s3cret"))));
  cluster_.forbidden = "/secrets/";
  plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.err, AllOf(HasSubstr("it asks for credentials"),
                              HasSubstr("; you may not read Secret capa-system/git, which may have credentials")));
}

// What the repository has would be installed, and not what this machine has put in its place.
TEST_F(ReleasesInGit, OverridesThatWouldNotCountAreRefused) {  // L13
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/infrastructure-components.yaml", "a: b\n");
  Configure("overridesFolder: " + cluster_.folder / "o" + "\n");
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("don't count with spec.fetchConfig.git: move those of v2.1.0 away"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

}  // namespace
}  // namespace capi::cli
