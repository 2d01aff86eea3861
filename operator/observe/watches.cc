#include "operator/observe/watches.h"

#include <algorithm>
#include <system_error>

namespace capi::ops {

struct Watches::Watch {
  Key key;
  Mutex mu;
  std::map<std::string, bool> users CAPI_GUARDED_BY(mu);  // to: asked for since BeginUse
  std::shared_ptr<kube::Informer> informer;
  MonoTime begun;
  std::jthread thread;

  std::set<std::string> UserKeys() {
    MutexLock lock(mu);
    std::set<std::string> keys;
    for (const auto& [user, used] : users) keys.insert(user);
    return keys;
  }
};

bool Watches::Key::IsShared() const {
  return purpose == Purpose::kOurObjects || purpose == Purpose::kNamespaces ||
         (purpose == Purpose::kReleases && ns.empty());
}

std::string Watches::Key::ToString() const {
  return std::to_string(static_cast<int>(purpose)) + "|" + resource.api_version() + "/" + resource.plural + "|" + ns +
         "|" + label_selector + "|" + field_selector + "|" + (metadata_only ? "meta" : "full");
}

Watches::Watches(kube::Client& client, Handler handler, OnEnd on_end)
    : client_(client), handler_(std::move(handler)), on_end_(std::move(on_end)) {}

Watches::~Watches() { Stop(); }

// It is kept only once its thread runs: who comes next would wait for one that never begins.
Result<std::shared_ptr<Watches::Watch>> Watches::Find(const Context& ctx, const Key& key,
                                                      std::function<void(kube::Object&)> transform) {
  const std::string name = key.ToString();
  if (auto found = watches_.find(name); found != watches_.end()) return found->second;
  auto watch = std::make_shared<Watch>();
  watch->key = key;
  watch->begun = ctx.clock->Monotonic();
  kube::InformerOptions options{key.ns, key.label_selector, key.field_selector, key.metadata_only,
                                std::move(transform)};
  Watch* raw = watch.get();  // the watch outlives its informer's thread, which its destructor joins
  watch->informer = std::make_shared<kube::Informer>(
      client_, key.resource, options, [this, raw](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
        handler_({.watch = raw->key,
                  .users = raw->key.IsShared() ? std::set<std::string>() : raw->UserKeys(),
                  .was = was,
                  .is = is,
                  .first = !raw->informer->Synced()});
      });
  // Who asked first isn't the only one it is for.
  Context run = ctx.WithLog(ctx.log.WithoutFields()).InOwnName();
  run.deadline.reset();
  try {
    watch->thread =
        std::jthread([informer = watch->informer, run](std::stop_token stop) { informer->Run(run.WithStop(stop)); });
  } catch (const std::system_error&) {
    return Error{Code::kUnavailable, "there is no thread to watch " + key.resource.plural, {}};
  }
  watches_[name] = watch;
  return watch;
}

Result<std::shared_ptr<Watches::Watch>> Watches::Start(const Context& ctx, const Key& key, const std::string& user,
                                                       std::function<void(kube::Object&)> transform) {
  MutexLock lock(mu_);
  auto watch = TRY(Find(ctx, key, std::move(transform)));
  MutexLock users(watch->mu);
  watch->users[user] = true;
  return watch;
}

void Watches::Begin(const Context& ctx, const Key& key, const std::string& user,
                    std::function<void(kube::Object&)> transform) {
  (void)Start(ctx, key, user, std::move(transform));
}

// How long workers wait for a server that says nothing at all, all of them together. One that refuses answers at once.
constexpr Seconds kSilent{20}, kSilentIfThere{5};

Status Watches::AwaitState(const Context& ctx, const Watch& watch, Seconds silent) {
  auto left = std::chrono::ceil<Millis>(watch.begun + silent - ctx.clock->Monotonic());
  return watch.informer->AwaitState(ctx.WithTimeout(std::max(left, Millis(0))));
}

Result<std::shared_ptr<kube::Informer>> Watches::Need(const Context& ctx, const Key& key, const std::string& user,
                                                      std::function<void(kube::Object&)> transform) {
  auto watch = TRY(Start(ctx, key, user, std::move(transform)));
  TRY(AwaitState(ctx, *watch, kSilent));
  return watch->informer;
}

std::shared_ptr<kube::Informer> Watches::IfThere(const Context& ctx, const Key& key, const std::string& user,
                                                 std::function<void(kube::Object&)> transform) {
  auto watch = Start(ctx, key, user, std::move(transform));
  return watch.ok() && AwaitState(ctx, **watch, kSilentIfThere).ok() ? (*watch)->informer : nullptr;
}

void Watches::BeginUse(const std::string& user) {
  MutexLock lock(mu_);
  for (auto& [name, watch] : watches_) {
    MutexLock users(watch->mu);
    auto it = watch->users.find(user);
    if (it != watch->users.end()) it->second = false;
  }
}

std::vector<std::shared_ptr<Watches::Watch>> Watches::TakeUnused(const std::string& user) {
  std::vector<std::shared_ptr<Watch>> unused;
  MutexLock lock(mu_);
  for (auto it = watches_.begin(); it != watches_.end();) {
    const std::shared_ptr<Watch> watch = it->second;
    MutexLock users(watch->mu);
    auto mine = watch->users.find(user);
    if (mine != watch->users.end() && !mine->second) watch->users.erase(mine);
    if (!watch->users.empty()) {
      ++it;
      continue;
    }
    unused.push_back(watch);
    it = watches_.erase(it);
  }
  return unused;
}

// Nobody holds a lock while a thread ends. What it still tells on the way is of a watch that isn't forgotten yet.
void Watches::EndUse(const std::string& user) {
  auto ended = TakeUnused(user);
  for (const auto& watch : ended) watch->thread.request_stop();
  for (const auto& watch : ended) {
    watch->thread.join();
    NoteEnd(watch->key);
  }
}

void Watches::NoteEnd(const Key& key) {
  if (!on_end_) return;
  MutexLock lock(mu_);
  if (!watches_.contains(key.ToString())) on_end_(key);
}

void Watches::Stop() {
  std::map<std::string, std::shared_ptr<Watch>> all;
  {
    MutexLock lock(mu_);
    all.swap(watches_);
  }
  for (auto& [name, watch] : all) watch->thread.request_stop();
}

}  // namespace capi::ops
