#include "cli/local_clusters/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/testing.h"

namespace capi::cli::local_clusters {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTemplate = R"(apiVersion: v1
kind: Secret
metadata: {name: "${CLUSTER_NAME}-account"}
stringData: {password: "${CLOUD_PASSWORD}"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}"}
spec: {infrastructureRef: {kind: DockerCluster, name: "${CLUSTER_NAME}"}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerCluster
metadata: {name: "${CLUSTER_NAME}"}
spec: {region: "${REGION}"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: "${CLUSTER_NAME}-md-0"}
spec: {replicas: ${WORKER_MACHINE_COUNT}}
)";

class ManifestsTest : public testing::Test {
 protected:
  Outcome Make(std::vector<std::string> more = {},
               Variables variables = {{"CLOUD_PASSWORD", "hidden"}, {"REGION", "here"}}) {
    std::vector<std::string> arguments = {"local", "manifests",    "my", "--from", folder_.Put("t.yaml", kTemplate),
                                          "-o",    folder_ / "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    variables["HOME"] = folder_.path();
    return Clusterctl(arguments, variables);
  }
  std::string Text(const std::string& file) { return ReadFile(folder_ / ("out/" + file)).value(); }

  TestFolder folder_;
};

// G10: without any cluster, and without a credential on the disk.
TEST_F(ManifestsTest, AreNumberedFiles) {
  Outcome outcome = Make({"-n", "team", "--worker-machine-count", "3"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(ListDir(folder_ / "out").value(),
              ElementsAre("00_namespace_team.yaml", "00_other_secret_my-account.yaml", "01_cluster_my.yaml",
                          "02_infrastructure_dockercluster_my.yaml", "10_machines_machinedeployment_my-md-0.yaml"));
  for (const std::string& file : ListDir(folder_ / "out").value()) {
    EXPECT_THAT(Text(file), Not(HasSubstr("hidden"))) << file;
    EXPECT_THAT(Text(file), HasSubstr("team")) << file;
    struct stat found {};
    ASSERT_EQ(stat((folder_ / ("out/" + file)).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0600u);
  }
  EXPECT_THAT(Text("00_other_secret_my-account.yaml"), HasSubstr("password: ${CLOUD_PASSWORD}"));
  EXPECT_THAT(Text("10_machines_machinedeployment_my-md-0.yaml"), HasSubstr("replicas: 3\n"));
  EXPECT_THAT(outcome.err, HasSubstr("CLOUD_PASSWORD"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("hidden")));
  EXPECT_THAT(outcome.out, HasSubstr("out/01_cluster_my.yaml\n"));
}

TEST_F(ManifestsTest, NeedNoCredentialYet) {
  EXPECT_EQ(Make({}, {{"REGION", "here"}}).code, 0);
  EXPECT_THAT(Text("00_namespace_default.yaml"), HasSubstr("name: default"));
}

TEST_F(ManifestsTest, OtherVariablesAreNeeded) {
  Outcome outcome = Make({}, {});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("[REGION]"));
}

// G10: who names a credential that isn't there would find its value in the files.
TEST_F(ManifestsTest, NamesOfCredentialsAreThoseOfTheTemplate) {
  struct Case {
    std::vector<std::string> flags;
    std::string error;
  };
  const Case cases[] = {
      {{"--credential", "REGIO"}, "--credential REGIO: the template has no such variable. It has CLOUD_PASSWORD, CLU"},
      {{"--no-credential", "CLOUD_PASS"}, "--no-credential CLOUD_PASS: the template has no such variable"},
      {{"--credential", "REGION", "--no-credential", "REGION"}, "both name REGION"},
      {{"--credential", "KUBERNETES_VERSION"}, "--credential KUBERNETES_VERSION: it is in the files"},
      {{"--credential", "WORKER_MACHINE_COUNT"}, "--credential WORKER_MACHINE_COUNT: it is in the files"},
      {{"--no-credential", "CLUSTER_NAME"}, "--no-credential CLUSTER_NAME: other flags give its value"},
  };
  for (const Case& c : cases) {
    Outcome outcome = Make(c.flags);
    EXPECT_EQ(outcome.code, 1) << c.error;
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
    EXPECT_FALSE(ListDir(folder_ / "out").ok());
  }
  EXPECT_EQ(Make({"--credential", "REGION"}).code, 0);
  EXPECT_THAT(Text("02_infrastructure_dockercluster_my.yaml"), HasSubstr("region: ${REGION}"));
}

// G10: the template of a release comes with the ClusterClasses that it names, from the same release.
TEST_F(ManifestsTest, OfAReleaseComeWithItsClasses) {
  auto put = [&](const std::string& file, std::string_view text) {
    return folder_.Put("r/infrastructure-p/v1.0.0/" + file, text);
  };
  put("cluster-template.yaml",
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: '${CLUSTER_NAME}'}, spec: {topology: "
      "{classRef: {name: quick, namespace: '${CLASS_NAMESPACE:=default}'}}}}");
  put("clusterclass-quick.yaml",
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: ClusterClass, metadata: {name: quick}, spec: {token: "
      "'${CLASS_TOKEN}', size: '${SIZE}'}}");
  const std::string config =
      folder_.Put("c.yaml", "providers:\n- name: p\n  type: InfrastructureProvider\n  url: " + folder_.path() +
                                "/r/infrastructure-p/latest/infrastructure-components.yaml\n");
  auto make = [&](Variables variables) {
    variables["HOME"] = folder_.path();
    return Clusterctl({"local", "manifests", "my", "-i", "p:v1.0.0", "--config", config, "-o", folder_ / "out"},
                      variables);
  };
  Outcome outcome = make({{"CLASS_TOKEN", "hidden"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("clusterclass-quick.yaml: value for variables [SIZE] is not set"));
  EXPECT_FALSE(ListDir(folder_ / "out").ok());
  outcome = make({{"SIZE", "big"}, {"CLASS_NAMESPACE", "other"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("the ClusterClass other/quick, and a release can bring one only into the Cluster's own "
                        "namespace, default: name other with -n"));
  outcome = make({{"CLASS_TOKEN", "hidden"}, {"SIZE", "big"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(ListDir(folder_ / "out").value(),
              ElementsAre("00_namespace_default.yaml", "00_topology_clusterclass_quick.yaml", "01_cluster_my.yaml"));
  EXPECT_THAT(Text("00_topology_clusterclass_quick.yaml"),
              AllOf(HasSubstr("token: ${CLASS_TOKEN}"), HasSubstr("size: big"), HasSubstr("namespace: default")));
}

// What somebody has edited is never written over.
TEST_F(ManifestsTest, AreNotWrittenOverOthers) {
  folder_.Put("out/01_cluster_my.yaml", "edited");
  Outcome outcome = Make();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("has manifests already (01_cluster_my.yaml)"));
  EXPECT_EQ(Text("01_cluster_my.yaml"), "edited");
}

TEST_F(ManifestsTest, BadCommandLines) {
  struct Case {
    std::vector<std::string> arguments;
    std::string error;
  };
  const Case cases[] = {
      {{"-o", "x", "--from", "y"}, "please specify a cluster name"},
      {{"my", "--from", "y"}, "-o"},
      {{"my", "-o", "x"}, "--infrastructure NAME:VERSION"},
      {{"my", "-o", "x", "--infrastructure", "docker"}, "Please specify a version"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"local", "manifests"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    Outcome outcome = Clusterctl(arguments, {{"HOME", folder_.path()}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
  }
}

// Half of the files would be taken for all of them.
TEST_F(ManifestsTest, AreAllWrittenOrNone) {
  folder_.Put("half/b_blocks/x", "");
  auto object = [](const std::string& kind, const std::string& name) {
    return kube::Object(Json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", name}}}});
  };
  ASSERT_EQ(mkdir((folder_ / "half/00_other_b_b.yaml").c_str(), 0700), 0);
  EXPECT_FALSE(WriteManifests(folder_ / "half", {object("A", "a"), object("B", "b")}).ok());
  EXPECT_THAT(ListDir(folder_ / "half").value(), ElementsAre("00_other_b_b.yaml", "b_blocks"));
  auto files = WriteManifests(folder_ / "long", {object("A", std::string(250, 'a')), object("A", "b")});
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(ReadManifests(folder_ / "long")->size(), 2u);
}

// G11: files are read in the order of their names, and what isn't understood is refused.
TEST_F(ManifestsTest, AreReadInOrder) {
  const std::string map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: ";
  folder_.Put("m/20_b.yml", map + "b}}");
  folder_.Put("m/10_a.yaml", map + "a1}}\n---\n# nothing\n---\n" + map + "a2}}");
  folder_.Put("m/.hidden", "x");
  folder_.Put("m/10_a.yaml~", "x");
  folder_.Put("m/collected-1.tar.gz", "x");
  folder_.Put("m/applied/10_a.yaml", "x");
  std::vector<std::string> places;
  for (const Manifest& one : ReadManifests(folder_ / "m").value())
    places.push_back(one.Where() + " " + one.object.name());
  EXPECT_THAT(places, ElementsAre("10_a.yaml:1 a1", "10_a.yaml:5 a2", "20_b.yml:1 b"));
}

TEST_F(ManifestsTest, BadFoldersAreRefused) {
  struct Case {
    std::string file, text, error;
  };
  const Case cases[] = {
      {"a.txt", "", "is no manifest"},
      {"a.yaml", "- 1", "it is no object"},
      {"a.yaml", "{kind: A, metadata: {name: b}}", "it has no apiVersion"},
      {"a.yaml", "{apiVersion: v1, metadata: {name: b}}", "it has no kind"},
      {"a.yaml", "{apiVersion: v1, kind: A}", "it has no metadata.name"},
      {"a.yaml", "{apiVersion: v1, kind: List, items: []}", "it is a List"},
      {"a.yaml", "a: [", "a.yaml: line "},
      {"a.yaml", "{apiVersion: v1, kind: A, metadata: {name: b}}\n---\n{apiVersion: v2, kind: A, metadata: {name: b}}",
       "a.yaml:3: A/b is in a.yaml:1, too"},
      {"a.yaml", "", "has no manifests"},
  };
  int number = 0;
  for (const Case& c : cases) {
    const std::string folder = "bad" + std::to_string(++number);
    folder_.Put(folder + "/" + c.file, c.text);
    auto got = ReadManifests(folder_ / folder);
    ASSERT_FALSE(got.ok()) << c.error;
    EXPECT_THAT(got.error().message, HasSubstr(c.error));
  }
}

// G11: a file that was renamed isn't there twice.
TEST_F(ManifestsTest, WhatIsAppliedFollowsTheFiles) {
  const std::string map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
  folder_.Put("m/02_a.yaml", map);
  ASSERT_TRUE(WriteApplied(folder_ / "m", ReadManifests(folder_ / "m").value(), Hider()).ok());
  std::filesystem::rename(folder_ / "m/02_a.yaml", folder_ / "m/03_a.yaml");
  folder_.Put("m/applied/notes.txt", "somebody's");
  ASSERT_TRUE(WriteApplied(folder_ / "m", ReadManifests(folder_ / "m").value(), Hider()).ok());
  EXPECT_THAT(ListDir(folder_ / "m/applied").value(), ElementsAre("03_a.yaml", "notes.txt"));
}

TEST_F(ManifestsTest, HooksOfAFolder) {
  EXPECT_TRUE(ListHooks(folder_.path())->empty());
  std::string path = folder_.Put("hooks/infra-ready", "#!/bin/sh\n");
  EXPECT_THAT(ListHooks(folder_.path()).error().message, HasSubstr("isn't executable"));
  chmod(path.c_str(), 0700);
  EXPECT_THAT(ListHooks(folder_.path()).value(), ElementsAre("infra-ready"));
  folder_.Put("hooks/machines", "");
  EXPECT_THAT(ListHooks(folder_.path()).error().message, HasSubstr("no such hook"));
}

}  // namespace
}  // namespace capi::cli::local_clusters
