// Releases that lie in the cluster, and provider objects that can't be read, under `upgrade apply` and `rollback` (L12,
// L13, L14), on an API server in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/release.h"
#include "cli/upgrade/upgrades_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kMaps = "/api/v1/namespaces/capa-system/configmaps/";
const std::string kOwnName = "infrastructure-aws-v2.1.0";

std::string Components(const std::string& name) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: n}\ndata: {v: x}\n";
}

// As somebody puts one of aws there, under the operator's own name for it.
Json ByHand(const std::string& version, const std::string& components, bool labelled) {
  Json map = {{"metadata", {{"name", "infrastructure-aws-" + version}, {"namespace", "capa-system"}}},
              {"data", {{"metadata", kSeries}, {"components", components}}}};
  if (labelled) {
    map["metadata"]["labels"] = {{"provider.cluster.x-k8s.io/type", "infrastructure"},
                                 {"provider.cluster.x-k8s.io/name", "aws"},
                                 {"provider.cluster.x-k8s.io/version", version}};
  }
  return map;
}

// The core is first in its turn: it gets its release no more than aws does.
TEST_F(Upgrades, ANameThatSomebodyElseHasTakenIsToldBeforeTheFirstWrite_L13_L14) {
  const Variables token = {{"TOKEN", "value"}};
  Json map = ByHand("v2.1.0", Components("c"), false);
  for (const bool of_former_selector : {false, true}) {
    SCOPED_TRACE(of_former_selector);
    if (of_former_selector) map["metadata"]["labels"] = {{"of", "former"}};
    cluster_.Put(kMaps + kOwnName, map);
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--dry-run"}}) {
      std::vector<std::string> apply = {"upgrade", "apply", "--contract", "v1beta2"};
      apply.insert(apply.end(), more.begin(), more.end());
      Outcome got = Run(apply, token);
      EXPECT_EQ(got.code, 1);
      EXPECT_THAT(got.err, HasSubstr("ConfigMap capa-system/infrastructure-aws-v2.1.0 has the name under which"));
      EXPECT_THAT(got.err, HasSubstr("or label it with provider.cluster.x-k8s.io/name=aws,"));
      EXPECT_THAT(got.out, IsEmpty());
    }
  }
  cluster_.Change(UpgradeCluster::PathOf(kAws),
                  [](Json& aws) { aws["spec"]["version"] = aws["status"]["installedVersion"] = "v2.1.1"; });
  EXPECT_EQ(Run({"rollback", "aws", "--to-version", "v2.1.0", "--yes"}, token).code, 1);
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  map["metadata"]["labels"] = {{std::string(api::kLabelManagedBy), "true"}};
  cluster_.Put(kMaps + kOwnName, map);
  Outcome got = Run({"rollback", "aws", "--to-version", "v2.1.0", "--yes"}, token);
  EXPECT_EQ(got.code, 0) << "that is the operator's, of a former selector: " << got.err;
}

// What the operator would install then isn't what was checked: its spec stays as it is.
TEST_F(Upgrades, AReleaseThatComesMeanwhileIsNotInstalledUnseen_L13) {
  const Variables token = {{"TOKEN", "value"}};
  const std::string failed = "failed to put InfrastructureProvider capa-system/aws v2.1.0 into the cluster: ";
  const std::string next = "; to go on, run the same command again; to look at it";
  const std::pair<bool, std::string> cases[] = {
      {false, "ConfigMap capa-system/infrastructure-aws-v2.1.0 has the name under which"},
      {true,
       "ConfigMap capa-system/infrastructure-aws-v2.1.0 has come meanwhile, and holds another release, or lacks "
       "its signatures" +
           next}};
  for (const auto& [labelled, words] : cases) {
    SCOPED_TRACE(labelled);
    const Json theirs = ByHand("v2.1.0", Components("theirs"), labelled);
    cluster_.Remove(kMaps + kOwnName);
    cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
      if (what + "/" == "POST " + kMaps) cluster.Put(kMaps + kOwnName, theirs);
    };
    Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, token);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr(failed));
    EXPECT_THAT(got.err, AllOf(HasSubstr(words), HasSubstr(next)));
    EXPECT_EQ(VersionOf(kAws), "v2.0.0");
    EXPECT_EQ(cluster_.Get(kMaps + kOwnName)["data"], theirs["data"]);
  }
  Outcome again = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, token);
  EXPECT_EQ(again.code, 0) << "it was looked at: " << again.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// As the operator may, which has a source of its own: nobody has put another release there.
TEST_F(Upgrades, AReleaseThatIsWrittenOverAndOverIsToldAsTheServerSaysIt_L13) {
  Json map = ByHand("v2.1.0", Components("operators"), true);
  map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "true";
  cluster_.Put(kMaps + kOwnName, map);
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/c.yaml", Components("ours"));
  cluster_.folder.Put("clusterctl.yaml", "overridesFolder: " + cluster_.folder / "o" + "\nproviders:\n" +
                                             Source("cluster-api", "CoreProvider", "cluster-api") +
                                             Source("aws", "InfrastructureProvider", "infrastructure-aws"));
  int times = 0;
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    if (what != "PUT " + kMaps + kOwnName) return;
    cluster.Change(kMaps + kOwnName, [&](Json& live) { live["metadata"]["labels"]["time"] = std::to_string(++times); });
  };
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("v2.1.0 into the cluster: storing ConfigMap capa-system/" + kOwnName + ": "));
  EXPECT_THAT(got.err, AllOf(Not(HasSubstr("somebody else")), Not(HasSubstr("looked at next"))));
  EXPECT_GT(times, 1);
  EXPECT_EQ(VersionOf(kAws), "v2.0.0");
}

