// L22: which providers a command line means, and in which order they go.
#include "cli/remove/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

using enum api::ProviderType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Target Of(api::ProviderType type, const std::string& ns, const std::string& name,
          const std::string& version = "v1.0.0") {
  Target out;
  out.id = {type, ns, name};
  out.version = version;
  out.entry = true;
  return out;
}

const Target kCapi = Of(kCore, "capi-system", "cluster-api"), kKubeadm = Of(kBootstrap, "capbk-system", "kubeadm"),
             kKubeadmPlane = Of(kControlPlane, "capbk-system", "kubeadm"), kAws = Of(kInfrastructure, "capa", "aws"),
             kAws2 = Of(kInfrastructure, "capa2", "aws"), kDocker = Of(kInfrastructure, "capd", "docker", "v1.2.3");
const std::vector<Target> kAll = {kCapi, kKubeadm, kKubeadmPlane, kAws, kDocker};

TEST(Merge, EachProviderOnceWithWhoHasIt) {
  ProviderObject object;
  object.provider.id = kAws.id;
  object.provider.status.installed_version = "v1.1.0";
  ProviderObject not_installed;
  not_installed.provider.id = kDocker.id;
  std::vector<Target> got = Merge({object, not_installed}, {{kInfrastructure, "aws", "capa", "v1.0.0"},
                                                            {kCore, "cluster-api", "capi-system", "v1.0.0"}});
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0], kCapi);
  EXPECT_EQ(got[1].id, kAws.id);
  EXPECT_EQ(got[1].version, "v1.1.0") << "the operator knows better than the inventory";
  EXPECT_TRUE(got[1].object && got[1].entry);
  EXPECT_EQ(got[2].id, kDocker.id);
  EXPECT_TRUE(got[2].object && !got[2].entry && got[2].version.empty());
}

// It mustn't be taken for an empty one.
TEST(Merge, AnInventoryThatCantBeRead) {
  ProviderObject object;
  object.provider.id = kAws.id;
  EXPECT_FALSE(Merge({object}, {})[0].has_inventory());
  object.provider.status.inventory = Json::array({"x"});
  const Target got = Merge({object}, {})[0];
  EXPECT_NE(got.inventory_error, "");
  EXPECT_TRUE(got.has_inventory());
}

// A run that was broken off has removed them, and is completed by their names; one that came back is as any other.
TEST(Merge, WhatAnEarlierRunRemoved) {
  std::vector<Target> got =
      Merge({}, {{kInfrastructure, "aws", "capa", "v1.0.0"}}, {{kAws.id, {}, {}}, {kDocker.id, {}, {}}});
  ASSERT_EQ(got.size(), 2U);
  EXPECT_TRUE(got[0].noted && !got[0].left());
  EXPECT_TRUE(got[1].noted && got[1].left());
  EXPECT_THAT(*Select(got, {{kInfrastructure, {"docker"}}}, ""), ElementsAre(got[1]));
  EXPECT_THAT(*Select(got, {{kInfrastructure, {"docker:v1.2.3"}}}, ""), ElementsAre(got[1])) << "the same command";
  EXPECT_TRUE(CheckCoreGoesLast({kCapi, got[1]}, {kCapi}).ok()) << "it needs the core no more";
  Target elsewhere = got[1];
  elsewhere.id.ns = "old";
  EXPECT_THAT(*Select({kDocker, elsewhere}, {{kInfrastructure, {"docker"}}}, ""), ElementsAre(kDocker));
  EXPECT_THAT(*Select({kDocker, elsewhere}, {{kInfrastructure, {"docker"}}}, "old"), ElementsAre(elsewhere));
}

