// A first installation over what is there already, by an actor on a server of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/install_testing.h"
#include "operator/decide/rollout.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The first installation of a release with a manager and a webhook has been announced, and no more.
class BrokenOffTest : public InstallingActorTest {
 protected:
  BrokenOffTest() {
    api::ProviderStatus& status = o_.provider.status;
    status.installed_version = status.applied = o_.rendered = "";
    status.history.clear();
    status.history = {BeginRollout(o_, InputsDigest(o_), "v1.12.0", "v1beta2", "")};
    o_.inventory = {};
    for (const auto& id : {kSettings, kToken, kManager, kHooks}) o_.inventory.Put(id, {"v1", "", "", false});
    MutexLock lock(mu_);
    objects_["/apis/apps/v1/deployments"] = R"({"metadata":{"resourceVersion":"1"},"items":[]})";
    Store(o_.releases.front(),
          "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: n}\n"
          "spec: {template: {spec: {containers: [{name: manager, image: 'registry.example/manager:v1'}]}}}\n"
          "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
          "metadata: {name: hooks}\n");
  }
  static Json Entry(std::string_view manager, const char* operation, const char* spec) {
    return {{"manager", manager}, {"operation", operation}, {"fieldsV1", {{"f:spec", *ParseJson(spec)}}}};
  }
  // The Deployment as the server has it, with our entry in its managedFields, and maybe another's.
  void AppliedBefore(const Json& another = {}, Millis age = Millis(0)) {
    MutexLock lock(mu_);
    Json entries = Json::array({Entry(api::kFieldManager, "Apply", R"({"f:selector":{},"f:template":{}})")});
    if (!another.is_null()) entries.push_back(another);
    objects_["/apis/apps/v1/namespaces/aws-system/deployments/manager"] =
        ToJsonText({{"apiVersion", "apps/v1"},
                    {"kind", "Deployment"},
                    {"metadata",
                     {{"name", "manager"},
                      {"namespace", "n"},
                      {"creationTimestamp", FormatTime(*ParseTime(o_.provider.status.history.back().started) - age)},
                      {"managedFields", entries}}}});
  }
  const kube::ObjectId kManager{"apps", "Deployment", "aws-system", "manager"};
  const kube::ObjectId kHooks{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "hooks"};
};