// The digest is that of the version which runs, as it has to be until then.
TEST_F(Upgrades, AReleaseOfAnotherDigestIsRefusedBeforeTheFirstWrite_L13_T6) {
  const Variables token = {{"TOKEN", "value"}};
  api::Release former;
  former.components = Components("former");
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"digest", former.Digest()}};
  });
  for (const bool put_there : {false, true}) {
    SCOPED_TRACE(put_there);
    if (put_there) cluster_.Put(kMaps + kOwnName, ByHand("v2.1.0", Components("theirs"), true));
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"-i", "aws:v2.1.0"}, {"--contract", "v1beta2"}, {"-i", "aws:v2.1.0", "--dry-run"}}) {
      std::vector<std::string> apply = {"upgrade", "apply"};
      apply.insert(apply.end(), more.begin(), more.end());
      Outcome got = Run(apply, token);
      EXPECT_EQ(got.code, 1);
      EXPECT_THAT(got.err, HasSubstr("InfrastructureProvider capa-system/aws: spec.fetchConfig.digest: "));
      EXPECT_THAT(got.err, HasSubstr(", and not " + former.Digest() + "; write v2.1.0 and its digest into the object"));
      EXPECT_THAT(got.err, HasSubstr(put_there ? "digest: ConfigMap capa-system/" + kOwnName : std::string("v2.1.0")));
      EXPECT_THAT(got.out, IsEmpty());
    }
  }
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The operator fetches it again: it is that one whose variables count.
TEST_F(Upgrades, WhatWasFetchedBeforeItsDigestWasAskedForComesAnew_L13_T6) {
  api::Release former, newer;
  former.components = Components("${FORMER}");
  newer.components = Components("since");
  cluster_.folder.Put("r/infrastructure-aws/v2.1.0/c.yaml", newer.components);
  Json map = ByHand("v2.1.0", former.components, true);
  map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "true";
  for (const std::string& digest : {former.Digest(), newer.Digest()}) {
    SCOPED_TRACE(digest == newer.Digest());
    cluster_.Put(kMaps + kOwnName, map);
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["spec"]["fetchConfig"] = {{"digest", digest}};
    });
    Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
    EXPECT_EQ(got.code, digest == newer.Digest() ? 0 : 1) << got.err;
    if (got.code != 0) EXPECT_THAT(got.err, HasSubstr("value for variables [FORMER] is not set"));
  }
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
  EXPECT_EQ(GetString(cluster_.Get(kMaps + kOwnName), {"data", "components"}), newer.components);
}

// What it says of its source can't be read either: the configuration's would be somebody else's.
TEST_F(Upgrades, AnObjectThatCannotBeReadFailsNobodyElse_L12_L13) {
  cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& aws) {
    aws["spec"]["fetchConfig"]["selector"]["matchExpressions"] = Json::array({{{"key", "a"}, {"operator", "Like"}}});
  });
  const std::string why =
      "InfrastructureProvider capa-system/aws: spec.fetchConfig.selector.matchExpressions[0].operator: \"Like\" is not";
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("v2.0.0            Unknown\n"), Not(HasSubstr("v2.1.0"))));
  EXPECT_THAT(plan.err, HasSubstr("its versions can't be told: " + why));
  Outcome apply = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  EXPECT_THAT(apply.err,
              HasSubstr("capa-system/infrastructure-aws stays as it is: its versions can't be told: " + why));
  EXPECT_EQ(VersionOf(kCore), "v1.12.0");
  EXPECT_EQ(VersionOf(kAws), "v2.0.0");
  EXPECT_THAT(Run({"upgrade", "apply", "-i", "aws:v2.1.0"}).err, HasSubstr(why));
}

// Which has an object that neither the new release has, nor what has been put in its place on this machine since.
TEST_F(Upgrades, WhatRunsIsComparedAsItLiesThereOverriddenSinceOrNot_L13) {
  cluster_.Put(kMaps + "infrastructure-aws-v2.0.0", ByHand("v2.0.0", Components("former"), true));
  cluster_.folder.Put("o/infrastructure-aws/v2.0.0/c.yaml", Components("since"));
  cluster_.folder.Put("clusterctl.yaml", "overridesFolder: " + cluster_.folder / "o" + "\nproviders:\n" +
                                             Source("cluster-api", "CoreProvider", "cluster-api") +
                                             Source("aws", "InfrastructureProvider", "infrastructure-aws"));
  for (const bool kept : {true, false}) {
    SCOPED_TRACE(kept);
    if (!kept) {
      cluster_.Change(kMaps + "infrastructure-aws-v2.0.0",
                      [](Json& map) { map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "true"; });
    }
    Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0", "--dry-run"}, {{"TOKEN", "value"}});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_THAT(got.out, AllOf(HasSubstr("  - ConfigMap/capa-system/former\n"), Not(HasSubstr("since"))));
  }
}

}  // namespace
}  // namespace capi::cli
