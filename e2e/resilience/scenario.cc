#include "e2e/resilience/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "e2e/releases/small_release.h"
#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using api::ProviderType;

constexpr const char* kDeleteCrds = "operator.cluster.x-k8s.io/delete-crds";
constexpr const char* kDisturbed = "clusterctl.cluster.x-k8s.io";  // a label that every object of a provider has

// What a user does to the providers of a scenario, and what is to be seen of them. Thread-compatible.
class User {
 public:
  User(Cluster& cluster, const Scenario& scenario)
      : cluster_(cluster), providers_(scenario.providers), objects_(scenario.objects) {}

  const std::vector<Managed>& all() const { return providers_; }

  // Asks for a provider whose CRDs go when it goes.
  void Create(const Managed& m, Json spec) {
    cluster_.ApplyProvider(m.type, m.ns, m.name, std::move(spec), {{kDeleteCrds, "true"}});
  }
  void PatchAll(const Json& spec) {
    for (const Managed& m : providers_) cluster_.PatchProvider(m.type, m.ns, m.name, {{"spec", spec}});
  }
  // The core last, as it has to be (X3); all at once.
  void DeleteAll() {
    for (auto m = providers_.rbegin(); m != providers_.rend(); ++m) cluster_.DeleteProvider(m->type, m->ns, m->name);
  }

  bool AllAt(const std::string& version, const std::string& reason = "WorkloadsReady") {
    return std::all_of(providers_.begin(), providers_.end(), [&](const Managed& m) { return At(m, version, reason); });
  }
  bool At(const Managed& m, const std::string& version, const std::string& reason = "WorkloadsReady") {
    Seen seen = cluster_.See(m.type, m.ns, m.name);
    if (seen.provider.status.installed_version != version || seen.Reason("Ready") != reason) return false;
    if (seen.provider.status.observed_generation != seen.provider.generation) return false;
    if (reason == "Paused") return seen.Status("Paused") == "True";
    // What is left of an older version goes when all else is done (U3).
    return seen.Status("StorageMigrated") != "False" && seen.Status("Paused").empty();
  }
  bool AllGone() {
    for (const Managed& m : providers_) {
      if (cluster_.See(m.type, m.ns, m.name).exists) return false;
    }
    return CrdsGone();
  }

 private:
  // The API server retries a deletion that met an unfilled cache after up to minutes; a change makes it look at once.
  bool CrdsGone() {
    auto& client = cluster_.client();
    const auto& crds = kube::Builtin("CustomResourceDefinition");
    kube::ListOptions options{.label_selector = "cluster.x-k8s.io/provider", .metadata_only = true};
    auto left = client.List(cluster_.ctx(), crds, "", options);
    if (!left.ok()) return false;
    bool gone = true;
    Json poke = {{"metadata", {{"annotations", {{"test/poke", std::to_string(++pokes_)}}}}}};
    for (const auto& crd : left->items) {
      if (!objects_(crd.id())) continue;
      gone = false;
      if (pokes_ % 3 == 0) {
        (void)client.Patch(cluster_.ctx(), crds, "", crd.name(), kube::PatchType::kMerge, poke).ok();
      }
    }
    return gone;
  }

  Cluster& cluster_;
  std::vector<Managed> providers_;
  std::function<bool(const kube::ObjectId&)> objects_;
  int pokes_ = 0;
};

using SharedUser = std::shared_ptr<User>;

// What may stay in a Namespace when its providers have gone, all of it.
struct Stays {
  std::string_view kind, name;  // name "" for all of that kind
  std::string_view why;
};
constexpr Stays kStays[] = {
    {"Event", "", "the server forgets it after an hour"},
    {"Lease", "", "it says who led last, and the next operator takes it"},
    {"ConfigMap", "kube-root-ca.crt", "the cluster puts it into every Namespace, some time after that was made"},
    {"ServiceAccount", "default", "the same"},
    {"CustomResourceDefinition", "providers.clusterctl.cluster.x-k8s.io",
     "clusterctl's inventory, which belongs to no provider: it comes with the first, and clusterctl leaves it too"},
    {"APIService", "v1alpha3.clusterctl.cluster.x-k8s.io", "the cluster's, as long as that CRD is there"},
};

