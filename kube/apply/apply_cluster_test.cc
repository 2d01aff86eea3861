// Errors, order and guards of apply and delete on a real control plane.
#include <gmock/gmock.h>

#include "kube/apply/cluster_testing.h"

namespace capi::kube {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Apply = ApplyClusterTest;
using Delete = ApplyClusterTest;

constexpr char kThreeInvalid[] = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: fine, namespace: @}, data: {k: v}}
---
{apiVersion: v1, kind: Service, metadata: {name: no-ports, namespace: @}, spec: {type: NodePort}}
---
{apiVersion: v1, kind: Secret, metadata: {name: Bad_Name, namespace: @}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: no-selector, namespace: @}
spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
)";

// I5: every refusal is named before the first write.
TEST_F(Apply, DryRunNamesAllErrorsAndWritesNothing) {
  auto refused = applier_->DryRun(ctx_, InNamespace(kThreeInvalid));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(
      refused.error().message,
      AllOf(HasSubstr("3 of 4 objects failed"), HasSubstr("Service/" + ns_ + "/no-ports: "),
            HasSubstr("Secret/" + ns_ + "/Bad_Name: "), HasSubstr("Deployment.apps/" + ns_ + "/no-selector: ")));
  EXPECT_TRUE(IsNotFound(Live("ConfigMap", "fine")));
}

TEST_F(Apply, StopsAfterTheStageThatFailedAndTriesAllOfIt) {
  std::vector<Change> changes;
  auto applied = applier_->Apply(ctx_, InNamespace(kThreeInvalid), {}, changes);
  ASSERT_FALSE(applied.ok());
  EXPECT_THAT(applied.error().message,
              AllOf(HasSubstr("no-ports"), HasSubstr("Bad_Name"), Not(HasSubstr("no-selector"))));
  EXPECT_TRUE(Live("ConfigMap", "fine").ok());
  ASSERT_EQ(changes.size(), 3u) << "the workload was not tried";
  EXPECT_EQ(changes[0].action, Change::Action::kCreated);
  EXPECT_EQ(changes[1].action, Change::Action::kFailed);
  EXPECT_FALSE(changes[1].error.empty());
}

// D1: a part is sent for seconds, and each object of it may go again meanwhile.
TEST_F(Apply, TellsOfEachObjectAsItsAnswerComes) {
  std::vector<std::string> told;
  auto note = [&](const ObjectId& id, const std::string& version) {
    EXPECT_EQ(Requests("PATCH"), told.size() + 1) << "the others aren't sent yet";
    EXPECT_EQ(version, Live("ConfigMap", id.name)->resource_version());
    told.push_back(id.name);
  };
  Applier applier(*through_proxy_, {.parallel = 1, .on_written = note});
  std::vector<Manifest> manifests = InNamespace(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: @}, data: {k: v}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: @}, data: {k: v}}
)");
  std::vector<Change> changes;
  ASSERT_TRUE(applier.DryRun(ctx_, manifests).ok());
  EXPECT_TRUE(told.empty()) << "a dry run writes nothing";
  proxy_->Reset();
  ASSERT_TRUE(applier.Apply(ctx_, manifests, {}, changes).ok());
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(applier.Apply(ctx_, manifests, After(changes), changes).ok());
  EXPECT_EQ(told.size(), 2u) << "nothing is sent";
}

// F9: the server's warnings come with the object that they are of. (Fields that it doesn't know it refuses.)
TEST_F(Apply, HandsUpWhatTheServerWarnsOf) {
  std::vector<Change> changes = MustApply(InNamespace(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: fine, namespace: @}, data: {k: v}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: old, namespace: @}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: i}], nodeSelector: {beta.kubernetes.io/os: linux}}
)"));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].warnings.empty());
  EXPECT_THAT(changes[1].warnings, testing::ElementsAre(HasSubstr("beta.kubernetes.io/os")));
  std::vector<Change> refused;
  Manifest unknown =
      InNamespace("{apiVersion: v1, kind: ConfigMap, metadata: {name: fine, namespace: @}, dataa: {}}")[0];
  auto applied = applier_->Apply(ctx_, {unknown}, {}, refused);
  ASSERT_FALSE(applied.ok());
  EXPECT_THAT(applied.error().message, HasSubstr("dataa"));
  EXPECT_EQ(CodeName(applied.code()), CodeName(Code::kFailedPrecondition));
  EXPECT_FALSE(applied.error().Transient()) << "F5: it is Stalled, no outage";
}

