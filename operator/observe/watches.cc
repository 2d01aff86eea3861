#include "operator/observe/watches.h"

#include <algorithm>
#include <atomic>
#include <system_error>

#include "operator/decide/observation.h"
#include "operator/observe/selections/selections.h"

namespace capi::ops {
namespace {

// How long workers wait for a server that says nothing at all, all of them together. One that refuses answers at once.
constexpr Seconds kSilent{20}, kSilentIfThere{5};
// A right may be given later.
constexpr std::chrono::minutes kRefusedFor{10};

std::string NameOfKind(const kube::Resource& resource) { return resource.api_version() + "/" + resource.plural; }

}  // namespace

struct Watches::Feed {
  std::shared_ptr<kube::Informer> informer;
  MonoTime begun;
  std::jthread thread;  // it ends before what it uses
};

struct Watches::Shared {
  std::string ns;  // "" for all
  Selections wanted;
  int watches = 0;                     // under the lock of who owns it
  std::atomic<bool> given_up = false;  // it tells nothing more, and no watch is on it
  Mutex telling;                       // held while a change is told
  Feed feed;
};

struct Watches::Watch {
  Key key;
  std::optional<Selection> selection;  // of one that Select has asked for
  std::shared_ptr<Shared> shared;      // null: it has its own
  Mutex mu;
  std::set<std::string> users CAPI_GUARDED_BY(mu);
  bool included CAPI_GUARDED_BY(mu) = false;  // what it selects is in the store that is shared
  Feed own;

  std::set<std::string> UserKeys() {
    MutexLock lock(mu);
    return users;
  }
  bool IsIncluded() {
    MutexLock lock(mu);
    return included;
  }
  const Feed& feed() const { return shared ? shared->feed : own; }
  std::vector<kube::ObjectPtr> Selected() const {
    const kube::Informer& informer = *feed().informer;
    if (!shared) return informer.List();
    if (!selection->name.empty()) {
      kube::ObjectPtr object = informer.Get(selection->ns, selection->name);
      return object ? std::vector{object} : std::vector<kube::ObjectPtr>();
    }
    auto objects = informer.List(selection->ns);
    std::erase_if(objects, [&](const auto& object) { return !selection->Takes(*object); });
    return objects;
  }
};

struct Watches::Kind {
  std::map<std::string, int> alone;  // selections that have a watch each, by namespace
  int all_alone = 0;
  std::map<std::string, std::shared_ptr<Shared>> shared;  // by namespace
  std::map<std::string, MonoTime> refused;                // namespaces; until when it isn't tried again

