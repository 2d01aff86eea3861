// The pass on a real control plane, in this process, so that sanitizers see all of it.
#include "operator/controller.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "operator/in_process_testing.h"

namespace capi::ops {
namespace {

// What Ready of the core said from now on, each change of it: one may last no longer than a look takes. Thread-safe.
class ReadyHistory {
 public:
  explicit ReadyHistory(kube::Client& client)
      : informer_(client, api::ResourceOf(api::ProviderType::kCore), {.ns = "core"},
                  [this](const kube::ObjectPtr&, const kube::ObjectPtr& is) { Note(is); }),
        running_([this](std::stop_token stop) { informer_.Run(Context{.stop = stop}); }) {
    EXPECT_TRUE(informer_.WaitForSync(Context{}.WithTimeout(Seconds(60))).ok());
  }

  std::optional<kube::Condition> With(const std::string& reason) {
    MutexLock lock(mu_);
    for (const kube::Condition& condition : seen_) {
      if (condition.reason == reason) return condition;
    }
    return std::nullopt;
  }

 private:
  void Note(const kube::ObjectPtr& is) {
    if (!is) return;
    const api::Provider provider = api::ParseProviderMeta(*is);
    const auto* ready = kube::FindCondition(provider.status.conditions, "Ready");
    MutexLock lock(mu_);
    if (ready != nullptr) seen_.push_back(*ready);
  }

  Mutex mu_;
  std::vector<kube::Condition> seen_ CAPI_GUARDED_BY(mu_);
  kube::Informer informer_;
  std::jthread running_;
};

// A source may have no release at all: that isn't a version which isn't there.
TEST_F(InProcess, ASourceWithoutReleasesSaysThatItHasNone) {
  kube::ApplyYaml(*client_, R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata: {name: cluster-api, namespace: core}
)");
  auto installed = [&] {
    auto object = client_->Get(Context{}, api::ResourceOf(api::ProviderType::kCore), "core", "cluster-api");
    if (!object.ok()) return kube::Condition{};
    auto provider = api::ParseProviderMeta(*object);
    const auto* condition = kube::FindCondition(provider.status.conditions, "ProviderInstalled");
    return condition == nullptr ? kube::Condition{} : *condition;
  };
  EXPECT_TRUE(kube::Eventually([&] { return installed().reason == "NoReleaseFound"; }, Seconds(60)))
      << installed().reason;
  EXPECT_THAT(installed().message, ::testing::HasSubstr("next try at")) << "a release may come to the source (F1)";
  DeleteCore();
}

TEST_F(InProcess, InstallsRestoresChangesAndRemoves) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  EXPECT_TRUE(Exists("ConfigMap", "only-in-v1.0.0"));

  // D1: a deleted workload comes back by itself.
  Context ctx = Context{}.WithTimeout(Seconds(60));
  ASSERT_TRUE(client_->Delete(ctx, kube::Builtin("Deployment"), "core", "capi-controller-manager").ok());
  EXPECT_TRUE(kube::Eventually([&] { return Exists("Deployment", "capi-controller-manager"); }, Seconds(60)));

  // U1, U4: another version; what only the old one had goes once the new one is healthy.
  ApplyCore("v1.0.1");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.1"); }, Seconds(60)));
  EXPECT_TRUE(Exists("ConfigMap", "only-in-v1.0.1"));
  EXPECT_TRUE(kube::Eventually([&] { return !Exists("ConfigMap", "only-in-v1.0.0"); }, Seconds(60)));

  // X1: what it brought goes, CRDs stay.
  DeleteCore();
  EXPECT_FALSE(Exists("ConfigMap", "only-in-v1.0.1"));
  EXPECT_TRUE(client_->Get(ctx, kube::Builtin("CustomResourceDefinition"), "", "widgets.test.example").ok());
}

// Trips over whatever it is told, as a bug in the page would. Thread-safe.
class Tripping : public Onlooker {
 public:
  void OnChange(const ProviderCache::Change&) override { Trip(changes); }
  void OnPass(const Observation&, const std::function<std::string(std::string)>&) override { Trip(passes); }
  void OnRestored(const api::ProviderId&, size_t) override { Trip(restored); }
  std::atomic<int> changes = 0, passes = 0, restored = 0;

