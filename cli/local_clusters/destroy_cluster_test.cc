// G13 and G14 on a real API server, whose controllers the test plays.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>

#include "base/encoding.h"
#include "cli/local_clusters/cluster_testing.h"
#include "fetch/archives/tar.h"

namespace capi::cli::local_clusters {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DestroyTest : public LocalClustersTest {
 protected:
  void Make(const std::string& yaml) { kube::ApplyYaml(*client_, ReplaceAll(yaml, "@", ns_)); }
  void MakeCluster(const std::string& name, const std::string& finalizer = "") {
    Make("{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: " + name +
         ", namespace: @, finalizers: [" + finalizer + "]}, spec: {}}");
  }
  void MakeMachine(const std::string& name, const std::string& cluster, const std::string& more = "") {
    Make("{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: " + name +
         ", namespace: @, labels: {cluster.x-k8s.io/cluster-name: " + cluster + "}" + more +
         "}, spec: {clusterName: " + cluster + "}}");
  }
};

TEST_F(DestroyTest, DeletesAndSaysWhatHangs) {
  MakeCluster("my", "cluster.cluster.x-k8s.io");
  MakeMachine("my-0", "my");
  MakeMachine("other-0", "other");
  Outcome outcome = Local({"destroy", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("my is not gone after 1s"),
                    HasSubstr("Cluster " + ns_ + "/my: finalizers cluster.cluster.x-k8s.io"),
                    HasSubstr("Machine " + ns_ + "/my-0: not being deleted yet"), Not(HasSubstr("other-0"))));
  kube::Object cluster = Live("Cluster", "my").value();
  EXPECT_TRUE(cluster.deleting());
  cluster.json()["metadata"].erase("finalizers");
  ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster).ok());
  // Once more: what has gone is no error.
  outcome = Local({"destroy", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Cluster " + ns_ + "/my isn't there\n");
}

// G14: a name that is in another namespace was meant for that one.
TEST_F(DestroyTest, AClusterOfAnotherNamespaceIsTold) {
  MakeCluster("elsewhere");
  Outcome outcome = Local({"destroy", "elsewhere"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Cluster default/elsewhere isn't there, but one of that name is in namespace " +
                                     ns_ + ": name the namespace with -n"));
  EXPECT_TRUE(Live("Cluster", "elsewhere").ok());
  // Who has named the namespace may say the same twice.
  outcome = Local({"destroy", "elsewhere", "-n", "default"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Local({"destroy", "elsewhere", "-n", ns_}).code, 0);
}

// G14: the same of its bootstrap machine, which may run and cost.
TEST_F(DestroyTest, ABootstrapMachineOfAnotherNamespaceIsTold) {
  MakeCluster("far");
  MakeMachine("far-bootstrap", "far");
  for (const char* machine : {"far-bootstrap", "another"}) {
    Outcome outcome = Local({"destroy", "bootstrap", "far", "--machine", machine});
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("Cluster default/far isn't there, but one of that name is in namespace " + ns_ +
                                       ": name the namespace with -n"));
  }
  EXPECT_TRUE(Live("Machine", "far-bootstrap").ok());
  EXPECT_EQ(Local({"destroy", "bootstrap", "far", "-n", ns_}).code, 0);
}

// G14: what an outage has lost is deleted again, and it is said why that takes its time.
TEST_F(DestroyTest, AnOutageIsWaitedOut) {
  MakeCluster("my");
  std::atomic<int> looks = 0;
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    const bool one = request.target.find("/clusters/my") != std::string::npos;
    // The first is a look before anything is done.
    return one && ++looks > 1 && looks <= 12 ? kube::Fault{.drop = true} : kube::Fault{};
  });
  Outcome outcome = Local({"destroy", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Waiting: Cluster " + ns_ + "/my: "));
  EXPECT_EQ(outcome.out, "Cluster " + ns_ + "/my is deleted\n");
  EXPECT_EQ(Live("Cluster", "my").code(), Code::kNotFound);
}

// G14: a webhook that is away refuses to delete, and all looks go on to succeed.
TEST_F(DestroyTest, ADeleteThatIsRefusedForAWhileIsTold) {
  MakeCluster("my");
  MakeMachine("my-bootstrap", "my");
  std::atomic<int> refused = 0;
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    // More than one call repeats by itself.
    if (request.method != "DELETE" || ++refused > 10) return kube::Fault{};
    return kube::Fault{.status = 500, .message = "failed calling webhook: connection refused"};
  });
  Outcome outcome = Local({"destroy", "bootstrap", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string why = "failed calling webhook: connection refused";
  EXPECT_THAT(outcome.err, HasSubstr("Waiting: Machine " + ns_ + "/my-bootstrap: " + why));
  refused = 0;
  outcome = Local({"destroy", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string told = "Waiting: Cluster " + ns_ + "/my: " + why;
  EXPECT_THAT(outcome.err, HasSubstr(told));
  EXPECT_EQ(outcome.err.find(told), outcome.err.rfind(told)) << "once is enough";
  // To the end of its time.
  MakeCluster("my");
  MakeMachine("my-bootstrap", "my");
  refused = -1000;
  outcome = Local({"destroy", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Cluster " + ns_ + "/my (" + why + ") is not gone after 1s"));
  outcome = Local({"destroy", "bootstrap", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("my-bootstrap is not gone: not being deleted yet (" + why + ")"));
}

// G14: a move that begins while a deletion is refused holds the Cluster and its machines.
TEST_F(DestroyTest, WhatIsPausedMeanwhileIsLeftAlone) {
  auto pause = [&](bool paused) {
    const Json patch = {{"spec", {{"paused", paused}}}};
    EXPECT_TRUE(client_->Patch(ctx_, ClusterResource(), ns_, "my", kube::PatchType::kMerge, patch).ok());
  };
  MakeCluster("my");
  MakeMachine("my-bootstrap", "my");
  std::atomic<bool> begun = false;
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    // A call repeats by itself.
    if (request.method != "DELETE") return kube::Fault{};
    if (!begun.exchange(true)) pause(true);
    return kube::Fault{.status = 500, .message = "failed calling webhook: connection refused"};
  });
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"destroy", "bootstrap", "my", "-n", ns_}, {"destroy", "my", "-n", ns_}}) {
    const Outcome outcome = Local(command);
    EXPECT_EQ(outcome.code, 1) << command[1];
    EXPECT_TRUE(begun.exchange(false)) << command[1];
    EXPECT_THAT(outcome.err, HasSubstr("Cluster " + ns_ + "/my is paused"));
    pause(false);
  }
  EXPECT_FALSE(Live("Cluster", "my")->deleting());
  EXPECT_FALSE(Live("Machine", "my-bootstrap")->deleting());
}

// G14: what is deleted is what was judged: one of its name that is made meanwhile stays.
TEST_F(DestroyTest, ANewOneOfItsNameStays) {
  MakeCluster("my");
  std::atomic<int> looks = 0;
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    if (request.target.find("/clusters/my") == std::string::npos || ++looks != 2) return kube::Fault{};
    EXPECT_TRUE(client_->Delete(ctx_, ClusterResource(), ns_, "my").ok());
    MakeCluster("my");
    return kube::Fault{};
  });
  Outcome outcome = Local({"destroy", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(Live("Cluster", "my")->deleting());
}

// G14: a kind that can't be listed may be the one whose machines cost.
TEST_F(DestroyTest, WhatCannotBeListedIsTold) {
  MakeCluster("my", "cluster.cluster.x-k8s.io");
  MakeMachine("my-0", "my");
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    if (request.target.find("/dockerclusters?") == std::string::npos) return kube::Fault{};
    return kube::Fault{.status = 500, .message = "conversion webhook for a.x/v1, Kind=A failed: connection refused"};
  });
  Outcome outcome = Local({"destroy", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("/my these can't be told:\n  DockerCluster.infrastructure.cluster.x-k8s.io: "
                                           "conversion webhook for"),
                                 HasSubstr("Machine " + ns_ + "/my-0: not being deleted yet")));
  kube::Object cluster = Live("Cluster", "my").value();
  cluster.json()["metadata"].erase("finalizers");
  ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster).ok());
}

