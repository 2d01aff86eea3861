// What is refused before any cluster is asked, and what moves keep.
#include "cli/local_clusters/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/local_clusters/collect.h"
#include "cli/local_clusters/move.h"
#include "cli/local_clusters/target.h"
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
      // A shell's variable that isn't set.
      {{"destroy", "--all", "--yes", "-n", ""}, "--namespace: its value is empty"},
      {{"destroy", "--all", "--yes", "--namespace="}, "--namespace: its value is empty"},
      {{"destroy", "bootstrap", "a", "--machine", ""}, "--machine: its value is empty"},
      {{"destroy", "a", "--kubeconfig", ""}, "--kubeconfig: its value is empty"},
      {{"destroy", "a", "--kubeconfig-context", ""}, "--kubeconfig-context: its value is empty"},
      {{"destroy", "a", "--dir", ""}, "--dir: its value is empty"},
      {{"wait", "a", "-n", ""}, "--namespace: its value is empty"},
      {{"apply", folder / "plain", "--dir", ""}, "--dir: its value is empty"},
      {{"collect", "--manifests", ""}, "--manifests: its value is empty"},
      {{"collect", "-o", ""}, "--output-file: its value is empty"},
      {{"manifests", "a", "-n", ""}, "--target-namespace: its value is empty"},
      {{"move", "--to-kubeconfig", "x", "--to-kubeconfig-context", ""}, "--to-kubeconfig-context: its value is empty"},
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
  auto kept = ReadKept(folder / "m", "n");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  ASSERT_EQ(kept->maps.size(), 1u);
  const Json& json = kept->maps.front().json();
  EXPECT_EQ(kept->maps.front().id().ToString(), "ConfigMap/n/local-manifests.a");
  EXPECT_THAT(GetString(json, {"data", "01_cluster_a.yaml"}), HasSubstr("name: a"));
  EXPECT_THAT(GetString(json, {"data", "applied.01_cluster_a.yaml"}), HasSubstr("uid: u"));
  EXPECT_THAT(ToJsonText(json), Not(HasSubstr("hidden")));

  const std::string large(600u << 10, 'x');
  folder.Put("m/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {a: " + large + "}}");
  folder.Put("m/c.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: " + large + "}}");
  kept = ReadKept(folder / "m", "n");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  ASSERT_EQ(kept->maps.size(), 2u);
  EXPECT_EQ(kept->maps[1].name(), "local-manifests-2.a");
  folder.Put("m/d.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}, data: {a: " + large + large + "}}");
  EXPECT_EQ(ReadKept(folder / "m", "n").code(), Code::kInvalidArgument);
}

// G15: before anything moves.
TEST(LocalMove, WhatCannotBeKeptIsTold) {
  const std::string cluster = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a}}";
  TestFolder folder;
  int number = 0;
  for (const char* name : {"10 machines.yaml", "\xc3\xa4.yaml", "00_other_clusterrole_system:node.yaml"}) {
    const std::string one = std::to_string(++number);
    folder.Put(one + "/" + name, cluster);
    auto kept = ReadKept(folder / one, "n");
    ASSERT_FALSE(kept.ok()) << name;
    EXPECT_THAT(kept.error().message, HasSubstr("Rename it"));
  }
  folder.Put("none/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
  EXPECT_THAT(ReadKept(folder / "none", "n").error().message, HasSubstr("have no Cluster"));
}

// What a person is told works with the cluster that the command has worked with.
TEST(LocalClusterCommands, FlagsOfWhatIsTold) {
  TestFolder folder;
  const std::string usual = folder / ".local/share/cluster-api/local", other = folder / "my plane";
  for (const std::string& plane : {usual, other}) std::filesystem::create_directories(plane + "/pki");
  for (const std::string& plane : {usual, other}) std::ofstream(plane + "/pki/kubeconfig") << "{}";
  struct Case {
    TargetOptions options;
    std::string flags;
  };
  const Case cases[] = {
      {{"", {}}, ""},
      {{usual + "/.", {}}, ""},
      {{"", {"", "b"}}, " --kubeconfig-context b"},
      {{other, {}}, " --dir '" + other + "'"},
      {{other, {"", "b"}}, " --dir '" + other + "' --kubeconfig-context b"},
      {{"", {"k", ""}}, " --kubeconfig k"},
      {{"", {"a k", "b"}}, " --kubeconfig 'a k' --kubeconfig-context b"},
  };
  const Getenv getenv = From({{"HOME", folder.path()}});
  for (const Case& c : cases) EXPECT_EQ(TargetOf(c.options, getenv).value().flags, c.flags);
  EXPECT_THAT(TargetOf({folder / "no plane", {}}, getenv).error().message,
              HasSubstr("run `clusterctl local up --dir '" + folder / "no plane" + "'` first"));
  EXPECT_THAT(TargetOf({}, From({{"HOME", folder / "none"}})).error().message,
              HasSubstr("run `clusterctl local up` first"));
}

// G13: of a plane that never came up, or that another clusterctl runs.
TEST(LocalCollect, TakesLogsWhereThereIsNoKubeconfig) {
  TestFolder folder;
  folder.Put("plane/logs/etcd.log", "words");
  folder.Put("other/logs/etcd.log", "nobody's plane");
  folder.Put("plane/capi-local.json", R"({"plane":"0123456789abcdef","format":1})");
  const std::string archive = folder / "all.tar.gz";
  const Outcome got =
      Clusterctl({"local", "collect", "--dir", folder / "plane", "-o", archive}, {{"HOME", folder.path()}});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("the plane's logs are all that is collected"));
  EXPECT_TRUE(std::filesystem::exists(archive));
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--dir", folder / "other"},
                                               {"--dir", folder / "plane", "--kubeconfig-context", "x"}}) {
    std::vector<std::string> arguments = {"local", "collect", "-o", folder / "no.tar.gz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Clusterctl(arguments, {{"HOME", folder.path()}}).code, 1) << more.back();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "no.tar.gz"));
  const Outcome none =
      Clusterctl({"local", "collect", "--dir", folder / "none", "-o", archive}, {{"HOME", folder.path()}});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("run `clusterctl local up --dir"));
}

// G13: what was read when Ctrl-C came is half of it.
TEST(LocalCollect, CtrlCLeavesNoArchive) {
  TestFolder folder;
  folder.Put("plane/logs/etcd.log", "words");
  const std::string kubeconfig = folder.Put(
      "kubeconfig",
      "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], "
      "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: a, user: {}}]}");
  auto cluster = ManagementCluster::Open({kubeconfig, ""}, From({}));
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const GatherInput input{folder / "plane", folder / "all.tar.gz", {}};
  std::stop_source stop;
  const Context ctx = Context{}.WithStop(stop.get_token());
  EXPECT_TRUE(Gather(ctx, &*cluster, input).ok());
  EXPECT_EQ(unlink(input.archive.c_str()), 0);
  stop.request_stop();
  EXPECT_EQ(Gather(ctx, &*cluster, input).code(), Code::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(input.archive));
}

TEST(LocalCollect, NamesArchivesByTheTime) {
  EXPECT_EQ(ArchiveName("a", ParseTime("2026-01-02T03:04:05Z").value()), "a/collected-20260102T030405Z.tar.gz");
}

}  // namespace
}  // namespace capi::cli::local_clusters
