#include "cli/declare/adopt_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/release_maps.h"
#include "base/encoding.h"
#include "base/files.h"
#include "cli/install/provider_manifests.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {
namespace {

using api::ProviderType;
using testing::ElementsAre;
using testing::HasSubstr;

InventoryEntry Entry(ProviderType type, std::string name, std::string ns, std::string version = "v1.0.0") {
  return {{type, std::move(ns), std::move(name)}, std::move(version)};
}

kube::Object Object(std::string_view kind, std::string_view name, std::string_view ns) {
  return kube::Object(Json{{"kind", kind}, {"metadata", {{"name", name}, {"namespace", ns}}}});
}

// The core, kubeadm twice over its two types, and docker.
Fleet Usual() {
  Fleet fleet;
  fleet.has_kinds = true;
  fleet.entries = {Entry(ProviderType::kCore, "cluster-api", "capi-system"),
                   Entry(ProviderType::kBootstrap, "kubeadm", "b-system"),
                   Entry(ProviderType::kControlPlane, "kubeadm", "c-system"),
                   Entry(ProviderType::kInfrastructure, "docker", "capd-system")};
  return fleet;
}

std::vector<std::string> Names(const Result<std::vector<AdoptStep>>& steps) {
  if (!steps.ok()) return {steps.error().message};
  std::vector<std::string> out;
  for (const AdoptStep& step : *steps) out.push_back(step.entry.id.ToString() + (step.there ? " (there)" : ""));
  return out;
}

// L21, A1.
TEST(PlanAdoption, AllWithTheCoreFirst) {
  Fleet fleet = Usual();
  std::reverse(fleet.entries.begin(), fleet.entries.end());
  EXPECT_THAT(Names(PlanAdoption(fleet, {}, true)),
              ElementsAre("CoreProvider/cluster-api", "BootstrapProvider/kubeadm", "ControlPlaneProvider/kubeadm",
                          "InfrastructureProvider/docker"));
}

TEST(PlanAdoption, NamesMeanWhatTheyMeanElsewhere) {
  EXPECT_THAT(Names(PlanAdoption(Usual(), {"kubeadm", "cluster-api"}, false)),
              ElementsAre("CoreProvider/cluster-api", "BootstrapProvider/kubeadm", "ControlPlaneProvider/kubeadm"));
  EXPECT_THAT(Names(PlanAdoption(Usual(), {"cacp/cluster-api", "control-plane-kubeadm"}, false)),
              ElementsAre("CoreProvider/cluster-api", "ControlPlaneProvider/kubeadm"));
}

TEST(PlanAdoption, WhatHasAnObjectIsThere) {
  Fleet fleet = Usual();
  fleet.objects = {Object("CoreProvider", "cluster-api", "capi-system")};
  EXPECT_THAT(Names(PlanAdoption(fleet, {"cluster-api", "docker"}, false)),
              ElementsAre("CoreProvider/cluster-api (there)", "InfrastructureProvider/docker"));
  fleet.entries[0].of_operator = true;  // taken over by now
  EXPECT_THAT(
      Names(PlanAdoption(fleet, {}, true)),
      ElementsAre("BootstrapProvider/kubeadm", "ControlPlaneProvider/kubeadm", "InfrastructureProvider/docker"));
}

TEST(PlanAdoption, NamesThatMeanNoneAreToldTogether) {
  EXPECT_THAT(Names(PlanAdoption(Usual(), {"aws", "docker", "gcp"}, false)),
              ElementsAre("clusterctl installed no provider \"aws\", \"gcp\"; there are: CoreProvider "
                          "capi-system/cluster-api, BootstrapProvider b-system/kubeadm, ControlPlaneProvider "
                          "c-system/kubeadm, InfrastructureProvider capd-system/docker"));
}

TEST(PlanAdoption, TheOthersWaitForTheCore) {
  EXPECT_THAT(Names(PlanAdoption(Usual(), {"docker"}, false)), ElementsAre(HasSubstr("adopt it with them")));
}

TEST(PlanAdoption, WhatCanNotBeAdoptedIsNamedWithTheReason) {
  Fleet fleet = Usual();
  fleet.entries[3].version = "latest";
  fleet.entries.push_back(Entry(ProviderType::kIpam, "x", "a"));
  fleet.entries.push_back(Entry(ProviderType::kIpam, "x", "b"));
  fleet.objects = {Object("BootstrapProvider", "kubeadm", "elsewhere")};
  auto steps = PlanAdoption(fleet, {}, true);
  ASSERT_FALSE(steps.ok());
  EXPECT_EQ(steps.code(), Code::kFailedPrecondition);
  for (std::string_view part :
       {"BootstrapProvider b-system/kubeadm can't be adopted: its object is in namespace elsewhere, and its components "
        "are "
        "in b-system: delete that object first",
        "InfrastructureProvider capd-system/docker can't be adopted: its entry in the inventory has version "
        "\"latest\": ",
        "IPAMProvider a/x can't be adopted: it is in the inventory twice, in namespaces a and b",
        "IPAMProvider b/x can't be adopted: it is in the inventory twice, in namespaces a and b"}) {
    EXPECT_THAT(steps.error().message, HasSubstr(part));
  }
  fleet = Usual();
  fleet.entries[0].of_operator = true;
  EXPECT_THAT(Names(PlanAdoption(fleet, {}, true)), ElementsAre(HasSubstr("the operator installed it")));
}

TEST(MismatchOf, NamesKeysAndNoValues) {
  const SecretValuesByKey needed = {{"A", "sesame"}, {"B", "b"}};
  EXPECT_EQ(MismatchOf({{"A", "sesame"}, {"B", "b"}, {"C", "more"}}, needed), "");
  EXPECT_EQ(MismatchOf({{"B", "b"}}, needed), "lacks the keys [A]");
  EXPECT_EQ(MismatchOf({}, {{"NOTHING", ""}}), "");
  EXPECT_EQ(MismatchOf({{"NOTHING", "x"}}, {{"NOTHING", ""}}), "has other values than are needed under [NOTHING]");
  const SecretValuesByKey given = {{"D", "default"}, {"images", ""}};
  EXPECT_EQ(MismatchOf({{"A", "sesame"}, {"B", "b"}, {"D", "default"}}, needed, given), "");
  EXPECT_EQ(MismatchOf({{"A", "sesame"}, {"B", "b"}, {"D", "poppy"}, {"images", "all: {}"}}, needed, given),
            "has other values than are needed under [D, images]");
  EXPECT_EQ(MismatchOf({{"A", "other"}}, needed), "lacks the keys [B], and has other values than are needed under [A]");
}

TEST(Adopt, BadArgumentsAreToldBeforeAnyClusterIsLookedFor) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"adopt"}, "or give --all"},
      {{"adopt", "aws", "--all"}, "name providers or give --all, not both"},
  };
  for (const auto& [arguments, error] : cases) {
    Outcome outcome = Clusterctl(arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
}

// A core provider that clusterctl installed from a folder that is no built-in one's.
class AdoptFromAFolder : public testing::Test {
 protected:
  AdoptFromAFolder() {
    cluster_.Add(kCore);
    cluster_.Add(kMine, /*bare=*/true);
    cluster_.Put("/api", {{"kind", "APIVersions"}, {"versions", Json::array()}});
    cluster_.Put("/apis", {{"kind", "APIGroupList"}, {"groups", Json::array()}});
    cluster_.folder.Put("r/infrastructure-mine/v1.0.0/metadata.yaml",
                        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                        "- {major: 1, minor: 0, contract: v1beta2}\n");
    cluster_.folder.Put("r/infrastructure-mine/v1.0.0/c.yaml",
                        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
    cluster_.folder.Put("clusterctl.yaml", "providers:\n- {name: mine, type: InfrastructureProvider, url: " +
                                               cluster_.folder.path() + "/r/infrastructure-mine/latest/c.yaml}\n");
    api::Release release;
    release.version = api::Version::Parse("v1.0.0").value();
    release.metadata = *ReadFile(cluster_.folder / "r/infrastructure-mine/v1.0.0/metadata.yaml");
    release.components = *ReadFile(cluster_.folder / "r/infrastructure-mine/v1.0.0/c.yaml");
    map_ = ReleaseMapsOf({kMine.type, kMine.ns, kMine.name}, release).back().json();
    path_ = "/api/v1/namespaces/mine-system/configmaps/" + GetString(map_, {"metadata", "name"});
  }
  Outcome Adopt() { return cluster_.Run({"adopt", "mine", "--config", cluster_.folder / "clusterctl.yaml"}); }

  const UpgradeProvider kCore = {api::ProviderType::kCore, "capi-system", "cluster-api", "v1.12.0", "v1beta2"};
  const UpgradeProvider kMine = {api::ProviderType::kInfrastructure, "mine-system", "mine", "v1.0.0", "v1beta2"};
  UpgradeCluster cluster_;
  Json map_;
  std::string path_;
};

// L21: what is somebody's stays what it is.
TEST_F(AdoptFromAFolder, AnotherConfigMapOfTheNameIsNotOverwritten) {
  map_["data"]["components"] = "somebody's";
  cluster_.Put(path_, map_);
  Outcome got = Adopt();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("ConfigMap mine-system/infrastructure-mine-v1.0.0"));
  EXPECT_THAT(got.err, HasSubstr("is there already"));
  EXPECT_THAT(cluster_.writes(), ElementsAre());
}

// L10, L21: of another override, say.
TEST_F(AdoptFromAFolder, WhatARunLeftThatWasBrokenOffIsReplaced) {
  const Json wanted = map_["data"];
  map_["data"]["components"] = "former";
  map_["metadata"]["uid"] = "former";
  map_["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
  cluster_.Put(path_, map_);
  Outcome got = Adopt();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(cluster_.Get(path_)["data"], wanted);
  EXPECT_FALSE(cluster_.Get(UpgradeCluster::PathOf(kMine)).is_null());
}

TEST_F(AdoptFromAFolder, TheSameConfigMapIsUsedAndStaysItsOwners) {
  map_["metadata"]["ownerReferences"] = Json::array({{{"uid", "somebody"}}});
  cluster_.Put(path_, map_);
  Outcome got = Adopt();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(cluster_.Get(UpgradeCluster::PathOf(kMine)).is_null());
  EXPECT_EQ(*Find(cluster_.Get(path_), {"metadata", "ownerReferences"}), map_["metadata"]["ownerReferences"]);
}

// An adoption that was interrupted behind its object.
TEST_F(AdoptFromAFolder, WhatClusterctlMadeGoesWithTheObjectThatIsThere) {
  cluster_.Add(kMine);
  map_["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Apply"}}});
  map_["metadata"]["ownerReferences"] = Json::array({{{"uid", "somebody"}}});
  cluster_.Put(path_, map_);
  Outcome got = Adopt();
  EXPECT_EQ(got.code, 0) << got.err;
  const Json owners = *Find(cluster_.Get(path_), {"metadata", "ownerReferences"});
  ASSERT_EQ(owners.size(), 2U);
  EXPECT_EQ(GetString(owners[0], {"uid"}), "somebody");
  EXPECT_EQ(GetString(owners[1], {"uid"}), "u-infrastructure-mine");
}