// U2, U7: the pods may be those that were there before, of Helm's, say. They serve on until the new ones do; that was
// forgotten once anything was in the inventory.
TEST_F(BrokenOffTest, OverPodsThatServeItGoesOnInStages) {
  {
    MutexLock lock(mu_);
    objects_["/apis/apps/v1/namespaces/aws-system/deployments/manager"] = ToJsonText(
        {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", "manager"}, {"namespace", "n"}}}});
  }
  Done sent = Install({InputsDigest(o_)});
  ASSERT_FALSE(sent.hold) << sent.hold->message;
  EXPECT_EQ(Written("manager"), 1u);
  EXPECT_EQ(Written("hooks"), 0u) << "the old pods serve the old path";
  EXPECT_FALSE(sent.installed_version);
  ASSERT_TRUE(sent.inventory && sent.rollout);
  EXPECT_EQ(sent.rollout->outcome, api::outcome::kRollingOut);

  o_.inventory = *sent.inventory;
  o_.provider.status.history = {*sent.rollout};
  Done rolled_out = Install({InputsDigest(o_)});
  ASSERT_FALSE(rolled_out.hold) << rolled_out.hold->message;
  EXPECT_EQ(Written("hooks"), 1u);
  EXPECT_EQ(rolled_out.installed_version.value_or(""), "v1.12.0");
}

// U2, I4: a first installation has no stages, nor has the rest of one. One that was broken off after its own Deployment
// waited for the pods of that, and every other provider for its contract. So it did once somebody had scaled that, or
// had its pods restarted.
TEST_F(BrokenOffTest, WhereNothingRanBeforeItGoesOnAtOnce) {
  size_t written = 0;
  auto goes_on = [&] {
    Done done = Install({InputsDigest(o_)});
    ASSERT_FALSE(done.hold) << done.hold->message;
    EXPECT_EQ(Written("hooks"), ++written);
    EXPECT_EQ(done.installed_version.value_or(""), "v1.12.0");
  };
  goes_on();
  AppliedBefore();
  goes_on();
  AppliedBefore(Entry("scale", "Update", R"({"f:replicas":{}})"));
  goes_on();
  AppliedBefore(Entry("kubectl-rollout", "Update", R"({"f:template":{"f:metadata":{}}})"));
  goes_on();
}

// U2, U7: one that somebody else has made. U11: one that was there before the first change on record, though by our
// own apply: what runs in it is an older version, whose status was lost.
TEST_F(BrokenOffTest, OverAWorkloadThatItHasNotMadeItGoesOnInStages) {
  const Json helm = Entry("helm", "Update", R"({"f:replicas":{},"f:selector":{},"f:template":{}})");
  for (const auto& [another, age] : {std::pair(helm, Millis(0)), std::pair(Json(), Millis(Seconds(3600)))}) {
    SCOPED_TRACE(age.count());
    AppliedBefore(another, age);
    Done sent = Install({InputsDigest(o_)});
    ASSERT_FALSE(sent.hold) << sent.hold->message;
    EXPECT_EQ(Written("hooks"), 0u);
    EXPECT_FALSE(sent.installed_version);
  }
}

// U2, U9: another's Deployment with another selector was deleted, and its pods serve on. The one that takes its place
// is of our making, or still to come.
TEST_F(BrokenOffTest, OverPodsOfADeploymentMadeAnewItGoesOnInStages) {
  o_.inventory.Put({"apps", "ReplicaSet", "aws-system", "manager-1"}, {"v1", "", "", true});
  for (const bool is_there : {false, true}) {
    SCOPED_TRACE(is_there);
    if (is_there) AppliedBefore();
    Done sent = Install({InputsDigest(o_)});
    ASSERT_FALSE(sent.hold) << sent.hold->message;
    EXPECT_EQ(Written("hooks"), 0u) << "the old pods serve the old path";
    EXPECT_FALSE(sent.installed_version);
  }
}

// T8, I5: where nobody answers what the ServiceAccount may read, an object of another namespace stays its provider's,
// and whose it is isn't told.
TEST_F(InstallingActorTest, WhoseAnObjectIsNobodyIsToldWithoutAnAnswer) {
  kube::Inventory inventory;
  inventory.Put({"", "ConfigMap", "azure-system", "settings"}, {"v1", "h", "f", false});
  const Json owner{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                   {"kind", "InfrastructureProvider"},
                   {"metadata", {{"name", "azure"}, {"namespace", "azure-system"}, {"resourceVersion", "1"}}},
                   {"status", {{"contract", "v1beta2"}, {"inventory", inventory.ToJson()}}}};
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(owner));
  o_.provider.spec.service_account = "applier";
  o_.provider.spec.patches = {{.patch = "[{op: replace, path: /metadata/namespace, value: azure-system}]",
                               .target = api::PatchTarget{.kind = "ConfigMap"}}};
  o_.provider.spec.version = "v1.12.1";
  for (const char* review : {"selfsubjectrulesreviews", "selfsubjectaccessreviews"}) Refuse(review, Forbidden());
  Done done = Install({InputsDigest(o_)});
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->reason, "ObjectOwnedByAnotherProvider");
  EXPECT_THAT(done.hold->message, HasSubstr("settings may be another provider's"));
  EXPECT_THAT(done.hold->message, Not(HasSubstr("azure ")));
  EXPECT_EQ(Written("settings"), 0u);

  // A provider that comes to have it once the change is announced: whose it is is told to who may read it, no more.
  o_.provider.status.history = {BeginRollout(o_, InputsDigest(o_), "v1.12.1", "v1beta2", "")};
  const Json rule = *ParseJson(R"({"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
  auto answer = [](const Json& status) {
    return http::Response{.status = 201, .headers = {}, .body = ToJsonText({{"status", status}})};
  };
  const http::Response denied = answer({{"allowed", false}});
  struct Case {
    http::Response rules, access;
    const char *reason, *message;
  };
  for (const Case& c : {
           Case{answer(rule), denied, "ObjectOwnedByAnotherProvider",
                "settings belongs to InfrastructureProvider/azure"},
           Case{answer(Json::object()), denied, "PermissionsMissing", "applier"},
           Case{Forbidden(), Forbidden(), "ObjectOwnedByAnotherProvider", "settings may be another provider's"},
       }) {
    SCOPED_TRACE(c.message);
    Refuse("selfsubjectrulesreviews", c.rules);
    Refuse("selfsubjectaccessreviews", c.access);
    done = Install({InputsDigest(o_)});
    ASSERT_TRUE(done.hold);
    EXPECT_EQ(done.hold->reason, c.reason);
    EXPECT_THAT(done.hold->message, HasSubstr(c.message));
    if (c.rules.body != answer(rule).body) EXPECT_THAT(done.hold->message, Not(HasSubstr("Provider/azure")));
    EXPECT_EQ(Written("settings"), 0u);
  }
}

}  // namespace
}  // namespace capi::ops
