#include "e2e/model/world.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "e2e/model/release.h"

namespace capi::e2e::model {
namespace {

constexpr const char* kOwner = "somebodys";
constexpr Seconds kGoes{120};
constexpr const char* kLease = "controller-leader-election-capi-operator";
constexpr const char* kBundlePem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";

template <typename T>
void ExpectOk(const Result<T>& result, std::string_view what) {
  EXPECT_TRUE(result.ok()) << what << ": " << result.error().message;
}
void ExpectOk(const Status& status, std::string_view what) {
  EXPECT_TRUE(status.ok() || status.code() == Code::kNotFound) << what << ": " << status.error().message;
}

}  // namespace

World::World(kube::ControlPlane& plane) : cluster_(plane, /*cert_manager=*/false) {
  cluster_.CreateNamespace(kUsersNamespace);
  view_ = std::make_unique<View>(plane);
  for (int who = 0; who < kMembers; ++who) Furnish(who);
  operator_ = std::make_unique<OperatorProcess>(plane.kubeconfig(),
                                                std::vector<std::string>{"--leader-elect-namespace", kUsersNamespace});
}

void World::Furnish(int who) {
  const std::string& ns = NamesOf(who).ns;
  cluster_.CreateNamespace(ns);
  view_->CatchUp(kube::Builtin("Namespace"), "", ns);
  namespaces_[ns] = view_->Get(kube::Builtin("Namespace"), "", ns)->uid();
  StoreSecret(who, 1);
  for (int version = 0; version < kReleases; ++version) StoreRelease(who, version, 1);
  cluster_.StoreConfigMap(ns, kOwner, {}, {});
}

void World::LoseNamespace(int who) {
  const std::string& ns = NamesOf(who).ns;
  std::erase_if(kept_, [&](const auto& one) { return one.second.ns == ns; });
  cluster_.DeleteNamespace(ns);
  bool gone = kube::Eventually([&] { return !cluster_.Exists({"", "Namespace", "", ns}, "v1"); }, kGoes, Millis(50));
  EXPECT_TRUE(gone) << ns << " doesn't go: " << DescribeProviders();
  Furnish(who);
}

// U4: what has an owner is never deleted, though the provider's release has it too.
void World::Plant(int who, Place place) {
  const kube::ObjectId id = IdOf(who, place);
  Json owner = {{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"name", kOwner},
                {"uid", cluster_.Get("ConfigMap", id.ns, kOwner).uid()}};
  kube::Object map(Json{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata",
                         {{"name", id.name},
                          {"namespace", id.ns},
                          {"annotations", {{"planted", "stays"}}},
                          {"ownerReferences", Json::array({owner})}}},
                        {"data", {{"version", "mine"}}}});
  auto created = cluster_.client().Create(cluster_.ctx(), kube::Builtin("ConfigMap"), map, {.field_manager = "person"});
  ExpectOk(created, id.ToString());
  if (created.ok()) Keep(id.ToString(), who, Verb::kPlant, kube::Builtin("ConfigMap"), *created);
}

void World::StoreRelease(int who, int version, int revision) {
  const Names& names = NamesOf(who);
  const std::string& text = ReleaseOf(version).version;
  std::string name = fmt::format("{}-{}", names.own, text);
  if (revision == 0) {
    ExpectOk(cluster_.client().Delete(cluster_.ctx(), kube::Builtin("ConfigMap"), names.ns, name), name);
    return;
  }
  cluster_.StoreConfigMap(names.ns, name,
                          {{"provider.cluster.x-k8s.io/name", names.own}, {"provider.cluster.x-k8s.io/version", text}},
                          {{"metadata", Metadata()}, {"components", Components(who, version, revision)}});
}

void World::StoreSecret(int who, int value) {
  const std::string& ns = NamesOf(who).ns;
  if (value == 0) {
    ExpectOk(cluster_.client().Delete(cluster_.ctx(), kube::Builtin("Secret"), ns, "variables"), "Secret");
  } else {
    cluster_.StoreSecret(ns, "variables", {{"VALUE", std::to_string(value)}});
  }
}

void World::PatchSpec(int who, const Spec& spec) {
  const Names& names = NamesOf(who);
  cluster_.PatchProvider(names.type, names.ns, names.name, {{"spec", SpecOf(who, spec)}});
}

void World::Annotate(int who, const char* key, bool on) {
  const Names& names = NamesOf(who);
  Json value = on ? Json("true") : Json(nullptr);
  cluster_.PatchProvider(names.type, names.ns, names.name, {{"metadata", {{"annotations", {{key, value}}}}}});
}

