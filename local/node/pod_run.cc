#include "local/node/pod_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <thread>

#include "base/caught.h"
#include "local/node/container_run.h"
#include "local/node/pod_status.h"
#include "local/node/services/listeners.h"

namespace capi::local {
namespace {

constexpr Seconds kRefresh{10};
constexpr Millis kRetry{500}, kFirstRetry{50};
constexpr Seconds kAfterThrown{2};
constexpr const char *kInit = "initContainers", *kContainers = "containers";
constexpr Seconds kCallTime{10};
constexpr std::int64_t kDefaultGrace = 30;

const Json& ContainersOf(const kube::Object& pod, const char* list) {
  static const Json none = Json::array();
  const Json* all = Find(pod.json(), {"spec", list});
  return all != nullptr && all->is_array() ? *all : none;
}

// What a former node wrote: its processes ended with it.
std::vector<ContainerFacts> FirstFacts(const kube::Object& pod, const char* list, const char* statuses) {
  std::vector<ContainerFacts> all;
  const Json* old = Find(pod.json(), {"status", statuses});
  for (const Json& container : ContainersOf(pod, list)) {
    ContainerFacts facts{.name = GetString(container, {"name"}), .image = GetString(container, {"image"})};
    if (old != nullptr && old->is_array()) {
      for (const Json& status : *old) {
        if (GetString(status, {"name"}) != facts.name) continue;
        bool ran = Find(status, {"state", "waiting"}) == nullptr;
        facts.restarts = static_cast<int>(GetInt(status, {"restartCount"})) + (ran ? 1 : 0);
      }
    }
    all.push_back(std::move(facts));
  }
  return all;
}

PodFacts FirstFactsOf(const kube::Object& pod, WallTime now) {
  auto started = ParseTime(GetString(pod.json(), {"status", "startTime"}));
  return {.started = started.ok() ? *started : now,
          .init = FirstFacts(pod, kInit, "initContainerStatuses"),
          .containers = FirstFacts(pod, kContainers, "containerStatuses")};
}

std::string OwnerOf(const kube::Object& pod) {
  const Json* owners = Find(pod.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return "";
  for (const Json& owner : *owners) {
    if (GetBool(owner, {"controller"})) return GetString(owner, {"uid"});
  }
  return "";
}

}  // namespace

class PodRun::Impl {
 public:
  Impl(NodeParts& node, kube::ObjectPtr pod, const Context& ctx)
      : node_(node),
        first_(*pod),
        ctx_(ctx.WithStop(files_stop_.get_token())),
        files_(node.client, node.options, node.clock, first_),
        board_(FirstFactsOf(first_, node.clock.Now())),
        parts_{.node = node,
               .pod = first_,
               .files = files_,
               .board = board_,
               .ports = {},  // with the volumes
               .owner = OwnerOf(first_),
               .stop = stop_.get_token(),
               .grace_ms{Millis::max().count()},  // who ends it says
               .ctx = ctx},
        live_(first_) {
    Update(std::move(pod));
    runner_ = std::thread([this] {
      Insist("a pod's containers are begun again", parts_.stop, [&] { RunContainers(); });
      ended_ = true;
      board_.Wake();
    });
    try {
      teller_ = std::thread([this] {
        Insist("a pod's status is told again", ctx_.stop, [&] { Tell(); });
        done_ = true;
        node_.wake();
      });
    } catch (...) {  // no thread: whoever makes it tries again
      Stop(Millis(0));
      runner_.join();
      throw;
    }
  }
  ~Impl() {
    if (!leaving_ && !gone_) Stop(Millis(0));
    runner_.join();
    teller_.join();
    node_.runners.Forget(parts_.owner, first_.uid());
  }

  void Update(kube::ObjectPtr pod) {
    if (pod == nullptr) {
      gone_ = true;
      End(Millis(0));
      return;
    }
    if (!pod->deleting()) return;
    deleted_ = true;
    End(Bounded(GetInt(pod->json(), {"metadata", "deletionGracePeriodSeconds"}, kDefaultGrace)));
  }

