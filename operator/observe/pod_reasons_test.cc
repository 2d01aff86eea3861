#include "operator/observe/pod_reasons.h"

#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

kube::Object Pod(const std::string& name, const std::string& rest) {
  return kube::Object(ParseYaml("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\n" + rest).value());
}

TEST(PodTrouble, SaysWhatPodsWaitFor) {
  struct Case {
    std::string name;
    std::vector<kube::Object> pods;
    std::string text;
  };
  const std::string image =
      "status: {phase: Pending, containerStatuses: [{name: manager, state: {waiting: {reason: ImagePullBackOff, "
      "message: no such image}}}]}";
  const std::string crash =
      "status: {phase: Running, containerStatuses: [{name: manager, state: {waiting: {reason: CrashLoopBackOff}}, "
      "lastState: {terminated: {exitCode: 2, message: 'unknown flag: --foo'}}}]}";
  const std::string no_node =
      "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "
      "0/3 nodes are available}]}";
  const std::string ready = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}";
  // The first container is ready, or has ended as it should; the second one says why.
  const std::string second =
      "status: {phase: Running, initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0}}}], "
      "containerStatuses: [{name: a, ready: true, lastState: {terminated: {exitCode: 3}}}, {name: b, state: "
      "{running: {}}}, {name: c, state: {terminated: {exitCode: 4, message: out of memory}}}]}";
  const std::string init =
      "status: {phase: Pending, initContainerStatuses: [{name: i, state: {terminated: {exitCode: 5}}}], "
      "containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]}";
  const std::string ended =
      "status: {phase: Running, containerStatuses: [{name: a, state: {terminated: {exitCode: 0}}}]}";
  const Case cases[] = {
      {"U5 the first that isn't ready", {Pod("a", second)}, "container c; it ended with exit code 4: out of memory"},
      {"U5 a container that comes first", {Pod("a", init)}, "container i; it ended with exit code 5"},
      {"U5 one that ended well, and shouldn't have", {Pod("a", ended)}, "container a; it ended with exit code 0"},
      {"none", {}, ""},
      {"healthy", {Pod("a", ready)}, ""},
      {"U5 an image", {Pod("a", ready), Pod("b", image)}, "ImagePullBackOff: no such image"},
      {"U5 a crash", {Pod("a", crash)}, "it ended with exit code 2: unknown flag: --foo"},
      {"U5 no node", {Pod("a", no_node)}, "0/3 nodes are available"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::string text = PodTrouble(c.pods);
    EXPECT_EQ(text.empty(), c.text.empty());
    EXPECT_NE(text.find(c.text), text.npos) << text;
  }
}

TEST(PodTrouble, TellsTheSameTroubleOnce) {
  const std::string crash = "status: {phase: Running, containerStatuses: [{name: m, state: {waiting: {reason: X}}}]}";
  std::string text = PodTrouble({Pod("a", crash), Pod("b", crash), Pod("c", crash)});
  EXPECT_NE(text.find("pod a: "), text.npos) << text;
  EXPECT_EQ(text.find("pod b: "), text.npos) << text;
}

}  // namespace
}  // namespace capi::ops