 private:
  [[noreturn]] static void Trip(std::atomic<int>& calls) {
    ++calls;
    throw std::runtime_error("a bug in the page");
  }
};

class InProcessWatched : public InProcess {
 protected:
  InProcessWatched() {
    auto tripping = std::make_unique<Tripping>();
    page_ = tripping.get();
    onlooker_ = std::move(tripping);
  }
  Tripping* page_;
};

// F7: the page costs nothing but itself.
TEST_F(InProcessWatched, WhatThePageTripsOverCostsNoProviderItsPass) {
  ReadyHistory history(*client_);
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  Context ctx = Context{}.WithTimeout(Seconds(60));
  ASSERT_TRUE(client_->Delete(ctx, kube::Builtin("Deployment"), "core", "capi-controller-manager").ok());
  EXPECT_TRUE(kube::Eventually([&] { return Exists("Deployment", "capi-controller-manager"); }, Seconds(60)));
  EXPECT_TRUE(kube::Eventually([&] { return page_->restored > 0; }, Seconds(60)));
  ApplyCore("v1.0.1");
  EXPECT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.1"); }, Seconds(60)));
  EXPECT_GT(page_->changes, 0);
  EXPECT_GT(page_->passes, 0);
  EXPECT_FALSE(history.With("InternalError"));
  DeleteCore();
}

// I7, U5: a new value of a Secret whose pods don't come up: the old ones run on, and repeat the former value.
TEST_F(InProcess, WhatOldPodsRepeatOfASecretIsNotTold) {
  auto apply_secret = [&](const std::string& token, const std::string& where) {
    kube::ApplyYaml(*client_,
                    fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: variables, namespace: core}}, "
                                "stringData: {{TOKEN: {}, WHERE: {}}}}}",
                                token, where));
  };
  apply_secret("token-of-before", "linux");
  std::string components = ComponentsOf("v1.0.2");
  components.insert(components.find("containers:"), "nodeSelector: {kubernetes.io/os: \"${WHERE}\"}, ");
  components.insert(components.find("image:"), "env: [{name: TOKEN, value: \"${TOKEN}\"}], ");
  StoreRelease("v1.0.2", components);
  ApplyCore("v1.0.2", ", configSecret: {name: variables}");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.2"); }, Seconds(60)));
  // It looks like one of the Deployment's to the operator; no node runs it, so nobody else changes what it says.
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: core, labels: {app: capi}}
spec: {nodeSelector: {kubernetes.io/os: nowhere}, containers: [{name: manager, image: registry.example/capi}]}
)");
  Json said = *ParseJson(R"({"status": {"containerStatuses": [{"name": "manager", "image": "i", "imageID": "",
    "ready": false, "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 1, "message": "login failed: token-of-before"}}}]}})");
  Context ctx = Context{}.WithTimeout(Seconds(60));
  auto patched = client_->Patch(ctx, kube::Builtin("Pod"), "core", "old", kube::PatchType::kMerge, said,
                                {.field_manager = "kubelet", .subresource = "status"});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  apply_secret("token-of-now", "nowhere");
  auto tells = [&] { return ReadyMessage().find("login failed") != std::string::npos; };
  EXPECT_TRUE(kube::Eventually(tells, Seconds(60))) << ReadyMessage();
  EXPECT_THAT(ReadyMessage(), ::testing::HasSubstr("login failed: ***"));
  EXPECT_TRUE(client_->Delete(ctx, kube::Builtin("Pod"), "core", "old").ok());
  DeleteCore();
}

// What is newer than what runs is known once all is told of that, without another pass (docs/metrics.md).
TEST_F(InProcess, ANewerVersionIsInTheMetricsOnceOneIsInstalled) {
  StoreRelease("v1.0.9");  // newer than what the other tests store
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  const auto is_told = [&] { return metrics_.Text().find("latest=\"v1.0.9\"") != std::string::npos; };
  EXPECT_TRUE(kube::Eventually(is_told, Seconds(60))) << metrics_.Text();
  EXPECT_TRUE(client_->Delete(Context{}, kube::Builtin("ConfigMap"), "core", "v1.0.9").ok());  // the others' newest
  DeleteCore();
}

