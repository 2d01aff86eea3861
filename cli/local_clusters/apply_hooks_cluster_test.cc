// G11 on a real API server: hooks, and bootstrap Secrets, which one of them makes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/encoding.h"
#include "cli/local_clusters/cluster_testing.h"

namespace capi::cli::local_clusters {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ApplyHooksTest : public ApplyingTest {};

TEST_F(ApplyHooksTest, GoesThroughItsStagesWithHooks) {
  const std::string log = folder_ / "log";
  PutHook("pre-provision", "cat >" + (folder_ / "all") + "; echo pre >>" + log +
                               "; echo '{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, "
                               "metadata: {name: my, namespace: @}, spec: {region: b}}'");
  PutHook("infra-ready", "cat >" + (folder_ / "infra") + "; echo $CLUSTERCTL_STAGE $CLUSTERCTL_CLUSTERS >>" + log +
                             "; test -r $KUBECONFIG; echo some words");
  PutHook("ignition", "cat >" + (folder_ / "ignition") + "; echo ignition >>" + log +
                          "; echo '{apiVersion: v1, kind: Secret, metadata: {name: my-boot, namespace: @}, stringData: "
                          "{value: from-the-hook}}'");
  PutHook("post-provision", "cat >" + (folder_ / "post") + "; echo post >>" + log);
  PlayControllers(Provision, Provision);
  Outcome outcome = Apply();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Text("log"), "pre\ninfra-ready " + ns_ + "/my\nignition\npost\n");
  EXPECT_EQ(GetString(Live("DockerCluster", "my")->json(), {"spec", "region"}), "b");
  EXPECT_EQ(BootData(), "from-the-hook");
  EXPECT_THAT(Text("all"), AllOf(HasSubstr(R"("kind":"Machine")"), HasSubstr("from-a-file")));
  EXPECT_THAT(Text("infra"),
              AllOf(HasSubstr(R"("infrastructureProvisioned":true)"), Not(HasSubstr(R"("kind":"Machine")"))));
  EXPECT_THAT(Text("ignition"),
              AllOf(HasSubstr("from-a-file"), HasSubstr(R"("kind":"Machine")"), HasSubstr(R"("uid":)")));
  EXPECT_THAT(Text("post"), HasSubstr(R"("kind":"Machine")"));
  EXPECT_THAT(outcome.err, HasSubstr("some words"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("from-")));
  EXPECT_THAT(outcome.out, HasSubstr("Cluster " + ns_ +
                                     "/my is made. To wait until it is available: clusterctl local "
                                     "wait my -n " +
                                     ns_ + " --kubeconfig " + kube::ControlPlane::Shared(false).kubeconfig() + "\n"));
  // Written back: as the cluster has them, without what is secret.
  EXPECT_THAT(Text("m/applied/01_cluster.yaml"), HasSubstr("infrastructureProvisioned: true"));
  EXPECT_THAT(Text("m/applied/10_machines.yaml"), AllOf(HasSubstr("name: my-boot"), Not(HasSubstr("ZnJvbS"))));
  EXPECT_THAT(Text("m/02_infrastructure.yaml"), HasSubstr("region: a"));

  // Once more: the machine has begun with its Secret.
  const std::string version = Live("Machine", "my-0")->resource_version();
  outcome = Apply();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(Text("log"), Not(HasSubstr("ignition\npost\npre\ninfra-ready " + ns_ + "/my\nignition")));
  EXPECT_EQ(Live("Machine", "my-0")->resource_version(), version);
}

