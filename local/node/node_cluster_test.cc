// The node on a real API server, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/encoding.h"
#include "base/files.h"
#include "base/processes/process.h"
#include "base/testing/environment.h"
#include "base/testing/value_or_abort.h"
#include "kube/meta/health.h"
#include "kube/testing/control_plane.h"
#include "local/node/node_testing.h"
#include "local/node/objects/not_run.h"
#include "local/node/pod_status.h"
#include "local/node/services/listeners.h"

namespace capi::local {
namespace {

using kube::Builtin;
using kube::Eventually;
using testing::HasSubstr;

constexpr const char* kFolderVariable = "CAPI_TEST_NODE_FOLDER";
constexpr Seconds kLong{60};

// G4, G5, G6: what a release's Deployment asks for runs, on ports of its own, and everybody is told so.
TEST_F(NodeOnServer, MakesADeploymentAvailable) {
  StartNode();
  Apply(Manager("--say=hello, --leader-elect",
                "env: [{name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]"));
  AwaitHealthy();
  kube::Object deployment = Deployment();
  EXPECT_EQ(GetInt(deployment.json(), {"status", "availableReplicas"}), 1);
  auto pods = List("Pod");
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_TRUE(kube::HealthOf(pods[0]).ok());
  EXPECT_EQ(pods[0].json()["metadata"]["ownerReferences"][0]["uid"], deployment.uid());
  EXPECT_EQ(GetString(pods[0].json(), {"spec", "nodeName"}), kNodeName);
  EXPECT_EQ(Say("/say"), "hello");
  EXPECT_EQ(Say("/env/POD_NAMESPACE"), ns_);
  EXPECT_EQ(Say("/env/USER"), "<unset>") << "nothing of this program's environment";
  EXPECT_EQ(Container()["containerID"], "process://" + Say("/pid"));
  EXPECT_THAT(Say("/args"), HasSubstr("--leader-elect=false"));
  EXPECT_THAT(pods[0].annotation(kPortsAnnotation), HasSubstr("9443:"));
  auto log = ReadFile(node_->options().folder + "/" + ns_ + "_" + pods[0].name() + "/manager.log");
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, HasSubstr("serves"));
  auto node = client_->Get({}, Builtin("Node"), "", kNodeName);
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->json()["status"]["conditions"][0]["status"], "True");
  EXPECT_TRUE(Eventually([&] { return client_->Get({}, Builtin("Lease"), "kube-node-lease", kNodeName).ok(); }));
}

// G7: why a container doesn't stay up stands where a cluster would have it.
TEST_F(NodeOnServer, TellsOfACrashLoop) {
  StartNode();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: " + ns_ +
                                "}, stringData: {password: hunter22}}");
  Apply(R"(image: sh
        env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: s, key: password}}}]
        args: ["-c", "echo begins; echo cannot log in with $PASSWORD >&2; exit 3"])");
  Json container;  // as it waited: its next try begins within a second
  ASSERT_TRUE(Eventually(
      [&] {
        container = Container();  // its first wait is half a second, which is told as one, too
        return GetInt(container, {"restartCount"}) >= 1 &&
               GetString(container, {"state", "waiting", "message"}).starts_with("back-off 1s");
      },
      kLong))
      << Dump();
  EXPECT_EQ(GetString(container, {"state", "waiting", "reason"}), "CrashLoopBackOff");
  EXPECT_GE(GetInt(container, {"restartCount"}), 1);
  EXPECT_EQ(GetInt(container, {"lastState", "terminated", "exitCode"}), 3);
  EXPECT_EQ(GetString(container, {"lastState", "terminated", "message"}), "begins\ncannot log in with ***");
  EXPECT_TRUE(Eventually([&] { return !Healthy(); }, kLong));
}

// G4: an update keeps one serving from its first to its last moment.
TEST_F(NodeOnServer, UpdatesWithoutAGap) {
  StartNode();
  Apply(Manager("--say=old"));
  AwaitHealthy();
  Apply(Manager("--say=new"));
  std::string said;
  int asked = 0;
  bool updated = Eventually(
      [&] {
        said = Say("/say");
        ++asked;
        EXPECT_TRUE(said == "old" || said == "new") << said;
        return said == "new" && List("Pod").size() == 1;
      },
      kLong);
  ASSERT_TRUE(updated) << said << Dump();
  EXPECT_GT(asked, 1);
  AwaitHealthy();
}