// F7, F1: an exception in a pass is told in that provider's status, and the next pass, which may follow at once, goes
// on.
TEST_F(InProcess, AnExceptionInAPassIsInTheStatus) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  ReadyHistory history(*client_);
  int tries = 0, passes = 0;
  // What a pass says that meets somebody else's write goes unsaid: another one is asked for once it has ended.
  auto throws_and_tells = [&] {
    if (history.With("InternalError")) return true;
    if (clock_.throws > 0 || (tries > 0 && Passes() == passes)) return false;
    passes = Passes();
    clock_.throws = 1;
    AskForAPass(++tries);
    return false;
  };
  EXPECT_TRUE(kube::Eventually(throws_and_tells, Seconds(60)));
  const kube::Condition told = history.With("InternalError").value_or(kube::Condition{});
  EXPECT_EQ(told.status, "False");
  EXPECT_THAT(told.message, ::testing::HasSubstr("a bug (next try at"));
  clock_.throws = 0;
  EXPECT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  DeleteCore();
}

class InProcessThrowingLook : public InProcess {
 protected:
  InProcessThrowingLook() { log_ = Logger::ToSink(LogLevel::kDebug, LogFormat::kText, Log, this); }
  void TearDown() override { running_ = {}; }  // it logs into this object
  // What a look for a newer version says where it fails throws, as a bug in that look would.
  static void Log(void* self, std::string_view line) {
    if (line.find("can't tell the newest version") != line.npos) throw std::runtime_error("a bug");
    if (line.find("the look for a newer version met a bug") != line.npos) {
      static_cast<InProcessThrowingLook*>(self)->told_ = true;
    }
  }
  std::atomic<bool> told_ = false;
};

// F7: what throws in the look for a newer version costs that look, and says nothing against the provider.
TEST_F(InProcessThrowingLook, AnExceptionInTheLookForANewerVersionIsLogged) {
  StoreRelease("v1.0.9");
  ReadyHistory history(*client_);
  proxy_->SetFaults([](const kube::ProxyRequest& request) {
    return kube::Fault{.status = request.target.find("/configmaps/v1.0.9") == std::string::npos ? 0 : 403};
  });
  ApplyCore("v1.0.0");
  EXPECT_TRUE(kube::Eventually([&] { return told_ && ReadyAt("v1.0.0"); }, Seconds(60)));
  EXPECT_FALSE(history.With("InternalError"));
  proxy_->SetFaults(nullptr);
  EXPECT_TRUE(client_->Delete(Context{}, kube::Builtin("ConfigMap"), "core", "v1.0.9").ok());
  DeleteCore();
}

class InProcessResync : public InProcess {
 protected:
  InProcessResync() { sync_period_ = Seconds(1); }
  // What it asks for while it has three looks; the lease is held anyway, and a watch may end and begin again.
  std::vector<std::string> AskedInThreeLooks() {
    proxy_->Reset();
    const int before = Passes();
    EXPECT_TRUE(kube::Eventually([&] { return Passes() >= before + 3; }));
    std::vector<std::string> asked;
    for (const kube::ProxyRequest& request : proxy_->requests()) {
      const bool lease = request.target.find("/leases") != request.target.npos;
      if (!lease && !request.watch) asked.push_back(request.method + " " + request.target);
    }
    return asked;
  }
};

// F6: what is Ready is looked at by time alone, and from the caches.
TEST_F(InProcessResync, TakesNoRequest) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  std::vector<std::string> asked;
  // Until what the installation has to say, its events, is sent.
  EXPECT_TRUE(kube::Eventually([&] { return (asked = AskedInThreeLooks()).empty(); }, Seconds(30)))
      << ::testing::PrintToString(asked);
  EXPECT_THAT(metrics_.Text(), ::testing::HasSubstr("\ncapi_operator_changes_found_by_resync_total 0\n"));
  DeleteCore();
}

