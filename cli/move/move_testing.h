// For tests: two management clusters in memory, a fleet of Clusters in the first, and moves between them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "cli/move/claim.h"
#include "cli/move/fake_cluster.h"
#include "cli/move/record.h"
#include "cli/testing.h"

namespace capi::cli::move {

inline const Json kReadyStatus = {
    {"initialization", {{"infrastructureProvisioned", true}, {"controlPlaneInitialized", true}}},
    {"conditions", {{{"type", "ControlPlaneInitialized"}, {"status", "True"}}}}};

inline const Json kReadyMachine = {{"phase", "Running"}, {"nodeRef", {{"name", "n"}}}};

// Objects of the namespace team, as they are made one after the other. Thread-compatible.
class Fleet {
 public:
  explicit Fleet(FakeCluster& cluster) : cluster_(cluster) {}

  Json& Add(const std::string& kind, const std::string& name, const std::string& owner = "",
            const std::string& ns = "team") {
    static const std::map<std::string, std::string> groups = {
        {"Secret", "v1"},
        {"ConfigMap", "v1"},
        {"Namespace", "v1"},
        {"Template", "infrastructure.cluster.x-k8s.io/v1beta2"},
        {"Identity", "infrastructure.cluster.x-k8s.io/v1beta2"},
        {"InfrastructureProvider", "operator.cluster.x-k8s.io/v1alpha2"},
        {"Provider", "clusterctl.cluster.x-k8s.io/v1alpha3"}};
    auto group = groups.find(kind);
    object_ = {{"apiVersion", group == groups.end() ? "cluster.x-k8s.io/v1beta2" : group->second},
               {"kind", kind},
               {"metadata", {{"name", name}, {"labels", {{"mine", "yes"}}}}}};
    if (!ns.empty()) object_["metadata"]["namespace"] = ns;
    if (kind != "Secret" && kind != "ConfigMap" && kind != "Namespace") object_["spec"] = {{"of", name}};
    if (kind == "Secret") object_["data"] = {{"value", Base64Encode(name)}};
    if (!owner.empty()) {
      object_["metadata"]["ownerReferences"] = {
          {{"apiVersion", "x/v1"}, {"kind", "x"}, {"name", owner}, {"uid", UidOf(owner)}, {"controller", true}}};
    }
    return object_;
  }
  void Made() { cluster_.Put(object_); }

  void Make(const std::string& kind, const std::string& name, const std::string& owner = "",
            const std::string& ns = "team") {
    Add(kind, name, owner, ns);
    Made();
  }

  // A Cluster with a Machine, and a Secret that has no owner. The names begin with that of the Cluster.
  void MakeCluster(const std::string& name, bool paused) {
    Json& cluster = Add("Cluster", name);
    cluster["spec"]["topology"]["classRef"]["name"] = "quick";
    cluster["metadata"]["finalizers"] = {"cluster.cluster.x-k8s.io"};
    cluster["status"] = kReadyStatus;
    if (paused) cluster["spec"]["paused"] = true;
    Made();
    Make("Secret", name + "-kubeconfig");
    Make("MachineDeployment", name + "-md", name);
    Json& machine = Add("Machine", name + "-m", name + "-md");
    machine["spec"]["clusterName"] = name;
    machine["metadata"]["finalizers"] = {"machine.cluster.x-k8s.io"};
    machine["spec"]["providerID"] = "x://" + name;
    machine["status"] = kReadyMachine;
    Made();
  }

  void MakeAll() {
    for (const char* ns : {"team", "provider"}) Make("Namespace", ns, "", "");
    Make("ClusterClass", "quick");
    Make("Template", "template", "quick");
    MakeCluster("one", false);
    MakeCluster("two", true);
    Make("Identity", "identity", "", "");
    Make("Secret", "credentials", "identity", "provider");
    Make("Secret", "foreign");
    Make("Provider", "docker", "", "provider");
    object_ = *cluster_.Find("Provider", "provider", "docker");
    object_["type"] = "InfrastructureProvider";
    object_["providerName"] = "docker";
    object_["version"] = "v1.12.0";
    cluster_.Put(object_);
  }

 private:
  std::string UidOf(const std::string& name) {
    for (const Json& object : cluster_.All())
      if (object["metadata"]["name"] == name) return object["metadata"]["uid"];
    return "";
  }