// L22: credentials of its source, too.
TEST(Merge, WhatASpecNames) {
  ProviderObject object;
  object.provider.id = kAws.id;
  auto& spec = object.provider.spec;
  auto ref = [](const char* name) { return api::ObjectRef{name, "capa"}; };
  spec.config_secret = ref("values");
  spec.additional_manifests = ref("more");
  spec.fetch_config.emplace();
  spec.fetch_config->secret_ref = ref("registry");
  spec.fetch_config->git = api::GitSource{"", "", ref("git")};
  spec.fetch_config->verify = api::VerifySpec{"cosign", ref("keys")};
  EXPECT_THAT(
      Merge({object}, {})[0].named,
      ElementsAre(kube::ObjectId{"", "ConfigMap", "capa", "more"}, kube::ObjectId{"", "Secret", "capa", "git"},
                  kube::ObjectId{"", "Secret", "capa", "keys"}, kube::ObjectId{"", "Secret", "capa", "registry"},
                  kube::ObjectId{"", "Secret", "capa", "values"}));
}

// L22: what a note says of its spec counts until the object is there to say so itself.
TEST(Merge, WhatWasOfAProvidersSpec) {
  const kube::ObjectId values{"", "Secret", "capa", "values"};
  const Json selector = {{"matchLabels", {{"release", "aws"}}}};
  const std::vector<Target> gone = Merge({}, {}, {{kAws.id, {values}, selector}});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_THAT(gone[0].named, ElementsAre(values));
  EXPECT_EQ(gone[0].release_maps, selector);
  ProviderObject object;
  object.provider.id = kAws.id;
  const std::vector<Target> there = Merge({object}, {}, {{kAws.id, {values}, selector}});
  ASSERT_EQ(there.size(), 1U);
  EXPECT_THAT(there[0].named, IsEmpty());
  EXPECT_TRUE(there[0].release_maps.is_null());
}

// L22: what it named then may be somebody else's by now.
TEST(Merge, ANoteOfBeforeAnotherInstallationSaysNothing) {
  const NotedProvider note{kAws.id, {{"", "Secret", "capa", "values"}}, {{"matchLabels", Json::object()}}, "u1"};
  for (const std::string uid : {"u1", "u2"}) {
    SCOPED_TRACE(uid);
    const Target got = Merge({}, {{kInfrastructure, "aws", "capa", "v1.0.0", uid}}, {note})[0];
    EXPECT_TRUE(got.entry);
    EXPECT_EQ(got.noted, uid == "u1");
    EXPECT_EQ(got.named.size(), uid == "u1" ? 1U : 0U);
    EXPECT_EQ(got.release_maps.is_null(), uid == "u2");
  }
}

TEST(Select, AsClusterctlNamesThem) {
  struct Case {
    std::string name;
    NamesByType names;
    std::string ns;
    std::vector<Target> want;
    std::string error;
  };
  const Case cases[] = {
      {"by name", {{kInfrastructure, {"aws"}}}, "", {kAws}, ""},
      {"in any case, and twice", {{kInfrastructure, {"AWS", "aws"}}}, "", {kAws}, ""},
      {"several types", {{kBootstrap, {"kubeadm"}}, {kControlPlane, {"kubeadm"}}}, "", {kKubeadm, kKubeadmPlane}, ""},
      {"its version", {{kInfrastructure, {"docker:v1.2.3"}}}, "", {kDocker}, ""},
      {"all", {}, "", kAll, ""},
      {"all of a namespace", {}, "capd", {kDocker}, ""},
      {"another version",
       {{kInfrastructure, {"docker:v1.2.4"}}},
       "",
       {},
       "failed to identify the provider \"docker\" with version \"v1.2.4\"; the installed version is v1.2.3"},
      {"unknown",
       {{kInfrastructure, {"gcp"}}},
       "",
       {},
       "failed to identify the namespace for the \"gcp\" provider; the cluster has: CoreProvider "
       "capi-system/cluster-api, "},
      {"another namespace",
       {{kInfrastructure, {"aws"}}},
       "x",
       {},
       "failed to identify the namespace for the \"aws\" provider"},
      {"no name", {{kInfrastructure, {"a:b:c"}}}, "", {}, "invalid provider name \"a:b:c\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto got = Select(kAll, c.names, c.ns);
    ASSERT_EQ(got.ok(), c.error.empty());
    if (got.ok()) {
      EXPECT_EQ(*got, c.want);
    } else {
      EXPECT_THAT(got.error().message, HasSubstr(c.error));
    }
  }
}

TEST(Select, OfTwoThatHaveTheSameNameOneIsSaid) {
  auto got = Select({kAws, kAws2}, {{kInfrastructure, {"aws"}}}, "");
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("say with --namespace which one: InfrastructureProvider capa/aws, "
                                             "InfrastructureProvider capa2/aws"));
  EXPECT_THAT(*Select({kAws, kAws2}, {{kInfrastructure, {"aws"}}}, "capa2"), ElementsAre(kAws2));
}

