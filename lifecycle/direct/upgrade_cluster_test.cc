// L23: providers change without an operator, on a real control plane.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stop_token>

#include "kube/testing/fault_proxy.h"
#include "lifecycle/direct/scale.h"
#include "lifecycle/direct/testing.h"
#include "lifecycle/plan/scale.h"

namespace capi::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kBox[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: box-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: box-config, namespace: box-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: box, namespace: box-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: box}}
  template:
    metadata: {labels: {app: box}}
    spec: {containers: [{name: manager, image: "example.com/box:v1"}]}
)";

// A second provider, which comes after the toy.
class DirectOfTwo : public Direct {
 protected:
  void SetUp() override {
    Direct::SetUp();
    MustInstall();
    auto box = Install(ctx_, *client_, Box("v1.0.0"));
    ASSERT_TRUE(box.ok()) << box.error().message;
    toy_ = Prepared(true);
  }
  void TearDown() override {
    auto removal = PlanRemoval(ctx_, *client_, kBoxId, {true, true}, nullptr);
    ASSERT_TRUE(removal.ok()) << removal.error().message;
    EXPECT_TRUE(Remove(ctx_, *client_, *removal, nullptr).ok());
    Direct::TearDown();
  }
  DirectRelease Box(const std::string& version) {
    api::Release release;
    release.version = *api::Version::Parse(version);
    release.metadata = kMetadata;
    release.components = kBox;
    auto prepared = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "box", &release, values_, "", {}});
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    return prepared.ok() ? *prepared : DirectRelease{};
  }
  std::int64_t BoxReplicas() {
    auto live = client_->Get(ctx_, kube::Builtin("Deployment"), "box-system", "box");
    EXPECT_TRUE(live.ok()) << live.error().message;
    return live.ok() ? GetInt(live->json(), {"spec", "replicas"}) : -1;
  }

  // Has failing_ fail where `fails` says so.
  void Fail(std::function<bool(const kube::ProxyRequest&)> fails) {
    auto proxy = kube::FaultProxy::Start(kube::ControlPlane::Shared().config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(*proxy);
    auto client = kube::Client::Connect(proxy_->config(), {.user_agent = "test"});
    ASSERT_TRUE(client.ok()) << client.error().message;
    failing_ = std::move(*client);
    proxy_->SetFaults([fails = std::move(fails)](const kube::ProxyRequest& request) {
      return kube::Fault{.status = fails(request) ? 422 : 0};
    });
  }

  const api::ProviderId kBoxId{api::ProviderType::kInfrastructure, "box-system", "box"};
  DirectRelease toy_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::unique_ptr<kube::Client> failing_;
};

// In place: what the new release hasn't any more goes, its CRDs and users' objects stay.
TEST_F(Direct, UpgradesInPlaceAndPrunes) {
  MustInstall();
  MakeToy("mine");
  const std::string uid = Live("Deployment", "toy-controller-manager").uid();
  std::vector<std::string> steps;
  UpgradeOptions options;
  options.on_step = [&](std::string_view what, const Installable&) { steps.emplace_back(what); };
  MustUpgrade(options);
  EXPECT_THAT(steps, ElementsAre("scaling down", "upgrading")) << "the CRD stores another version";
  EXPECT_EQ(Installed(), "v1.1.0");
  EXPECT_TRUE(Gone("ClusterRole", "toy-old-role"));
  EXPECT_FALSE(Gone("ClusterRole", "toy-new-role"));
  const kube::Object deployment = Live("Deployment", "toy-controller-manager");
  EXPECT_EQ(deployment.uid(), uid);
  EXPECT_EQ(GetInt(deployment.json(), {"spec", "replicas"}), 1);
  EXPECT_FALSE(deployment.has_annotation(api::kAnnotationOriginalReplicas));
  const kube::Object config = Live("ConfigMap", "toy-config");
  EXPECT_EQ(Find(config.json(), {"data", "old"}), nullptr) << "a field that the new release hasn't goes too";
  EXPECT_EQ(GetString(config.json(), {"data", "new"}), "1");
  steps.clear();
  MustUpgrade(options);
  EXPECT_THAT(steps, ElementsAre("upgrading")) << "nothing stops where nothing has to";
}

// What clusterctl wrote by plain updates is taken over.
TEST_F(Direct, UpgradesWhatCreateAndPatchWrote) {
  MustInstall();
  MakeAnew("ConfigMap", "toy-config");
  MustUpgrade();
  EXPECT_EQ(Find(Live("ConfigMap", "toy-config").json(), {"data", "old"}), nullptr);
}