  bool IsRefused(const std::string& ns, MonoTime now) const {
    auto found = refused.find(ns);
    return found != refused.end() && now < found->second;
  }
  void NoteRefused(const Context& ctx, const std::string& ns, const Error& error) {
    if (!refused.contains(ns)) {
      ctx.log.Warn("a watch of all is refused: those that specs name are watched one by one, with a connection each",
                   {{"namespace", ns.empty() ? "all" : ns}, {"error", error.message}});
    }
    refused[ns] = ctx.clock->Monotonic() + kRefusedFor;
  }
  std::shared_ptr<Shared> SharedOf(const std::string& ns) const {
    auto found = shared.find(ns);
    if (found == shared.end()) found = shared.find("");
    return found == shared.end() ? nullptr : found->second;
  }
  // That one of them is watched by itself is left from when the shared watch was refused, which goes well now.
  bool HasPlaceFor(const Key& key) const {
    const auto there = SharedOf(key.ns);
    return all_alone > kAlone && there && there->feed.informer->Synced();
  }
  // A try goes on beside those who have theirs.
  bool IsToBeTried(const Key& key, MonoTime now) const {
    return all_alone > kAlone && !SharedOf(key.ns) && !IsRefused("", now);
  }
  int AloneIn(const std::string& ns) const {
    auto found = alone.find(ns);
    return found == alone.end() ? 0 : found->second;
  }
  void CountAlone(const std::string& ns, int change) {
    all_alone += change;
    if ((alone[ns] += change) == 0) alone.erase(ns);
  }
};

struct Watches::Ended {
  std::vector<std::shared_ptr<Watch>> watches;
  std::vector<std::shared_ptr<Shared>> shared;
};

bool Watches::Key::IsShared() const {
  return purpose == Purpose::kOurObjects || purpose == Purpose::kNamespaces ||
         (purpose == Purpose::kReleases && ns.empty());
}

std::string Watches::Key::ToString() const {
  return std::to_string(static_cast<int>(purpose)) + "|" + NameOfKind(resource) + "|" + ns + "|" + label_selector +
         "|" + field_selector + "|" + (metadata_only ? "meta" : "full");
}

Watches::Watches(kube::Client& client, Handler handler, OnEnd on_end)
    : client_(client), handler_(std::move(handler)), on_end_(std::move(on_end)) {}

Watches::~Watches() { Stop(); }

Status Watches::Run(const Context& ctx, const kube::Resource& resource, kube::InformerOptions options,
                    kube::Informer::Handler handler, Feed& feed) {
  feed.begun = ctx.clock->Monotonic();
  feed.informer = std::make_shared<kube::Informer>(client_, resource, std::move(options), std::move(handler));
  // Who asked first isn't the only one it is for.
  Context run = ctx.WithLog(ctx.log.WithoutFields()).InOwnName();
  run.deadline.reset();
  try {
    feed.thread =
        std::jthread([informer = feed.informer, run](std::stop_token stop) { informer->Run(run.WithStop(stop)); });
  } catch (const std::system_error&) {
    return Error{Code::kUnavailable, "there is no thread to watch " + resource.plural, {}};
  }
  return Ok();
}

// The watch outlives its informer's thread, which its destructor joins.
Status Watches::RunOwn(const Context& ctx, Watch& watch, std::function<void(kube::Object&)> transform) {
  const Key& key = watch.key;
  return Run(
      ctx, key.resource,
      {.ns = key.ns,
       .label_selector = key.label_selector,
       .field_selector = key.field_selector,
       .metadata_only = key.metadata_only,
       .transform = std::move(transform),
       // A pass reads a few of all objects, but it may read all workloads, and all releases of its Namespace.
       .packed = !IsWorkload({key.resource.group, key.resource.kind, "", ""}) && key.purpose != Purpose::kReleases},
      [this, &watch](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
        handler_({.watch = watch.key,
                  .users = watch.key.IsShared() ? std::set<std::string>() : watch.UserKeys(),
                  .was = was,
                  .is = is,
                  .first = !watch.own.informer->Synced()});
      },
      watch.own);
}

// It is kept only once its thread runs: who comes next would wait for one that never begins.
Result<std::shared_ptr<Watches::Watch>> Watches::Find(const Context& ctx, const Key& key,
                                                      std::function<void(kube::Object&)> transform) {
  const std::string name = key.ToString();
  if (auto found = watches_.find(name); found != watches_.end()) return found->second;
  auto watch = std::make_shared<Watch>();
  watch->key = key;
  TRY(RunOwn(ctx, *watch, std::move(transform)));
  watches_[name] = watch;
  return watch;
}

void Watches::Use(const std::string& name, Watch& watch, const std::string& user) {
  of_user_[user][name] = true;
  MutexLock lock(watch.mu);
  watch.users.insert(user);
}

Result<std::shared_ptr<Watches::Watch>> Watches::Start(const Context& ctx, const Key& key, const std::string& user,
                                                       std::function<void(kube::Object&)> transform) {
  MutexLock lock(mu_);
  auto watch = TRY(Find(ctx, key, std::move(transform)));
  Use(key.ToString(), *watch, user);
  return watch;
}

void Watches::Begin(const Context& ctx, const Key& key, const std::string& user,
                    std::function<void(kube::Object&)> transform) {
  (void)Start(ctx, key, user, std::move(transform));
}

Status Watches::AwaitState(const Context& ctx, const Feed& feed, Seconds silent) {
  auto left = std::chrono::ceil<Millis>(feed.begun + silent - ctx.clock->Monotonic());
  return feed.informer->AwaitState(ctx.WithTimeout(std::max(left, Millis(0))));
}

Result<std::shared_ptr<kube::Informer>> Watches::Need(const Context& ctx, const Key& key, const std::string& user,
                                                      std::function<void(kube::Object&)> transform) {
  auto watch = TRY(Start(ctx, key, user, std::move(transform)));
  TRY(AwaitState(ctx, watch->own, kSilent));
  return watch->own.informer;
}

std::shared_ptr<kube::Informer> Watches::IfThere(const Context& ctx, const Key& key, const std::string& user,
                                                 std::function<void(kube::Object&)> transform) {
  auto watch = Start(ctx, key, user, std::move(transform));
  return watch.ok() && AwaitState(ctx, (*watch)->own, kSilentIfThere).ok() ? (*watch)->own.informer : nullptr;
}

// Where the shared watch is given up, another round asks for less.
Result<std::vector<kube::ObjectPtr>> Watches::Select(const Context& ctx, const Key& key, const std::string& user) {
  for (;;) {
    auto watch = TRY(StartSelection(ctx, key, user));
    Status there = AwaitSelection(ctx, *watch);
    if (!watch->shared || !watch->shared->given_up) {
      TRY(there);
      return watch->Selected();
    }
    TRY(ctx.Check());
  }
}

Result<std::shared_ptr<Watches::Watch>> Watches::StartSelection(const Context& ctx, const Key& key,
                                                                const std::string& user) {
  const std::string name = key.ToString();
  std::shared_ptr<Watch> watch, former;  // its thread ends when the lock is given back: that may take a moment
  {
    MutexLock lock(mu_);
    Kind& kind = KindOf(key.resource);
    auto found = watches_.find(name);
    if (found != watches_.end()) {
      watch = found->second;
      const bool alone = watch->selection && !watch->shared;
      if (alone && kind.IsToBeTried(key, ctx.clock->Monotonic())) (void)SharedFor(ctx, key, kind);
      if (alone && kind.HasPlaceFor(key)) former = std::move(watch);
    }
    if (!watch) {
      watch = TRY(NewSelection(ctx, key, kind));
      if (former) Leave(*former);
      watches_[name] = watch;
    }
    Use(name, *watch, user);
  }
  if (former) {
    std::set<std::string> others = former->UserKeys();
    others.erase(user);
    TellLost(*former, std::move(others));
  }
  return watch;
}

Result<std::shared_ptr<Watches::Watch>> Watches::NewSelection(const Context& ctx, const Key& key, Kind& kind) {
  auto watch = std::make_shared<Watch>();
  watch->key = key;
  watch->selection = SelectionOf(key.ns, key.label_selector, key.field_selector);
  if (watch->selection) watch->shared = TRY(SharedFor(ctx, key, kind));
  if (watch->shared) {
    ++watch->shared->watches;
  } else {
    TRY(RunOwn(ctx, *watch, kube::DropManagedFields));
    if (watch->selection) kind.CountAlone(key.ns, 1);
  }
  return watch;
}

// Few are watched one by one, so that nobody else's objects are seen.
Result<std::shared_ptr<Watches::Shared>> Watches::SharedFor(const Context& ctx, const Key& key, Kind& kind) {
  if (auto there = kind.SharedOf(key.ns)) return there;
  if (kind.all_alone < kAlone) return std::shared_ptr<Shared>();
  const MonoTime now = ctx.clock->Monotonic();
  const int here = kind.AloneIn(key.ns);
  std::vector<std::string> order = {"", key.ns};
  // For a second namespace, and all after it, there is one of all.
  if (here * 2 > kind.all_alone && kind.shared.empty()) std::reverse(order.begin(), order.end());
  for (const std::string& ns : order) {
    // A watch of a namespace with one selection would save nothing.
    if (!kind.IsRefused(ns, now) && (ns.empty() || here > 0)) return Share(ctx, key.resource, ns, kind);
  }
  return std::shared_ptr<Shared>();
}

Result<std::shared_ptr<Watches::Shared>> Watches::Share(const Context& ctx, const kube::Resource& resource,
                                                        const std::string& ns, Kind& kind) {
  auto shared = std::make_shared<Shared>();
  shared->ns = ns;
  Shared* raw = shared.get();
  TRY(Run(
      ctx, resource,
      {.ns = ns,
       .metadata_only = true,
       .transform = kube::DropManagedFields,
       .keep = [raw](const kube::Object& object) { return raw->wanted.Take(object); },
       .give_up = [this, raw, resource](const Context& run, const Error& error) { GiveUp(run, *raw, resource, error); },
       .refused_for = Seconds(ns.empty() || !kind.IsRefused("", ctx.clock->Monotonic()) ? 2 : 0)},
      [this, raw](const kube::ObjectPtr& was, const kube::ObjectPtr& is) { Tell(*raw, was, is); }, shared->feed));
  kind.shared[ns] = shared;
  return shared;
}

// Nobody is left on it, not even for a moment: what it selected is begun anew, each by itself, by the users, who are
// told to ask. Its thread is the one that runs here.
void Watches::GiveUp(const Context& ctx, Shared& shared, const kube::Resource& resource, const Error& error) {
  std::vector<std::shared_ptr<Watch>> lost;
  {
    MutexLock told(shared.telling);
    MutexLock lock(mu_);
    Kind& kind = KindOf(resource);
    auto found = kind.shared.find(shared.ns);
    if (found == kind.shared.end() || found->second.get() != &shared) return;  // it ends, as nobody needs it
    kind.NoteRefused(ctx, shared.ns, error);
    shared.given_up = true;
    ending_.push_back(std::move(found->second));
    kind.shared.erase(found);
    std::erase_if(watches_, [&](const auto& entry) {
      if (entry.second->shared.get() != &shared) return false;
      lost.push_back(entry.second);
      if (on_end_) on_end_(entry.second->key);
      return true;
    });
  }
  for (const auto& watch : lost) TellLost(*watch, watch->UserKeys());
}

// It is as news at the start of a watch: it need not be any.
void Watches::TellLost(const Watch& watch, std::set<std::string> users) {
  if (users.empty()) return;
  handler_({.watch = watch.key, .users = std::move(users), .was = nullptr, .is = nullptr, .first = true});
}

Watches::Kind& Watches::KindOf(const kube::Resource& resource) {
  auto& kind = kinds_[NameOfKind(resource)];
  if (!kind) kind = std::make_unique<Kind>();
  return *kind;
}

// A shared watch that was tried beside others is on trial until somebody moves to it, which nobody does once there are
// few enough for a watch each.
void Watches::Leave(const Watch& watch) {
  Kind& kind = KindOf(watch.key.resource);
  if (watch.shared) {
    watch.shared->wanted.Remove(watch.key.ToString());
    --watch.shared->watches;
  } else if (watch.selection) {
    kind.CountAlone(watch.key.ns, -1);
  }
  for (auto it = kind.shared.begin(); it != kind.shared.end();) {
    const bool unused = it->second->watches == 0;
    if (unused && (it->second == watch.shared || kind.all_alone <= kAlone)) {
      ending_.push_back(std::move(it->second));
      it = kind.shared.erase(it);
    } else {
      ++it;
    }
  }
}

Status Watches::AwaitSelection(const Context& ctx, Watch& watch) {
  TRY(AwaitState(ctx, watch.feed(), kSilent));
  if (!watch.shared || watch.IsIncluded()) return Ok();
  const Context own = ctx.InOwnName().WithTimeout(kSilent);
  const Key& key = watch.key;
  TRY(watch.shared->feed.informer->Include(
      own, [&] { watch.shared->wanted.Add(key.ToString(), *watch.selection); },
      [&] {
        return client_.List(
            own, key.resource, key.ns,
            {.label_selector = key.label_selector, .field_selector = key.field_selector, .metadata_only = true});
      }));
  MutexLock lock(watch.mu);
  watch.included = true;
  return Ok();
}

// Who asks for a selection for the first time reads it afterwards, and needs no word of what comes before.
void Watches::Tell(Shared& shared, const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  struct Word {
    Key key;
    std::set<std::string> users;
    kube::ObjectPtr was, is;
  };
  std::vector<Word> words;
  MutexLock telling(shared.telling);
  {
    std::set<std::string> names;
    if (was) names = shared.wanted.UsersOf(*was);
    if (is) names.merge(shared.wanted.UsersOf(*is));
    MutexLock lock(mu_);
    for (const std::string& name : names) {
      auto found = watches_.find(name);
      if (found == watches_.end() || found->second->shared.get() != &shared) continue;
      Watch& watch = *found->second;
      if (!watch.IsIncluded()) continue;
      auto taken = [&](const kube::ObjectPtr& object) {
        return object && watch.selection->Takes(*object) ? object : nullptr;
      };
      words.push_back({watch.key, watch.UserKeys(), taken(was), taken(is)});
    }
  }
  for (const Word& word : words)
    handler_({.watch = word.key, .users = word.users, .was = word.was, .is = word.is, .first = false});
}

void Watches::BeginUse(const std::string& user) {
  MutexLock lock(mu_);
  auto mine = of_user_.find(user);
  if (mine == of_user_.end()) return;
  for (auto& [name, used] : mine->second) used = false;
}

Watches::Ended Watches::TakeUnused(const std::string& user) {
  Ended ended;
  MutexLock lock(mu_);
  auto& mine = of_user_[user];
  for (auto it = mine.begin(); it != mine.end();) {
    if (it->second) {
      ++it;
      continue;
    }
    auto found = watches_.find(it->first);
    it = mine.erase(it);
    if (found == watches_.end()) continue;
    const std::shared_ptr<Watch> watch = found->second;
    {
      MutexLock users(watch->mu);
      watch->users.erase(user);
      if (!watch->users.empty()) continue;
    }
    watches_.erase(found);
    Leave(*watch);
    ended.watches.push_back(watch);
  }
  if (mine.empty()) of_user_.erase(user);
  ended.shared.swap(ending_);
  return ended;
}

// Nobody holds a lock while a thread ends. What it still tells on the way is of a watch that isn't forgotten yet.
void Watches::EndUse(const std::string& user) {
  auto ended = TakeUnused(user);
  for (const auto& watch : ended.watches) watch->own.thread.request_stop();
  for (const auto& shared : ended.shared) shared->feed.thread.request_stop();
  for (const auto& watch : ended.watches) {
    if (watch->shared) {
      watch->shared->feed.informer->Prune(watch->key.ns);
      MutexLock told(watch->shared->telling);
    } else {
      watch->own.thread.join();
    }
    NoteEnd(watch->key);
  }
  for (const auto& shared : ended.shared) shared->feed.thread.join();
}

void Watches::NoteEnd(const Key& key) {
  if (!on_end_) return;
  MutexLock lock(mu_);
  if (!watches_.contains(key.ToString())) on_end_(key);
}

void Watches::Stop() {
  std::map<std::string, std::shared_ptr<Watch>> all;
  std::map<std::string, std::unique_ptr<Kind>> kinds;
  std::vector<std::shared_ptr<Shared>> ending;
  {
    MutexLock lock(mu_);
    all.swap(watches_);
    kinds.swap(kinds_);
    ending.swap(ending_);
    of_user_.clear();
  }
  for (auto& [name, watch] : all) watch->own.thread.request_stop();
  for (auto& [name, kind] : kinds) {
    for (auto& [ns, shared] : kind->shared) shared->feed.thread.request_stop();
  }
  // One that is given up may be telling still whose watches are lost, and what it holds may be the last of them: it
  // can't join itself.
  for (auto& shared : ending) shared->feed.thread.request_stop();
  for (auto& shared : ending) shared->feed.thread.join();
}

}  // namespace capi::ops