TEST_F(DestroyTest, AllOfANamespace) {
  MakeCluster("a");
  MakeCluster("b");
  Outcome outcome = Local({"destroy", "--all", "-n", ns_});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--yes"));
  EXPECT_TRUE(Live("Cluster", "a").ok());
  outcome = Local({"destroy", "--all", "--yes", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Cluster " + ns_ + "/a is deleted\nCluster " + ns_ + "/b is deleted\n");
  EXPECT_EQ(Live("Cluster", "b").code(), Code::kNotFound);
}

// G14: one that hangs keeps no other from its end.
TEST_F(DestroyTest, AllAreBegunAtOnce) {
  MakeCluster("a", "cluster.cluster.x-k8s.io");
  MakeCluster("b");
  MakeCluster("c", "cluster.cluster.x-k8s.io");
  Outcome outcome = Local({"destroy", "--all", "--yes", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "Cluster " + ns_ + "/b is deleted\n");
  EXPECT_THAT(outcome.err, HasSubstr("Cluster " + ns_ + "/a, " + ns_ + "/c are not gone after 1s"));
  for (const char* name : {"a", "c"}) {
    kube::Object cluster = Live("Cluster", name).value();
    EXPECT_TRUE(cluster.deleting());
    cluster.json()["metadata"].erase("finalizers");
    ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster).ok());
  }
}

// G14: what others wrote can't move the terminal's cursor.
TEST_F(DestroyTest, WhatHangsIsTextAlone) {
  MakeCluster("my", "cluster.cluster.x-k8s.io");
  kube::Object cluster = Live("Cluster", "my").value();
  Ensure(cluster.json(), {"status", "conditions"}) = Json::array(
      {{{"type", "Deleting"}, {"status", "True"}, {"reason", "Waits"}, {"message", "for\x1b[2J\nCluster is deleted"}}});
  ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster, {.subresource = "status"}).ok());
  Outcome outcome = Local({"destroy", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_THAT(outcome.err, HasSubstr("Deleting True: Waits: for"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\nCluster is deleted")));
  cluster = Live("Cluster", "my").value();
  cluster.json()["metadata"].erase("finalizers");
  ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster).ok());
}

TEST_F(DestroyTest, APausedClusterIsLeftAlone) {
  MakeCluster("a");
  Make(
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: p, namespace: @}, spec: {paused: true}}");
  Outcome outcome = Local({"destroy", "a", "p", "-n", ns_});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/p is paused"));
  EXPECT_TRUE(Live("Cluster", "a").ok()) << "nothing is begun";
  Make(
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: q, namespace: @, annotations: "
      "{cluster.x-k8s.io/paused: ''}}, spec: {}}");
  outcome = Local({"destroy", "a", "q", "-n", ns_});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/q is paused"));
  EXPECT_TRUE(Live("Cluster", "a").ok()) << "nothing is begun";
}