void World::Do(const Action& action, const Fleet& after) {
  const int who = action.who;
  const Names& names = NamesOf(who);
  switch (action.verb) {
    case Verb::kVersion:
    case Verb::kPause:
    case Verb::kImage:
    case Verb::kVerbosity:
    case Verb::kPatch: PatchSpec(who, after[who].spec); break;
    case Verb::kHandsOff: Annotate(who, "cluster.x-k8s.io/paused", action.a != 0); break;
    case Verb::kDowngrade: Annotate(who, "operator.cluster.x-k8s.io/allow-downgrade", action.a != 0); break;
    case Verb::kSecret: StoreSecret(who, action.a); break;
    case Verb::kRelease: StoreRelease(who, action.a, action.b); break;
    case Verb::kDelete:
      if (action.a != 0) Annotate(who, "operator.cluster.x-k8s.io/delete-crds", true);
      cluster_.DeleteProvider(names.type, names.ns, names.name);
      break;
    case Verb::kForce: Annotate(who, "operator.cluster.x-k8s.io/force-delete", true); break;
    case Verb::kCreate: {
      Json spec = SpecOf(who, after[who].spec);
      for (const char* key : {"deployment", "manager", "patches"}) spec.erase(key);
      cluster_.ApplyProvider(names.type, names.ns, names.name, spec);
      break;
    }
    default: DoForeign(action, after);
  }
  CatchUp(action, after);
}

void World::CatchUp(const Action& action, const Fleet& after) {
  const Names& names = NamesOf(action.who);
  const Member& m = after[action.who];
  switch (action.verb) {
    case Verb::kSecret:
    case Verb::kRelease:
    case Verb::kUse:
    case Verb::kObject:
    case Verb::kPlant:
    case Verb::kRestart: return;  // isn't watched
    case Verb::kStranger: return view_->CatchUp(kube::Builtin("ConfigMap"), names.ns, "stranger");
    case Verb::kEdit:
    case Verb::kHide:
    case Verb::kRemove:
    case Verb::kMark:
    case Verb::kScale:
    case Verb::kBundle: {
      Part part = action.verb == Verb::kScale    ? Part::kDeployment
                  : action.verb == Verb::kBundle ? Part::kHook
                                                 : Part(action.a);
      const kube::ObjectId id = IdOf(action.who, part, m.applied ? m.applied->version : 0);
      return view_->CatchUp(ResourceOf(part), id.ns, id.name);
    }
    default: view_->CatchUp(api::ResourceOf(names.type), names.ns, names.name);
  }
}

void World::DoForeign(const Action& action, const Fleet& after) {
  const int who = action.who;
  const Names& names = NamesOf(who);
  const Member& m = after[who];
  const Part part = Part(action.a);
  auto id = [&](Part which) { return IdOf(who, which, m.applied ? m.applied->version : 0); };
  switch (action.verb) {
    case Verb::kUse: PutThing(who, "used", action.a != 0, m); break;
    case Verb::kObject: PutThing(who, "free", action.a != 0, m); break;
    case Verb::kEdit: Edit(who, part, m); break;
    case Verb::kHide:
      Patch(id(part), {{"metadata", {{"labels", {{kLabelOurs, nullptr}, {"cluster.x-k8s.io/provider", nullptr}}}}}});
      break;
    case Verb::kRemove:
      kept_.erase(id(part).ToString());  // where it was planted
      ExpectOk(cluster_.client().Delete(cluster_.ctx(), ResourceOf(part), id(part).ns, id(part).name), "remove");
      break;
    case Verb::kMark: Patch(id(part), {{"metadata", {{"annotations", {{"mine", "stays"}}}}}}); break;
    case Verb::kScale: Patch(id(Part::kDeployment), {{"spec", {{"replicas", action.a}}}}, "scale"); break;
    case Verb::kBundle: {
      const kube::ObjectId hook = id(Part::kHook);
      Json patch = Json::array({{{"op", "add"}, {"path", "/webhooks/0/clientConfig/caBundle"}, {"value", kBundlePem}}});
      ExpectOk(cluster_.client().Patch(cluster_.ctx(), ResourceOf(Part::kHook), "", hook.name, kube::PatchType::kJson,
                                       patch, {.field_manager = "injector"}),
               "bundle");
      break;
    }
    case Verb::kStranger: {
      cluster_.StoreConfigMap(names.ns, "stranger", {{kLabelOurs, ""}, {"cluster.x-k8s.io/provider", names.label}},
                              {{"a", "b"}});
      Keep(names.own + " stranger", who, action.verb, kube::Builtin("ConfigMap"),
           cluster_.Get("ConfigMap", names.ns, "stranger"));
      break;
    }
    case Verb::kPlant: Plant(who, Place(action.a)); break;
    case Verb::kNamespace: LoseNamespace(who); break;
    case Verb::kWipe:
      ExpectOk(cluster_.client().Patch(cluster_.ctx(), api::ResourceOf(names.type), names.ns, names.name,
                                       kube::PatchType::kMerge, {{"status", nullptr}}, {.subresource = "status"}),
               "wipe");
      break;
    case Verb::kFinalizer:
      cluster_.PatchProvider(names.type, names.ns, names.name, {{"metadata", {{"finalizers", nullptr}}}});
      break;
    case Verb::kRestart: Restart(); break;
    default: break;
  }
}

