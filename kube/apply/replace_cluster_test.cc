// U9 on a real control plane: what an apply can't do and a replacement can.
#include <gmock/gmock.h>

#include "kube/apply/cluster_testing.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

using Replace = ApplyClusterTest;

constexpr char kManager[] = "capi-operator";

std::vector<std::string> ManagersByUpdate(const Object& live) {
  std::vector<std::string> out;
  for (const Json& entry : live.json().at("metadata").at("managedFields")) {
    if (GetString(entry, {"operation"}) == "Update") out.push_back(GetString(entry, {"manager"}));
  }
  return out;
}

constexpr char kOldService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: @, annotations: {team: blue}}
spec: {ports: [{name: https, port: 443}], selector: {app: web}}
)";
constexpr char kNewService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: @}
spec: {ports: [{name: https, port: 8443}], selector: {app: web}}
)";

// A list merged by a key that changed has both items, and their names clash.
TEST_F(Replace, LeftoversOfAnotherManagerGoAndItsOtherFieldsStay) {
  Object old(*ParseYaml(ReplaceAll(kOldService, "@", ns_)));
  ASSERT_TRUE(client_->Create(ctx_, Builtin("Service"), old, {.field_manager = "clusterctl"}).ok());
  std::string uid = Live("Service", "web")->uid();

  std::vector<Manifest> manifests = InNamespace(kNewService);
  auto dry = applier_->DryRun(ctx_, manifests);
  EXPECT_TRUE(dry.ok()) << dry.error().message;
  EXPECT_EQ(Live("Service", "web")->json()["spec"]["ports"][0]["port"], 443) << "a dry-run writes nothing";

  std::vector<Change> changes = MustApply(manifests);
  auto live = Live("Service", "web");
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(live->uid(), uid);
  ASSERT_EQ(live->json()["spec"]["ports"].size(), 1u);
  EXPECT_EQ(live->json()["spec"]["ports"][0]["port"], 8443);
  EXPECT_EQ(live->annotation("team"), "blue");
  EXPECT_THAT(ManagersByUpdate(*live), Not(testing::Contains(kManager))) << "else no apply could remove a field";
  EXPECT_EQ(changes.front().entry.fields, FieldsHash(*live, kManager));

  proxy_->Reset();
  MustApply(manifests, After(changes));
  EXPECT_EQ(Requests(), 0u);
  MustApply(manifests);
  EXPECT_EQ(Requests(), 1u) << "a plain apply does it from now on";
}

// A webhook's port 0 of long ago, valid then, is invalid now; the injector's CA bundle stays.
TEST_F(Replace, FieldsThatBecameInvalidGo) {
  std::vector<Manifest> manifests = InNamespace(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: @, annotations: {cert-manager.io/inject-ca-from: x}}
webhooks:
- name: one.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: s, namespace: @, path: /p}}
)");
  Json old = *ParseJson(manifests[0].text);
  old["webhooks"][0]["clientConfig"] = {{"url", "https://127.0.0.1:1/p"}};  // with `service` beside it: refused
  ASSERT_TRUE(
      client_->Create(ctx_, Builtin("ValidatingWebhookConfiguration"), Object(old), {.field_manager = "old"}).ok());
  const std::string bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
  Json patch = Json::array({{{"op", "add"}, {"path", "/webhooks/0/clientConfig/caBundle"}, {"value", bundle}}});
  auto injected = client_->Patch(ctx_, Builtin("ValidatingWebhookConfiguration"), "", ns_, PatchType::kJson, patch,
                                 {.field_manager = "cainjector"});
  ASSERT_TRUE(injected.ok()) << injected.error().message;

  MustApply(manifests);
  auto live = Live("ValidatingWebhookConfiguration", ns_);
  ASSERT_TRUE(live.ok());
  const Json& config = live->json()["webhooks"][0]["clientConfig"];
  EXPECT_FALSE(config.contains("url"));
  EXPECT_EQ(GetString(config, {"service", "path"}), "/p");
  EXPECT_EQ(GetString(config, {"caBundle"}), bundle);
}

constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: @}
spec:
  selector: {matchLabels: {app: LABEL}}
  template: {metadata: {labels: {app: LABEL}}, spec: {containers: [{name: c, image: example.com/i:1}]}}
)";

TEST_F(Replace, ImmutableSelectorIsCreatedAnew) {
  MustApply(InNamespace(ReplaceAll(kDeployment, "LABEL", "old")));
  std::string uid = Live("Deployment", "web")->uid();
  std::vector<Manifest> manifests = InNamespace(ReplaceAll(kDeployment, "LABEL", "new"));
  auto dry = applier_->DryRun(ctx_, manifests);
  EXPECT_TRUE(dry.ok()) << dry.error().message;
  EXPECT_EQ(Live("Deployment", "web")->uid(), uid) << "a dry-run writes nothing";

  std::vector<Change> changes = MustApply(manifests);
  EXPECT_EQ(changes.front().action, Change::Action::kCreated);
  EXPECT_NE(Live("Deployment", "web")->uid(), uid);
  EXPECT_TRUE(Eventually([&] {
    return GetInt(Live("Deployment", "web")->json(), {"status", "availableReplicas"}) == 1;
  }));
  EXPECT_TRUE(Eventually([&] {
    auto pods = client_->List(ctx_, Builtin("Pod"), ns_);
    return pods.ok() && pods->items.size() == 1 && pods->items[0].label("app") == "new";
  })) << "the old pods go with their Deployment";
}

