#include "cli/declare/diff/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/diff/diff_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// L18: what is live was made of what the Secret had.
TEST_F(DiffOfInstalled, ValuesOfBeforeARotationAreMaskedToo) {
  Outcome got = Run({"diff", "docker:v1.1.0"});
  ExpectMasked(got, {"gone", "list"});
}

TEST_F(DiffOfInstalled, WithoutTheInstalledReleaseNothingIsShown) {
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.0.0");
  Outcome got = Run({"diff", "docker:v1.1.0"});
  EXPECT_EQ(got.code, 2);
  EXPECT_EQ(got.out, "");
  EXPECT_THAT(got.err, HasSubstr("release v1.0.0 says where secrets are in what is installed"));
}

// L18: clusterctl's inventory says what is installed, as long as no object of it does.
TEST_F(DiffOfInstalled, ValuesOfWhatIsNotAdoptedYetAreMaskedToo) {
  Release("v1.2.0", std::string(kRenamed));
  cluster_.Remove(UpgradeCluster::PathOf(kDocker));
  Outcome got = Run({"diff", "-f", File("{version: v1.2.0, configSecret: {name: s}}")});
  ExpectMasked(got, {"list"});
}

// L18: what clusterctl installed isn't of the source that is declared.
TEST_F(DiffOfInstalled, WhatIsDeclaredSaysNothingOfWhatIsNotAdoptedYet) {
  Release("v1.2.0", std::string(kRenamed));
  PutRelease("v1.2.0", "mine");
  const std::string spec =
      "{version: v1.2.0, configSecret: {name: s}, fetchConfig: {selector: {matchLabels: {release: mine}}}}";
  const std::string path = UpgradeCluster::PathOf(kDocker);
  Json object = cluster_.Get(path);
  object.erase("status");
  object["spec"] = *ParseYaml(spec);
  for (bool declared : {false, true}) {
    SCOPED_TRACE(declared);
    declared ? cluster_.Put(path, object) : cluster_.Remove(path);
    PutMap("list", R"({"args": ["--first", "--token=old-sesame"]})");
    Outcome got = Run({"diff", "-f", File(spec)});
    ExpectMasked(got, {"list"});
  }
}

TEST_F(DiffOfInstalled, AnObjectThatNobodyHasLookedAtYetSaysNothingOfWhatIsInstalled) {
  Release("v1.2.0", std::string(kRenamed));
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) { provider.erase("status"); });
  Outcome got = Run({"diff", "docker:v1.2.0"});
  ExpectMasked(got, {"list"});
}

// L18: also where an upgrade to the other one has begun.
TEST_F(DiffOfInstalled, ADefaultOfEitherReleaseIsNoSecret) {
  Release("v1.3.0", ReplaceAll(std::string(kRelease), "nothing", "something"));
  for (bool begun : {false, true}) {
    SCOPED_TRACE(begun);
    cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
      if (begun) provider["status"]["history"] = Json::array({{{"version", "v1.3.0"}}});
    });
    PutMap("c", R"({"data": {"one": "--token=old-sesame", "plain": "nothing"}})");
    Outcome got = Run({"diff", "docker:v1.3.0"});
    EXPECT_THAT(got.out, HasSubstr("-  plain: nothing\n"));
    EXPECT_THAT(got.out, HasSubstr("+  plain: something\n"));
    ExpectMasked(got, {"c"});
    // What is live already of the one that isn't installed yet.
    PutMap("c", R"({"data": {"one": "--token=old-sesame", "plain": "something"}})");
    got = Run({"diff", "docker:v1.3.0"});
    EXPECT_THAT(got.out, HasSubstr("   plain: something\n"));
    ExpectMasked(got, {"c"});
  }
}

