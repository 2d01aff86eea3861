#include "local/node/services/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

Json Yaml(std::string_view text) { return ValueOrAbort(ParseYaml(text), "yaml"); }

std::vector<kube::ObjectPtr> Services() {
  std::vector<kube::ObjectPtr> all;
  for (const char* text : {R"(
metadata: {name: webhook, namespace: a}
spec:
  clusterIP: 10.96.0.7
  clusterIPs: [10.96.0.7]
  selector: {app: manager}
  ports: [{port: 443, targetPort: webhook}, {port: 80, targetPort: 8080}, {port: 9000}]
)",
                           R"(
metadata: {name: empty, namespace: a}
spec: {clusterIP: 10.96.0.8, selector: {app: none}, ports: [{port: 443}]}
)",
                           R"(
metadata: {name: without, namespace: a}
spec: {clusterIP: 10.96.0.9, ports: [{port: 443}]}
)"}) {
    all.push_back(std::make_shared<kube::Object>(Yaml(text)));
  }
  return all;
}

Backend Pod(std::string ns, bool ready, int webhook) {
  return {.ns = std::move(ns),
          .labels = Yaml("{app: manager, pod-template-hash: x}"),
          .containers = Yaml("[{name: m, ports: [{name: webhook, containerPort: 9443}]}]"),
          .ready = ready,
          .ports = {{9443, webhook}}};
}

// G6: a Service's address leads to its ready Pods alone.
TEST(Services, LeadToReadyPods) {
  std::vector<Backend> pods = {Pod("a", true, 40001), Pod("a", false, 40002), Pod("b", true, 40003),
                               Pod("a", true, 40004)};
  struct Case {
    const char* address;
    std::vector<int> expected;
  };
  for (const Case& c : {Case{"10.96.0.7:443", {40001, 40004}},
                        {"webhook.a.svc:443", {40001, 40004}},
                        {"webhook.a.svc.cluster.local:443", {40001, 40004}},
                        {"10.96.0.7:80", {8080, 8080}},  // no flag leads it: it is the same here
                        {"10.96.0.7:9000", {9000, 9000}}}) {
    auto ports = PortsOfService(c.address, Services(), pods);
    ASSERT_TRUE(ports.ok()) << c.address << ": " << ports.error().message;
    EXPECT_EQ(*ports, c.expected) << c.address;
  }
}

// G6.
TEST(Services, SayWhyTheyLeadNowhere) {
  std::vector<Backend> pods = {Pod("a", false, 40002), Pod("b", true, 40003)};
  struct Case {
    const char *address, *expected;
  };
  for (const Case& c :
       {Case{"10.96.0.7:443", "Service a/webhook has no pod that is ready"},
        {"10.96.0.8:443", "Service a/empty has no pods"},
        {"10.96.0.9:443", "Service a/without has no pods"},
        {"10.96.0.7:444", "Service a/webhook has no port 444"},
        {"10.96.0.70:443", "no Service has the address 10.96.0.70"},
        {"webhook.b.svc:443", "no Service has the address webhook.b.svc"},
        {"local:10250",
         "the local plane has no kubelet: `clusterctl local logs` prints what a process has printed, and "
         "there is no exec, attach or port-forward"},
        {"nonsense", "nonsense is no address of a Service"}}) {
    auto ports = PortsOfService(c.address, Services(), pods);
    ASSERT_FALSE(ports.ok()) << c.address;
    EXPECT_EQ(ports.error().message, c.expected);
  }
}

// G5, G6: at a port that no flag leads elsewhere another process may be.
TEST(Services, LeadToThePodsOwnProcesses) {
  std::vector<Backend> pods = {Pod("a", true, 40001), Pod("a", true, 40004)};
  std::set<int> asked;
  for (Backend& pod : pods) {
    pod.listens = [&asked, own = pod.ports.at(9443)](int port) {
      asked.insert(port);
      return own == 40004 && port == 8080;
    };
  }
  EXPECT_EQ(*PortsOfService("10.96.0.7:443", Services(), pods), (std::vector<int>{40001, 40004}));
  EXPECT_TRUE(asked.empty()) << "ports that are led are the Pod's";
  EXPECT_EQ(*PortsOfService("10.96.0.7:80", Services(), pods), (std::vector<int>{8080}));
  auto none = PortsOfService("10.96.0.7:9000", Services(), pods);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "Service a/webhook has no pod that listens on its port");
}

}  // namespace
}  // namespace capi::local
