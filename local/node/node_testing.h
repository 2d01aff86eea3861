// For tests: a node on a real control plane, whose managers are small programs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/processes/temporary_folder.h"
#include "kube/client/client.h"
#include "kube/meta/health.h"
#include "kube/testing/control_plane.h"
#include "local/node/node.h"

namespace capi::local {

// Image "manager" is a program that is like one of Cluster API's (node_testing.cc), "sh" is a shell, "slow" takes until
// the context ends, "throws" throws once and is a manager then, any other isn't there. Thread-safe.
class SmallPrograms : public Programs {
 public:
  explicit SmallPrograms(const std::string& folder);
  Result<Program> Find(const Context& ctx, const std::string& image) override;

 private:
  const std::string manager_;
  std::atomic<bool> thrown_{false};
};

// The user's PATH, and nothing else.
NodeOptions OptionsBelow(const std::string& folder, const kube::Config& config);

// A node that runs until it goes. Thread-compatible.
class RunningNode {
 public:
  RunningNode(const std::string& folder, kube::Client& client);
  ~RunningNode();
  // Ends it, and says how long that took.
  Millis Stop();
  const NodeOptions& options() const { return options_; }

 private:
  SmallPrograms programs_;
  const NodeOptions options_;
  Node node_;
  std::stop_source stop_;
  std::thread thread_;
};

// What a process of a manager answers to GET `path`, asked as the API server asks a webhook: by its Service. "" where
// it isn't reached, "503 ..." where the node refuses.
std::string AskService(const NodeOptions& options, const std::string& address, const std::string& path);

// Processes whose command line or environment has `text`.
std::vector<int> ProcessesWith(const std::string& text);

// Each test has a namespace, a node and a folder of its own; none leaves a Deployment behind. Thread-compatible.
class NodeOnServer : public testing::Test {
 protected:
  NodeOnServer() : client_(kube::ControlPlane::Shared(false).NewClient()) {
    ns_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : ns_) c = static_cast<char>(std::tolower(c));
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: " + ns_ + "}}");
    kube::ApplyYaml(*client_,
                    "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: " + ns_ + "}}");
  }
  ~NodeOnServer() override {
    node_.reset();
    for (const char* kind : {"Deployment", "StatefulSet", "Job", "Pod"}) {
      for (const kube::Object& one : List(kind)) {
        (void)client_->Raw({}, "DELETE", kube::Builtin(kind).Path(ns_, one.name()), R"({"gracePeriodSeconds": 0})",
                           "application/json");
      }
    }
  }

  void StartNode() { node_ = std::make_unique<RunningNode>(folder_.path(), *client_); }

  // A Deployment "d" and its Service "d", with more fields of its container.
  void Apply(const std::string& container, const std::string& spec = "replicas: 1", const std::string& pod = "") {
    kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: Service
metadata: {name: d, namespace: )" +
                                  ns_ + R"(}
spec: {selector: {app: d}, ports: [{port: 443, targetPort: webhook}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: )" +
                                  ns_ + R"(}
spec:
  )" + spec + R"(
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      terminationGracePeriodSeconds: 5
      )" + pod + R"(
      containers:
      - name: manager
        ports: [{name: webhook, containerPort: 9443}, {name: health, containerPort: 9440}]
        )" + container);
  }
  static std::string Manager(const std::string& args = "", const std::string& more = "") {
    return "image: manager\n        readinessProbe: {httpGet: {path: /readyz, port: health}}\n        args: [" + args +
           "]\n        " + more;
  }

  std::vector<kube::Object> List(const char* kind) {
    auto list = client_->List({}, kube::Builtin(kind), ns_);
    return list.ok() ? list->items : std::vector<kube::Object>();
  }
  kube::Object Deployment() { return client_->Get({}, kube::Builtin("Deployment"), ns_, "d").value(); }
  bool Healthy() { return kube::HealthOf(Deployment()).ok(); }
  // Of the only Pod.
  Json Container() {
    auto pods = List("Pod");
    const Json* all = pods.size() == 1 ? Find(pods[0].json(), {"status", "containerStatuses"}) : nullptr;
    return all != nullptr && all->size() == 1 ? (*all)[0] : Json::object();
  }
  std::string Address() {
    return GetString(client_->Get({}, kube::Builtin("Service"), ns_, "d").value().json(), {"spec", "clusterIP"}) +
           ":443";
  }
  std::string Say(const std::string& path) { return AskService(node_->options(), Address(), path); }
  std::string Dump() {
    auto deployment = client_->Get({}, kube::Builtin("Deployment"), ns_, "d");
    std::string text = deployment.ok() ? ToJsonText(deployment->json()["status"]) : "";
    for (const kube::Object& pod : List("Pod")) text += "\n" + pod.name() + " " + ToJsonText(pod.json()["status"]);
    return text;
  }
  void AwaitHealthy() {
    ASSERT_TRUE(kube::Eventually([&] { return Healthy(); }, Seconds(60))) << Dump();
  }
  void Merge(const char* kind, const std::string& name, const Json& patch) {
    auto done = client_->Patch({}, kube::Builtin(kind), ns_, name, kube::PatchType::kMerge, patch);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  kube::Object ApplySet(const std::string& name) {
    kube::ApplyYaml(*client_, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " + name + ", namespace: " +
                                  ns_ + "}, spec: {serviceName: s, selector: {matchLabels: {app: x}}, template: " +
                                  "{metadata: {labels: {app: x}}, spec: {containers: [{name: m, image: manager}]}}}}");
    kube::Object set = client_->Get({}, kube::Builtin("StatefulSet"), ns_, name).value();
    set.json()["kind"] = "StatefulSet";
    set.json()["apiVersion"] = "apps/v1";
    return set;
  }
  // Until those of `kind` that have a Pod which says so are these.
  void AwaitNotRun(const std::string& kind, const std::set<std::string>& names) {
    std::set<std::string> told;
    auto all = [&] {
      told.clear();
      for (const kube::Object& pod : List("Pod")) {
        const bool tells =
            kube::HealthOf(pod).message.find("a " + kind + " isn't run by a local plane") != std::string::npos;
        if (tells) told.insert(GetString(pod.json()["metadata"]["ownerReferences"][0], {"name"}));
      }
      return told == names;
    };
    EXPECT_TRUE(kube::Eventually(all, Seconds(60))) << Dump();
  }
  void Touch(const std::string& name) { std::ofstream(folder_.path() + "/" + name) << "x"; }

  std::unique_ptr<kube::Client> client_;
  TemporaryFolder folder_;
  std::string ns_;
  std::unique_ptr<RunningNode> node_;
};

}  // namespace capi::local
