#include "operator/decide/crd_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

TEST(RolledOut, NeedsThisRenderAndHealth) {
  auto deployment = kube::ToManifest(
      kube::Object(Json{{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", "a"}}}}));
  kube::Inventory applied;
  Fleet fleet;
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  EXPECT_FALSE(RolledOut({deployment}, applied, fleet)) << "it isn't sent yet";
  applied.Put(deployment.id, {"v1", deployment.hash, "fields"});
  EXPECT_TRUE(RolledOut({deployment}, applied, fleet));
  fleet.workloads[0].terminating = 1;
  EXPECT_FALSE(RolledOut({deployment}, applied, fleet));
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  EXPECT_FALSE(RolledOut({deployment}, applied, fleet));
  EXPECT_TRUE(RolledOut({}, {}, {})) << "nothing to wait for";
}

TEST(StoredVersionsHold, NamesTheWayOut) {
  Observation o = testing::Observed();
  LostVersion stored{"foos.test.cluster.x-k8s.io", "v1", false}, older{"foos.test.cluster.x-k8s.io", "v0", true};
  Hold hold = StoredVersionsHold(o, stored, "v1.12.0", {});
  EXPECT_EQ(hold.reason, api::reason::kStoredVersionsInUse);
  EXPECT_EQ(hold.retry, Retry::kOnChange);
  EXPECT_THAT(hold.message, HasSubstr("has no version v1 of foos.test.cluster.x-k8s.io"));
  EXPECT_THAT(hold.message, HasSubstr("go by a version of the provider"));
  o.provider.spec.paused = true;
  EXPECT_THAT(StoredVersionsHold(o, older, "v1.12.0", {}).message, HasSubstr("set spec.paused to false"));
  o.provider.spec.paused = false;
  o.provider.status.conditions = {{.type = "Paused", .status = "True", .reason = "Paused"}};
  EXPECT_THAT(StoredVersionsHold(o, older, "v1.12.0", {}).message, HasSubstr("nothing is changed; set spec.version to"))
      << "C5";
  o.provider.status.conditions.clear();
  hold = StoredVersionsHold(o, older, "v1.12.0", {.objects = 1200});
  EXPECT_EQ(hold.retry, Retry::kWaiting);
  EXPECT_THAT(hold.message, HasSubstr("1200 so far"));
  hold = StoredVersionsHold(
      o, older, "v1.12.0",
      {.objects = 7, .error = Error{Code::kInternal, "the webhook doesn't answer", {}}, .next = Seconds(50)});
  EXPECT_EQ(hold.retry, Retry::kAt);
  EXPECT_EQ(hold.after, Seconds(50)) << "when it is tried again (F5)";
  EXPECT_THAT(hold.message, HasSubstr("the webhook doesn't answer"));
  hold = StoredVersionsHold(o, older, "v1.12.0", {.error = Error{Code::kInternal, "the webhook doesn't answer", {}}});
  EXPECT_EQ(hold.retry, Retry::kWaiting) << "it is being tried: each look at it would be a render";
  EXPECT_FALSE(hold.after);
}

}  // namespace
}  // namespace capi::ops
