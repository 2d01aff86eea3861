#include "operator/observe/watches.h"

#include <algorithm>
#include <vector>

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

std::string Watches::Key::ToString() const {
  return std::to_string(static_cast<int>(purpose)) + "|" + resource.api_version() + "/" + resource.plural + "|" + ns +
         "|" + label_selector + "|" + field_selector + "|" + (metadata_only ? "meta" : "full");
}

Watches::Watches(kube::Client& client, Handler handler, OnEnd on_end)
    : client_(client), handler_(std::move(handler)), on_end_(std::move(on_end)) {}

Watches::~Watches() { Stop(); }

std::shared_ptr<Watches::Watch> Watches::Start(const Context& ctx, const Key& key, const std::string& user,
                                               std::function<void(kube::Object&)> transform) {
  MutexLock lock(mu_);
  auto& slot = watches_[key.ToString()];
  if (!slot) {
    slot = std::make_shared<Watch>();
    slot->key = key;
    slot->begun = ctx.clock->Monotonic();
    kube::InformerOptions options{key.ns, key.label_selector, key.field_selector, key.metadata_only,
                                  std::move(transform)};
    Watch* raw = slot.get();  // the watch outlives its informer's thread, which its destructor joins
    slot->informer = std::make_shared<kube::Informer>(
        client_, key.resource, options, [this, raw](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
          const bool shared = raw->key.purpose == Purpose::kOurObjects;  // by a thousand providers, perhaps
          handler_(raw->key, shared ? std::set<std::string>() : raw->UserKeys(), was, is);
        });
    Context run = ctx.WithLog(ctx.log.WithoutFields());  // who asked first isn't the only one it is for
    run.deadline.reset();
    slot->thread =
        std::jthread([informer = slot->informer, run](std::stop_token stop) { informer->Run(run.WithStop(stop)); });
  }
  MutexLock users(slot->mu);
  slot->users[user] = true;
  return slot;
}

// How long workers wait for a server that says nothing at all, all of them together. One that refuses answers at once.
constexpr Seconds kSilent{20}, kSilentIfThere{5};

Status Watches::AwaitState(const Context& ctx, const Watch& watch, Seconds silent) {
  auto left = std::chrono::ceil<Millis>(watch.begun + silent - ctx.clock->Monotonic());
  return watch.informer->AwaitState(ctx.WithTimeout(std::max(left, Millis(0))));
}

Result<std::shared_ptr<kube::Informer>> Watches::Need(const Context& ctx, const Key& key, const std::string& user,
                                                      std::function<void(kube::Object&)> transform) {
  auto watch = Start(ctx, key, user, std::move(transform));
  TRY(AwaitState(ctx, *watch, kSilent));
  return watch->informer;
}

std::shared_ptr<kube::Informer> Watches::IfThere(const Context& ctx, const Key& key, const std::string& user,
                                                 std::function<void(kube::Object&)> transform) {
  auto watch = Start(ctx, key, user, std::move(transform));
  return AwaitState(ctx, *watch, kSilentIfThere).ok() ? watch->informer : nullptr;
}

void Watches::BeginUse(const std::string& user) {
  MutexLock lock(mu_);
  for (auto& [name, watch] : watches_) {
    MutexLock users(watch->mu);
    auto it = watch->users.find(user);
    if (it != watch->users.end()) it->second = false;
  }
}

void Watches::EndUse(const std::string& user) {
  std::vector<std::shared_ptr<Watch>> ended;  // joined outside of the lock
  MutexLock lock(mu_);
  for (auto it = watches_.begin(); it != watches_.end();) {
    bool unused = false;
    {
      MutexLock users(it->second->mu);
      auto mine = it->second->users.find(user);
      if (mine != it->second->users.end() && !mine->second) it->second->users.erase(mine);
      unused = it->second->users.empty();
    }
    if (unused) {
      it->second->thread.request_stop();
      ended.push_back(std::move(it->second));
      it = watches_.erase(it);
      NoteEnd(ended.back()->key);
    } else {
      ++it;
    }
  }
}

void Watches::NoteEnd(const Key& key) {
  if (!on_end_) return;
  for (const auto& [name, watch] : watches_) {
    const kube::Resource& other = watch->key.resource;
    bool same_kind = other.group == key.resource.group && other.kind == key.resource.kind;
    if (same_kind && watch->key.purpose == key.purpose) return;  // at another version
  }
  on_end_(key);
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