TEST(Rounds, TheCoreGoesLast) {
  EXPECT_THAT(Rounds(kAll), ElementsAre(ElementsAre(kDocker, kAws, kKubeadmPlane, kKubeadm), ElementsAre(kCapi)));
  EXPECT_THAT(Rounds({kCapi}), ElementsAre(ElementsAre(kCapi)));
  EXPECT_THAT(Rounds({}), IsEmpty());
}

// X3.
TEST(CheckCoreGoesLast, OthersNeedIt) {
  EXPECT_TRUE(CheckCoreGoesLast(kAll, kAll).ok());
  EXPECT_TRUE(CheckCoreGoesLast(kAll, {kAws}).ok());
  EXPECT_TRUE(CheckCoreGoesLast({kCapi}, {kCapi}).ok());
  Status status = CheckCoreGoesLast({kCapi, kAws, kDocker}, {kCapi, kDocker});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "other providers need the core: InfrastructureProvider capa/aws; delete these too, or use --all");
}

// One name in two namespaces is one set of objects outside of these.
TEST(CheckOnlyOfItsName, TheOperatorWouldTakeWhatTheOtherNeeds) {
  Target ours = kAws, refused = kAws2;
  ours.object = refused.object = true;
  ours.inventory.Put({"", "Service", "capa", "x"}, {});
  refused.entry = false;
  EXPECT_TRUE(CheckOnlyOfItsName({ours, refused}, {ours}, true).ok()) << "I5: the younger one has nothing";
  EXPECT_TRUE(CheckOnlyOfItsName({ours, refused}, {refused}, true).ok());
  EXPECT_TRUE(SharesObjects(kAws, kAws2));
  EXPECT_FALSE(SharesObjects(kAws, kAws) || SharesObjects(kKubeadm, kKubeadmPlane));
  EXPECT_TRUE(CheckOnlyOfItsName({kAws, kAws2}, {kAws}, true).ok()) << "what is removed from here leaves them";
  EXPECT_TRUE(CheckOnlyOfItsName({ours, kAws2}, {ours, kAws2}, true).ok());
  EXPECT_TRUE(CheckOnlyOfItsName({ours, kAws2}, {ours}, false).ok());
  Status status = CheckOnlyOfItsName({ours, kAws2}, {ours}, true);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("would take objects of InfrastructureProvider capa2/aws"));
}

TEST(CheckNamespaces, WhoElseLivesThere) {
  EXPECT_TRUE(CheckNamespaces(kAll, {kAws, kDocker}, "capi-operator-system").ok());
  EXPECT_TRUE(CheckNamespaces(kAll, {kKubeadm, kKubeadmPlane}, "").ok());
  Status status = CheckNamespaces(kAll, {kKubeadm}, "");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "namespace capbk-system is also that of ControlPlaneProvider capbk-system/kubeadm, which would go with it; "
            "leave out --include-namespace");
  status = CheckNamespaces(kAll, {kAws}, "capa");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("namespace capa is also that of capi-operator"));
}

}  // namespace
}  // namespace capi::cli