// G1: what a hook's programs write into their kubeconfig (`kind create cluster`) leads no `local` command elsewhere.
TEST_F(ApplyHooksTest, AHookWritesIntoACopyOfThePlanesKubeconfig) {
  const std::string own = ReadFile(kube::ControlPlane::Shared(false).kubeconfig()).value();
  folder_.Put("plane/pki/kubeconfig", own);
  PutHook("pre-provision", "cat >/dev/null; cat $KUBECONFIG >" + (folder_ / "seen") + "; echo other >$KUBECONFIG");
  PlayControllers(Provision, Provision);
  const Outcome outcome = Clusterctl({"local", "apply", folder_ / "m", "--no-collect", "--dir", folder_ / "plane"},
                                     {{"HOME", folder_.path()}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Text("seen"), own);
  EXPECT_EQ(Text("plane/pki/kubeconfig"), own);
  EXPECT_EQ(ListDir(folder_ / "plane/pki").value().size(), 1u) << "the copy went with its hook";
}

// G11: a second run goes on where the first one ended, with machines that are there and others that aren't.
TEST_F(ApplyHooksTest, ASecondRunMakesTheMachinesThatAreMissing) {
  const std::string second = ReplaceAll(ReplaceAll(kMachine, "my-0", "my-1"), "my-boot", "my-more");
  const std::string printed =
      "echo '{apiVersion: v1, kind: Secret, metadata: {name: NAME, namespace: @}, stringData: {value: hooked}}'";
  Put("10_machines.yaml", kMachine);
  PutHook("ignition", ReplaceAll(printed, "NAME", "my-boot"));
  PlayControllers(Provision, Provision);
  Outcome outcome = Apply({"--no-collect"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(Text("m/applied/10_machines_secret_my-boot.yaml"), AllOf(HasSubstr("uid:"), Not(HasSubstr("\ndata:"))));
  // People remove such a Secret once its machine runs.
  ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin("Secret"), ns_, "my-boot").ok());
  Put("10_machines.yaml", kMachine + std::string("\n---\n") + second);
  PutHook("ignition", "cat >" + (folder_ / "given") + "; " + ReplaceAll(printed, "NAME", "my-boot") + "; echo ---; " +
                          ReplaceAll(printed, "NAME", "my-more"));
  outcome = Apply({"--no-collect"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(Text("given"), AllOf(HasSubstr(R"("name":"my-1")"), Not(HasSubstr(R"("name":"my-0")"))));
  EXPECT_TRUE(Live("Secret", "my-more").ok());
  EXPECT_EQ(Live("Secret", "my-boot").code(), Code::kNotFound);
  EXPECT_TRUE(Live("Machine", "my-1").ok());
  // What the hook has made stays written back when it isn't called any more.
  outcome = Apply({"--no-collect"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the hook ignition isn't called"));
  EXPECT_THAT(Text("m/applied/10_machines_secret_my-more.yaml"), AllOf(HasSubstr("uid:"), Not(HasSubstr("\ndata:"))));
}

// G11: what makes machines reads their Secret for each new one.
TEST_F(ApplyHooksTest, TheSecretOfWhatMakesMachinesIsAppliedAgain) {
  Put("10_machines.yaml",
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, metadata: {name: md, namespace: @, labels: "
      "{cluster.x-k8s.io/cluster-name: my}}, spec: {clusterName: my, template: {spec: {bootstrap: {dataSecretName: "
      "my-boot}}}}}\n---\n" +
          std::string(kBoot));
  PlayControllers(Provision, NoPlay);
  ASSERT_EQ(Apply({"--no-collect"}).code, 0);
  EXPECT_EQ(BootData(), "from-a-file");
  Put("10_machines.yaml", ReplaceAll(Text("m/10_machines.yaml"), "from-a-file", "edited"));
  ASSERT_EQ(Apply({"--no-collect"}).code, 0);
  EXPECT_EQ(BootData(), "edited");
  // One that is lost would keep the next machine for ever.
  Put("10_machines.yaml", ReplaceAll(Text("m/10_machines.yaml"), "name: my-boot,", "name: other,"));
  ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin("Secret"), ns_, "my-boot").ok());
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("names the bootstrap Secret " + ns_ + "/my-boot, which is neither"));
  PutHook("ignition",
          "echo '{apiVersion: v1, kind: Secret, metadata: {name: my-boot, namespace: @}, stringData: "
          "{value: hooked}}'");
  outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(BootData(), "hooked");
  // A hook that finds its work done leaves it, whatever first guess the manifests have.
  Put("10_machines.yaml", ReplaceAll(Text("m/10_machines.yaml"), "name: other,", "name: my-boot,"));
  PutHook("ignition", "cat >" + (folder_ / "given"));
  outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(BootData(), "hooked");
  EXPECT_THAT(outcome.err, HasSubstr("Secret " + ns_ + "/my-boot stays as the cluster has it"));
  // What it prints of them is applied.
  PutHook("ignition", "grep '\"kind\":\"Secret\"'");
  outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(BootData(), "edited");
}

// G11: nor what a hook says of what it was given.
TEST_F(ApplyHooksTest, WordsOfAHookHaveNoValue) {
  Put("02_infrastructure.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @, "
      "annotations: {operator.cluster.x-k8s.io/fill-in: 'X_TOKEN,X_KEY'}}, spec: {token: '${X_TOKEN}', key: "
      "'${X_KEY}'}}");
  PutHook("pre-provision", "printf 'a hidden-' >&2; printf 'token of one' >&2");
  PutHook("infra-ready", "cat; cat $0 >&2");
  PlayControllers(Provision, Provision);
  const std::string account =
      "{\"type\": \"an 'account'\", \"key\": \"" + std::string(60, 'k') + "\", \"more\": \"last\"}";
  for (const std::string& key : {std::string("key-of-one-line"), std::string("key-of\ntwo-lines"), account}) {
    Outcome outcome = Apply({"--no-collect"}, {{"X_TOKEN", "hidden-token"}, {"X_KEY", key}});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("a ${X_TOKEN} of one"), HasSubstr(R"("token":"${X_TOKEN}")"),
                                   HasSubstr(R"("key":"${X_KEY}")"), HasSubstr("#!/bin/sh\n")));
    for (const char* part : {"hidden", "key-of", "two-lines", "account", "kkk", "last\\\""})
      EXPECT_THAT(outcome.err, Not(HasSubstr(part)));
  }
}

// G11: a hook that says very much before it ends.
TEST_F(ApplyHooksTest, ManyWordsOfAHookHaveNoValue) {
  Put("02_infrastructure.yaml",
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @, "
      "annotations: {operator.cluster.x-k8s.io/fill-in: 'X_TOKEN,X_KEY'}}, spec: {token: '${X_TOKEN}', key: "
      "'${X_KEY}'}}");
  PutHook("pre-provision", "yes hidden-token | head -n 400000 >&2; exit 1");
  Outcome outcome = Apply({"--no-collect"}, {{"X_TOKEN", "hidden-token"}, {"X_KEY", "key-of\ntwo-lines"}});
  EXPECT_EQ(outcome.code, 1);
  size_t lines = 0;
  for (const std::string& line : Split(outcome.err, '\n')) lines += line == "${X_TOKEN}";
  EXPECT_EQ(lines, 400000u);
}

// G11: somebody pauses it while the hook before works.
TEST_F(ApplyHooksTest, AHookIsNotCalledForAClusterThatIsPaused) {
  const std::string began = folder_ / "began", told = folder_ / "told";
  ASSERT_EQ(mkfifo(told.c_str(), 0600), 0);
  const int pipe = open(told.c_str(), O_RDWR | O_CLOEXEC);
  PutHook("infra-ready", "touch " + began + "; read -r line <" + told);
  bool paused = false;
  PutHook("ignition", "touch " + (folder_ / "called"));
  PlayControllers(
      [&](kube::Object& cluster) {
        Provision(cluster);
        if (!ReadFile(began).ok() || paused) return;
        kube::ApplyYaml(*client_, ReplaceAll(ReplaceAll(kCluster, "name: my,",
                                                        "name: my, annotations: {cluster.x-k8s.io/paused: ''},"),
                                             "@", ns_));
        paused = write(pipe, "\n", 1) == 1;
      },
      NoPlay);
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stage ignition: Cluster " + ns_ + "/my is paused"));
  EXPECT_FALSE(ReadFile(folder_ / "called").ok());
  close(pipe);
}

TEST_F(ApplyHooksTest, AHookThatFailsEndsTheRun) {
  PutHook("pre-provision", "echo not today >&2; exit 4");
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("not today"), HasSubstr("stage pre-provision"), HasSubstr("exit code 4")));
  EXPECT_FALSE(Live("Cluster", "my").ok());
}

// What a hook may not do stays undone.
TEST_F(ApplyHooksTest, AHookAddsNothing) {
  PutHook("pre-provision", "echo '{apiVersion: v1, kind: Secret, metadata: {name: more, namespace: @}}'");
  Outcome outcome = Apply({"--no-collect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("which is not among the manifests"));
}

}  // namespace
}  // namespace capi::cli::local_clusters