  FakeCluster& cluster_;
  Json object_;
};

// What counts of an object, with the names of its owners, each of which has to be there.
inline std::string Essence(const Json& object, const std::map<std::string, std::string>& names) {
  Json out = object;
  for (const char* field : {"uid", "resourceVersion"}) out["metadata"].erase(field);
  out.erase("status");
  if (Json* owners = Find(out, {"metadata", "ownerReferences"})) {
    for (Json& owner : *owners) {
      auto found = names.find(GetString(owner, {"uid"}));
      owner["uid"] = found == names.end() ? "dangling" : found->second;
    }
  }
  if (Json* annotations = Find(out, {"metadata", "annotations"}); annotations != nullptr && annotations->empty())
    out["metadata"].erase("annotations");
  return out.dump();
}

// What is in a cluster, of each object its essence.
using Essentials = std::set<std::string>;

inline Essentials Essences(FakeCluster& cluster) {
  std::map<std::string, std::string> names;
  for (const Json& object : cluster.All())
    names[GetString(object, {"metadata", "uid"})] = GetString(object, {"metadata", "name"});
  Essentials out;
  for (const Json& object : cluster.All()) out.insert(Essence(object, names));
  return out;
}

// Clusters a and b, of which a has the fleet. Thread-compatible.
class Moves : public testing::Test {
 protected:
  Moves() {
    folder_.Put("a", a_.Kubeconfig());
    folder_.Put("b", b_.Kubeconfig());
    fleet_.MakeAll();
    Fleet(b_).Make("Namespace", "provider", "", "");
    b_.Put(*a_.Find("Provider", "provider", "docker"));
    before_ = Essences(a_);
  }

  Outcome Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "move");
    return Clusterctl(flags, {{"HOME", folder_.path()}});
  }
  Outcome There(std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--kubeconfig", folder_ / "a", "--to-kubeconfig", folder_ / "b"});
    return Run(flags);
  }
  Outcome Back() { return Run({"--kubeconfig", folder_ / "b", "--to-kubeconfig", folder_ / "a"}); }

  // A move that is killed before a request to `cluster`.
  void CutAt(FakeCluster& cluster, const std::string& method, const std::string& part,
             const std::function<Outcome()>& move) {
    cluster.OnWrite([&](const std::string& m, const std::string& target) {
      if (m == method && target.find(part) != target.npos) allowance_.Set(0);
    });
    ASSERT_EQ(move().code, 1);
    cluster.OnWrite({});
    allowance_.Set(-1);
  }

  // Does `what` once, before the first write for which `is_it` holds, of a request to `cluster`.
  void Before(FakeCluster& cluster, std::function<bool(const std::string& method, const std::string& target)> is_it,
              std::function<void()> what) {
    auto done = std::make_shared<std::atomic<bool>>(false);
    cluster.OnWrite([=](const std::string& method, const std::string& target) {
      if (is_it(method, target) && !done->exchange(true)) what();
    });
  }
  static auto Is(std::string method, std::string part) {
    return [=](const std::string& m, const std::string& target) {
      return m == method && target.find(part) != target.npos;
    };
  }

  // Another run of the same two clusters takes the namespace over in this one.
  static void TakeOver(FakeCluster& cluster) {
    Json claim = *cluster.Find("ConfigMap", "team", std::string(kClaimName));
    claim["data"]["run"] = "another";
    cluster.Put(claim);
  }

  // Those of what there was that have one of these names.
  Essentials Only(const std::vector<std::string>& names) {
    Essentials out;
    for (const std::string& object : before_) {
      for (const std::string& name : names)
        if (object.find(fmt::format("\"name\":\"{}\"", name)) != object.npos) out.insert(object);
    }
    return out;
  }
  Essentials AllBut(const std::string& name) {
    Essentials out = before_;
    for (const std::string& object : Only({name})) out.erase(object);
    return out;
  }
  // All of them are in B, and A has only what stays.
  void ExpectMoved() {
    EXPECT_EQ(Essences(b_), AllBut("foreign"));
    EXPECT_EQ(Essences(a_), Only({"identity", "credentials", "foreign", "docker"}));
  }
  // As controllers would do, which leave alone what a move holds.
  void MakeReady(FakeCluster& cluster) {
    std::set<std::string> held;
    for (const Json& object : cluster.All())
      if (object["kind"] == "Cluster" && RecordOf(kube::Object(object))) held.insert(object["metadata"]["name"]);
    for (Json object : cluster.All()) {
      if (object["kind"] == "Cluster" && !held.contains(object["metadata"]["name"])) object["status"] = kReadyStatus;
      if (object["kind"] == "Machine" && !held.contains(GetString(object, {"spec", "clusterName"})))
        object["status"] = kReadyMachine;
      cluster.Put(object);
    }
  }

  TestFolder folder_;
  Allowance allowance_;
  FakeCluster a_{"a", allowance_}, b_{"b", allowance_};
  Fleet fleet_{a_};
  Essentials before_;
};

}  // namespace capi::cli::move
