#include "operator/observe/slim.h"

#include <gtest/gtest.h>

#include <memory>

#include "api/kinds.h"

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

// P1: at zero it is well where a pause has brought it there; where somebody else has, its own conditions say how it is.
TEST(WorkloadOf, AtZeroIsWellInAPauseAlone_P1) {
  Json json = {{"apiVersion", "apps/v1"},
               {"kind", "Deployment"},
               {"metadata", {{"name", "a"}, {"namespace", "n"}, {"generation", 1}}},
               {"spec", {{"replicas", 0}}},
               {"status", {{"observedGeneration", 1}}}};
  const auto health = [&json] {
    auto object = std::make_shared<const kube::Object>(json);
    return WorkloadOf({"apps", "Deployment", "n", "a"}, object).health;
  };
  EXPECT_NE(health().message, "paused at zero replicas");
  json["metadata"]["annotations"][std::string(api::kAnnotationOriginalReplicas)] = "1";
  EXPECT_EQ(health().state, kube::HealthState::kCurrent);
  EXPECT_EQ(health().message, "paused at zero replicas");
  json["status"]["replicas"] = 1;
  EXPECT_EQ(health().state, kube::HealthState::kInProgress);
  EXPECT_EQ(health().message, "1 replicas are going");
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
