// What is refused before any cluster is asked, and what moves keep.
#include "cli/local_clusters/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/local_clusters/collect.h"
#include "cli/local_clusters/move.h"
#include "cli/testing.h"

namespace capi::cli::local_clusters {
namespace {

using testing::HasSubstr;
using testing::Not;

// G11 to G15.
TEST(LocalClusterCommands, BadCommandLines) {
  TestFolder folder;
  const std::string map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
  const std::string cluster =
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a, annotations: "
      "{operator.cluster.x-k8s.io/fill-in: 'X_TOKEN'}}, spec: {a: '${X_TOKEN}'}}";
  folder.Put("maps/a.yaml", map);
  folder.Put("clusters/a.yaml", cluster);
  folder.Put("plain/a.yaml", "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a}}");
  folder.Put("hooked/a.yaml", "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a}}");
  chmod(folder.Put("hooked/hooks/ignition", "#!/bin/sh\n").c_str(), 0700);
  struct Case {
    std::vector<std::string> arguments;
    std::string error;
  };
  const Case cases[] = {
      {{"apply"}, "please specify the folder of the manifests"},
      {{"apply", folder / "none"}, "isn't there"},
      {{"apply", folder / "maps"}, "have no Cluster"},
      {{"apply", folder / "clusters"}, "value for variables [X_TOKEN] is not set"},
      {{"apply", folder / "clusters", "--timeout", "machines=x"}, "--timeout machines=x"},
      {{"apply", folder / "clusters", "--hook", "ignition=" + folder / "none"}, "--hook ignition"},
      {{"apply", folder / "clusters", "--hook", "ignition=" + folder / "maps/a.yaml"},
       "is no file that can be executed"},
      {{"apply", folder / "clusters", "--hook", "ignition=" + folder / "maps"}, "is no file that can be executed"},
      {{"apply", folder / "plain", "--dir", folder / "none"}, "run `clusterctl local up --dir"},
      {{"apply", folder / "plain", "--dir", "x", "--kubeconfig", "y"}, "don't go together"},
      {{"apply", folder / "hooked", "--kubeconfig", folder / "maps/a.yaml", "--kubeconfig-context", "staging"},
       "hooks and --kubeconfig-context don't go together"},
      {{"collect", "--manifests", folder / "clusters"}, "value for variables [X_TOKEN] is not set"},
      {{"wait"}, "please specify the name"},
      {{"wait", "a", "--for", "Available=yes"}, "--for Available=yes"},
      {{"wait", "a", "--timeout", "-1s"}, "--timeout -1s"},
      {{"destroy"}, "name the clusters to delete"},
      {{"destroy", "a", "--all"}, "name the clusters to delete"},
      {{"destroy", "a", "--yes"}, "--yes goes with --all alone"},
      {{"destroy", ""}, "the name of a cluster is empty"},
      {{"wait", "a", ""}, "the name of a cluster is empty"},
      {{"destroy", "bootstrap", ""}, "please specify the name of a cluster"},
      {{"destroy", "--dir", "x", "bootstrap", "a"}, "--dir"},
      {{"destroy", "-n", "x", "bootstrap", "a"}, "--namespace"},
      {{"destroy", "--kubeconfig", "x", "bootstrap", "a"}, "--kubeconfig"},
      {{"destroy", "b", "bootstrap", "a"}, "NAME"},
      {{"destroy", "bootstrap", "a", "--all", "--yes"}, "--all"},
      {{"destroy", "bootstrap"}, "please specify the name of a cluster"},
      {{"move"}, "--to-kubeconfig"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"local"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    SCOPED_TRACE(testing::PrintToString(arguments));
    Outcome outcome = Clusterctl(arguments, {{"HOME", folder.path()}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
    EXPECT_EQ(outcome.out, "");
  }
}

// G15.
TEST(LocalMove, KeepsManifestsWithoutSecrets) {
  TestFolder folder;
  folder.Put("m/01_cluster_a.yaml",
             "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a}}\n---\n{apiVersion: v1, kind: "
             "Secret, metadata: {name: s}, stringData: {a: hidden}}");
  folder.Put("m/applied/01_cluster_a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}}");
  auto maps = ManifestMaps(folder / "m", "n");
  ASSERT_TRUE(maps.ok()) << maps.error().message;
  ASSERT_EQ(maps->size(), 1u);
  const Json& json = maps->front().json();
  EXPECT_EQ(maps->front().id().ToString(), "ConfigMap/n/local-manifests.a");
  EXPECT_THAT(GetString(json, {"data", "01_cluster_a.yaml"}), HasSubstr("name: a"));
  EXPECT_THAT(GetString(json, {"data", "applied.01_cluster_a.yaml"}), HasSubstr("uid: u"));
  EXPECT_THAT(ToJsonText(json), Not(HasSubstr("hidden")));

  const std::string large(600u << 10, 'x');
  folder.Put("m/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {a: " + large + "}}");
  folder.Put("m/c.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: " + large + "}}");
  maps = ManifestMaps(folder / "m", "n");
  ASSERT_TRUE(maps.ok()) << maps.error().message;
  ASSERT_EQ(maps->size(), 2u);
  EXPECT_EQ((*maps)[1].name(), "local-manifests-2.a");
  folder.Put("m/d.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}, data: {a: " + large + large + "}}");
  EXPECT_EQ(ManifestMaps(folder / "m", "n").code(), Code::kInvalidArgument);
}

// G15: before anything moves.
TEST(LocalMove, WhatCannotBeKeptIsTold) {
  const std::string cluster = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a}}";
  TestFolder folder;
  int number = 0;
  for (const char* name : {"10 machines.yaml", "\xc3\xa4.yaml", "00_other_clusterrole_system:node.yaml"}) {
    const std::string one = std::to_string(++number);
    folder.Put(one + "/" + name, cluster);
    auto maps = ManifestMaps(folder / one, "n");
    ASSERT_FALSE(maps.ok()) << name;
    EXPECT_THAT(maps.error().message, HasSubstr("Rename it"));
  }
  folder.Put("none/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
  EXPECT_THAT(ManifestMaps(folder / "none", "n").error().message, HasSubstr("have no Cluster"));
}

TEST(LocalCollect, NamesArchivesByTheTime) {
  EXPECT_EQ(ArchiveName("a", ParseTime("2026-01-02T03:04:05Z").value()), "a/collected-20260102T030405Z.tar.gz");
}

}  // namespace
}  // namespace capi::cli::local_clusters