// A run that ended between two requests: everything is at zero, and the annotation says what it was.
TEST_F(Direct, AnUpgradeThatWasBrokenOffGoesOn) {
  MustInstall();
  Json down = {{"metadata", {{"annotations", {{std::string(api::kAnnotationOriginalReplicas), "3"}}}}},
               {"spec", {{"replicas", 0}}}};
  ASSERT_TRUE(client_
                  ->Patch(ctx_, kube::Builtin("Deployment"), "toy-system", "toy-controller-manager",
                          kube::PatchType::kMerge, down)
                  .ok());
  MustUpgrade();
  const kube::Object deployment = Live("Deployment", "toy-controller-manager");
  EXPECT_EQ(GetInt(deployment.json(), {"spec", "replicas"}), 3);
  EXPECT_EQ(Installed(), "v1.1.0");
}

// D1: a count that a person or an autoscaler has set stays theirs, whether all goes to zero or not, and whoever
// installed it: what is written while it is at zero must not become part of the apply.
TEST_F(Direct, AnUpgradeKeepsReplicas) {
  MustInstall();
  MakeAnew("Deployment", "toy-controller-manager");
  Scale(3, {.field_manager = "kubectl-edit"});
  MustUpgrade();
  EXPECT_EQ(Replicas(), 3) << "it went to zero, and came back";
  Scale(2, {.field_manager = "autoscaler", .subresource = "scale"});
  MustUpgrade();
  EXPECT_EQ(Replicas(), 2) << "nothing stopped";
  EXPECT_EQ(ScaledBy(Live("Deployment", "toy-controller-manager")), "autoscaler");
  UpgradeOptions options;
  options.contract_changes = true;
  MustUpgrade(options);
  EXPECT_EQ(Replicas(), 2);
  EXPECT_EQ(ScaledBy(Live("Deployment", "toy-controller-manager")), "autoscaler");
}

// What is terminating may still write. Its node doesn't answer, so it doesn't end by itself.
TEST_F(Direct, ScalingDownAwaitsPodsThatTerminate) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: Pod
metadata:
  name: toy-controller-manager-a-b
  namespace: toy-system
  labels: {app: toy}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: toy-controller-manager-a, uid: none}]
spec: {nodeName: nowhere, containers: [{name: manager, image: example.com/toy}]}
)");
  const std::string pod = "toy-controller-manager-a-b";
  ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin("Pod"), "toy-system", pod).ok());
  UpgradeOptions options;
  options.stop_limit = Seconds(1);
  auto upgraded = Upgrade(ctx_, *client_, {Prepared(true)}, options);
  ASSERT_EQ(upgraded.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(upgraded.error().message, HasSubstr("still waits for pod " + pod + " on node nowhere"));
  EXPECT_EQ(Replicas(), 1) << "nothing was applied, so it comes back";
  EXPECT_EQ(Installed(), "v1.0.0");
  std::set<kube::ObjectId> stopped;
  EXPECT_EQ(ScaleDown(ctx_, *client_, kToy, Seconds(1), stopped).code(), Code::kDeadlineExceeded);
  EXPECT_THAT(stopped, SizeIs(1));
  // Nothing takes away one that has ended; its node may be the one that evicted it.
  ASSERT_TRUE(client_
                  ->Patch(ctx_, kube::Builtin("Pod"), "toy-system", pod, kube::PatchType::kMerge,
                          {{"status", {{"phase", "Failed"}}}}, {.subresource = "status"})
                  .ok());
  stopped.clear();
  auto without = ScaleDown(ctx_, *client_, kToy, Seconds(30), stopped);
  EXPECT_TRUE(without.ok()) << without.error().message;
  EXPECT_THAT(stopped, testing::IsEmpty()) << "it was at zero already";
  auto ended = client_->Raw(ctx_, "DELETE", "/api/v1/namespaces/toy-system/pods/" + pod + "?gracePeriodSeconds=0");
  ASSERT_TRUE(ended.ok()) << ended.error().message;
}

// While nobody converts, the kinds of other providers are read at the version that they are stored at.
TEST_F(Direct, ListsLabelledObjectsOfOthersKindsWithoutAConversion) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: pets.other.cluster.x-k8s.io
  labels: {clusterctl.cluster.x-k8s.io: "", cluster.x-k8s.io/provider: infrastructure-other}
spec:
  group: other.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Pet, plural: pets, singular: pet, listKind: PetList}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: none, namespace: toy-system, path: /convert}}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: other.cluster.x-k8s.io/v1beta1