  void Stop(Millis grace) {
    leaving_ = true;
    files_stop_.request_stop();
    End(grace);
  }

  bool done() const { return done_; }
  const kube::Object& pod() const { return first_; }
  Backend AsBackend() const {
    Backend backend{.ns = first_.ns(), .containers = ContainersOf(first_, kContainers)};
    if (const Json* labels = Find(first_.json(), {"metadata", "labels"})) backend.labels = *labels;
    PodFacts facts = board_.Get();
    backend.ready = IsReady(facts) && !stop_.stop_requested();
    std::vector<int> groups;
    for (const ContainerFacts& one : facts.containers) {
      backend.ports.insert(one.ports.begin(), one.ports.end());
      if (one.pid != 0) groups.push_back(one.pid);
    }
    backend.listens = [groups](int port) {
      return std::any_of(groups.begin(), groups.end(), [&](int group) { return GroupListens(group, port); });
    };
    return backend;
  }

 private:
  void End(Millis grace) {
    parts_.grace_ms = std::min(parts_.grace_ms.load(), static_cast<std::int64_t>(grace.count()));
    stop_.request_stop();
    board_.Wake();
  }

  Context Soon() const { return ctx_.WithTimeout(kCallTime); }

  // ---- the containers' side ----

  void WaitAll(const std::string& message) {
    board_.Change([&](PodFacts& facts) {
      for (auto* list : {&facts.init, &facts.containers}) {
        for (ContainerFacts& one : *list) one.message = message;
      }
    });
  }

  Status Begin() {
    TRY(files_.MakeFolders());
    parts_.ports = TRY(PodPorts::Make(first_));
    MutexLock lock(files_mu_);
    return files_.Refresh(Soon());
  }

  // Until ports and volumes are there; false when it is to end before.
  bool AwaitFiles() {
    Millis delay = kFirstRetry;  // a ServiceAccount or Secret often comes just behind its Deployment
    while (!stop_.stop_requested()) {
      const Status made = Begin();
      WaitAll(made.ok() ? "" : made.error().message);
      if (made.ok()) return true;
      if (!node_.clock.Sleep(parts_.stop, delay)) return false;
      delay = std::min<Millis>(delay * 2, Seconds(2));
    }
    return false;
  }

  // Until it returns, or a stop: what is thrown here has its cause elsewhere, in a machine without threads, say.
  void Insist(const char* what, const std::stop_token& stop, const std::function<void()>& work) {
    do {
      auto thrown = Caught(work);
      if (!thrown) return;
      ctx_.log.Error(what, {{"pod", PodFolderName(first_)}, {"error", *thrown}});
    } while (node_.clock.Sleep(stop, kAfterThrown));
  }

  void RunOne(bool init, size_t index) {
    const Json& container = ContainersOf(first_, init ? kInit : kContainers)[index];
    Insist("a container is begun again", parts_.stop, [&] {
      try {
        ContainerRun(parts_, container, index, init).Run();
      } catch (const std::exception& e) {
        CantStart(init, index, e.what());
        throw;
      }
    });
  }

  void CantStart(bool init, size_t index, const std::string& why) {
    board_.Change([&](PodFacts& facts) {
      ContainerFacts& one = (init ? facts.init : facts.containers)[index];
      one.state = ContainerFacts::State::kWaiting;
      one.reason = "CreateContainerError";
      one.message = why;
      one.ready = one.began = false;
      one.pid = 0;
    });
  }

