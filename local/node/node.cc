#include "local/node/node.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/caught.h"
#include "base/files.h"
#include "kube/cache/informer.h"
#include "local/node/objects/node_object.h"
#include "local/node/objects/not_run.h"
#include "local/node/pod_files.h"
#include "local/node/pod_run.h"
#include "local/node/rollout/deployments.h"
#include "local/node/services/connect_socket.h"
#include "local/node/workers.h"

namespace capi::local {
namespace {

constexpr Millis kGraceAtStop{900};
constexpr Seconds kLongestSleep{30}, kAfterThrown{2};

// Wakes a thread that waits for work. Thread-safe.
class Bell {
 public:
  void Ring() {
    MutexLock lock(mu_);
    rung_ = true;
    wake_.notify_all();
  }
  void Await(const Context& ctx, MonoTime deadline) {
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(wake_, mu_, ctx.stop, deadline, [&] {
      mu_.AssertHeld();
      return rung_;
    });
    rung_ = false;
  }

 private:
  Mutex mu_;
  std::condition_variable_any wake_;
  bool rung_ CAPI_GUARDED_BY(mu_) = true;
};

void EmptyFolder(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

class Node::Impl {
 public:
  Impl(kube::Client& client, Programs& programs, NodeOptions options, Clock& clock)
      : options_(std::move(options)),
        parts_{
            .client = client, .programs = programs, .options = options_, .clock = clock, .wake = [this] { Ring(); }} {}

  Status Run(const Context& given) {
    Context ctx = given;
    ctx.clock = &parts_.clock;
    for (const std::string& folder : {options_.folder, options_.volumes}) TRY(MakeFolder(folder));
    EmptyFolder(options_.volumes);
    services_ = Watch("Service", "");
    pods_ = Watch("Pod", fmt::format("spec.nodeName={}", kNodeName));
    deployments_ = Watch("Deployment", "");
    std::unique_ptr<ConnectSocket> socket;
    if (!options_.socket.empty()) {
      socket = TRY(ConnectSocket::Listen(options_.socket, [this](const std::string& to) { return Route(to); }));
    }
    std::optional<std::string> failed;
    auto thrown = Caught([&] { failed = RunParts(ctx); });
    EndPods();
    socket.reset();
    std::error_code ignored;
    std::filesystem::remove_all(options_.volumes, ignored);
    if (!thrown && !failed) return Ok();
    return Error{Code::kInternal, "a part of the node ended: " + (thrown ? *thrown : *failed), {}};
  }

 private:
  std::unique_ptr<kube::Informer> Watch(const char* kind, std::string fields) {
    kube::InformerOptions options{.field_selector = std::move(fields), .transform = kube::DropManagedFields};
    return std::make_unique<kube::Informer>(parts_.client, kube::Builtin(kind), std::move(options),
                                            [this](const kube::ObjectPtr&, const kube::ObjectPtr&) { Ring(); });
  }

  void Ring() {
    pods_bell_.Ring();
    deployments_bell_.Ring();
  }

  // Until a stop, or until one of them fails.
  std::optional<std::string> RunParts(const Context& given) {
    Workers workers(given);
    const Context& ctx = workers.ctx();
    for (kube::Informer* informer : {services_.get(), pods_.get(), deployments_.get()}) {
      workers.Add([informer, ctx] { informer->Run(ctx); });
    }
    workers.Add([this, ctx] { KeepNode(ctx, parts_.client); });
    workers.Add([this, ctx] { KeepNotRun(ctx, parts_.client); });
    workers.Add([this, ctx] { RunDeployments(ctx); });
    RunPods(ctx);
    EndPods();  // while the others end
    return workers.Failed();
  }

  // One pass of what goes round. Where it throws, the next one comes soon: false.
  bool Pass(const Context& ctx, const char* what, const std::function<void()>& pass) {
    auto thrown = Caught(pass);
    if (thrown) ctx.log.Error(what, {{"error", *thrown}});
    return !thrown;
  }

  Result<std::vector<int>> Route(const std::string& address) {
    std::vector<Backend> backends;
    {
      MutexLock lock(mu_);
      for (const auto& [uid, run] : runs_) backends.push_back(run->AsBackend());
    }
    return PortsOfService(address, services_->List(), backends);
  }

  void RunDeployments(const Context& ctx) {
    if (!deployments_->WaitForSync(ctx).ok() || !pods_->WaitForSync(ctx).ok()) return;
    Deployments deployments(parts_, *deployments_, *pods_);
    while (!ctx.stop.stop_requested()) {
      WallTime again = parts_.clock.Now() + kAfterThrown;
      (void)Pass(ctx, "Deployments aren't followed", [&] { again = deployments.Pass(ctx); });
      auto wait = std::clamp<WallTime::duration>(again - parts_.clock.Now(), Millis(20), kLongestSleep);
      deployments_bell_.Await(ctx, parts_.clock.Monotonic() + wait);
    }
  }

  void RunPods(const Context& ctx) {
    if (!pods_->WaitForSync(ctx).ok()) return;
    bool cleaned = false;
    while (!ctx.stop.stop_requested()) {
      bool done = Pass(ctx, "Pods aren't followed", [&] {
        Follow(ctx);
        if (!cleaned) RemoveStale();
        cleaned = true;
      });
      pods_bell_.Await(ctx, done ? MonoTime::max() : parts_.clock.Monotonic() + kAfterThrown);
    }
  }

  // Each Pod has its run, and each run that is done goes.
  void Follow(const Context& ctx) {
    std::map<std::string, kube::ObjectPtr> there;
    for (kube::ObjectPtr& pod : pods_->List()) there[pod->uid()] = std::move(pod);
    std::vector<std::shared_ptr<PodRun>> ended;  // destroyed without the lock
    MutexLock lock(mu_);
    for (auto run = runs_.begin(); run != runs_.end();) {
      auto pod = there.find(run->first);
      bool gone = pod == there.end();
      run->second->Update(gone ? nullptr : pod->second);
      bool done = gone && run->second->done();
      if (done) ended.push_back(run->second);
      run = done ? runs_.erase(run) : std::next(run);
    }
    // Of one name one at a time: they have the same folders. Who is done wakes this.
    std::set<std::string> taken;
    for (const auto& [uid, run] : runs_) taken.insert(run->folder());
    for (const auto& [uid, pod] : there) {
      if (runs_.contains(uid) || taken.contains(PodFolderName(*pod))) continue;
      runs_[uid] = std::make_shared<PodRun>(parts_, pod, ctx);
    }
  }

  // What a node that was killed left of Pods that went meanwhile.
  void RemoveStale() {
    std::set<std::string> names;
    for (const kube::ObjectPtr& pod : pods_->List()) names.insert(PodFolderName(*pod));
    auto folders = ListDir(options_.folder);
    if (!folders.ok()) return;
    std::error_code ignored;
    for (const std::string& name : *folders) {
      if (!names.contains(name)) std::filesystem::remove_all(options_.folder + "/" + name, ignored);
    }
  }

  void EndPods() {
    std::map<std::string, std::shared_ptr<PodRun>> runs;
    {
      MutexLock lock(mu_);
      runs.swap(runs_);
    }
    for (auto& [uid, run] : runs) run->Stop(kGraceAtStop);
    // The destructor of each waits for its threads; all were told before.
  }

  const NodeOptions options_;
  Bell pods_bell_, deployments_bell_;
  NodeParts parts_;
  std::unique_ptr<kube::Informer> services_, pods_, deployments_;
  Mutex mu_;
  std::map<std::string, std::shared_ptr<PodRun>> runs_ CAPI_GUARDED_BY(mu_);  // by uid
};

Node::Node(kube::Client& client, Programs& programs, NodeOptions options, Clock& clock)
    : impl_(std::make_unique<Impl>(client, programs, std::move(options), clock)) {}
Node::~Node() = default;
Status Node::Run(const Context& ctx) { return impl_->Run(ctx); }

}  // namespace capi::local