// P1: who scaled has the claim again after a pause, also where the watch is late to show that it was given back. (The
// operator applied everything with its own count then.)
TEST_F(InProcess, AClaimOfReplicasOutlivesAPauseWhateverTheWatchShows) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  auto scaled =
      client_->Patch(Context{}, kube::Builtin("Deployment"), "core", "capi-controller-manager", kube::PatchType::kMerge,
                     {{"spec", {{"replicas", 3}}}}, {.field_manager = "autoscaler", .subresource = "scale"});
  ASSERT_TRUE(scaled.ok()) << scaled.error().message;
  for (int pause = 0; pause < 2; ++pause) {
    PauseCore(true);
    ASSERT_TRUE(kube::Eventually([&] { return Replicas() == 0; }));
    ASSERT_TRUE(kube::Eventually([&] { return !ReadyAt("v1.0.0"); }));
    // And the answer of one of the two requests that end the pause is lost.
    auto patches = std::make_shared<std::atomic<int>>(0);
    proxy_->SetFaults([patches, pause](const kube::ProxyRequest& request) -> kube::Fault {
      bool deployments = request.target.find("/deployments") != request.target.npos;
      if (request.watch && deployments) return {.delay = Millis(1500)};
      bool lost = deployments && request.method == "PATCH" && patches->fetch_add(1) == pause;
      return {.drop = lost, .after_server = lost};
    });
    proxy_->CutAllConnections();
    PauseCore(false);
    ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }));
    EXPECT_EQ(Replicas(), 3);
    proxy_->SetFaults(nullptr);
  }
  DeleteCore();
}

// P1: a scale to zero that was done though its answer was lost, and a watch that doesn't show it yet: whoever unpauses
// in that moment isn't told that all is well. (Nothing seemed to be paused; the provider was Ready at zero replicas
// until the watch came.)
TEST_F(InProcess, APauseWithoutAnAnswerIsNoReadiness) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  auto lost = std::make_shared<std::atomic<int>>(0);
  proxy_->SetFaults([lost](const kube::ProxyRequest& request) -> kube::Fault {
    bool deployments = request.target.find("/deployments") != request.target.npos;
    if (request.watch && deployments) return {.delay = Millis(2500)};
    bool first = deployments && request.method == "PATCH" && lost->fetch_add(1) == 0;
    return {.drop = first, .after_server = first};
  });
  proxy_->CutAllConnections();
  PauseCore(true);
  ASSERT_TRUE(kube::Eventually([&] { return Replicas() == 0; }));
  PauseCore(false);
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }));
  EXPECT_EQ(Replicas(), 1);
  EXPECT_GE(lost->load(), 1);
  proxy_->SetFaults(nullptr);
  DeleteCore();
}

// I4: a provider that is just about to say that the core's CRDs aren't there goes on when they come back meanwhile. (It
// still said Ready when they did, wasn't woken, and waited for good.)
TEST_F(InProcess, ThoseThatWaitForTheCoreAreWokenWhateverTheySaidLast) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: boot, namespace: core, labels: {release: boot, provider.cluster.x-k8s.io/version: v1.0.0}}
data:
  metadata: |
    {apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3, kind: Metadata, releaseSeries: [{major: 1, minor: 0, contract: v1beta2}]}
  components: |
    {apiVersion: v1, kind: ConfigMap, metadata: {name: of-boot, namespace: x}}
---
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: BootstrapProvider
metadata: {name: boot, namespace: core}
spec: {version: v1.0.0, fetchConfig: {selector: {matchLabels: {release: boot}}}}
)");
  auto ready = [&] {
    auto object = client_->Get(Context{}, api::ResourceOf(api::ProviderType::kBootstrap), "core", "boot");
    if (!object.ok()) return false;
    auto provider = api::ParseProviderMeta(*object);
    const auto* condition = kube::FindCondition(provider.status.conditions, "Ready");
    return condition != nullptr && condition->status == "True";
  };
  ASSERT_TRUE(kube::Eventually(ready, Seconds(60)));

  auto writes = std::make_shared<std::atomic<bool>>(false);
  proxy_->SetFaults([writes](const kube::ProxyRequest& request) -> kube::Fault {
    auto to = [&](const char* what) {
      return request.method == "PATCH" && request.target.find(what) != std::string::npos;
    };
    const bool status = to("/bootstrapproviders/boot/status");
    if (status) *writes = true;
    // The core's CRD comes back only when the other has seen that it is missing: that may be before the core does.
    if (to("/customresourcedefinitions/")) kube::Eventually([&] { return writes->load(); });
    return {.delay = status ? Millis(1500) : Millis(0)};
  });
  Json none = {{"metadata", {{"labels", {{"clusterctl.cluster.x-k8s.io", nullptr}}}}}};
  auto hidden = client_->Patch(Context{}, kube::Builtin("CustomResourceDefinition"), "", "widgets.test.example",
                               kube::PatchType::kMerge, none, {.field_manager = "a-person"});
  ASSERT_TRUE(hidden.ok()) << hidden.error().message;
  EXPECT_TRUE(kube::Eventually([&] { return !ready(); })) << "it says that it waits, after the CRD is back";
  EXPECT_TRUE(kube::Eventually(ready)) << "and goes on";
  EXPECT_THAT(metrics_.Text(), ::testing::HasSubstr("\ncapi_operator_changes_found_by_resync_total 0\n")) << "F6";
  proxy_->SetFaults(nullptr);
  const kube::Resource boots = api::ResourceOf(api::ProviderType::kBootstrap);
  ASSERT_TRUE(client_->Delete(Context{}, boots, "core", "boot").ok());
  EXPECT_TRUE(kube::Eventually([&] { return !client_->Get(Context{}, boots, "core", "boot").ok(); }));
  DeleteCore();
}