bool MayStay(const kube::ObjectId& id) {
  return std::any_of(std::begin(kStays), std::end(kStays), [&](const Stays& stays) {
    return stays.kind == id.kind && (stays.name.empty() || stays.name == id.name);
  });
}

bool IsKindOfReleases(const kube::Resource& resource) {
  if (resource.kind == "ReplicaSet" || resource.kind == "ControllerRevision") return false;  // the cluster's doing
  static const std::set<std::string> groups = {"apps",
                                               "rbac.authorization.k8s.io",
                                               "apiextensions.k8s.io",
                                               "admissionregistration.k8s.io",
                                               "operator.cluster.x-k8s.io",
                                               "cert-manager.io"};
  static const std::set<std::string> core = {"ConfigMap", "Secret", "ServiceAccount", "Service", "Namespace"};
  return groups.contains(resource.group) || (resource.group.empty() && core.contains(resource.kind));
}

// ---- small ----

void Disturb(Cluster& cluster, const std::string& ns) {
  auto& client = cluster.client();
  auto deleted = client.Delete(cluster.ctx(), kube::Builtin("ServiceAccount"), ns, "small-manager");
  EXPECT_TRUE(deleted.ok()) << deleted.error().message;
  Json edit = {{"metadata", {{"labels", {{kDisturbed, "edited"}}}}}};
  for (const char* kind : {"ClusterRole", "ConfigMap"}) {
    bool role = kind[1] == 'l';
    auto edited =
        client.Patch(cluster.ctx(), kube::Builtin(kind), role ? "" : ns, role ? ns + "-manager-role" : "small-options",
                     kube::PatchType::kMerge, edit, {.field_manager = "a-person"});
    EXPECT_TRUE(edited.ok()) << edited.error().message;
  }
}

bool Restored(Cluster& cluster, const std::string& ns) {
  auto good = [&](const char* kind, const std::string& in, const std::string& name) {
    auto live = cluster.client().Get(cluster.ctx(), kube::Builtin(kind), in, name, {.metadata_only = true});
    return live.ok() && live->has_label(kDisturbed) && live->label(kDisturbed).empty();
  };
  return good("ServiceAccount", ns, "small-manager") && good("ClusterRole", "", ns + "-manager-role") &&
         good("ConfigMap", ns, "small-options");
}

Json SpecOf(const Managed& provider, const char* version) {
  return {{"version", version}, {"fetchConfig", SmallSource(provider)}};
}

// ---- real ----

void CloseNodes(Cluster& cluster, bool closed) {
  auto nodes = cluster.client().List(cluster.ctx(), kube::Builtin("Node"), "");
  ASSERT_TRUE(nodes.ok()) << nodes.error().message;
  for (const auto& node : nodes->items) {
    auto done = cluster.client().Patch(cluster.ctx(), kube::Builtin("Node"), "", node.name(), kube::PatchType::kMerge,
                                       {{"spec", {{"unschedulable", closed}}}});
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
}

void StoreReal(Cluster& cluster, const Scenario& scenario, const std::vector<const char*>& versions) {
  for (const Managed& m : scenario.providers) {
    cluster.CreateNamespace(m.ns);
    for (const char* version : versions) {
      // It comes while the contract changes; and the vendors' releases needn't have this one.
      bool unused = m.name == "docker" && version == std::string_view("v0.4.2");
      if (!unused) cluster.StoreRelease(m.ns, GetRelease(m.Label(), version));
    }
  }
}

Scenario AboutRealOnes() {
  Scenario scenario;
  scenario.providers = {kCore, kBootstrap, kControlPlane, kDocker};
  scenario.objects = [](const kube::ObjectId& id) {
    return id.ns.starts_with("cap") || id.name.starts_with("cap") || id.name.find("cluster.x-k8s.io") != id.name.npos;
  };
  return scenario;
}

Phase Deletion(const SharedUser& user) {
  return {"delete", [=] { user->DeleteAll(); }, [=] { return user->AllGone(); }};
}

}  // namespace

Scope Scenario::OfTheReleases() const { return {IsKindOfReleases, objects}; }

Scope Scenario::OfAllKinds() const {
  return {[](const kube::Resource&) { return true; },
          [mine = objects](const kube::ObjectId& id) { return mine(id) && !MayStay(id); }};
}

