// A release's objects on a real control plane: how many requests they take, and what becomes of them.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/releases.h"
#include "kube/apply/cluster_testing.h"
#include "kube/meta/health.h"
#include "kube/testing/cert_manager_kinds.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ${NAME:=default} becomes its default, ${NAME} nothing.
std::string WithDefaults(std::string text) {
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
    size_t end = text.find('}', at);
    std::string inside = text.substr(at + 2, end - at - 2);
    size_t sign = inside.find(":=");
    std::string value = sign == std::string::npos ? "" : inside.substr(sign + 2);
    text.replace(at, end - at + 1, value);
  }
  return text;
}

size_t Count(const std::vector<Change>& changes, Change::Action action) {
  return static_cast<size_t>(
      std::count_if(changes.begin(), changes.end(), [&](const Change& change) { return change.action == action; }));
}

using Release = ApplyClusterTest;

// I13, I10, I11, U1, X1 on the core provider's own objects.
TEST_F(Release, TakesOneRequestPerObjectAndNoneWhenNothingChanged) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  auto text = ReadFile(ReleasesDir() + "/cluster-api/v1.12.0/core-components.yaml");
  ASSERT_TRUE(text.ok()) << text.error().message;
  std::vector<Manifest> manifests = Manifests(WithDefaults(*text));
  ASSERT_FALSE(manifests.empty());

  auto missing = applier_->MissingKinds(ctx_, manifests);
  ASSERT_TRUE(missing.ok()) << missing.error().message;
  EXPECT_THAT(*missing, ElementsAre("cert-manager.io/v1 Certificate", "cert-manager.io/v1 Issuer"));
  EXPECT_LE(Requests(), 2u) << "discovery, aggregated";
  MustApply(Manifests(kCertManagerKinds));
  EXPECT_THAT(*applier_->MissingKinds(ctx_, manifests), IsEmpty());

  proxy_->Reset();
  std::vector<Change> changes = MustApply(manifests);
  EXPECT_EQ(Count(changes, Change::Action::kCreated), manifests.size());
  EXPECT_EQ(Requests("PATCH"), manifests.size());
  for (const ProxyRequest& request : proxy_->requests()) {  // besides, whether its kinds are served (U2)
    const auto parts = Split(request.target, '/');
    EXPECT_TRUE(request.method == "PATCH" || (request.method == "GET" && parts.size() == 4)) << request.target;
  }
  for (const Change& change : changes) {
    EXPECT_EQ(change.entry.fields.size(), 16u) << change.id.ToString();
    auto resource = client_->mapper().For(ctx_, change.id.group_kind(), change.entry.version);
    ASSERT_TRUE(resource.ok()) << resource.error().message;
    EXPECT_TRUE(Eventually([&] {
      auto live = client_->Get(ctx_, *resource, change.id.ns, change.id.name);
      return live.ok() && HealthOf(*live).ok();
    })) << change.id.ToString();
  }

  proxy_->Reset();
  std::vector<Change> again = MustApply(manifests, After(changes));
  EXPECT_EQ(Count(again, Change::Action::kUnchanged), manifests.size());
  EXPECT_EQ(After(again), After(changes));
  EXPECT_EQ(Requests(), 0u);

  // Without an inventory (U11) the same objects are sent again, and nothing changes.
  EXPECT_EQ(After(MustApply(manifests)), After(changes));
  auto accepted = applier_->DryRun(ctx_, manifests);
  EXPECT_TRUE(accepted.ok()) << accepted.error().message;

  std::vector<ObjectId> ids;
  for (const Manifest& manifest : manifests) ids.push_back(manifest.id);
  std::vector<Change> removed;
  auto deleted = applier_->Delete(ctx_, ids, nullptr, removed);
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_EQ(Count(removed, Change::Action::kDeleted) + Count(removed, Change::Action::kDeleting), ids.size());
  EXPECT_EQ(client_->Get(ctx_, Builtin("Deployment"), "capi-system", "capi-controller-manager").code(),
            Code::kNotFound);
}

TEST_F(Release, KindsThatComeWithItNeedNoDiscovery) {
  std::vector<Manifest> manifests = InNamespace(R"(
apiVersion: toys.example.com/v1beta1
kind: Widget
metadata: {name: one, namespace: @}
spec: {size: 1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.toys.example.com}
spec:
  group: toys.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {
    type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]
)");
  EXPECT_THAT(*applier_->MissingKinds(ctx_, manifests), IsEmpty());
  auto dry = applier_->DryRun(ctx_, manifests);
  EXPECT_TRUE(dry.ok()) << "an object whose CRD comes with it can't be tried: " << dry.error().message;
  proxy_->Reset();
  MustApply(manifests);
  for (const ProxyRequest& request : proxy_->requests()) EXPECT_EQ(request.method, "PATCH") << request.target;
  auto widget = through_proxy_->mapper().Known({"toys.example.com", "Widget"}, "v1beta1");
  ASSERT_TRUE(widget.has_value());
  EXPECT_TRUE(client_->Get(ctx_, *widget, ns_, "one").ok());
  // The kind goes, and with it the objects: they count as deleted.
  std::vector<Change> removed;
  ASSERT_TRUE(applier_->Delete(ctx_, {manifests[1].id}, nullptr, removed).ok());
  ASSERT_TRUE(Eventually([&] { return IsNotFound(client_->Get(ctx_, *widget, ns_, "one")); }));
  ASSERT_TRUE(applier_->Delete(ctx_, {manifests[0].id}, nullptr, removed).ok());
  EXPECT_EQ(removed.back().action, Change::Action::kDeleted);
}

TEST_F(Release, KindsThatNobodyHasAreNamedOnce) {
  auto missing = applier_->MissingKinds(ctx_, Manifests(R"(
{apiVersion: none.example.com/v1, kind: Zebra, metadata: {name: a}}
---
{apiVersion: none.example.com/v1, kind: Ape, metadata: {name: a}}
---
{apiVersion: none.example.com/v1, kind: Zebra, metadata: {name: b}}
---
{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: b}}
---
{apiVersion: v1, kind: Secret, metadata: {name: b}}
)"));
  ASSERT_TRUE(missing.ok());
  EXPECT_THAT(*missing, ElementsAre("apps/v1beta1 Deployment", "none.example.com/v1 Ape", "none.example.com/v1 Zebra"));
}

}  // namespace
}  // namespace capi::kube