  void RunContainers() {
    if (!AwaitFiles()) return;
    prepared_ = true;
    const size_t first = ContainersOf(first_, kInit).size();
    for (size_t i = 0; i < first && !stop_.stop_requested(); ++i) RunOne(true, i);
    std::list<std::thread> threads;
    const size_t count = ContainersOf(first_, kContainers).size();
    for (size_t i = 0; i < count; ++i) {
      std::optional<std::string> thrown;
      while ((thrown = Caught([&] { threads.emplace_back([this, i] { RunOne(false, i); }); }))) {
        CantStart(false, i, "no thread for it: " + *thrown);
        if (!node_.clock.Sleep(parts_.stop, kAfterThrown)) break;
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  // ---- the side of files and status ----

  void Tell() {
    MonoTime refresh = node_.clock.Monotonic() + kRefresh;
    bool told = true;
    while (!ended_) {
      board_.Await(node_.clock, told ? refresh : node_.clock.Monotonic() + kRetry);
      if (!leaving_ && !gone_) told = WriteStatus();
      if (node_.clock.Monotonic() < refresh) continue;
      refresh = node_.clock.Monotonic() + kRefresh;
      if (prepared_ && !stop_.stop_requested()) Refresh();
    }
    // A Pod that a user deletes goes when its processes are gone.
    while (deleted_ && !leaving_ && !gone_ && !Forget()) node_.clock.Sleep(ctx_.stop, kRetry);
    files_.Remove(!leaving_);
  }

  void Refresh() {
    MutexLock lock(files_mu_);
    Status done = files_.Refresh(Soon());
    if (!done.ok()) {
      ctx_.log.Warn("a pod's volumes aren't renewed",
                    {{"pod", PodFolderName(first_)}, {"error", done.error().message}});
    }
  }

  bool WriteStatus() {
    PodFacts facts = board_.Get();
    Json patch = {{"metadata", {{"uid", first_.uid()}}}};
    patch["status"] = PodStatus(live_, facts, node_.clock.Now());
    std::string ports = PortsAnnotation(facts);
    if (!ports.empty()) patch["metadata"]["annotations"] = {{kPortsAnnotation, ports}};
    if (patch == written_) return true;
    auto answer = node_.client.Patch(Soon(), kube::Builtin("Pod"), first_.ns(), first_.name(), kube::PatchType::kMerge,
                                     patch, {.subresource = "status"});
    if (!answer.ok()) {
      bool gone = answer.code() == Code::kNotFound || answer.code() == Code::kConflict;
      if (!gone && answer.code() != Code::kCancelled) {
        ctx_.log.Warn("a pod's status isn't written",
                      {{"pod", PodFolderName(first_)}, {"error", answer.error().message}});
      }
      return gone;  // whoever watches it will say so
    }
    live_ = std::move(*answer);
    written_ = std::move(patch);
    return true;
  }

  bool Forget() {
    Json options = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", first_.uid()}}}};
    auto answer = node_.client.Raw(Soon(), "DELETE", kube::Builtin("Pod").Path(first_.ns(), first_.name()),
                                   ToJsonText(options), "application/json");
    return answer.ok() || answer.code() == Code::kNotFound || answer.code() == Code::kConflict;
  }

  NodeParts& node_;
  const kube::Object first_;
  std::stop_source stop_, files_stop_;  // of the processes; of calls
  const Context ctx_;
  Mutex files_mu_;
  PodFiles files_;
  FactsBoard board_;
  PodParts parts_;
  std::atomic<bool> deleted_{false}, gone_{false}, leaving_{false}, prepared_{false}, ended_{false}, done_{false};
  kube::Object live_;  // as the last write left it
  Json written_;
  std::thread runner_, teller_;
};

PodRun::PodRun(NodeParts& node, kube::ObjectPtr pod, const Context& ctx)
    : impl_(std::make_unique<Impl>(node, std::move(pod), ctx)) {}
PodRun::~PodRun() = default;
void PodRun::Update(kube::ObjectPtr pod) { impl_->Update(std::move(pod)); }
void PodRun::Stop(Millis grace) { impl_->Stop(grace); }
bool PodRun::done() const { return impl_->done(); }
Backend PodRun::AsBackend() const { return impl_->AsBackend(); }
std::string PodRun::folder() const { return PodFolderName(impl_->pod()); }

}  // namespace capi::local