// F10: what was there when the watch began is told from what somebody has just made. Nobody looks while another leads.
TEST_F(InProcess, WhatIsNewIsToldFromWhatWasThere_F10) {
  running_ = {};
  const Context ctx = Context{}.WithTimeout(Seconds(120));
  (void)client_->Delete(ctx, kube::Builtin("Lease"), "core", "in-process");
  auto lead = [&](const char* who) {
    const std::string now = FormatMicroTime(SystemClock().Now());
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: in-process, namespace: core}}
spec: {{holderIdentity: "{}", leaseDurationSeconds: 3600, acquireTime: "{}", renewTime: "{}", leaseTransitions: 1}}
)",
                                          who, now, now));
  };
  auto make = [&](const char* name) {
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: AddonProvider
metadata: {{name: {}, namespace: core}}
spec: {{version: v1.0.0, fetchConfig: {{selector: {{matchLabels: {{release: none}}}}}}}}
)",
                                          name));
  };
  auto wait = [&](const std::string& priority, int providers) {
    return metrics_.Text().find(R"(workqueue_depth{controller="provider",name="provider",priority=")" + priority +
                                "\"} " + std::to_string(providers) + "\n") != std::string::npos;
  };
  lead("another");
  make("first");
  make("second");
  running_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  EXPECT_TRUE(kube::Eventually([&] { return wait("-100", 2); }, Seconds(60)));
  make("third");
  EXPECT_TRUE(kube::Eventually([&] { return wait("100", 1); }, Seconds(60)));
  EXPECT_TRUE(wait("-100", 2)) << "and so are they, though one of their kind has come";
  lead("");
  EXPECT_TRUE(kube::Eventually([&] { return Passes() >= 3; }, Seconds(60)));
  const kube::Resource addons = api::ResourceOf(api::ProviderType::kAddon);
  for (const char* name : {"first", "second", "third"}) {
    ASSERT_TRUE(client_->Delete(ctx, addons, "core", name).ok());
    EXPECT_TRUE(kube::Eventually([&] { return !client_->Get(ctx, addons, "core", name).ok(); }, Seconds(60)));
  }
}

// F10: a drift is looked at before what waits.
TEST_F(InProcess, ADriftIsForNow_F10) {
  ApplyCore("v1.0.0");
  ASSERT_TRUE(kube::Eventually([&] { return ReadyAt("v1.0.0"); }, Seconds(60)));
  auto taken = [&](const std::string& priority) {
    const std::string text = metrics_.Text();
    const std::string line =
        R"(workqueue_queue_duration_seconds_count{controller="provider",name="provider",priority=")" + priority +
        "\"} ";
    const size_t at = text.find(line);
    return at == text.npos ? 0 : std::stoi(text.substr(at + line.size()));
  };
  const int before = taken("100");
  const Context ctx = Context{}.WithTimeout(Seconds(60));
  ASSERT_TRUE(client_->Delete(ctx, kube::Builtin("Deployment"), "core", "capi-controller-manager").ok());
  EXPECT_TRUE(kube::Eventually([&] { return taken("100") > before; }, Seconds(60)));
  DeleteCore();
}

}  // namespace
}  // namespace capi::ops