TEST_F(DestroyTest, TheBootstrapMachineAlone) {
  MakeCluster("my");
  MakeMachine("my-bootstrap", "my");
  MakeMachine("my-0", "my");
  MakeMachine("made", "my",
              ", ownerReferences: [{apiVersion: x/v1, kind: MachineSet, name: s, uid: u, controller: true}]");
  Outcome outcome = Local({"destroy", "bootstrap", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Machine " + ns_ + "/my-bootstrap is deleted\n");
  EXPECT_EQ(Live("Machine", "my-bootstrap").code(), Code::kNotFound);
  EXPECT_TRUE(Live("Machine", "my-0").ok());
  EXPECT_TRUE(Live("Cluster", "my").ok());
  outcome = Local({"destroy", "bootstrap", "my", "-n", ns_});
  EXPECT_EQ(outcome.out, "Machine " + ns_ + "/my-bootstrap isn't there\n");
  outcome = Local({"destroy", "bootstrap", "my", "-n", ns_, "--machine", "made"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("belongs to MachineSet s"));
  outcome = Local({"destroy", "bootstrap", "other", "-n", ns_, "--machine", "my-0"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("is not of Cluster other"));
  MakeMachine("held", "my", ", annotations: {cluster.x-k8s.io/paused: ''}");
  outcome = Local({"destroy", "bootstrap", "my", "-n", ns_, "--machine", "held"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Machine " + ns_ + "/held is paused"));
  Make(
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: my, namespace: @}, spec: {paused: "
      "true}}");
  outcome = Local({"destroy", "bootstrap", "my", "-n", ns_, "--machine", "my-0"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Cluster " + ns_ + "/my is paused"));
  EXPECT_FALSE(Live("Machine", "my-0")->deleting());
}

// G13.
TEST_F(DestroyTest, CollectsWhatIsThereWithoutAnApiServer) {
  folder_.Put("plane/logs/etcd.log", "words of hidden-token");
  folder_.Put("plane/pods/p/manager.log.old", "before the crash");
  folder_.Put("plane/pods/p/volumes/mounted.log", "of a Secret");
  folder_.Put("plane/pods/p/a/b/deep.log", "deep");
  std::filesystem::create_symlink(folder_ / "plane/logs/etcd.log", folder_ / "plane/pods/link.log");
  // Of more than 4 MiB the end is taken, which begins in the middle of a value.
  folder_.Put("plane/pods/large.log", "hidden-token" + std::string((4u << 20) - 5, '.'));
  // Only its owner may read it, whatever was there.
  chmod(folder_.Put("all.tar.gz", "").c_str(), 0644);
  folder_.Put("m/a.yaml",
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operator.cluster.x-k8s.io/fill-in: "
              "X_TOKEN}}, data: {a: '${X_TOKEN}'}}");
  folder_.Put(
      "plane/pki/kubeconfig",
      "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], "
      "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: a, user: {}}]}");
  Outcome outcome = Clusterctl(
      {"local", "collect", "--dir", folder_ / "plane", "-o", folder_ / "all.tar.gz", "--manifests", folder_ / "m"},
      {{"HOME", folder_.path()}, {"X_TOKEN", "hidden-token"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  struct stat found {};
  ASSERT_EQ(stat((folder_ / "all.tar.gz").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777u, 0600u);
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ((*files)["logs/etcd.log"], "words of ${X_TOKEN}");
  EXPECT_EQ((*files)["pods/p/manager.log.old"], "before the crash");
  EXPECT_EQ((*files)["pods/p/a/b/deep.log"], "deep");
  EXPECT_EQ((*files)["pods/large.log"], std::string((4u << 20) - 5, '.'));
  EXPECT_FALSE(files->contains("pods/p/volumes/mounted.log"));
  EXPECT_FALSE(files->contains("pods/link.log"));
  EXPECT_THAT((*files)["errors.txt"], HasSubstr("objects: "));
}

// G13: each kind that isn't answered would take its whole time.
TEST_F(DestroyTest, CollectsNoMoreOfAServerThatIsSilent) {
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    return request.target.find("limit=") == std::string::npos ? kube::Fault{} : kube::Fault{.drop = true};
  });
  Outcome outcome = Local({"collect", "-o", folder_ / "all.tar.gz"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  for (const char* what : {"Pod", "Secrets", "Clusters"})
    EXPECT_THAT((*files)["errors.txt"], HasSubstr(std::string(what) + ": not asked for, since the API server"));
}

// G13: what shows why a provider is away is collected all the same.
TEST_F(DestroyTest, CollectsOfAServerWithoutAConversionWebhook) {
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    const bool of_providers = request.target.find("cluster.x-k8s.io/") != std::string::npos;
    if (!of_providers || request.target.find("limit=") == std::string::npos) return kube::Fault{};
    return kube::Fault{.status = 500, .message = "conversion webhook for a.x/v1, Kind=A failed: connection refused"};
  });
  Outcome outcome = Local({"collect", "-o", folder_ / "all.tar.gz"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  for (const char* kind : {"Machine.cluster.x-k8s.io", "DockerCluster.infrastructure.cluster.x-k8s.io"})
    EXPECT_THAT((*files)["errors.txt"], HasSubstr(std::string(kind) + ": conversion webhook for"));
  EXPECT_THAT((*files)["errors.txt"], Not(HasSubstr("not asked for")));
  EXPECT_THAT((*files)["objects/Namespace.yaml"], HasSubstr("name: " + ns_));
}

// G13: values are left out of what objects say, and not of what they are.
TEST_F(DestroyTest, CollectsWhatObjectsAreCalled) {
  Put("00_account.yaml",
      "{apiVersion: v1, kind: Secret, metadata: {name: account, namespace: @, annotations: "
      "{operator.cluster.x-k8s.io/fill-in: 'CLOUD_USER,N,X_TOKEN,W'}}, stringData: {a: '${CLOUD_USER} ${N} ${X_TOKEN} "
      "${W}'}}");
  MakeCluster("named");
  Make("{apiVersion: v1, kind: Secret, metadata: {name: account, namespace: @}}");
  Make(
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: named, namespace: "
      "@}, spec: {user: '@', said: long-one TOKEN}}");
  kube::Object failed = Live("DockerCluster", "named").value();
  Ensure(failed.json(), {"status", "conditions"}) =
      Json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "No"}, {"message", "no user " + ns_}}});
  const auto resource = client_->mapper().For(ctx_, {"infrastructure.cluster.x-k8s.io", "DockerCluster"}).value();
  ASSERT_TRUE(client_->Update(ctx_, resource, failed, {.subresource = "status"}).ok());
  Outcome outcome = Local({"collect", "--manifests", folder_ / "m", "-o", folder_ / "all.tar.gz"},
                          {{"CLOUD_USER", ns_}, {"N", "named"}, {"X_TOKEN", "long-one"}, {"W", "TOKEN"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT((*files)["objects/DockerCluster.infrastructure.cluster.x-k8s.io.yaml"],
              AllOf(HasSubstr("namespace: " + ns_), HasSubstr("name: named"), HasSubstr("user: ${CLOUD_USER}"),
                    HasSubstr("said: ${X_TOKEN} ${W}\n")));
  EXPECT_THAT((*files)["objects/secret-names.txt"], HasSubstr(ns_ + "/account\n"));
  EXPECT_THAT((*files)["conditions.txt"],
              HasSubstr("DockerCluster " + ns_ + "/named  Ready=False  No  no user ${CLOUD_USER}\n"));
  EXPECT_THAT((*files)["clusters.txt"], HasSubstr("Cluster/named"));
}

TEST_F(DestroyTest, CollectsObjectsAndNoSecrets) {
  MakeCluster("my");
  Make("{apiVersion: v1, kind: Secret, metadata: {name: account, namespace: @}, stringData: {a: hidden-value}}");
  Outcome outcome = Local({"collect", "-o", folder_ / "all.tar.gz"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, (folder_ / "all.tar.gz") + "\n");
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT((*files)["objects/Cluster.cluster.x-k8s.io.yaml"], HasSubstr("namespace: " + ns_));
  EXPECT_THAT((*files)["objects/secret-names.txt"], HasSubstr(ns_ + "/account\n"));
  EXPECT_THAT(archive, Not(HasSubstr(Base64Encode("hidden-value"))));
}

}  // namespace
}  // namespace capi::cli::local_clusters
