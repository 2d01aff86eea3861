#include "operator/observe/slim.h"

#include <gtest/gtest.h>

namespace capi::ops {
namespace {

// Pod templates are most of what a store would keep of a thousand workloads.
TEST(SlimWorkload, DropsThePodTemplateAndKeepsWhatHealthReads) {
  kube::Object deployment(Json{{"apiVersion", "apps/v1"},
                               {"kind", "Deployment"},
                               {"metadata", {{"name", "a"}, {"managedFields", Json::array()}}},
                               {"spec", {{"replicas", 2}, {"template", {{"spec", Json::object()}}}}},
                               {"status", {{"readyReplicas", 1}}}});
  SlimWorkload(deployment);
  EXPECT_EQ(deployment.json()["spec"], (Json{{"replicas", 2}}));
  EXPECT_EQ(deployment.json()["status"], (Json{{"readyReplicas", 1}}));
  EXPECT_FALSE(deployment.json()["metadata"].contains("managedFields"));
}

// F1: whatever a server sends.
TEST(SlimWorkload, TakesWhatIsThere) {
  for (const Json& spec : {Json(), Json("text"), Json::array()}) {
    kube::Object odd(Json{{"kind", "Deployment"}, {"metadata", {{"name", "a"}}}, {"spec", spec}});
    SlimWorkload(odd);
    EXPECT_EQ(odd.json()["spec"], spec);
  }
  kube::Object without(Json{{"kind", "Deployment"}, {"metadata", {{"name", "a"}}}});
  SlimWorkload(without);
  EXPECT_FALSE(without.json().contains("spec"));
}

}  // namespace
}  // namespace capi::ops