std::string Scenario::Describe(Cluster& cluster) const {
  std::string text;
  for (const Managed& m : providers) text += cluster.See(m.type, m.ns, m.name).Describe() + "\n";
  return text;
}

Scenario SmallScenario(Cluster& cluster, const std::string& ns) {
  const Managed core{ProviderType::kCore, ns, "cluster-api", "small-controller-manager"};
  Scenario scenario{.name = "small", .providers = {core}, .phases = {}, .objects = {}};
  scenario.objects = [ns](const kube::ObjectId& id) { return id.ns == ns || id.name.find(ns) != std::string::npos; };
  cluster.CreateNamespace(ns);
  for (const char* version : {"v1.0.0", "v1.1.0"}) StoreSmall(cluster, core, {.version = version});
  StoreSmall(cluster, core, {.version = "v1.2.0", .can_run = false});
  auto user = std::make_shared<User>(cluster, scenario);
  scenario.phases = {
      {"install", [=] { user->Create(core, SpecOf(core, "v1.0.0")); }, [=] { return user->AllAt("v1.0.0"); }},
      {"upgrade",
       [=] {
         user->PatchAll({{"version", "v1.1.0"}});
       },
       [=] { return user->AllAt("v1.1.0"); }},
      {"drift", [=, &cluster] { Disturb(cluster, ns); },
       [=, &cluster] { return Restored(cluster, ns) && user->AllAt("v1.1.0"); }},
      {"rollback",
       [=] {
         user->PatchAll({{"version", "v1.2.0"}, {"rollout", {{"timeout", "1s"}, {"onFailure", "Rollback"}}}});
       },
       [=] { return user->AllAt("v1.1.0", "RolledBack"); }},
      Deletion(user),
  };
  return scenario;
}

Scenario PolicyScenario(Cluster& cluster, const std::string& ns) {
  const Managed core{ProviderType::kCore, ns, "cluster-api", "small-controller-manager"};
  Scenario scenario{.name = "policy", .providers = {core}, .phases = {}, .objects = {}};
  scenario.objects = [ns](const kube::ObjectId& id) { return id.ns == ns || id.name.find(ns) != std::string::npos; };
  cluster.CreateNamespace(ns);
  for (const char* version : {"v1.0.0", "v1.0.1"}) StoreSmall(cluster, core, {.version = version});
  StoreSmall(cluster, core, {.version = "v1.1.0", .can_run = false});
  auto user = std::make_shared<User>(cluster, scenario);
  scenario.phases = {
      {"install", [=] { user->Create(core, SpecOf(core, "v1.0.0")); }, [=] { return user->AllAt("v1.0.0"); }},
      {"a patch",
       [=] {
         user->PatchAll({{"upgradePolicy", {{"type", "Patch"}}}});
       },
       [=] { return user->AllAt("v1.0.1"); }},
      {"what fails",
       [=] {
         user->PatchAll(
             {{"upgradePolicy", {{"type", "Minor"}}}, {"rollout", {{"timeout", "1s"}, {"onFailure", "Rollback"}}}});
       },
       [=, &cluster] {
         const Seen seen = cluster.See(core.type, core.ns, core.name);
         return seen.Reason("ProviderUpgraded") == "RolledBack" && user->AllAt("v1.0.1");
       }},
      Deletion(user),
  };
  return scenario;
}

Scenario ContractScenario(Cluster& cluster, const std::string& ns) {
  const Managed core{ProviderType::kCore, ns, "cluster-api", "small-controller-manager"};
  const Managed other{ProviderType::kInfrastructure, ns, "other", "other-controller-manager"};
  Scenario scenario{.name = "contract", .providers = {core, other}, .phases = {}, .objects = {}};
  scenario.objects = [ns](const kube::ObjectId& id) { return id.ns == ns || id.name.find(ns) != std::string::npos; };
  cluster.CreateNamespace(ns);
  for (const Managed& m : scenario.providers) {
    StoreSmall(cluster, m, {.version = "v1.0.0", .contract = "v1alpha4"});
    StoreSmall(cluster, m, {.version = "v1.1.0", .contract = "v1beta1"});
  }
  auto user = std::make_shared<User>(cluster, scenario);
  scenario.phases = {
      {"install both",
       [=] {
         for (const Managed& m : user->all()) user->Create(m, SpecOf(m, "v1.0.0"));
       },
       [=] { return user->AllAt("v1.0.0"); }},
      {"contract change",
       [=] {
         user->PatchAll({{"version", "v1.1.0"}, {"paused", true}});
       },
       [=] { return user->AllAt("v1.1.0", "Paused"); }},
      {"end of the pause",
       [=] {
         user->PatchAll({{"paused", false}});
       },
       [=] { return user->AllAt("v1.1.0"); }},
      Deletion(user),
  };
  return scenario;
}