// I7: the server's refusal of a Job has the whole pod template that can't be changed.
TEST_F(Replace, WhatTheServerRefusesReachesNoLog) {
  constexpr char kJob[] = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: @}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: i, env: [{name: TOKEN, value: s3cret-N}]}]}
)";
  MustApply(InNamespace(ReplaceAll(kJob, "-N", "-1")));
  std::string log;
  Context ctx = ctx_;
  ctx.log = Logger::ToSink(
      LogLevel::kDebug, LogFormat::kText,
      [](void* out, std::string_view line) { static_cast<std::string*>(out)->append(line).append("\n"); }, &log);
  std::vector<Change> changes;
  auto applied = applier_->Apply(ctx, InNamespace(ReplaceAll(kJob, "-N", "-2")), {}, changes);
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_THAT(log, HasSubstr("creating anew"));
  EXPECT_THAT(log, Not(HasSubstr("s3cret"))) << log;
}

// Where the caller looks after them, the old pods serve until it removes their ReplicaSet.
TEST_F(Replace, OldPodsOutliveADeploymentThatIsCreatedAnew) {
  MustApply(InNamespace(ReplaceAll(kDeployment, "LABEL", "old")));
  auto available = [&] { return GetInt(Live("Deployment", "web")->json(), {"status", "availableReplicas"}) == 1; };
  ASSERT_TRUE(Eventually(available));
  std::string uid = Live("Deployment", "web")->uid();
  std::vector<ObjectId> left;
  std::vector<Change> changes;
  auto applied = applier_->Apply(ctx_, InNamespace(ReplaceAll(kDeployment, "LABEL", "new")), {}, changes,
                                 [&](const std::vector<ObjectId>& sets) -> Status {
                                   left = sets;
                                   EXPECT_EQ(Live("Deployment", "web")->uid(), uid) << "told before";
                                   return Ok();
                                 });
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_NE(Live("Deployment", "web")->uid(), uid);
  ASSERT_EQ(left.size(), 1u);
  ASSERT_TRUE(Eventually(available));
  auto old = client_->Get(ctx_, Builtin("ReplicaSet"), ns_, left[0].name);
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(GetInt(old->json(), {"status", "availableReplicas"}), 1);
  EXPECT_EQ(Find(old->json(), {"metadata", "ownerReferences"}), nullptr);
  ASSERT_TRUE(client_->Delete(ctx_, Builtin("ReplicaSet"), ns_, left[0].name).ok());
}

TEST_F(Replace, RoleOfABindingIsChanged) {
  const std::string binding = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: @}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ROLE}
)";
  MustApply(InNamespace(ReplaceAll(binding, "ROLE", "old")));
  MustApply(InNamespace(ReplaceAll(binding, "ROLE", "new")));
  EXPECT_EQ(GetString(Live("RoleBinding", "b")->json(), {"roleRef", "name"}), "new");
}

// What is invalid by itself is refused as it is, and nothing is deleted for it.
TEST_F(Replace, InvalidObjectsAndOthersObjectsStayAsTheyAre) {
  MustApply(InNamespace(ReplaceAll(kDeployment, "LABEL", "old")));
  std::string uid = Live("Deployment", "web")->uid();
  std::vector<Manifest> invalid =
      InNamespace(ReplaceAll(kDeployment, "{matchLabels: {app: LABEL}}", "{matchLabels: {app: x}}"));
  std::vector<Change> changes;
  auto applied = applier_->Apply(ctx_, invalid, {}, changes);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.code(), Code::kInvalidArgument);
  EXPECT_EQ(Live("Deployment", "web")->uid(), uid);

  Json owner = {{"metadata",
                 {{"ownerReferences",
                   Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"}, {"uid", uid}}})}}}};
  ApplyYaml(*client_, "{apiVersion: v1, kind: ConfigMap, metadata: {name: o, namespace: " + ns_ + "}}");
  owner["metadata"]["ownerReferences"][0]["uid"] = Live("ConfigMap", "o")->uid();
  ASSERT_TRUE(client_->Patch(ctx_, Builtin("Deployment"), ns_, "web", PatchType::kMerge, owner).ok());
  applied = applier_->Apply(ctx_, InNamespace(ReplaceAll(kDeployment, "LABEL", "new")), {}, changes);
  ASSERT_FALSE(applied.ok());
  EXPECT_THAT(applied.error().message, HasSubstr("immutable"));
  EXPECT_EQ(Live("Deployment", "web")->uid(), uid);
}

}  // namespace
}  // namespace capi::kube
