#include "operator/wakes.h"

#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using api::ProviderType;
using testing::NewProvider;

ProviderPtr With(api::Provider provider, const std::function<void(api::Provider&)>& change = nullptr) {
  if (change) change(provider);
  return std::make_shared<const api::Provider>(std::move(provider));
}

api::Provider Aws() { return NewProvider(ProviderType::kInfrastructure, "aws"); }

Json Owns(std::initializer_list<const char*> config_maps) {
  kube::Inventory inventory;
  for (const char* name : config_maps)
    inventory.Put({"", "ConfigMap", "shared", name}, {"v1", "hash", "fields", false});
  return inventory.ToJson();
}

void Paused(api::Provider& p) {
  p.status.conditions = {{"Paused", "True", std::string(api::reason::kPaused), "", 1, ""}};
}

// Whom a change of a Provider wakes: itself, those of its kind, all others.
TEST(Wakes, AProvidersChange) {
  struct Case {
    std::string_view name;
    ProviderPtr was, is;
    bool spec, itself, kin, others;
  };
  const api::Provider aws = Aws(), core = testing::NewCore();
  auto owns = [](std::initializer_list<const char*> names) {
    return [inventory = Owns(names)](api::Provider& p) { p.status.inventory = inventory; };
  };
  auto unreadable = [](api::Provider& p) { p.status.inventory = Json{{"v", 99}}; };
  const Case cases[] = {
      {"it came", nullptr, With(aws), true, true, true, false},
      {"it came installed (C1)", nullptr, With(aws, [](auto& p) { p.status.contract = "v1beta1"; }), true, true, true,
       true},
      {"the core came (I4)", nullptr, With(NewProvider(ProviderType::kCore, "cluster-api")), true, true, true, true},
      {"it went (X3, I5, C5)", With(aws), nullptr, true, true, true, true},
      {"its spec", With(aws), With(aws, [](auto& p) { p.generation = 2; }), true, true, false, false},
      {"words of its status", With(aws), With(aws, [](auto& p) { p.status.source = "elsewhere"; }), false, false, false,
       false},
      {"its contract (C1)", With(aws), With(aws, [](auto& p) { p.status.contract = "v1beta1"; }), false, false, true,
       true},
      {"it is at zero (C3)", With(aws), With(aws, Paused), false, false, true, true},
      {"it comes back (C5)", With(aws, Paused), With(aws), false, false, true, true},
      {"it is to have another contract (C3)", With(aws, [](auto& p) { p.status.installed_version = "v1.11.0"; }),
       With(aws,
            [](auto& p) {
              p.status.installed_version = "v1.11.0";
              p.status.desired_version = p.spec.version;
              p.status.desired_contract = "v1beta2";
            }),
       false, false, true, true},
      {"it owns more", With(aws, owns({"a"})), With(aws, owns({"a", "b"})), false, false, false, false},
      {"it gave up an object (I5)", With(aws, owns({"a", "b"})), With(aws, owns({"b"})), false, false, true, true},
      {"it exchanged one (I5)", With(aws, owns({"a"})), With(aws, owns({"b"})), false, false, true, true},
      {"what it owns can't be read any more", With(aws, owns({"a"})), With(aws, unreadable), false, false, true, true},
      {"what it owns can be read again", With(aws, unreadable), With(aws, owns({"a"})), false, false, false, false},
      {"the core's upgrade is through (U13)",
       With(core,
            [](auto& p) {
              p.status.history = {{"v1.12.0", "v1beta2", ""}};
              p.status.history[0].outcome = "RollingOut";
            }),
       With(core,
            [](auto& p) {
              p.status.history = {{"v1.12.0", "v1beta2", ""}};
            }),
       false, false, true, true},
      {"the core has its CRDs (I4)", With(core), With(core, owns({"a"})), false, false, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const api::ProviderId id = c.is ? c.is->id : c.was->id;
    ProviderNews news = NewsOf({.id = id, .was = c.was, .is = c.is, .spec = c.spec});
    const api::ProviderId kin{id.type, "elsewhere", id.name}, other{ProviderType::kBootstrap, "kubeadm", "kubeadm"};
    EXPECT_EQ(Wakes(news, id), c.itself);
    EXPECT_EQ(Wakes(news, kin), c.kin);
    EXPECT_EQ(Wakes(news, other), c.others);
  }
}

kube::ObjectPtr Labelled(const char* api_version, const char* kind, const std::string& label,
                         const std::function<void(Json&)>& change = nullptr) {
  Json json = {{"apiVersion", api_version},
               {"kind", kind},
               {"metadata", {{"name", "x"}, {"uid", "1"}, {"labels", {{std::string(api::kLabelProvider), label}}}}}};
  if (change) change(json);
  return std::make_shared<const kube::Object>(std::move(json));
}

void Established(Json& json) {
  json["spec"]["names"] = {{"kind", "X"}};
  json["status"]["conditions"] = {{{"type", "Established"}, {"status", "True"}},
                                  {{"type", "NamesAccepted"}, {"status", "True"}}};
}

// Whom a change of an object with our label wakes: the provider that it is labelled with, another one.
TEST(Wakes, AnObjectsChange) {
  constexpr const char *kCrd = "apiextensions.k8s.io/v1", *kAws = "infrastructure-aws", *kCore = "cluster-api";
  using Purpose = Watches::Purpose;
  const Watches::Key whole{
      Purpose::kOurObjects, kube::Builtin("Deployment"), "", std::string(api::kLabelClusterctl), "", false};
  Watches::Key metadata = whole;
  metadata.metadata_only = true;
  struct Case {
    std::string_view name;
    const Watches::Key& watch;
    kube::ObjectPtr was, is;
    bool own, other;
  };
  auto going = [](Json& json) { json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; };
  const Case cases[] = {
      {"a Deployment came", whole, nullptr, Labelled("apps/v1", "Deployment", kAws), true, false},
      {"a Deployment changed", whole, Labelled("apps/v1", "Deployment", kAws), Labelled("apps/v1", "Deployment", kAws),
       true, false},
      {"one of a name that ends so", whole, nullptr, Labelled("apps/v1", "Deployment", "infrastructure-big-aws"), false,
       false},
      {"one of another name", whole, nullptr, Labelled("apps/v1", "Deployment", "infrastructure-gcp"), false, false},
      {"one of another kind", whole, nullptr, Labelled("apps/v1", "Deployment", "control-plane--aws"), false, false},
      {"a Deployment went (C6)", whole, Labelled("apps/v1", "Deployment", kAws), nullptr, true, true},
      {"a label was taken away (D1)", whole, Labelled("apps/v1", "Deployment", kAws),
       Labelled("apps/v1", "Deployment", ""), true, false},
      {"a CRD changed", whole, Labelled(kCrd, "CustomResourceDefinition", kAws, Established),
       Labelled(kCrd, "CustomResourceDefinition", kAws), true, false},
      {"a CRD of the core is usable (I4)", whole, Labelled(kCrd, "CustomResourceDefinition", kCore),
       Labelled(kCrd, "CustomResourceDefinition", kCore, Established), true, true},
      {"a CRD of the core, as usable as before", whole, Labelled(kCrd, "CustomResourceDefinition", kCore, Established),
       Labelled(kCrd, "CustomResourceDefinition", kCore, Established), false, false},
      {"a CRD of the core went", whole, Labelled(kCrd, "CustomResourceDefinition", kCore), nullptr, true, true},
      {"a Service changed its status", metadata, Labelled("v1", "Service", kAws), Labelled("v1", "Service", kAws),
       false, false},
      {"a Service is going", metadata, Labelled("v1", "Service", kAws), Labelled("v1", "Service", kAws, going), true,
       false},
      {"a Service went", metadata, Labelled("v1", "Service", kAws), nullptr, true, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto news = NewsOf(c.watch, c.was, c.is);
    const api::ProviderId aws{ProviderType::kInfrastructure, "aws-system", "aws"};
    const api::ProviderId azure{ProviderType::kInfrastructure, "azure-system", "azure"};
    EXPECT_EQ(news && Wakes(*news, aws), c.own);
    EXPECT_EQ(news && Wakes(*news, azure), c.other);
  }
}

// Who asked for a watch of his own: its Secret, his Namespace's release, his Namespace, what may be in use.
TEST(Wakes, WhoAskedForTheWatch) {
  struct Case {
    std::string_view name;
    Watches::Key watch;
    const char* ns;
    const char* object;
    enum { kComes, kChanges, kIsGoing, kGoes, kIsUnlabelled, kIsOwned, kIsAnother } what;
    bool wakes;
  };
  using Purpose = Watches::Purpose;
  const kube::Resource &maps = kube::Builtin("ConfigMap"), &machines = kube::Builtin("Pod");
  const Watches::Key secret{Purpose::kReferenced, kube::Builtin("Secret"), "a", "", "metadata.name=s", true};
  const Watches::Key releases{Purpose::kReleases, maps, "", std::string(api::kLabelReleaseName), "", true};
  const Watches::Key all_maps{Purpose::kReleases, maps, "a", "", "", true};  // the selector `{}`
  const Watches::Key namespaces{Purpose::kNamespaces, kube::Builtin("Namespace"), "", "", "", true};
  const Watches::Key crds{Purpose::kNewKinds, kube::Builtin("CustomResourceDefinition"), "", "", "", true};
  const Watches::Key in_use{Purpose::kInUse, machines, "", "", "", true};
  const Case cases[] = {
      {"the Secret of variables (I7)", secret, "a", "s", Case::kChanges, true},
      {"a release in its Namespace (I6)", releases, "a", "r", Case::kChanges, true},
      {"a release in another Namespace", releases, "b", "r", Case::kChanges, false},
      {"a release that any ConfigMap may be (I6)", all_maps, "a", "r", Case::kChanges, true},
      {"such a release goes", all_maps, "a", "r", Case::kGoes, true},
      {"its Namespace comes (X5)", namespaces, "", "a", Case::kComes, true},
      {"its Namespace is going (X5)", namespaces, "", "a", Case::kIsGoing, true},
      {"its Namespace has gone (X5)", namespaces, "", "a", Case::kGoes, true},
      {"another Namespace", namespaces, "", "b", Case::kComes, false},
      {"another Namespace is going", namespaces, "", "b", Case::kIsGoing, false},
      {"a label of its Namespace", namespaces, "", "a", Case::kChanges, false},
      {"a kind that it waits for comes (I13)", crds, "", "c", Case::kComes, true},
      {"a kind that it waits for is served (I13)", crds, "", "c", Case::kChanges, true},
      {"what may be in use comes (X2)", in_use, "x", "m", Case::kComes, true},
      {"what may be in use is going (X2)", in_use, "x", "m", Case::kIsGoing, true},
      {"what may be in use has gone (X2)", in_use, "x", "m", Case::kGoes, true},
      {"the status of what may be in use", in_use, "x", "m", Case::kChanges, false},
      {"what may be in use lost its label (X2)", in_use, "x", "m", Case::kIsUnlabelled, true},
      {"what may be in use has other owners (X2)", in_use, "x", "m", Case::kIsOwned, true},
      {"another one has the name of what may be in use (X2)", in_use, "x", "m", Case::kIsAnother, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Json json = {{"apiVersion", "v1"},
                 {"kind", c.watch.resource.kind},
                 {"metadata", {{"name", c.object}, {"namespace", c.ns}, {"uid", "1"}, {"labels", {{"l", "x"}}}}}};
    kube::ObjectPtr was = c.what == Case::kComes ? nullptr : std::make_shared<const kube::Object>(json);
    Json& metadata = json["metadata"];
    if (c.what == Case::kIsGoing) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    if (c.what == Case::kIsUnlabelled) metadata.erase("labels");
    if (c.what == Case::kIsOwned) metadata["ownerReferences"] = {{{"uid", "2"}}};
    if (c.what == Case::kIsAnother) metadata["uid"] = "2";
    kube::ObjectPtr is = c.what == Case::kGoes ? nullptr : std::make_shared<const kube::Object>(json);
    const api::ProviderId aws{ProviderType::kInfrastructure, "a", "aws"};
    EXPECT_EQ(IsNews(c.watch, was, is) && (!c.watch.IsShared() || Concerns(c.watch, is ? *is : *was, aws)), c.wakes);
  }
}

}  // namespace
}  // namespace capi::ops