// G4: Recreate, and a manager whose election isn't held here: never two of them.
TEST_F(NodeOnServer, RunsOneAloneWithoutItsElection) {
  StartNode();
  Apply(Manager("--say=alone-old, --leader-elect"));
  AwaitHealthy();
  Apply(Manager("--say=alone-new, --leader-elect"));
  bool updated = Eventually(
      [&] {
        bool both = !ProcessesWith("--say=alone-old").empty() && !ProcessesWith("--say=alone-new").empty();
        EXPECT_FALSE(both);
        return Say("/say") == "alone-new";
      },
      kLong);
  EXPECT_TRUE(updated) << Dump();
}

// G4: the operator pauses a provider by that.
TEST_F(NodeOnServer, ScalesToNoneAndBack) {
  StartNode();
  Apply(Manager());
  AwaitHealthy();
  int pid = std::stoi(Say("/pid"));
  Merge("Deployment", "d", {{"spec", {{"replicas", 0}}}});
  ASSERT_TRUE(Eventually([&] { return List("Pod").empty() && kill(pid, 0) != 0; }, kLong)) << Dump();
  EXPECT_TRUE(Eventually([&] { return GetInt(Deployment().json(), {"status", "replicas"}) == 0 && Healthy(); }));
  EXPECT_TRUE(Eventually([&] { return Say("/say") == "503 Service " + ns_ + "/d has no pods"; }));
  Merge("Deployment", "d", {{"spec", {{"replicas", 1}}}});
  ASSERT_TRUE(Eventually(
      [&] {
        return GetInt(Deployment().json(), {"status", "readyReplicas"}) == 1;
      },
      kLong))
      << Dump();
}

// G4: with its Deployment a Pod goes, though nobody collects garbage here; its files go with it.
TEST_F(NodeOnServer, EndsWhatIsDeleted) {
  StartNode();
  Apply(Manager());
  AwaitHealthy();
  int pid = std::stoi(Say("/pid"));
  std::string folder = node_->options().folder + "/" + ns_ + "_" + List("Pod")[0].name();
  EXPECT_TRUE(std::filesystem::exists(folder));
  ASSERT_TRUE(client_->Delete({}, Builtin("Deployment"), ns_, "d").ok());
  EXPECT_TRUE(Eventually([&] { return List("Pod").empty() && kill(pid, 0) != 0; }, kLong));
  EXPECT_TRUE(Eventually([&] { return !std::filesystem::exists(folder); }));
}

// G5: volumes of Secrets, which are waited for, and followed.
TEST_F(NodeOnServer, HasSecretsAsFiles) {
  StartNode();
  Apply(Manager("--config=/etc/secret/key", "volumeMounts: [{name: s, mountPath: /etc/secret}]"), "replicas: 1",
        "volumes: [{name: s, secret: {secretName: s}}]");
  ASSERT_TRUE(Eventually(
      [&] {
        return GetString(Container(), {"state", "waiting", "message"}) ==
               "volumes[name=s]: Secret " + ns_ + "/s isn't there";
      },
      kLong))
      << Dump();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: " + ns_ +
                                "}, stringData: {key: first}}");
  AwaitHealthy();
  EXPECT_EQ(Say("/config"), "first");
  Merge("Secret", "s", {{"data", {{"key", Base64Encode("second")}}}});
  EXPECT_TRUE(Eventually([&] { return Say("/config") == "second"; }, kLong));
}

// G5: what a process can't have is refused, and says where.
TEST_F(NodeOnServer, RefusesAVolumeThatNothingNames) {
  StartNode();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: " + ns_ + "}}");
  Apply(Manager("", "volumeMounts: [{name: s, mountPath: /etc/secret}]"), "replicas: 1",
        "volumes: [{name: s, secret: {secretName: s}}]");
  ASSERT_TRUE(Eventually(
      [&] {
        return GetString(Container(), {"state", "waiting", "reason"}) == "CreateContainerConfigError";
      },
      kLong))
      << Dump();
  EXPECT_THAT(GetString(Container(), {"state", "waiting", "message"}), HasSubstr("volumeMounts[name=s]"));
}

