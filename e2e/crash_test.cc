// Crash everywhere (U7): the operator is killed right after its n-th request of each chapter of a provider's life, and
// the next one ends in the very state that an undisturbed run ends in: all objects, normalised, nothing left over.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "e2e/cluster.h"
#include "e2e/operator_process.h"
#include "e2e/small_release.h"
#include "e2e/snapshot.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {
namespace {

using api::ProviderType;

constexpr Millis kLook{150};  // a look costs the test more than the operator's work costs the operator

// A chapter: what the user does while no operator runs, and what the world is when it is over.
struct Chapter {
  std::string name;
  std::function<void()> begin;
  std::function<bool()> over;
};

// One provider in a Namespace of its own, and an operator that sees that Namespace alone. Thread-compatible.
class Lane {
 public:
  Lane(kube::ControlPlane& plane, std::string name)
      : name_(std::move(name)), core_{ProviderType::kCore, name_, "cluster-api", ""}, cluster_(plane) {
    auto proxy = kube::FaultProxy::Start(plane.config());
    EXPECT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(proxy).value();
    kubeconfig_ = proxy_->WriteKubeconfig(folder_.path());
    cluster_.CreateNamespace(name_);
    for (const char* version : {"v1.0.0", "v1.1.0"}) StoreSmall(cluster_, core_, {.version = version});
  }

  std::vector<Chapter> Chapters() {
    auto installed = [this](const std::string& version) { return Installed(version); };
    return {
        {"install",
         [this] {
           Json spec = {{"version", "v1.0.0"}, {"fetchConfig", SmallSource(core_)}};
           cluster_.ApplyProvider(ProviderType::kCore, name_, "cluster-api", spec,
                                  {{"operator.cluster.x-k8s.io/delete-crds", "true"}});
         },
         [installed] { return installed("v1.0.0"); }},
        {"upgrade",
         [this] {
           cluster_.PatchProvider(ProviderType::kCore, name_, "cluster-api", {{"spec", {{"version", "v1.1.0"}}}});
         },
         [installed] { return installed("v1.1.0"); }},
        {"delete", [this] { cluster_.DeleteProvider(ProviderType::kCore, name_, "cluster-api"); },
         [this] { return Gone(); }},
    };
  }

  // Runs a chapter with the operator killed after request `n` (0: not at all). Returns the number of requests of the
  // operator that was to be killed.
  int Run(const Chapter& chapter, int n) {
    chapter.begin();
    std::promise<OperatorProcess*> started;
    std::shared_future<OperatorProcess*> victim = started.get_future().share();
    std::atomic<int> requests = 0;
    proxy_->SetFaults([&requests, victim, n](const kube::ProxyRequest&) -> kube::Fault {
      if (++requests == n) victim.get()->Kill();
      return {};
    });
    auto process = OperatorProcess::Launch(kubeconfig_, {"--namespace", name_, "--leader-elect-namespace", name_});
    started.set_value(process.get());
    bool done = kube::Eventually([&] { return !process->running() || chapter.over(); }, Seconds(60), kLook);
    EXPECT_TRUE(done) << chapter.name
                      << " didn't end: " << cluster_.See(ProviderType::kCore, name_, "cluster-api").Describe();
    int seen = requests;
    if (!process->running()) {
      Unlock();
      proxy_->SetFaults(nullptr);
      process->Restart();
      EXPECT_TRUE(kube::Eventually(chapter.over, Seconds(60), kLook))
          << chapter.name << " didn't end after a crash at request " << n << ": "
          << cluster_.See(ProviderType::kCore, name_, "cluster-api").Describe();
    }
    process->Terminate();
    proxy_->SetFaults(nullptr);
    return seen;
  }

  // Of the kinds that the release has, or of all that the server knows.
  Snapshot Take(bool all_kinds = false) {
    if (all_kinds) cluster_.client().mapper().Invalidate();
    auto kinds = [all_kinds](const kube::Resource& resource) {
      static const std::set<std::string> ours = {"apps", "rbac.authorization.k8s.io", "apiextensions.k8s.io",
                                                 "admissionregistration.k8s.io", "operator.cluster.x-k8s.io"};
      static const std::set<std::string> core = {"ConfigMap", "Secret", "ServiceAccount", "Service"};
      return all_kinds || ours.contains(resource.group) || (resource.group.empty() && core.contains(resource.kind));
    };
    auto objects = [this](const kube::ObjectId& id) {
      return id.ns == name_ || id.name.find(name_) != std::string::npos;
    };
    auto snapshot = TakeSnapshot(cluster_.client(), cluster_.ctx(), {kinds, objects});
    EXPECT_TRUE(snapshot.ok()) << snapshot.error().message;
    return snapshot.ok() ? std::move(snapshot).value() : Snapshot();
  }