std::string MissingForRealScenario() {
  return MissingReleases({"cluster-api/v1.10.4", "cluster-api/v1.11.0", "cluster-api/v1.12.0",
                          "bootstrap-kubeadm/v1.10.4", "bootstrap-kubeadm/v1.11.0", "bootstrap-kubeadm/v1.12.0",
                          "control-plane-kubeadm/v1.10.4", "control-plane-kubeadm/v1.11.0",
                          "control-plane-kubeadm/v1.12.0", "infrastructure-docker/v1.10.4",
                          "infrastructure-docker/v1.11.0", "infrastructure-docker/v1.12.0"});
}

std::string MissingForRealContractScenario() {
  return MissingReleases({"cluster-api/v0.4.2", "cluster-api/v1.1.5", "bootstrap-kubeadm/v0.4.2",
                          "bootstrap-kubeadm/v1.1.5", "control-plane-kubeadm/v0.4.2", "control-plane-kubeadm/v1.1.5",
                          "infrastructure-docker/v1.1.5"});
}

Scenario RealScenario(Cluster& cluster) {
  Scenario scenario = AboutRealOnes();
  scenario.name = "real";
  StoreReal(cluster, scenario, {"v1.10.4", "v1.11.0", "v1.12.0"});
  auto user = std::make_shared<User>(cluster, scenario);
  scenario.phases = {
      {"install",
       [=] {
         for (const Managed& m : user->all()) user->Create(m, SelectorSpec(GetRelease(m.Label(), "v1.10.4")));
       },
       [=] { return user->AllAt("v1.10.4"); }},
      {"upgrade",
       [=] {
         user->PatchAll({{"version", "v1.11.0"}});
       },
       [=] { return user->AllAt("v1.11.0"); }},
      {"rollback",
       [=, &cluster] {
         CloseNodes(cluster, true);
         user->PatchAll({{"version", "v1.12.0"}, {"rollout", {{"timeout", "3s"}, {"onFailure", "Rollback"}}}});
       },
       [=] { return user->AllAt("v1.11.0", "RolledBack"); }},
      {"delete",
       [=, &cluster] {
         CloseNodes(cluster, false);
         user->DeleteAll();
       },
       [=] { return user->AllGone(); }},
  };
  return scenario;
}

Scenario RealContractScenario(Cluster& cluster) {
  Scenario scenario = AboutRealOnes();
  scenario.name = "real contract";
  StoreReal(cluster, scenario, {"v0.4.2", "v1.1.5"});
  auto user = std::make_shared<User>(cluster, scenario);
  const std::vector<Managed> three = {kCore, kBootstrap, kControlPlane};
  scenario.phases = {
      {"install three",
       [=] {
         for (const Managed& m : three) user->Create(m, SelectorSpec(GetRelease(m.Label(), "v0.4.2")));
       },
       [=] { return std::all_of(three.begin(), three.end(), [&](auto& m) { return user->At(m, "v0.4.2"); }); }},
      {"contract change",
       [=] {
         Json spec = SelectorSpec(GetRelease(kDocker.Label(), "v1.1.5"));
         user->Create(kDocker, spec);
         user->PatchAll({{"version", "v1.1.5"}, {"paused", true}});
       },
       [=] { return user->AllAt("v1.1.5", "Paused"); }},
      {"end of the pause",
       [=] {
         user->PatchAll({{"paused", false}});
       },
       [=] { return user->AllAt("v1.1.5"); }},
      Deletion(user),
  };
  return scenario;
}

}  // namespace capi::e2e