// F3: what may succeed later is told from what can't, also when both happen.
TEST_F(Apply, TransientErrorsKeepTheirCode) {
  struct Case {
    std::string name;
    Fault fault;
    Code code;
  };
  const Case cases[] = {
      {"overloaded", {.status = 429, .retry_after = "3"}, Code::kRateLimited},
      {"conflict", {.status = 409}, Code::kConflict},
      {"unavailable", {.status = 503}, Code::kUnavailable},
      {"connection lost", {.drop = true}, Code::kUnavailable},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    proxy_->SetFaults([fault = c.fault](const ProxyRequest& request) {
      return request.target.find("/configmaps/fine") != std::string::npos ? fault : Fault{};
    });
    std::vector<Change> changes;
    auto applied = applier_->Apply(ctx_, InNamespace(kThreeInvalid), {}, changes);
    ASSERT_FALSE(applied.ok());
    EXPECT_EQ(applied.code(), c.code);
    EXPECT_TRUE(applied.error().Transient());
    EXPECT_EQ(applied.error().retry_after.has_value(), !c.fault.retry_after.empty());
    EXPECT_THAT(applied.error().message, AllOf(HasSubstr("fine"), HasSubstr("no-ports"), HasSubstr("Bad_Name")));
  }
}

// U7: half of a first apply, then a second one that knows only what was announced.
TEST_F(Apply, InterruptedApplyIsFinishedByTheNext) {
  std::vector<Manifest> manifests = InNamespace(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: @}, data: {k: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: @}, data: {k: "1"}}
)");
  proxy_->SetFaults([](const ProxyRequest& request) {
    return Fault{.drop = request.target.find("/configmaps/b") != std::string::npos, .after_server = true};
  });
  std::vector<Change> changes;
  ASSERT_FALSE(applier_->Apply(ctx_, manifests, {}, changes).ok());
  proxy_->SetFaults(nullptr);
  Inventory announced;
  for (const Manifest& manifest : manifests) announced.Put(manifest.id, {.version = "v1"});
  std::vector<Change> after = MustApply(manifests, announced);
  EXPECT_EQ(After(after), After(MustApply(manifests)));
}

// D1's ground: our entry in managedFields changes when somebody takes a field of ours, and only then.
TEST_F(Apply, ForeignChangeOfOurFieldShowsInTheFieldsHash) {
  std::vector<Manifest> manifests =
      InNamespace("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: @}, data: {k: ours}}");
  std::string hash = MustApply(manifests).front().entry.fields;
  auto patch = [&](Json value) {
    auto done = client_->Patch(ctx_, Builtin("ConfigMap"), ns_, "a", PatchType::kMerge, {{"data", std::move(value)}},
                               {.field_manager = "somebody"});
    ASSERT_TRUE(done.ok()) << done.error().message;
  };
  patch({{"other", "theirs"}});
  EXPECT_EQ(FieldsHash(*Live("ConfigMap", "a"), "capi-operator"), hash);
  patch({{"k", "theirs"}});
  EXPECT_NE(FieldsHash(*Live("ConfigMap", "a"), "capi-operator"), hash);
  EXPECT_EQ(MustApply(manifests).front().entry.fields, hash);
  EXPECT_EQ(GetString(Live("ConfigMap", "a")->json(), {"data", "k"}), "ours");
}

TEST_F(Apply, StopsWhenItsContextEnds) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<Change> changes;
  auto applied = applier_->Apply(ctx_.WithStop(stop.get_token()), InNamespace(kThreeInvalid), {}, changes);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.code(), Code::kCancelled);
  EXPECT_EQ(Requests(), 0u);
}

constexpr char kTwoMaps[] = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: @, labels: {owner: me}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: @, labels: {owner: them}}}
)";

