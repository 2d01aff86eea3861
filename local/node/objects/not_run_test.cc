#include "local/node/objects/not_run.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(pod.name(), "s-not-run");
  EXPECT_EQ(GetString(pod.json(), {"metadata", "labels", "app"}), "a");
  EXPECT_EQ(pod.json()["spec"], ValueOrAbort(ParseYaml("containers: [{name: c, image: x}]"), "yaml"));
}

}  // namespace
}  // namespace capi::local
