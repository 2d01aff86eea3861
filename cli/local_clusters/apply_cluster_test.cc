// G11 and G12 on a real API server, whose controllers the test plays.
#include <gmock/gmock.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <sstream>

#include "base/encoding.h"
#include "cli/local_clusters/cluster_testing.h"
#include "fetch/archives/tar.h"

namespace capi::cli::local_clusters {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ApplyTest : public ApplyingTest {};

// The files alone say what is applied, whoever edited them; a reference gets its value, which stays in no file.
TEST_F(ApplyTest, FillsCredentialsIn) {
  Put("00_other_secret.yaml",
      "{apiVersion: v1, kind: Secret, metadata: {name: account, namespace: @, annotations: "
      "{operator.cluster.x-k8s.io/fill-in: X_TOKEN}}, stringData: {token: '${X_TOKEN}', script: '${HOME}'}}");
  Put("02_infrastructure.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @, "
      "annotations: {operator.cluster.x-k8s.io/fill-in: X_TOKEN}}, spec: {token: '${X_TOKEN}'}}");
  PlayControllers(Provision, Provision);
  Outcome outcome = Apply({}, {{"X_TOKEN", "hidden-token"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto secret = Live("Secret", "account");
  ASSERT_TRUE(secret.ok());
  EXPECT_EQ(Base64Decode(GetString(secret->json(), {"data", "token"})).value(), "hidden-token");
  EXPECT_EQ(Base64Decode(GetString(secret->json(), {"data", "script"})).value(), "${HOME}");
  EXPECT_FALSE(secret->has_annotation("operator.cluster.x-k8s.io/fill-in"));
  EXPECT_EQ(GetString(Live("DockerCluster", "my")->json(), {"spec", "token"}), "hidden-token");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string text = ReadFile(entry.path()).value();
    EXPECT_THAT(text, Not(HasSubstr("hidden-token"))) << entry.path();
    EXPECT_THAT(text, Not(HasSubstr(Base64Encode("hidden-token")))) << entry.path();
  }
  EXPECT_THAT(Text("m/applied/02_infrastructure.yaml"), HasSubstr("token: ${X_TOKEN}"));
  // G13: nor in what is handed on.
  outcome =
      Local({"collect", "--manifests", folder_ / "m", "-o", folder_ / "all.tar.gz"}, {{"X_TOKEN", "hidden-token"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string archive = Gunzip(ReadFile(folder_ / "all.tar.gz").value(), 64u << 20).value();
  EXPECT_THAT(archive, HasSubstr("token: ${X_TOKEN}"));
  EXPECT_THAT(archive, Not(HasSubstr("hidden-token")));
}

// G13: Ctrl-C is nobody's failure that has to be looked into.
TEST_F(ApplyTest, CtrlCLeavesNoArchive) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static_cast<void>(WriteFile(folder_ / "err", Apply().err));
    _exit(0);
  }
  EXPECT_TRUE(kube::Eventually([&] { return Live("DockerCluster", "my").ok(); })) << "it waits for this one";
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_THAT(Text("err"),
              AllOf(HasSubstr("Stage infrastructure"), HasSubstr("interrupted"), Not(HasSubstr("collected"))));
  EXPECT_THAT(Archives(), IsEmpty());
}

// G12: what is read of a cluster while a command waits, and what of it is hidden.
TEST_F(ApplyTest, TheTreeIsDrawnOnATerminal) {
  kube::ApplyYaml(*client_, ReplaceAll(kCluster + std::string("\n---\n") + kDocker, "@", ns_));
  std::ostringstream out;
  LiveLines lines(out, 200);
  ClusterWatch watch(*client_, lines, true);
  watch.Without(Hider(FilledIn{{"KIND", "DockerCluster"}, {"X_TOKEN", "hidden-token"}, {"W", "TOKEN"}}));
  auto judge = [](const ClusterState&) { return Verdict{false, "the words hidden-token of somebody", ""}; };
  const Context ctx = ctx_.WithTimeout(Seconds(1));
  EXPECT_EQ(watch.Await(ctx, {{ns_, "my"}}, judge, "machines").code(), Code::kDeadlineExceeded);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("Cluster/my"), HasSubstr("  ClusterInfrastructure - DockerCluster/my"),
                    HasSubstr("machines: waiting. the words ${X_TOKEN} of somebody"), Not(HasSubstr("hidden-token"))));
  // Of many Clusters some, and the reason of each that can't be read.
  out.str("");
  std::vector<ClusterName> many(30, {ns_, "none"});
  EXPECT_EQ(watch.Await(ctx_.WithTimeout(Seconds(1)), many, judge, "machines").code(), Code::kDeadlineExceeded);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("Cluster " + ns_ + "/none: "), HasSubstr("and 10 lines more")));
}

