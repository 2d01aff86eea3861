// For tests: an operator in the test's own process, on a real control plane.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/strings.h"
#include "operator/controller.h"
#include "operator/report/plane_testing.h"

namespace capi::ops {

inline constexpr std::string_view kComponents = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.example}
spec:
  group: test.example
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-in-VERSION, namespace: x}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capi-controller-manager, namespace: x}
spec:
  replicas: 1
  selector: {matchLabels: {app: capi}}
  template:
    metadata: {labels: {app: capi}}
    spec: {containers: [{name: manager, image: "registry.example/capi:VERSION"}]}
)";

inline std::string ComponentsOf(const std::string& version) {
  std::string text(kComponents);
  for (size_t at; (at = text.find("VERSION")) != text.npos;) text.replace(at, 7, version);
  return text;
}

inline std::string EmptyFolder() {
  std::string folder = ::testing::TempDir() + "/no-releases";
  std::filesystem::create_directories(folder + "/cluster-api");
  return folder;
}

// The system's, but for some looks at the time of day, which throw: as a bug in a pass would. Thread-safe.
class ThrowingClock : public Clock {
 public:
  WallTime Now() override {
    if (throws.load() > 0 && throws.fetch_sub(1) > 0) throw std::runtime_error("a bug");
    return SystemClock().Now();
  }
  MonoTime Monotonic() override { return SystemClock().Monotonic(); }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    return SystemClock().WaitUntil(cv, mu, stop, deadline, ready);
  }
  std::atomic<int> throws = 0;
};

// The operator without its main: manager, controller and lease in threads of this process. Thread-compatible.
class InProcess : public testing::ProxiedPlane {
 protected:
  void SetUp() override {
    ProxiedPlane::SetUp();
    if (HasFatalFailure()) return;
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: core}}");
    for (const char* version : {"v1.0.0", "v1.0.1"}) StoreRelease(version);
    client_->mapper().Invalidate();
    running_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }

  void StoreRelease(const std::string& version) { StoreRelease(version, ComponentsOf(version)); }
  void StoreRelease(const std::string& version, const std::string& components) {
    Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    map["metadata"] = {{"name", version}, {"namespace", "core"}, {"labels", {{"release", "core"}}}};
    map["data"] = {{"metadata",
                    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                    "- {major: 1, minor: 0, contract: v1beta2}\n"},
                   {"components", components}};
    kube::ApplyYaml(*client_, ToJsonText(map));
  }

  void Run(std::stop_token stop) {
    Context ctx{.stop = stop, .log = log_};
    Settings settings;
    Sources sources(settings, source_options_);
    kube::EventRecorder events(*proxied_, "capi-operator", SystemClock());
    InventoryKey key(*proxied_, "default");
    ProviderController controller(*proxied_, settings, sources, key,
                                  {.workers = 2, .sync_period = sync_period_, .onlooker = onlooker_.get(), .log = log_},
                                  metrics_, events, clock_);
    kube::LeaderElector elector(*proxied_, {.ns = "core", .name = "in-process", .identity = "test"});
    kube::Manager manager(SystemClock());
    auto record = [&](const Context& run) {
      events.Run(run);
      return Ok();
    };
    manager.Add("events", record, true);
    controller.AddTo(manager);
    manager.LeadBy(elector);
    auto ended = manager.Run(ctx);
    EXPECT_TRUE(ended.ok()) << ended.error().message;
  }

  void ApplyCore(const std::string& version, const std::string& more = "") {
    kube::ApplyYaml(*client_, fmt::format(R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata: {{name: cluster-api, namespace: core}}
spec: {{version: {}, fetchConfig: {{selector: {{matchLabels: {{release: core}}}}}}{}}}
)",
                                          version, more));
  }

  void PauseCore(bool paused) {
    auto patched = client_->Patch(Context{}, api::ResourceOf(api::ProviderType::kCore), "core", "cluster-api",
                                  kube::PatchType::kMerge, {{"spec", {{"paused", paused}}}}, {.field_manager = "test"});
    ASSERT_TRUE(patched.ok()) << patched.error().message;
  }
  void AskForAPass(int number) {
    Json patch = {
        {"metadata", {{"annotations", {{"operator.cluster.x-k8s.io/reconcile-at", std::to_string(number)}}}}}};
    auto patched = client_->Patch(Context{}, api::ResourceOf(api::ProviderType::kCore), "core", "cluster-api",
                                  kube::PatchType::kMerge, patch, {.field_manager = "test"});
    EXPECT_TRUE(patched.ok()) << patched.error().message;
  }
  void DeleteCore() {
    const kube::Resource core = api::ResourceOf(api::ProviderType::kCore);
    Context ctx = Context{}.WithTimeout(Seconds(60));
    ASSERT_TRUE(client_->Delete(ctx, core, "core", "cluster-api").ok());
    EXPECT_TRUE(kube::Eventually([&] { return !client_->Get(ctx, core, "core", "cluster-api").ok(); }, Seconds(60)));
  }
  std::int64_t Replicas() {
    auto live = client_->Get(Context{}, kube::Builtin("Deployment"), "core", "capi-controller-manager");
    return live.ok() ? GetInt(live->json(), {"spec", "replicas"}, -1) : -1;
  }

  bool Exists(const char* kind, const std::string& name) {
    return client_->Get(Context{}.WithTimeout(Seconds(30)), kube::Builtin(kind), "core", name).ok();
  }
  std::string ReadyMessage() {
    auto object = client_->Get(Context{}.WithTimeout(Seconds(30)), api::ResourceOf(api::ProviderType::kCore), "core",
                               "cluster-api");
    if (!object.ok()) return object.error().message;
    api::Provider provider = api::ParseProviderMeta(*object);
    const auto* ready = kube::FindCondition(provider.status.conditions, "Ready");
    return ready == nullptr ? "" : ready->message;
  }
  bool ReadyAt(const std::string& version) {
    auto object = client_->Get(Context{}.WithTimeout(Seconds(30)), api::ResourceOf(api::ProviderType::kCore), "core",
                               "cluster-api");
    if (!object.ok()) return false;
    api::Provider provider = api::ParseProviderMeta(*object);
    const auto* ready = kube::FindCondition(provider.status.conditions, "Ready");
    return ready != nullptr && ready->status == "True" && provider.status.installed_version == version &&
           provider.status.observed_generation == provider.generation;
  }

  // Passes that have ended.
  int Passes() const {
    int passes = 0;
    for (const std::string& line : Split(metrics_.Text(), '\n')) {
      if (line.starts_with("controller_runtime_reconcile_total{")) passes += std::stoi(line.substr(line.rfind(' ')));
    }
    return passes;
  }

  Millis sync_period_ = std::chrono::hours(10);
  ThrowingClock clock_;
  Logger log_;
  SourceOptions source_options_{.github = {}, .folder = EmptyFolder()};
  kube::Metrics metrics_;
  std::unique_ptr<Onlooker> onlooker_;  // may be null
  std::jthread running_;
};

}  // namespace capi::ops
