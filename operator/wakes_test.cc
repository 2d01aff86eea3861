#include "operator/wakes.h"

#include <gtest/gtest.h>

#include <set>

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

constexpr kube::Priority kNow = kube::Priority::kNow, kNormal = kube::Priority::kNormal,
                         kLater = kube::Priority::kLater;

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
    EXPECT_EQ(news.itself.has_value(), c.itself);
    EXPECT_FALSE(Wakes(news, id)) << "it is none of the others";
    EXPECT_EQ(Wakes(news, kin), c.kin);
    EXPECT_EQ(Wakes(news, other), c.others);
  }
}

// F10: a person's edit comes first; at a start all are there at once.
TEST(Wakes, AProvidersOwnPriority_F10) {
  using ToldBy = ProviderCache::ToldBy;
  struct Case {
    ToldBy by;
    kube::Priority itself;
  };
  for (const Case& c : {Case{ToldBy::kWatch, kNow}, {ToldBy::kFirstList, kLater}, {ToldBy::kOurWrite, kNormal}}) {
    const ProviderPtr aws = With(Aws());
    EXPECT_EQ(NewsOf({.id = aws->id, .was = aws, .is = aws, .spec = true, .by = c.by}).itself, c.itself);
    EXPECT_EQ(NewsOf({.id = aws->id, .was = aws, .is = aws, .spec = false, .by = c.by}).itself, std::nullopt);
  }
  EXPECT_EQ(kOthers, kLater);
  EXPECT_EQ(kBesideThePasses, kNormal);
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

// As a watch keeps it: our fields, and who wrote last beside us.
std::function<void(Json&)> Traced(const std::string& fields, const std::string& by = "") {
  return [=](Json& json) {
    json["trace"]["fields"] = fields;
    if (!by.empty()) json["trace"]["by"] = by;
  };
}

// Whom a change of an object with our label wakes, and how soon: the provider that it is labelled with, another one.
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
    std::optional<kube::Priority> own;
    bool others = false;
    bool first = false;
  };
  auto going = [](Json& json) { json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; };
  auto deployment = [&](const std::string& label, const std::function<void(Json&)>& change = nullptr) {
    return Labelled("apps/v1", "Deployment", label, change);
  };
  auto service = [&](const std::function<void(Json&)>& change) { return Labelled("v1", "Service", kAws, change); };
  const auto crd = [&](const std::string& label, const std::function<void(Json&)>& change = nullptr) {
    return Labelled(kCrd, "CustomResourceDefinition", label, change);
  };
  const Case cases[] = {
      {"a Deployment came", whole, nullptr, deployment(kAws), kNormal},
      {"a Deployment was there", whole, nullptr, deployment(kAws), kLater, false, true},
      {"a Deployment changed", whole, deployment(kAws), deployment(kAws), kNormal},
      {"somebody changed a Deployment (D1)", whole, deployment(kAws, Traced("a")),
       deployment(kAws, Traced("b", "kubectl")), kNow},
      {"somebody else changed what isn't ours", whole, deployment(kAws, Traced("a")),
       deployment(kAws, Traced("a", "kubectl")), kNormal},
      {"we changed a Deployment", whole, deployment(kAws, Traced("a")), deployment(kAws, Traced("b")), kNormal},
      {"one of another label", whole, nullptr, deployment("infrastructure-gcp"), {}},
      {"it got that label", whole, deployment("infrastructure-gcp"), deployment(kAws), kNow},
      {"it was given another one (D1)", whole, deployment(kAws), deployment("infrastructure-gcp"), kNow},
      {"a Deployment went (C6)", whole, deployment(kAws), nullptr, kNow, true},
      {"a label was taken away (D1)", whole, deployment(kAws), deployment(""), kNow},
      {"a CRD changed", whole, crd(kAws, Established), crd(kAws), kNormal},
      {"a CRD of the core is usable (I4)", whole, crd(kCore), crd(kCore, Established), {}, true},
      {"a CRD of the core, as usable as before", whole, crd(kCore, Established), crd(kCore, Established), {}},
      {"a CRD of the core went", whole, crd(kCore), nullptr, {}, true},
      {"a Service changed its status", metadata, service(Traced("a")), service(Traced("a", "x")), {}},
      {"somebody changed a Service (D1)", metadata, service(Traced("a")), service(Traced("b", "x")), kNow},
      {"we changed a Service", metadata, service(Traced("a")), service(Traced("b")), kNormal},
      {"a Service is going", metadata, service(nullptr), service(going), kNow},
      {"a Service went", metadata, service(nullptr), nullptr, kNow},
      {"a Service came", metadata, nullptr, service(nullptr), kNormal},
      {"a Service was there", metadata, nullptr, service(nullptr), kLater, false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto news = NewsOf({.watch = c.watch, .users = {}, .was = c.was, .is = c.is, .first = c.first});
    EXPECT_EQ(news && news->labels.contains(kAws) ? std::optional(news->own) : std::nullopt, c.own);
    EXPECT_FALSE(news && news->labels.contains("infrastructure-azure"));
    EXPECT_EQ(news && news->all, c.others);
  }
}