// G5: the process is who its ServiceAccount says, and no longer than its Pod is there.
TEST_F(NodeOnServer, GivesATokenThatTheServerTakes) {
  StartNode();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa, namespace: " + ns_ + "}}");
  Apply(Manager(), "replicas: 1", "serviceAccountName: sa");
  AwaitHealthy();
  std::string path = Say("/env/KUBECONFIG");
  auto config = kube::LoadConfig({.kubeconfig = path});
  ASSERT_TRUE(config.ok()) << config.error().message;
  auto own = ValueOrAbort(kube::Client::Connect(*config, {.user_agent = "test"}), "client");
  auto who = own->Raw({}, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                      R"({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})", "application/json");
  ASSERT_TRUE(who.ok()) << who.error().message;
  EXPECT_EQ(GetString(ValueOrAbort(ParseJson(*who), "review"), {"status", "userInfo", "username"}),
            "system:serviceaccount:" + ns_ + ":sa");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// G6, G7: a Service leads to those that are ready, as their own probes say; who isn't alive is started again.
TEST_F(NodeOnServer, FollowsProbes) {
  StartNode();
  std::string files = "'--unready-file=" + folder_.path() + "/unready', '--dead-file=" + folder_.path() + "/dead'";
  Touch("unready");
  Apply(
      "image: manager\n        readinessProbe: {httpGet: {path: /readyz, port: health}, periodSeconds: 1, "
      "failureThreshold: 1}\n"
      "        startupProbe: {httpGet: {path: /livez, port: health}, periodSeconds: 1, failureThreshold: 60}\n"
      "        livenessProbe: {httpGet: {path: /livez, port: health}, periodSeconds: 1, failureThreshold: 1}\n        "
      "args: [" +
      files + "]");
  ASSERT_TRUE(Eventually([&] { return Find(Container(), {"state", "running"}) != nullptr; }, kLong)) << Dump();
  EXPECT_EQ(Say("/say"), "503 Service " + ns_ + "/d has no pod that is ready");
  std::filesystem::remove(folder_.path() + "/unready");
  AwaitHealthy();
  std::string pid = Say("/pid");
  EXPECT_FALSE(pid.empty());
  Touch("unready");
  EXPECT_TRUE(Eventually([&] { return Say("/say").starts_with("503"); }));
  std::filesystem::remove(folder_.path() + "/unready");
  Touch("dead");
  ASSERT_TRUE(Eventually([&] { return GetInt(Container(), {"restartCount"}) >= 1; }, kLong)) << Dump();
  EXPECT_THAT(GetString(Container(), {"lastState", "terminated", "message"}), HasSubstr("livenessProbe failed"));
}

// G4: a program that takes long to be found keeps nobody else waiting, and says what it waits for; so does one that
// isn't there.
TEST_F(NodeOnServer, WaitsForAProgram) {
  StartNode();
  for (const char* image : {"slow", "missing"}) {
    kube::ApplyYaml(*client_,
                    std::string("{apiVersion: apps/v1, kind: Deployment, metadata: {name: ") + image +
                        ", namespace: " + ns_ +
                        "}, spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, "
                        "spec: {containers: [{name: m, image: " +
                        image + "}]}}}}");
  }
  Apply(Manager());
  AwaitHealthy();
  std::map<std::string, std::string> reasons;
  auto all = [&] {
    for (const kube::Object& pod : List("Pod")) {
      const Json* list = Find(pod.json(), {"status", "containerStatuses"});
      if (list == nullptr || list->empty()) continue;
      reasons[GetString((*list)[0], {"image"})] = GetString((*list)[0], {"state", "waiting", "reason"}) + ": " +
                                                  GetString((*list)[0], {"state", "waiting", "message"});
    }
    return reasons["slow"] == "Pulling: the program of image slow is looked for" &&
           reasons["missing"] == "ErrImagePull: no source has the image missing";
  };
  EXPECT_TRUE(Eventually(all, kLong)) << reasons["slow"] << "\n" << reasons["missing"];
}

// G3, G7: what the user passes on is in no status either; nor is it where a manager has told it over many lines.
TEST_F(NodeOnServer, TellsNoVariableOfTheUsers) {
  StartNode();
  Apply("image: sh\n        args: [\"-c\", \"echo my folder is $OF_NODE; exit 3\"]");
  ASSERT_TRUE(Eventually([&] { return Find(Container(), {"lastState", "terminated"}) != nullptr; }, kLong)) << Dump();
  EXPECT_EQ(GetString(Container(), {"lastState", "terminated", "message"}), "my folder is ***");
}

