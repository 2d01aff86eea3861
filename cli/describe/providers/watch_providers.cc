#include "cli/describe/providers/watch_providers.h"

#include <condition_variable>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cli/describe/providers/providers_reader.h"
#include "kube/cache/informer.h"

namespace capi::cli::describe {
namespace {

// What changes together is shown together.
constexpr Millis kSettle{200};
// Without a change, too: an outage is seen, ages grow, and what may be listed but not watched is looked at.
constexpr Seconds kBeat{10};
// While the cluster can't be asked.
constexpr Seconds kAgain{1};
// For one look. Without it, one whose connection was lost without a word would be waited for without an end.
constexpr Seconds kOneLook{30};
// An API server that starts may refuse what it will allow.
constexpr Seconds kRefusedFor{30};

const kube::Resource& Inventory() {
  static const auto& resource = *new kube::Resource{
      .group = "clusterctl.cluster.x-k8s.io", .version = "v1alpha3", .plural = "providers", .kind = "Provider"};
  return resource;
}

// Hears of each change of what is shown. Thread-safe.
class Changes {
 public:
  Changes(const Context& ctx, kube::Client& client, const std::string& ns) : ctx_(ctx) {
    const std::string by_label(api::kLabelProvider);
    for (const api::ProviderKind& kind : api::kProviderKinds) Follow(client, api::ResourceOf(kind.type), ns, "");
    for (const char* kind : {"Deployment", "DaemonSet", "StatefulSet"})
      Follow(client, kube::Builtin(kind), ns, by_label);
    Follow(client, kube::Builtin("Deployment"), "", kOperatorLabel);
    Follow(client, Inventory(), "", "");
    for (auto& informer : informers_) {
      threads_.emplace_back(
          [this, informer = informer.get()](std::stop_token stop) { informer->Run(ctx_.WithStop(std::move(stop))); });
    }
  }

  ~Changes() {
    for (std::jthread& thread : threads_) thread.request_stop();  // of all, before one is waited for
  }
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  // For one since the last call, until `end` or a stop.
  void Await(const Context& ctx, MonoTime end) {
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(news_, mu_, ctx.stop, end, [&]() CAPI_REQUIRES(mu_) { return changed_; });
    changed_ = false;
  }

 private:
  // What it looks like is read by who shows it; that it is another is enough here.
  void Follow(kube::Client& client, const kube::Resource& resource, const std::string& ns,
              const std::string& selector) {
    kube::InformerOptions options{.ns = ns, .label_selector = selector, .metadata_only = true};
    informers_.push_back(std::make_unique<kube::Informer>(client, resource, options,
                                                          [this](const kube::ObjectPtr&, const kube::ObjectPtr&) {
                                                            MutexLock lock(mu_);
                                                            changed_ = true;
                                                            news_.notify_all();
                                                          }));
  }

  const Context ctx_;
  Mutex mu_;
  std::condition_variable_any news_;
  bool changed_ CAPI_GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<kube::Informer>> informers_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace

Status WatchProviders(const Context& ctx, ManagementCluster& cluster, const std::string& ns,
                      const PictureOptions& options, World& world) {
  ProvidersPicture picture(world, options);
  std::optional<Changes> changes;
  MonoTime answered = ctx.clock->Monotonic();
  while (true) {
    std::ostringstream words;
    Notes notes(words);
    // The first look may wait for somebody who logs in.
    auto input = ReadProviders(changes ? ctx.WithTimeout(kOneLook) : ctx, cluster, ns, notes);
    if (ctx.stop.stop_requested()) break;
    const bool shown = changes.has_value();
    const MonoTime now = ctx.clock->Monotonic();
    if (input.ok()) {
      answered = now;
      picture.Show(BuildProvidersTree(*input), words.str(), ctx.clock->Now());
    } else if (shown && (input.error().Transient() || now - answered < kRefusedFor)) {
      picture.Lose(input.error(), ctx.clock->Now());
    } else {
      picture.End(ctx.clock->Now());
      return input.error();
    }
    if (picture.IsClosed()) break;
    if (!shown) changes.emplace(ctx, cluster.client(), ns);
    changes->Await(ctx, ctx.clock->Monotonic() + (input.ok() ? kBeat : kAgain));
    if (!ctx.clock->Sleep(ctx.stop, kSettle)) break;
  }
  picture.End(ctx.clock->Now());
  return Ok();
}

}  // namespace capi::cli::describe