// L18, I12, A2: an apply leaves what the operator or clusterctl has filled in, and takes away what another one wrote.
TEST_F(DiffOfInstalled, AFileWithoutAVersionIsNoUpgrade) {
  PutWhatIsLive("new");
  const std::string file = File("{configSecret: {name: s}}");
  for (const char* writer : {"capi-operator", "clusterctl"}) {
    SCOPED_TRACE(writer);
    SetWriter(writer, "version");
    Outcome same = Run({"diff", "-f", file});
    EXPECT_THAT(same.out, Not(HasSubstr("ConfigMap.docker-system.gone")));
    EXPECT_EQ(same.code, 0) << same.out << same.err;
  }
  SetWriter("kustomize-controller", "version");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_THAT(got.out, HasSubstr("ConfigMap.docker-system.gone"));
  EXPECT_EQ(got.code, 1) << got.out << got.err;
}

// L18: whatever of the spec it is.
TEST_F(DiffOfInstalled, AFileWithoutASourceHasTheOneThatClusterctlChose) {
  PutWhatIsLive("new");
  PutRelease("v1.0.0", "mine");
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.0.0");
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) {
    provider["spec"]["fetchConfig"]["selector"]["matchLabels"]["release"] = "mine";
  });
  const std::string file = File("{version: v1.0.0, configSecret: {name: s}}");
  SetWriter("clusterctl", "fetchConfig");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 0) << got.out << got.err;
  SetWriter("kustomize-controller", "fetchConfig");
  got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 2) << got.out;
  EXPECT_THAT(got.err, HasSubstr("v1.0.0"));
}

TEST_F(DiffOfInstalled, AFileWithoutASecretHasTheOneThatTheOperatorMade) {
  SetWriter("capi-operator", "configSecret");
  PutWhatIsLive("new");
  const std::string file = File("{version: v1.0.0}");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 0) << got.out << got.err;
  SetWriter("kustomize-controller", "configSecret");
  got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 2) << got.out;
  EXPECT_THAT(got.err, HasSubstr("needs [PASSWORD, TOKEN]"));
}

// L18, U13: a policy has led from v1.0.0 to v1.1.0, and the file says whether that stays.
TEST_F(DiffOfInstalled, WhatAPolicyHasComeToIsWhatIsDeclared) {
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) {
    provider["spec"]["upgradePolicy"] = {{"type", "Minor"}};
    provider["status"]["installedVersion"] = "v1.1.0";
    provider["status"]["history"] =
        Json::array({{{"version", "v1.1.0"}, {"outcome", "Succeeded"}, {"insteadOf", "v1.0.0"}},
                     {{"version", "v1.0.0"}, {"outcome", "Succeeded"}}});
  });
  const std::string spec = "{version: v1.0.0, upgradePolicy: {type: Minor}, configSecret: {name: s}}\n";
  const auto shown = [&](std::vector<std::string> what) {
    what.insert(what.begin(), "diff");
    const Outcome got = Run(std::move(what));
    EXPECT_NE(got.code, 2) << got.err;
    return got.out;
  };
  EXPECT_EQ(shown({"docker"}), shown({"docker:v1.1.0"}));
  EXPECT_EQ(shown({"-f", File(spec)}), shown({"docker:v1.1.0"}));
  const std::string none = cluster_.folder.Put("none.yaml",
                                               "apiVersion: operator.cluster.x-k8s.io/v1alpha2\n"
                                               "kind: InfrastructureProvider\n"
                                               "metadata: {name: docker, namespace: docker-system, annotations: }\n"
                                               "spec: " +
                                                   spec);
  EXPECT_EQ(shown({"-f", none}), shown({"docker:v1.1.0"}));
  const std::string back =
      cluster_.folder.Put("back.yaml",
                          "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
                          "metadata: {name: docker, namespace: docker-system, annotations: {" +
                              std::string(api::kAnnotationAllowDowngrade) + ": 'true'}}\nspec: " + spec);
  EXPECT_EQ(shown({"-f", back}), shown({"docker:v1.0.0"}));
  EXPECT_NE(shown({"docker:v1.0.0"}), shown({"docker:v1.1.0"}));
}

}  // namespace
}  // namespace capi::cli