// G5: a port that another process has, and no flag leads elsewhere, is waited for, and nobody is taken for ready by
// that process's answers.
TEST_F(NodeOnServer, WaitsForAPortThatIsTaken) {
  const int port = ValueOrAbort(FreePort(), "a port");
  std::string number = std::to_string(port);
  auto other = ValueOrAbort(
      Process::Start({.argv = {"/bin/sh", "-c", "exec python3 -m http.server --bind 127.0.0.1 " + number}}), "server");
  ASSERT_TRUE(Eventually([&] { return ListenerOf(port).has_value(); }, kLong));
  StartNode();
  std::string own = "image: sh\n        args: [\"-c\", \"exec python3 -m http.server --bind 127.0.0.1 " + number +
                    "\"]\n" + "        readinessProbe: {tcpSocket: {port: " + number + "}}\n";
  Apply(own);
  const std::string expected =
      "port " + number + " of this machine is taken by process " + std::to_string(other->pid());
  auto waits = [&] { return GetString(Container(), {"state", "waiting", "message"}).starts_with(expected); };
  ASSERT_TRUE(Eventually(waits, kLong)) << Dump();
  EXPECT_FALSE(Healthy());
  other->Stop();
  AwaitHealthy();
  // An update of such a one ends the old process first.
  Apply(own + "        env: [{name: A, value: b}]");
  auto updated = [&] {
    auto pods = List("Pod");
    return pods.size() == 1 && Find(pods[0].json()["spec"]["containers"][0], {"env"}) != nullptr && Healthy();
  };
  EXPECT_TRUE(Eventually(updated, kLong)) << Dump();
}

// G3: what throws (a machine without threads, say) is begun again.
TEST_F(NodeOnServer, GoesOnAfterAnException) {
  StartNode();
  Apply("image: throws\n        readinessProbe: {httpGet: {path: /readyz, port: health}}");
  AwaitHealthy();
}

// G4: what isn't run here says so.
TEST_F(NodeOnServer, RunsDeploymentsAlone) {
  StartNode();
  ApplySet("set");
  AwaitNotRun("StatefulSet", {"set"});
}

// G4: of two kinds with one name each has its Pod, and keeps it when the other one goes.
TEST_F(NodeOnServer, TellsOfTwoKindsWithOneName) {
  StartNode();
  ApplySet("x");
  kube::ApplyYaml(*client_, "{apiVersion: batch/v1, kind: Job, metadata: {name: x, namespace: " + ns_ +
                                "}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: "
                                "manager}]}}}}");
  AwaitNotRun("StatefulSet", {"x"});
  AwaitNotRun("Job", {"x"});
  ASSERT_TRUE(client_->Delete({}, Builtin("Job"), ns_, "x").ok());
  ASSERT_TRUE(Eventually([&] { return List("Pod").size() == 1; }, kLong));
  AwaitNotRun("StatefulSet", {"x"});
}