  const std::string& name() const { return name_; }

 private:
  // A dead leader's Lease would be waited for.
  void Unlock() {
    auto resource = kube::Builtin("Lease");
    auto deleted =
        cluster_.client().Delete(cluster_.ctx(), resource, name_, "controller-leader-election-capi-operator");
    EXPECT_TRUE(deleted.ok() || deleted.code() == Code::kNotFound) << deleted.error().message;
  }

  bool Installed(const std::string& version) {
    Seen seen = cluster_.See(ProviderType::kCore, name_, "cluster-api");
    if (seen.Status("Ready") != "True" || seen.provider.status.observed_generation != seen.provider.generation)
      return false;
    if (seen.provider.status.installed_version != version) return false;
    // The storage version switches with v1.1.0; what is left of the old one goes when all else is done (U3).
    if (version != "v1.0.0" && seen.Status("StorageMigrated") != "True") return false;
    return !Exists("ConfigMap", name_, version == "v1.0.0" ? "small-options" : "small-settings");
  }

  bool Exists(const char* kind, const std::string& ns, const std::string& name) {
    return cluster_.client().Get(cluster_.ctx(), kube::Builtin(kind), ns, name, {.metadata_only = true}).ok();
  }

  bool Gone() {
    const std::string crd = "things." + name_ + ".example.org";
    if (cluster_.See(ProviderType::kCore, name_, "cluster-api").exists) return false;
    if (!Exists("CustomResourceDefinition", "", crd)) return true;
    // The API server retries a deletion that met an unfilled cache after up to minutes; a change makes it look at once.
    Json poke = {{"metadata", {{"annotations", {{"test/poke", std::to_string(++pokes_)}}}}}};
    auto& client = cluster_.client();
    (void)client
        .Patch(cluster_.ctx(), kube::Builtin("CustomResourceDefinition"), "", crd, kube::PatchType::kMerge, poke)
        .ok();
    return false;
  }

  std::string name_;
  Managed core_;
  Cluster cluster_;
  kube::TemporaryFolder folder_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::string kubeconfig_;
  int pokes_ = 0;
};

// The undisturbed life, chapter by chapter; and the number of requests of the longest.
struct Undisturbed {
  std::vector<Snapshot> ends;
  std::vector<int> requests;
};

Undisturbed LiveOnce(Lane& lane) {
  Undisturbed life;
  for (const Chapter& chapter : lane.Chapters()) {
    life.requests.push_back(lane.Run(chapter, 0));
    life.ends.push_back(lane.Take());
  }
  return life;
}

// Lives again and again, each time with a crash after request n of each chapter, for the n that `next` gives.
void LiveWithCrashes(Lane& lane, const std::function<int()>& next) {
  Undisturbed life = LiveOnce(lane);
  Snapshot nothing_left = lane.Take(true);
  int longest = *std::max_element(life.requests.begin(), life.requests.end());
  for (int n = next(); n <= longest + 5; n = next()) {
    std::vector<Chapter> chapters = lane.Chapters();
    for (size_t i = 0; i < chapters.size(); ++i) {
      lane.Run(chapters[i], n);
      std::string difference = Difference(life.ends[i], lane.Take());
      EXPECT_EQ(difference, "") << lane.name() << ": " << chapters[i].name << " with a crash after request " << n;
      if (!difference.empty()) return;
    }
  }
  EXPECT_EQ(Difference(nothing_left, lane.Take(true)), "") << lane.name() << ": in kinds that the release doesn't have";
}

// U7: every n, on a release of six objects; several lives go on side by side.
TEST(CrashEverywhere, ASmallProvider) {
  auto& plane = kube::ControlPlane::Shared();
  std::atomic<int> last = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&plane, &last, i] {
      Lane lane(plane, fmt::format("lane{}", i));
      LiveWithCrashes(lane, [&last] { return ++last; });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GE(last, 20) << "a life of fewer requests isn't one";
}

}  // namespace
}  // namespace capi::e2e