// L21: with `--all`, and of a release in several ConfigMaps.
TEST_F(AdoptFromAFolder, AllOfThemGetWhatAnInterruptedAdoptionLeft) {
  for (const UpgradeProvider& provider : {kCore, kMine}) {
    cluster_.Add(provider);
    cluster_.Change(
        "/apis/clusterctl.cluster.x-k8s.io/v1alpha3/namespaces/" + provider.ns + "/providers/" +
            api::ManifestLabel(provider.type, provider.name),
        [](Json& entry) {
          entry["metadata"]["managedFields"] = Json::array({{{"manager", "capi-operator"}, {"operation", "Apply"}}});
        });
  }
  map_["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
  Json part = map_;
  map_["metadata"]["annotations"][std::string(api::kAnnotationParts)] = "2";
  const std::string part_path = path_ + "-0123456789ab-part-2";
  part["metadata"]["name"] = GetString(map_, {"metadata", "name"}) + "-0123456789ab-part-2";
  part["metadata"]["labels"] = {{std::string(api::kLabelPartOf), GetString(map_, {"metadata", "name"})}};
  cluster_.Put(path_, map_);
  cluster_.Put(part_path, part);
  Outcome got = cluster_.Run({"adopt", "--all", "--config", cluster_.folder / "clusterctl.yaml"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("every provider is adopted already"));
  for (const std::string& path : {path_, part_path}) {
    const Json map = cluster_.Get(path);
    const Json* owners = Find(map, {"metadata", "ownerReferences"});
    ASSERT_NE(owners, nullptr) << path;
    EXPECT_EQ(GetString((*owners)[0], {"uid"}), "u-infrastructure-mine");
  }
}

// L21: what goes with an owner needs none once it is gone.
TEST_F(AdoptFromAFolder, AConfigMapThatGoesMeanwhileIsNoError) {
  cluster_.Add(kMine);
  map_["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
  cluster_.Put(path_, map_);
  cluster_.before_write = [&](UpgradeCluster& cluster, const std::string& what) {
    if (what == "PATCH " + path_) cluster.Remove(path_);
  };
  Outcome got = Adopt();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(cluster_.writes(), testing::Contains("PATCH " + path_));
}

// L21: what can't be given an owner keeps nobody from being adopted.
TEST_F(AdoptFromAFolder, AConfigMapThatCantBeWrittenIsToldBehindTheAdoption) {
  Json left = map_;
  left["metadata"]["name"] = "left-over";
  left["metadata"]["namespace"] = kCore.ns;
  left["metadata"]["labels"] = api::ReleaseSelector({kCore.type, kCore.ns, kCore.name});
  left["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Apply"}}});
  cluster_.Put("/api/v1/namespaces/capi-system/configmaps/left-over", left);
  cluster_.forbidden = "configmaps/left-over";
  Outcome got = cluster_.Run({"adopt", "cluster-api", "mine", "--config", cluster_.folder / "clusterctl.yaml"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("CoreProvider capi-system/cluster-api"));
  EXPECT_THAT(got.out, HasSubstr("mine created at v1.0.0"));
  EXPECT_FALSE(cluster_.Get(UpgradeCluster::PathOf(kMine)).is_null());
}

// L20, L21: `convert` has the Secret made with the images of all providers.
TEST_F(AdoptFromAFolder, ImagesOfTheSecretAreComparedByWhatTheySay) {
  const std::pair<std::string, int> cases[] = {
      {"infrastructure-mine: {tag: v9}\nall: {repository: mirror}\n", 1},
      {"infrastructure-other: {tag: v9}\n", 1},
      {"all: [", 1},
      {"infrastructure-other: {tag: v9}\nall: {repository: 'mirror'}\n", 0},
  };
  const std::string config = *ReadFile(cluster_.folder / "clusterctl.yaml");
  cluster_.folder.Put("clusterctl.yaml",
                      config + "images:\n  all: {repository: mirror}\n  infrastructure-other: {tag: v9}\n");
  cluster_.Put(path_, map_);
  const std::string name = api::VariablesSecretName({kMine.type, kMine.ns, kMine.name});
  for (const auto& [images, code] : cases) {
    SCOPED_TRACE(images);
    cluster_.Put(
        "/api/v1/namespaces/mine-system/secrets/" + name,
        {{"metadata", {{"name", name}, {"namespace", kMine.ns}}}, {"data", {{"images", Base64Encode(images)}}}});
    Outcome got = Adopt();
    EXPECT_EQ(got.code, code) << got.err;
    EXPECT_EQ(cluster_.Get(UpgradeCluster::PathOf(kMine)).is_null(), code != 0);
    if (code != 0) EXPECT_THAT(got.err, HasSubstr("has other values than are needed under [images]"));
  }
  EXPECT_EQ(GetString(cluster_.Get(UpgradeCluster::PathOf(kMine)), {"spec", "configSecret", "name"}), name);
}

}  // namespace
}  // namespace capi::cli
