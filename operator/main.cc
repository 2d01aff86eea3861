// capi-operator: the manager process.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/heap.h"
#include "base/http/url.h"
#include "base/this_build.h"
#include "base/version.h"
#include "operator/act/adopt_inventory.h"
#include "operator/controller.h"
#include "operator/inputs.h"
#include "operator/options.h"
#include "operator/process_metrics.h"
#include "operator/servers.h"
#include "operator/ui/feed.h"
#include "operator/ui/page_server.h"
#include "operator/webhooks.h"

namespace capi::ops {
namespace {

// Turns SIGINT and SIGTERM into a stop request; a second one ends the process at once.
class SignalStop {
 public:
  SignalStop() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);  // before any other thread starts: they inherit it
    std::signal(SIGPIPE, SIG_IGN);
    std::thread([this] {
      int number = 0;
      sigwait(&set_, &number);
      stop_.request_stop();
      sigwait(&set_, &number);
      _exit(130);
    }).detach();
  }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  sigset_t set_;
  std::stop_source stop_;
};

std::string Identity() {
  char host[256] = "capi-operator";
  gethostname(host, sizeof host - 1);
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host, random(), random());
}

// Both run as long as the operator leads.
void AddParts(const Options& o, kube::Client& client, kube::EventRecorder& events, kube::Manager& manager) {
  auto record = [&events](const Context& run) {
    events.Run(run);
    return Ok();
  };
  manager.Add("events", record, /*needs_lead=*/true);
  if (!o.adopt_inventory) return;
  auto adopt = [&client, ns = o.ns](const Context& run) {
    AdoptInventory(run, client, ns);
    return Ok();
  };
  manager.Add("adopt-inventory", adopt, /*needs_lead=*/true);
}

constexpr const char* kLease = "controller-leader-election-capi-operator";

Status Run(const Options& o) {
  SignalStop signals;
  Context ctx{.stop = signals.token(), .deadline = {}, .log = Logger::Create(o.log_level, o.log_format)};
  kube::Config config = TRY(kube::LoadConfig({.kubeconfig = o.kubeconfig, .context = o.context}));
  kube::Metrics metrics;
  auto client = TRY(kube::Client::Connect(config, {.user_agent = fmt::format("capi-operator/{}", kProjectVersion),
                                                   .on_answer = CountRequests(metrics, config.server)}));
  Settings settings = TRY(LoadSettings(o, environ));
  Sources sources(settings, SourcesFrom(o, ::getenv));

  kube::EventRecorder events(*client, "capi-operator", SystemClock());
  InventoryKey key(*client, config.ns);
  kube::LeaderElector elector(*client, {.ns = o.lease_namespace.empty() ? config.ns : o.lease_namespace,
                                        .name = kLease,
                                        .identity = Identity(),
                                        .lease_duration = o.lease_duration,
                                        .renew_deadline = o.renew_deadline,
                                        .retry_period = o.retry_period});
  std::optional<ui::Feed> feed;
  if (o.ui_address != "0") {
    feed.emplace(SystemClock(), [&elector] { return elector.valid_until() > SystemClock().Monotonic(); });
  }
  ProviderController controller(*client, settings, sources, key,
                                {.workers = o.concurrency,
                                 .ns = o.ns,
                                 .sync_period = o.sync_period,
                                 .webhooks = o.webhook_port != 0,
                                 .onlooker = feed ? &*feed : nullptr,
                                 .log = ctx.log},
                                metrics, events, SystemClock());
  auto lead = ShowLead(metrics, kLease, elector, SystemClock());
  client->GuardWrites([&elector](const Context& call) { return elector.MayWrite(call); });
  kube::Manager manager(SystemClock());
  std::optional<Webhooks> webhooks;
  if (o.webhook_port != 0) {
    webhooks.emplace(o, settings, config.ns, *client, key, metrics, events, ctx.log);
    webhooks->AddTo(manager);
  }
  std::unique_ptr<http::Server> health, diagnostics, page;
  if (o.health_address != "0") {
    auto ready = [&manager, &webhooks] { return manager.Ready() && (!webhooks || webhooks->Ready()); };
    health = TRY_WITH(ServeHealth(o.health_address, ready), "--health-addr");
    ctx.log.Info("serving probes", {{"address", health->address()}});
  }
  if (o.diagnostics_address != "0") {
    diagnostics = TRY_WITH(ServeDiagnostics(o.diagnostics_address, o.insecure_diagnostics, *client, metrics, ctx.log),
                           "--diagnostics-address");
    ctx.log.Info("serving metrics", {{"address", diagnostics->address()}});
  }
  if (feed) {
    feed->Follow(controller.providers());
    manager.Add("page", [&feed](const Context& run) { return feed->Run(run); });
    auto ready = [&manager] { return manager.Ready(); };
    page = TRY_WITH(ui::ServePage(o.ui_address, *feed, *client, ctx.log, ready), "--ui-address");
    ctx.log.Info("serving the status page", {{"address", page->address()}});
  }
  AddParts(o, *client, events, manager);
  controller.AddTo(manager);
  manager.LeadBy(elector);
  ctx.log.Info(
      "started",
      {{"version", kProjectVersion}, {"commit", ThisBuild().commit}, {"server", http::PrintableUrl(config.server)}});
  auto ended = manager.Run(ctx);
  if (ended.ok()) ctx.log.Info("stopped");
  return ended;
}

}  // namespace
}  // namespace capi::ops

int main(int argc, char** argv) {
  capi::KeepHeapSmall();
  auto parsed = capi::ops::ParseOptions(argc, argv, capi::ThisBuild());
  if (!parsed.options) {
    std::fputs(parsed.exit.text.c_str(), parsed.exit.code == 0 ? stdout : stderr);
    return parsed.exit.code;
  }
  auto ended = capi::ops::Run(*parsed.options);
  if (ended.ok()) return 0;
  std::fprintf(stderr, "capi-operator: %s\n", ended.error().message.c_str());
  return 1;
}