kind: Pet
metadata:
  name: a
  namespace: toy-system
)");
  const std::string pet = "Pet.other.cluster.x-k8s.io/toy-system/a";
  MustUpgrade();
  auto all = ListInNamespace(ctx_, *client_, "toy-system");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_TRUE(std::any_of(all->begin(), all->end(), [&](const auto& one) { return one.id().ToString() == pet; }));
  const kube::Resource pets{.group = "other.cluster.x-k8s.io", .version = "v1beta1", .plural = "pets", .kind = "Pet"};
  Json labels = {{std::string(api::kLabelClusterctl), ""}, {std::string(api::kLabelProvider), "infrastructure-toy"}};
  ASSERT_TRUE(
      client_->Patch(ctx_, pets, "toy-system", "a", kube::PatchType::kMerge, {{"metadata", {{"labels", labels}}}})
          .ok());
  EXPECT_THAT(Labelled(), testing::Contains(pet));
  EXPECT_TRUE(client_->Delete(ctx_, kube::Builtin("CustomResourceDefinition"), "", "pets.other.cluster.x-k8s.io").ok());
}

// Nothing is changed where a CRD would lose the version at which its objects are stored.
TEST_F(Direct, RefusesWhatWouldLoseObjects) {
  MustInstall();
  DirectRelease next = Prepared(true);
  for (kube::Manifest& manifest : next.manifests) {
    if (manifest.crd_kind != "Toy") continue;
    Json crd = *ParseJson(manifest.text);
    crd["spec"]["versions"].erase(0);
    manifest = kube::ToManifest(kube::Object(std::move(crd)));
  }
  auto upgraded = Upgrade(ctx_, *client_, {next}, {});
  ASSERT_FALSE(upgraded.ok());
  EXPECT_THAT(upgraded.error().message, HasSubstr("unable to upgrade CRD \"toys.infrastructure.cluster.x-k8s.io\""));
  EXPECT_EQ(Installed(), "v1.0.0");
  // By way of the one that has both: objects are brought to the version that stays, then the older one may go.
  MakeToy("mine");
  MustUpgrade();
  upgraded = Upgrade(ctx_, *client_, {next}, {});
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  const kube::Object crd = Live("CustomResourceDefinition", "toys.infrastructure.cluster.x-k8s.io");
  EXPECT_EQ(crd.json()["status"]["storedVersions"], Json::array({"v1beta1"}));
}

// Nobody would look for what an upgrade left at zero: each run that fails names it, whichever left it so.
TEST_F(DirectOfTwo, WhatIsAtZeroIsTold) {
  Fail([](const kube::ProxyRequest& request) {
    return request.method == "PATCH" && request.target.find("/configmaps/box-config") != request.target.npos &&
           request.target.find("dryRun") == request.target.npos;
  });
  for (const char* run : {"the run that stops it", "a run that stops nothing"}) {
    SCOPED_TRACE(run);
    auto upgraded = Upgrade(ctx_, *failing_, {toy_, Box("v1.1.0")}, {});
    ASSERT_FALSE(upgraded.ok());
    EXPECT_THAT(upgraded.error().message, HasSubstr("injected fault"));
    EXPECT_THAT(upgraded.error().message, HasSubstr("; at zero replicas: InfrastructureProvider/box (by hand"));
    EXPECT_EQ(Replicas(), 1) << "it has its new release";
    EXPECT_EQ(BoxReplicas(), 0);
  }
  DirectRelease unknown = Box("v1.1.0");
  unknown.manifests.push_back(kube::ToManifest(
      kube::Object(Json{{"apiVersion", "none.example.com/v1"}, {"kind", "Zebra"}, {"metadata", {{"name", "a"}}}})));
  auto refused = Upgrade(ctx_, *client_, {toy_, unknown}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("none.example.com/v1 Zebra"));
  EXPECT_THAT(refused.error().message, HasSubstr("; at zero replicas: InfrastructureProvider/box (by hand"));
  unknown.provider = toy_.provider;
  refused = Upgrade(ctx_, *client_, {unknown}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("; at zero replicas: InfrastructureProvider/box (by hand"))
      << "L23: a run that is about another one";
  // L10: what nobody wants to run isn't what was to be waited for.
  std::vector<std::string> warnings;
  auto warn = [&](const std::string& what) { warnings.push_back(what); };
  auto available = AwaitAvailable(ctx_, *client_, kBoxId, Seconds(60), warn);
  ASSERT_EQ(available.code(), Code::kFailedPrecondition);
  EXPECT_THAT(available.error().message, HasSubstr("an upgrade that was broken off: run that again"));
  auto upgraded = Upgrade(ctx_, *client_, {toy_, Box("v1.1.0")}, {});
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  EXPECT_EQ(BoxReplicas(), 1);
  EXPECT_TRUE(AwaitAvailable(ctx_, *client_, kBoxId, Seconds(60), warn).ok());
  EXPECT_THAT(warnings, testing::IsEmpty());
  ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin("Deployment"), "box-system", "box").ok());
  EXPECT_TRUE(kube::Eventually([&] {
    warnings.clear();
    return AwaitAvailable(ctx_, *client_, kBoxId, Seconds(60), warn).ok() && !warnings.empty();
  }));
  EXPECT_THAT(warnings, ElementsAre("InfrastructureProvider/box has no Deployment in namespace box-system: whether it "
                                    "runs can't be told"));
}

