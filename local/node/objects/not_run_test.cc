#include "local/node/objects/not_run.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

// G4: a Pod that tells of a StatefulSet is one that the API server takes: its claims are no volumes of the template.
TEST(NotRun, APodNeedsNothingOfItsTemplateButNames_G4) {
  const kube::Object set(ValueOrAbort(ParseYaml(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: "n", uid: u}
spec:
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    metadata: {labels: {app: a}}
    spec:
      initContainers: [{name: i, image: x}]
      containers: [{name: c, image: x, volumeMounts: [{name: data, mountPath: /data}]}]
)"),
                                      "yaml"));
  const kube::Object pod = PodThatIsNotRun(set);
  EXPECT_EQ(pod.name(), "s-statefulset-not-run");
  EXPECT_EQ(GetString(pod.json(), {"metadata", "labels", "app"}), "a");
  EXPECT_EQ(pod.json()["spec"], ValueOrAbort(ParseYaml("containers: [{name: c, image: x}]"), "yaml"));
}

// G4: each has a Pod of its own, and one that the API server takes.
TEST(NotRun, APodIsNamedByKindAndName_G4) {
  const std::pair<std::string, const char*> cases[] = {
      {"s", "Job"},
      {"s", "DaemonSet"},
      {std::string(253, 's'), "Job"},
      {std::string(252, 's'), "Job"},
      {std::string(190, 's') + "." + std::string(9, '-') + std::string(50, 's'), "Job"}};
  std::set<std::string> names;
  for (const auto& [name, kind] : cases) {
    Json workload = {{"kind", kind}, {"metadata", {{"name", name}}}};
    Ensure(workload, {"spec", "template", "metadata", "labels", "app"}) = "a";
    names.insert(PodThatIsNotRun(kube::Object(std::move(workload))).name());
  }
  EXPECT_EQ(names.size(), std::size(cases)) << "two that begin alike";
  for (const std::string& name : names) {
    EXPECT_LE(name.size(), 253u);
    EXPECT_EQ(name.find(".-"), name.npos);
  }
  EXPECT_TRUE(names.contains("s-job-not-run") && names.contains("s-daemonset-not-run"));
}

}  // namespace
}  // namespace capi::local