// Who asked for a watch of his own: its Secret, his Namespace's release, his Namespace, what may be in use. And how
// soon (F10): what its spec alone names at once, what all share after all else.
TEST(Wakes, WhoAskedForTheWatch) {
  struct Case {
    std::string_view name;
    Watches::Key watch;
    const char* ns;
    const char* object;
    enum { kComes, kChanges, kIsGoing, kGoes, kIsUnlabelled, kIsOwned, kIsAnother } what;
    std::optional<kube::Priority> wakes;
    bool first = false;
    std::set<std::string> users = {"aws"};
  };
  using Purpose = Watches::Purpose;
  const kube::Resource &maps = kube::Builtin("ConfigMap"), &machines = kube::Builtin("Pod");
  const Watches::Key secret{Purpose::kReferenced, kube::Builtin("Secret"), "a", "", "metadata.name=s", true};
  const Watches::Key releases{Purpose::kReleases, maps, "", std::string(api::kLabelReleaseName), "", true};
  const Watches::Key all_maps{Purpose::kReleases, maps, "a", "", "", true};  // the selector `{}`
  const Watches::Key namespaces{Purpose::kNamespaces, kube::Builtin("Namespace"), "", "", "", true};
  const Watches::Key crds{Purpose::kNewKinds, kube::Builtin("CustomResourceDefinition"), "", "", "", true};
  const Watches::Key in_use{Purpose::kInUse, machines, "", "", "", true};
  const Watches::Key cert_manager{Purpose::kCertManager, kube::Builtin("Deployment"), "", "app=c", "", false};
  const Case cases[] = {
      {"cert-manager, for which all wait (I19)", cert_manager, "c", "c", Case::kChanges, kLater},
      {"the Secret of variables (I7)", secret, "a", "s", Case::kChanges, kNow},
      {"a Secret that others name, too", secret, "a", "s", Case::kChanges, kNormal, false, {"aws", "azure"}},
      {"the Secret was there", secret, "a", "s", Case::kComes, kLater, true},
      {"a release in its Namespace (I6)", releases, "a", "r", Case::kChanges, kLater},
      {"a release in another Namespace", releases, "b", "r", Case::kChanges, {}},
      {"a release that any ConfigMap may be (I6)", all_maps, "a", "r", Case::kChanges, kNormal},
      {"such a release goes", all_maps, "a", "r", Case::kGoes, kNormal},
      {"its Namespace comes (X5)", namespaces, "", "a", Case::kComes, kLater},
      {"its Namespace is going (X5)", namespaces, "", "a", Case::kIsGoing, kLater},
      {"its Namespace has gone (X5)", namespaces, "", "a", Case::kGoes, kLater},
      {"another Namespace", namespaces, "", "b", Case::kComes, {}},
      {"another Namespace is going", namespaces, "", "b", Case::kIsGoing, {}},
      {"a label of its Namespace", namespaces, "", "a", Case::kChanges, {}},
      {"a kind that it waits for comes (I13)", crds, "", "c", Case::kComes, kNormal},
      {"a kind that it waits for is served (I13)", crds, "", "c", Case::kChanges, kNormal},
      {"what may be in use comes (X2)", in_use, "x", "m", Case::kComes, kNormal},
      {"what may be in use is going (X2)", in_use, "x", "m", Case::kIsGoing, kNormal},
      {"what may be in use has gone (X2)", in_use, "x", "m", Case::kGoes, kNormal},
      {"the status of what may be in use", in_use, "x", "m", Case::kChanges, {}},
      {"what may be in use lost its label (X2)", in_use, "x", "m", Case::kIsUnlabelled, kNormal},
      {"what may be in use has other owners (X2)", in_use, "x", "m", Case::kIsOwned, kNormal},
      {"another one has the name of what may be in use (X2)", in_use, "x", "m", Case::kIsAnother, kNormal},
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
    const Watches::Event event{.watch = c.watch, .users = c.users, .was = was, .is = is, .first = c.first};
    const bool wakes = IsNews(event) && (!c.watch.IsShared() || Concerns(c.watch, is ? *is : *was, aws));
    EXPECT_EQ(wakes ? std::optional(PriorityOf(event)) : std::nullopt, c.wakes);
  }
}

// F11: a watch that has ended by itself shows no object, and who asked for it looks again, after all who have news.
TEST(Wakes, WhoseWatchIsLost_F11) {
  const Watches::Key secret{Watches::Purpose::kReferenced, kube::Builtin("Secret"), "a", "", "metadata.name=s", true};
  const Watches::Event lost{.watch = secret, .users = {"a/aws"}, .was = nullptr, .is = nullptr, .first = true};
  EXPECT_TRUE(IsNews(lost));
  EXPECT_EQ(PriorityOf(lost), kube::Priority::kLater);
}

}  // namespace
}  // namespace capi::ops