// What is to be removed at the end is looked for here.
TEST_F(DirectOfTwo, WhatCantBeReadEndsItBeforeAnythingStops) {
  Fail([](const kube::ProxyRequest& request) { return request.target.find("/cronjobs?") != request.target.npos; });
  UpgradeOptions options;
  options.on_step = [](std::string_view what, const Installable&) { ADD_FAILURE() << what; };
  auto upgraded = Upgrade(ctx_, *failing_, {toy_, Box("v1.1.0")}, options);
  ASSERT_FALSE(upgraded.ok());
  EXPECT_THAT(upgraded.error().message, HasSubstr("failed to look for objects of kind CronJob"));
  EXPECT_EQ(Installed(), "v1.0.0");
  EXPECT_EQ(Replicas(), 1);
}

// What goes at the end is known by then: a server that fails later doesn't leave a release half done.
TEST_F(DirectOfTwo, WhatCantBeReadAnyMoreHoldsUpNothing) {
  std::atomic<bool> upgrading = false;
  Fail([&](const kube::ProxyRequest& request) {
    return upgrading && request.target.find("/cronjobs?") != request.target.npos;
  });
  UpgradeOptions options;
  options.on_step = [&](std::string_view what, const Installable&) { upgrading = upgrading || what == "upgrading"; };
  auto upgraded = Upgrade(ctx_, *failing_, {toy_, Box("v1.1.0")}, options);
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  EXPECT_EQ(Installed(), "v1.1.0");
  EXPECT_TRUE(Gone("ClusterRole", "toy-old-role"));
}

// Nothing was applied, so what ran runs on, though the caller waits no more.
TEST_F(DirectOfTwo, WhatWasStoppedComesBackAfterAnInterrupt) {
  std::stop_source interrupt;
  int stopped = 0;
  std::vector<std::string> put_back;
  UpgradeOptions options;
  options.on_step = [&](std::string_view what, const Installable& provider) {
    if (what == "scaling down" && ++stopped == 2) interrupt.request_stop();
    if (what == "putting back what was stopped") put_back.push_back(provider.id.name);
  };
  auto upgraded = Upgrade(ctx_.WithStop(interrupt.get_token()), *client_, {toy_, Box("v1.1.0")}, options);
  ASSERT_EQ(upgraded.code(), Code::kCancelled) << "it was to be interrupted";
  EXPECT_THAT(upgraded.error().message, testing::Not(HasSubstr("at zero replicas")));
  EXPECT_EQ(stopped, 2);
  EXPECT_THAT(put_back, ElementsAre("toy")) << "the box was never stopped";
  EXPECT_EQ(Replicas(), 1);
  EXPECT_EQ(BoxReplicas(), 1);
  EXPECT_EQ(Installed(), "v1.0.0");
}

// What it has can't be told: an upgrade goes on, and says so; a Namespace mustn't go.
TEST_F(Direct, AnAggregatedApiThatIsAwayHoldsUpNoUpgrade) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.away.example.com}
spec:
  group: away.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: none, namespace: toy-system}
)");
  std::string why;
  auto is_away = [&] {
    auto all = ListInNamespace(ctx_, *client_, "toy-system");
    why = all.ok() ? "" : all.error().message;
    return why == "away.example.com: the API of its group doesn't answer now";
  };
  EXPECT_TRUE(kube::Eventually(is_away)) << why;
  std::vector<std::string> warnings;
  UpgradeOptions options;
  options.on_warning = [&](const std::string& what) { warnings.push_back(what); };
  MustUpgrade(options);
  EXPECT_THAT(warnings, ElementsAre("what InfrastructureProvider/toy no longer has may stay: objects of group "
                                    "away.example.com: the API of its group doesn't answer now"));
  EXPECT_TRUE(Gone("ClusterRole", "toy-old-role"));
  const kube::Resource services{.group = "apiregistration.k8s.io",
                                .version = "v1",
                                .plural = "apiservices",
                                .kind = "APIService",
                                .namespaced = false};
  EXPECT_TRUE(client_->Delete(ctx_, services, "", "v1.away.example.com").ok());
  EXPECT_TRUE(kube::Eventually([&] { return !is_away() && why.empty(); })) << why;
}

}  // namespace
}  // namespace capi::lifecycle