// U4: what isn't ours any more stays, and why is told; what has gone counts as deleted, though nobody deleted it now.
TEST_F(Delete, KeepsWhatTheGuardSavesAndCountsWhatHasGone) {
  std::vector<Manifest> manifests = InNamespace(kTwoMaps);
  MustApply(manifests);
  std::vector<Change> changes;
  auto deleted = applier_->Delete(
      ctx_,
      {manifests[0].id, manifests[1].id, {"", "Secret", ns_, "never-was"}, {"none.example.com", "Zebra", "", "a"}},
      [](const Object& live) { return live.label("owner") == "me" ? "" : "it is of " + live.label("owner"); }, changes);
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_EQ(changes[0].action, Change::Action::kDeleted);
  EXPECT_EQ(changes[1].action, Change::Action::kUnchanged);
  EXPECT_EQ(changes[1].error, "it is of them");
  EXPECT_EQ(changes[2].action, Change::Action::kDeleted);
  EXPECT_EQ(changes[3].action, Change::Action::kDeleted);
  for (size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i].asked, i == 0) << changes[i].id.ToString();
  EXPECT_TRUE(IsNotFound(Live("ConfigMap", "mine")));
  EXPECT_TRUE(Live("ConfigMap", "theirs").ok());
}

// X1: a version that was applied, and that the server serves no more, says nothing of the object.
TEST_F(Delete, FindsAnObjectWhoseVersionIsServedNoMore) {
  constexpr char kBoth[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wolves.versions.example}
spec:
  group: versions.example
  scope: Cluster
  names: {kind: Wolf, plural: wolves}
  versions:
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
{apiVersion: versions.example/v1, kind: Wolf, metadata: {name: a}}
)";
  std::vector<Manifest> manifests = InNamespace(kBoth);
  MustApply(manifests);
  const Resource& crds = Builtin("CustomResourceDefinition");
  Json patch = Json::array({{{"op", "replace"}, {"path", "/spec/versions/1/served"}, {"value", false}}});
  ASSERT_TRUE(client_->Patch(ctx_, crds, "", manifests[0].id.name, PatchType::kJson, patch).ok());
  const GroupKind wolf = manifests[1].id.group_kind();
  ASSERT_TRUE(Eventually([&] {
    auto kind = client_->mapper().ForAnew(ctx_, wolf);
    auto raw = client_->Raw(ctx_, "GET", "/apis/versions.example/v1/wolves/a");
    return kind.ok() && kind->version == "v1beta1" && !raw.ok() && raw.code() == Code::kNotFound;
  }));
  ASSERT_EQ(through_proxy_->mapper().Known(wolf)->version, "v1") << "as it was applied";
  std::vector<Change> changes;
  ASSERT_TRUE(applier_->Delete(ctx_, {manifests[1].id}, nullptr, changes).ok());
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].asked);
  EXPECT_EQ(client_->Raw(ctx_, "GET", "/apis/versions.example/v1beta1/wolves/a").code(), Code::kNotFound);
}

// An object made anew between the look and the deletion is not the one that was judged.
TEST_F(Delete, SparesAnObjectThatTookTheName) {
  std::vector<Manifest> manifests = InNamespace(kTwoMaps);
  MustApply(manifests);
  proxy_->SetFaults([&](const ProxyRequest& request) {
    if (request.method == "DELETE") {
      EXPECT_TRUE(client_->Delete(ctx_, Builtin("ConfigMap"), ns_, "mine").ok());
      ApplyYaml(*client_, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: " + ns_ + "}}");
    }
    return Fault{};
  });
  std::vector<Change> changes;
  auto deleted = applier_->Delete(ctx_, {manifests[0].id}, nullptr, changes);
  ASSERT_FALSE(deleted.ok());
  EXPECT_EQ(deleted.code(), Code::kConflict);
  EXPECT_TRUE(Live("ConfigMap", "mine").ok());
}

TEST_F(Delete, GoesInReverseOrder) {
  std::vector<Manifest> manifests = InNamespace(R"(
{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: @}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: @}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: @}}
)");
  MustApply(manifests);
  proxy_->Reset();
  std::vector<Change> changes;
  ASSERT_TRUE(applier_->Delete(ctx_, {manifests[0].id, manifests[1].id, manifests[2].id}, nullptr, changes).ok());
  std::vector<std::string> order;
  for (const ProxyRequest& request : proxy_->requests()) {
    if (request.method == "DELETE") order.push_back(request.target);
  }
  ASSERT_EQ(order.size(), 3u);
  EXPECT_THAT(order[0], HasSubstr("validatingwebhookconfigurations"));
  EXPECT_THAT(order[1], HasSubstr("deployments"));
  EXPECT_THAT(order[2], HasSubstr("serviceaccounts"));
}

}  // namespace
}  // namespace capi::kube