// A Cluster's infrastructure comes of its class once all of it is there, machines' templates too.
TEST_F(ApplyTest, AClassIsAppliedWithItsTemplates) {
  Put("00_topology_clusterclass_c.yaml",
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: ClusterClass, metadata: {name: c, namespace: @}, spec: {}}");
  Put("00_topology_dockermachinetemplate_t.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerMachineTemplate, metadata: {name: t, "
      "namespace: @}, spec: {}}");
  Put("01_cluster.yaml",
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: my, namespace: @}, spec: {topology: "
      "{classRef: {name: c}}}}");
  std::filesystem::remove(folder_ / "m/02_infrastructure.yaml");
  std::filesystem::remove(folder_ / "m/10_machines.yaml");
  PlayControllers(
      [this](kube::Object& cluster) {
        if (!Live("DockerMachineTemplate", "t").ok()) return;
        Provision(cluster);
        Ensure(cluster.json(), {"status", "initialization", "controlPlaneInitialized"}) = true;
        Ensure(cluster.json(), {"status", "conditions"}) =
            Json::array({{{"type", "TopologyReconciled"}, {"status", "True"}}});
      },
      Provision);
  Outcome outcome = Apply({"--timeout", "infrastructure=30s", "--timeout", "machines=30s", "--no-collect"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // The topology's machines are wanted, too, though no manifest has what makes them.
  kube::ApplyYaml(*client_,
                  ReplaceAll("{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, metadata: {name: "
                             "md, namespace: @, labels: {cluster.x-k8s.io/cluster-name: my}}, spec: "
                             "{replicas: 1}}",
                             "@", ns_));
  outcome = Apply({"--timeout", "machines=2s", "--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("MachineDeployment " + ns_ + "/md: 0 of 1 machines are there"));
}

// G11: what people mend is applied, and given its time, whatever an older object says.
TEST_F(ApplyTest, GoesOnAfterAFailureThatWasMended) {
  const std::string deployment =
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, metadata: {name: md, namespace: @, labels: "
      "{cluster.x-k8s.io/cluster-name: my}}, spec: {clusterName: my, flavor: SIZE}}";
  kube::ApplyYaml(*client_, ReplaceAll("{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: old, "
                                       "namespace: @, labels: {cluster.x-k8s.io/cluster-name: my}}, spec: {}}",
                                       "@", ns_));
  Put("10_machines.yaml", ReplaceAll(deployment, "SIZE", "huge"));
  // The controller replaces the machine once it has another size.
  PlayControllers(Provision, [this](kube::Object& machine) {
    auto maker = Live("MachineDeployment", "md");
    if (!maker.ok()) return;
    if (GetString(maker->json(), {"spec", "flavor"}) == "huge") {
      Ensure(machine.json(), {"status", "failureReason"}) = "CreateError";
    } else {
      static_cast<void>(client_->Delete(ctx_, MachineResource(), ns_, machine.name()));
    }
  });
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stage machines: machines: Machine " + ns_ + "/old has failed: CreateError"));
  // Nothing is changed: nothing becomes better.
  outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stage machines: machines: Machine " + ns_ + "/old has failed: CreateError"));
  Put("10_machines.yaml", ReplaceAll(deployment, "SIZE", "small"));
  outcome = Apply({"--no-collect", "--timeout", "machines=30s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// G11: the same of an object whose file names no namespace.
TEST_F(ApplyTest, GoesOnAfterAFailureOfTheCurrentNamespace) {
  ns_ = "default";
  kube::ApplyYaml(*client_, ReplaceAll(kDocker, "@", ns_));
  kube::Object failed = Live("DockerCluster", "my").value();
  Ensure(failed.json(), {"status", "failureReason"}) = "CreateError";
  const kube::Resource resource =
      client_->mapper().For(ctx_, {"infrastructure.cluster.x-k8s.io", "DockerCluster"}).value();
  ASSERT_TRUE(client_->Update(ctx_, resource, failed, {.subresource = "status"}).ok());
  Put("01_cluster.yaml", ReplaceAll(kCluster, ", namespace: @", ""));
  std::filesystem::remove(folder_ / "m/10_machines.yaml");
  kube::ApplyYaml(*client_, ReplaceAll(kCluster, "@", ns_));
  auto expect = [&](const char* region, const char* words) {
    Put("02_infrastructure.yaml",
        ReplaceAll(ReplaceAll(kDocker, ", namespace: @", ""), "region: a", std::string("region: ") + region));
    Outcome outcome = Apply({"--no-collect", "--timeout", "infrastructure=2s"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(words)) << region;
  };
  expect("a", "DockerCluster default/my has failed");
  expect("b", "InfrastructureReady isn't");
  // That the run makes the Cluster is a change, too.
  ASSERT_TRUE(client_->Delete(ctx_, ClusterResource(), ns_, "my").ok());
  expect("b", "InfrastructureReady isn't");
  ASSERT_TRUE(client_->Delete(ctx_, resource, ns_, "my").ok());
  ASSERT_TRUE(client_->Delete(ctx_, ClusterResource(), ns_, "my").ok());
}

// G11: a Secret has no generation; its change counts all the same.
TEST_F(ApplyTest, GoesOnAfterACredentialWasMended) {
  Put("00_other_secret.yaml",
      "{apiVersion: v1, kind: Secret, metadata: {name: account, namespace: @, annotations: "
      "{operator.cluster.x-k8s.io/fill-in: X_TOKEN}}, stringData: {token: '${X_TOKEN}'}}");
  PlayControllers(
      [this](kube::Object& cluster) {
        auto secret = Live("Secret", "account");
        const bool right = secret.ok() && GetString(secret->json(), {"data", "token"}) == Base64Encode("right");
        if (right) {
          cluster.json()["status"].erase("failureReason");
          cluster.json()["status"].erase("failureMessage");
          Provision(cluster);
        } else {
          Ensure(cluster.json(), {"status", "failureReason"}) = "CreateError";
          Ensure(cluster.json(), {"status", "failureMessage"}) = "the cloud refuses wrong-token";
        }
      },
      Provision);
  for (int run = 0; run < 2; ++run) {
    Outcome outcome = Apply({"--no-collect"}, {{"X_TOKEN", "wrong-token"}});
    EXPECT_EQ(outcome.code, 1);
    // What a provider repeats of a value isn't printed.
    EXPECT_THAT(outcome.err, HasSubstr("has failed: CreateError: the cloud refuses ${X_TOKEN}"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("wrong-token")));
  }
  Outcome outcome = Apply({"--no-collect", "--timeout", "infrastructure=30s"}, {{"X_TOKEN", "right"}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// G11: nor what the API server does where it refuses an object.
TEST_F(ApplyTest, ARefusalHasNoValue) {
  Put("02_infrastructure.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @, "
      "labels: {token: '${X_TOKEN}'}, annotations: {operator.cluster.x-k8s.io/fill-in: X_TOKEN}}}");
  Outcome outcome = Apply({"--no-collect"}, {{"X_TOKEN", "hidden token"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("02_infrastructure.yaml:1: DockerCluster"), HasSubstr("Invalid value"),
                                 HasSubstr("${X_TOKEN}"), Not(HasSubstr("hidden token"))));
}

// G11: before anything is applied, and before a hook works for nobody.
TEST_F(ApplyTest, AClusterThatGoesIsToldFirst) {
  kube::ApplyYaml(*client_, ReplaceAll(ReplaceAll(kCluster, "name: my,", "name: my, finalizers: [a.b/c],"), "@", ns_));
  ASSERT_TRUE(client_->Delete(ctx_, ClusterResource(), ns_, "my").ok());
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stage infrastructure: Cluster " + ns_ + "/my is being deleted"));
  EXPECT_EQ(Live("DockerCluster", "my").code(), Code::kNotFound);
  kube::Object cluster = Live("Cluster", "my").value();
  cluster.json()["metadata"].erase("finalizers");
  ASSERT_TRUE(client_->Update(ctx_, ClusterResource(), cluster).ok());
}

// G11: one that a move has paused, say, is its target's by now.
TEST_F(ApplyTest, AClusterThatIsPausedIsToldFirst) {
  PutHook("pre-provision", "touch " + (folder_ / "called"));
  kube::ApplyYaml(*client_, ReplaceAll(ReplaceAll(kCluster, "spec: {", "spec: {paused: true, "), "@", ns_));
  Outcome outcome = Apply({"--no-collect", "--timeout", "infrastructure=5s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stage pre-provision: Cluster " + ns_ + "/my is paused"));
  EXPECT_FALSE(ReadFile(folder_ / "called").ok());
  std::filesystem::remove_all(folder_ / "m/hooks");
  outcome = Apply({"--no-collect", "--timeout", "infrastructure=5s"});
  EXPECT_THAT(outcome.err, HasSubstr("stage infrastructure: Cluster " + ns_ + "/my is paused"));
  EXPECT_EQ(Live("DockerCluster", "my").code(), Code::kNotFound);
  // The manifest says what is wanted.
  Put("01_cluster.yaml", ReplaceAll(kCluster, "spec: {", "spec: {paused: false, "));
  PlayControllers(Provision, Provision);
  outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// G11: what names no namespace is of the current one.
TEST_F(ApplyTest, AnObjectThatIsThereTwiceIsRefused) {
  Put("03_twin.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: twin, namespace: default}}");
  Put("04_twin.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: twin}}");
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("04_twin.yaml:1: ConfigMap/default/twin is in 03_twin.yaml:1, too"));
  EXPECT_EQ(Live("Cluster", "my").code(), Code::kNotFound);
}

// G11, G13: at once, and not at the end of the stage's time; and what helps to find out why is collected.
TEST_F(ApplyTest, ATerminalFailureEndsAStageAtOnce) {
  Put("02_infrastructure.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @, "
      "annotations: {operator.cluster.x-k8s.io/fill-in: X_TOKEN}}, spec: {token: '${X_TOKEN}'}}");
  PlayControllers(Provision, [](kube::Object& machine) {
    Ensure(machine.json(), {"status", "deprecated", "v1beta1", "failureReason"}) = "CreateError";
    Ensure(machine.json(), {"status", "deprecated", "v1beta1", "failureMessage"}) = "no quota";
    Ensure(machine.json(), {"status", "conditions"}) =
        Json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "Failed"}, {"message", "no quota"}}});
  });
  const MonoTime begun = SystemClock().Monotonic();
  Outcome outcome = Apply({}, {{"X_TOKEN", "hidden-token"}});
  EXPECT_LT(SystemClock().Monotonic() - begun, Seconds(60));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("stage machines: machines: Machine " + ns_ + "/my-0 has failed: CreateError: no quota"));
  EXPECT_THAT(Text("m/applied/10_machines.yaml"), HasSubstr("no quota"));
  ASSERT_THAT(Archives(), SizeIs(1));
  const std::string archive = Gunzip(ReadFile(Archives()[0]).value(), 64u << 20).value();
  auto files = fetch::ReadTar(archive);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT((*files)["conditions.txt"], HasSubstr("Machine " + ns_ + "/my-0  Ready=False  Failed  no quota"));
  EXPECT_THAT((*files)["objects/Machine.cluster.x-k8s.io.yaml"], HasSubstr("my-0"));
  EXPECT_THAT((*files)["objects/secret-names.txt"], HasSubstr(ns_ + "/my-boot\n"));
  EXPECT_THAT((*files)["clusters.txt"], HasSubstr("Cluster/my"));
  EXPECT_THAT(archive, Not(HasSubstr(Base64Encode("from-a-file"))));
  EXPECT_THAT(archive, Not(HasSubstr("from-a-file")));
  EXPECT_THAT(archive, AllOf(HasSubstr("token: ${X_TOKEN}"), Not(HasSubstr("hidden-token"))));
}

TEST_F(ApplyTest, AStageEndsWithItsTimeAndSaysWhatItWaitsFor) {
  PlayControllers(
      [](kube::Object& cluster) {
        Ensure(cluster.json(), {"status", "conditions"}) = Json::array(
            {{{"type", "InfrastructureReady"}, {"status", "False"}, {"reason", "NotYet"}, {"message", "no network"}}});
      },
      NoPlay);
  Outcome outcome = Apply({"--timeout", "infrastructure=2s", "--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stage infrastructure"), HasSubstr("not done after"),
                                 HasSubstr("InfrastructureReady is False: NotYet: no network")));
  EXPECT_THAT(Archives(), IsEmpty());
  EXPECT_FALSE(Live("Machine", "my-0").ok()) << "machines wait for the infrastructure";
  EXPECT_THAT(Text("m/applied/02_infrastructure.yaml"), HasSubstr("uid:"));
}

TEST_F(ApplyTest, AMachineWithoutItsBootstrapSecretIsToldBeforeItIsMade) {
  Put("10_machines.yaml", kMachine);
  PlayControllers(Provision, Provision);
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("names the bootstrap Secret " + ns_ + "/my-boot, which is neither"));
  EXPECT_FALSE(Live("Machine", "my-0").ok());
}

TEST_F(ApplyTest, WaitsForAConditionOfACluster) {
  client_
      ->Create(ctx_, ClusterResource(),
               kube::Object(Json{{"apiVersion", "cluster.x-k8s.io/v1beta2"},
                                 {"kind", "Cluster"},
                                 {"metadata", {{"name", "my"}, {"namespace", ns_}}}}))
      .value();
  Outcome outcome = Local({"wait", "my", "-n", ns_, "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("Available=True: not done after"), HasSubstr("/my: Available isn't reported")));
  outcome = Local({"wait", "none", "-n", ns_});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Cluster " + ns_ + "/none isn't there"));
  PlayControllers(
      [](kube::Object& cluster) {
        Ensure(cluster.json(), {"status", "conditions"}) = Json::array({{{"type", "Available"}, {"status", "True"}}});
      },
      NoPlay);
  outcome = Local({"wait", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Cluster " + ns_ + "/my: Available=True\n");
  // G12: an outage is waited out, and it is said, without a terminal too.
  std::atomic<int> looks = 0;
  auto proxy = Through([&](const kube::ProxyRequest& request) {
    const bool one = request.target.find("/clusters/my") != std::string::npos;
    return one && ++looks <= 6 ? kube::Fault{.drop = true} : kube::Fault{};
  });
  outcome = Local({"wait", "my", "-n", ns_});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(looks, 6);
  EXPECT_THAT(outcome.err, HasSubstr("Waiting: Available=True: "));
}

}  // namespace
}  // namespace capi::cli::local_clusters