void World::Restart() {
  operator_->Kill();
  // A dead leader's Lease would be waited for.
  ExpectOk(cluster_.client().Delete(cluster_.ctx(), kube::Builtin("Lease"), kUsersNamespace, kLease), "Lease");
  operator_->Restart();
}

void World::PokeCrds() {
  const kube::Resource& crds = ResourceOf(Part::kCrd);
  for (const auto& crd : view_->List(crds)) {
    if (!crd->deleting()) continue;
    Json poke = {{"metadata", {{"annotations", {{"test/poke", std::to_string(++people_)}}}}}};
    // Gone meanwhile is as good.
    (void)cluster_.client().Patch(cluster_.ctx(), crds, "", crd->name(), kube::PatchType::kMerge, poke).ok();
  }
}

void World::PutThing(int who, const std::string& name, bool wanted, const Member& m) {
  const std::string key = std::string(NameOf(who)) + " " + name;
  kube::Resource resource = ThingOf(who, ReleaseOf(m.crd < 0 ? kMixed : m.crd).storage);
  if (!wanted) {
    kept_.erase(key);
    ExpectOk(cluster_.client().Delete(cluster_.ctx(), resource, kUsersNamespace, name), key);
    return;
  }
  kube::Object thing(Json{{"apiVersion", resource.api_version()},
                          {"kind", resource.kind},
                          {"metadata", {{"name", name}, {"namespace", kUsersNamespace}}}});
  if (name == "used") thing.set_label("cluster.x-k8s.io/cluster-name", "mine");
  Result<kube::Object> created = Error{};
  // A CRD that was established this instant may not be served yet.
  kube::Eventually([&] {
    created = cluster_.client().Create(cluster_.ctx(), resource, thing);
    return created.ok() || created.code() != Code::kNotFound;
  });
  ExpectOk(created, key);
  if (created.ok()) Keep(key, who, Verb::kObject, resource, *created);
}

void World::Keep(const std::string& what, int who, Verb by, const kube::Resource& resource,
                 const kube::Object& object) {
  kept_[what] = {who, by, resource, object.ns(), object.name(), object.uid()};
}

void World::Patch(const kube::ObjectId& id, const Json& merge_patch, const std::string& subresource) {
  kube::WriteOptions person{.field_manager = fmt::format("person-{}", ++people_), .subresource = subresource};
  ExpectOk(cluster_.client().Patch(cluster_.ctx(), kube::Builtin(id.kind), id.ns, id.name, kube::PatchType::kMerge,
                                   merge_patch, person),
           id.ToString());
}

void World::Edit(int who, Part part, const Member& m) {
  kube::ObjectId id = IdOf(who, part, m.applied->version);
  if (part == Part::kConfig || part == Part::kOnly) {
    Patch(id, {{"data", {{"version", "edited"}}}});
  } else if (part == Part::kDeployment) {
    Json patch = Json::array({{{"op", "replace"},
                               {"path", "/spec/template/spec/containers/0/image"},
                               {"value", "registry.example/edited"}}});
    ExpectOk(cluster_.client().Patch(cluster_.ctx(), ResourceOf(part), id.ns, id.name, kube::PatchType::kJson, patch,
                                     {.field_manager = fmt::format("person-{}", ++people_)}),
             id.ToString());
  } else {
    Patch(id, {{"metadata", {{"labels", {{kLabelOurs, "edited"}}}}}});
  }
}

std::string World::DescribeProviders() {
  std::string text;
  for (int who = 0; who < kMembers; ++who) {
    const Names& names = NamesOf(who);
    text += cluster_.See(names.type, names.ns, names.name).Describe() + "\n";
  }
  return text;
}

void World::Clear(const Fleet& fleet) {
  kept_.clear();
  for (int who = 0; who < kMembers; ++who) {
    const Member& m = fleet[who];
    if (m.stranger) {
      ExpectOk(cluster_.client().Delete(cluster_.ctx(), kube::Builtin("ConfigMap"), NamesOf(who).ns, "stranger"),
               "Clear");
    }
    for (Place place : m.planted) {
      const kube::ObjectId id = IdOf(who, place);
      ExpectOk(cluster_.client().Delete(cluster_.ctx(), kube::Builtin("ConfigMap"), id.ns, id.name), "Clear");
      view_->CatchUp(kube::Builtin("ConfigMap"), id.ns, id.name);
    }
    if (m.secret != 1) StoreSecret(who, 1);
    for (int version = 0; version < kReleases; ++version) {
      if (m.releases[version] != 1) StoreRelease(who, version, 1);
    }
  }
}

}  // namespace capi::e2e::model