// G4: also where a node ended between the Pod and its status, or the Pod is that of a former one with that name.
TEST_F(NodeOnServer, TellsOfWhatItDoesNotRunAfterAll) {
  for (const char* name : {"mine", "former"}) {
    kube::Object set = ApplySet(name);
    if (name == std::string("former")) set.json()["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000";
    ASSERT_TRUE(client_->Create({}, Builtin("Pod"), PodThatIsNotRun(set)).ok());
  }
  StartNode();
  AwaitNotRun("StatefulSet", {"former", "mine"});
}

// G4: a Pod that has the name by chance stays, with its owner and without.
TEST_F(NodeOnServer, LeavesPodsOfOthersAlone) {
  kube::Object set = ApplySet("mine");
  kube::Object others = PodThatIsNotRun(set);
  others.json()["metadata"].erase("ownerReferences");
  const kube::Object made = ValueOrAbort(client_->Create({}, Builtin("Pod"), others), "Pod");
  StartNode();
  ApplySet("next");
  AwaitNotRun("StatefulSet", {"next"});  // after the first
  auto uid = [&] { return ValueOrAbort(client_->Get({}, Builtin("Pod"), ns_, others.name()), "Pod").uid(); };
  EXPECT_EQ(uid(), made.uid());
  ASSERT_TRUE(client_->Delete({}, Builtin("StatefulSet"), ns_, "mine").ok());
  ASSERT_TRUE(client_->Delete({}, Builtin("StatefulSet"), ns_, "next").ok());
  ApplySet("last");
  AwaitNotRun("StatefulSet", {"last"});
  EXPECT_EQ(uid(), made.uid());
}

// G3, G4: in less than two seconds all processes have ended, also one that doesn't listen, and no Secret's value is
// left.
TEST_F(NodeOnServer, EndsWithAllThatItStarted) {
  StartNode();
  kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: " + ns_ +
                                "}, stringData: {key: hunter22}}");
  Apply(Manager("--config=/etc/secret/key, --deaf", "volumeMounts: [{name: s, mountPath: /etc/secret}]"), "replicas: 2",
        "volumes: [{name: s, secret: {secretName: s}}]");
  AwaitHealthy();
  EXPECT_EQ(ProcessesWith("OF_NODE=" + folder_.path()).size(), 2u);
  EXPECT_LT(node_->Stop(), Seconds(2));
  EXPECT_TRUE(ProcessesWith("OF_NODE=" + folder_.path()).empty());
  EXPECT_FALSE(std::filesystem::exists(node_->options().volumes));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(*ReadFile(entry.path().string()), testing::Not(HasSubstr("hunter22"))) << entry.path();
  }
  EXPECT_EQ(List("Pod").size(), 2u) << "the next node runs them again";
}

// Not a test: the node of the next one, in a process of its own that is killed.
TEST(NodeProcess, DISABLED_RunsUntilItIsKilled) {
  auto config = ValueOrAbort(kube::LoadConfig({}), "kubeconfig");
  auto client = ValueOrAbort(kube::Client::Connect(config, {.user_agent = "test"}), "client");
  RunningNode node(EnvironmentVariable(kFolderVariable), *client);
  Context{}.clock->Sleep({}, Seconds(600));
}

// G3, G4: with a node that is killed its processes end; the next one runs the Pods that are there, and leaves nothing
// of those that went meanwhile.
TEST_F(NodeOnServer, TakesOverFromOneThatWasKilled) {
  ProcessOptions other{.argv = {"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=NodeProcess.*"}};
  other.environment = {"KUBECONFIG=" + kube::ControlPlane::Shared(false).kubeconfig(),
                       std::string(kFolderVariable) + "=" + folder_.path(), "GTEST_OUTPUT="};
  auto killed = ValueOrAbort(Process::Start(other), "node");
  Apply(Manager("--say=hello"));
  kube::ApplyYaml(*client_,
                  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: gone, namespace: " + ns_ +
                      "}, spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, "
                      "spec: {containers: [{name: m, image: sh, args: ['-c', 'exec tail -f /dev/null']}]}}}}");
  AwaitHealthy();
  ASSERT_TRUE(Eventually([&] { return List("Pod").size() == 2; }));
  const std::string mark = "OF_NODE=" + folder_.path();
  ASSERT_TRUE(Eventually([&] { return ProcessesWith(mark).size() >= 2; }, kLong));
  killed->Stop(SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ProcessesWith(folder_.path() + "/manager").empty(); }));
  std::string name, gone;
  for (const kube::Object& pod : List("Pod")) (pod.name().starts_with("gone") ? gone : name) = pod.name();
  ASSERT_TRUE(client_->Delete({}, Builtin("Deployment"), ns_, "gone").ok());
  ASSERT_TRUE(
      client_->Raw({}, "DELETE", Builtin("Pod").Path(ns_, gone), R"({"gracePeriodSeconds": 0})", "application/json")
          .ok());

  StartNode();
  ASSERT_TRUE(Eventually([&] { return Say("/say") == "hello"; }, kLong)) << Dump();
  AwaitHealthy();
  ASSERT_EQ(List("Pod").size(), 1u);
  EXPECT_EQ(List("Pod")[0].name(), name);
  EXPECT_EQ(GetInt(Container(), {"restartCount"}), 1);
  EXPECT_FALSE(std::filesystem::exists(node_->options().folder + "/" + ns_ + "_" + gone));
  EXPECT_FALSE(std::filesystem::exists(node_->options().volumes + "/" + ns_ + "_" + gone));
}

}  // namespace
}  // namespace capi::local
