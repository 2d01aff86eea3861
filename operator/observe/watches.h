// Watches that come and go with the providers: workloads, CRDs, and what users' specs name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "kube/cache/informer.h"

namespace capi::ops {

// Thread-safe. All watches end with the destructor. Connections and threads: one for each watch, of which there are as
// many as kinds; and for each kind of what specs refer to by name or labels (Select) kAlone and one or two, however
// many providers there are, unless the server refuses these (behaviour.md F11).
class Watches {
 public:
  // What a watch is for, which decides who is woken by what it shows (wakes.h). No selector tells it: a user's may be
  // empty.
  enum class Purpose {
    kOurObjects,   // what providers have applied: one watch of each kind, which all of them share
    kReferenced,   // a Secret, ConfigMap or ServiceAccount that a spec names
    kReleases,     // ConfigMaps with releases
    kNamespaces,   // whether a provider's Namespace is there
    kNewKinds,     // every CRD, for who waits for a kind (I13)
    kCertManager,  // whether cert-manager serves (I19)
    kInUse,        // what workload clusters may have (X2)
  };
  struct Key {
    Purpose purpose;
    kube::Resource resource;
    std::string ns, label_selector, field_selector;
    bool metadata_only = true;
    // All providers have it, a thousand perhaps: whom an event concerns, its object says.
    bool IsShared() const;
    std::string ToString() const;
  };
  // An event of a watch, as an informer tells it; with neither `was` nor `is`: the watch has ended by itself, nobody
  // knows what changes, and who asks for it again learns. A value.
  struct Event {
    const Key& watch;
    std::set<std::string> users;  // the keys of the providers that asked for the watch; none where it is shared
    kube::ObjectPtr was, is;
    bool first = false;  // of the watch's first state: it need not be new
  };
  // Called in several threads.
  using Handler = std::function<void(const Event&)>;
  // A watch has ended, tells nothing any more, and wasn't begun anew meanwhile. Called under the lock: it must not call
  // back.
  using OnEnd = std::function<void(const Key&)>;

  Watches(kube::Client& client, Handler handler, OnEnd on_end = nullptr);
  ~Watches();

  // Starts the watch if need be, for who asks for it with one of the others next: several get their first state side by
  // side. Doesn't wait, and where it can't be started, those tell.
  void Begin(const Context& ctx, const Key& key, const std::string& user, std::function<void(kube::Object&)> transform);
  // The watch, started if need be, with its first state in place. It belongs to `user` until EndUse drops it. Blocks
  // while the first try to get that state goes on, and not again: kUnavailable, or why it failed, while there is none.
  // kUnavailable, too, where the process can't have another thread now.
  Result<std::shared_ptr<kube::Informer>> Need(const Context& ctx, const Key& key, const std::string& user,
                                               std::function<void(kube::Object&)> transform = nullptr);
  // The same for what isn't needed: null where there is no state, and the first try is waited for once and shortly.
  std::shared_ptr<kube::Informer> IfThere(const Context& ctx, const Key& key, const std::string& user,
                                          std::function<void(kube::Object&)> transform = nullptr);
  // Of so many selections of a kind each has a watch of its own.
  static constexpr int kAlone = 8;
  // The objects of one namespace that `key` selects by name (field_selector "metadata.name=NAME") or labels, metadata
  // alone. As Need; but when many selections of a kind are in use, further ones share a watch: of their namespace,
  // where most of those before are, else of all. It keeps what is selected, and tells the users of those selections
  // alone that what has changed is of. Where the server refuses that much, or no longer gives it, the shared watch
  // ends, its users are told, and each selection has a watch of its own, until another try has gone well.
  Result<std::vector<kube::ObjectPtr>> Select(const Context& ctx, const Key& key, const std::string& user);
  kube::RestMapper& mapper() { return client_.mapper(); }
  // `user` needs only the watches that it asked for since BeginUse; others without a user end.
  void BeginUse(const std::string& user);
  void EndUse(const std::string& user);
  void Stop();

 private:
  struct Feed;    // an informer and its thread
  struct Shared;  // one for many selections
  struct Watch;
  struct Kind;   // how what is selected of a kind is watched
  struct Ended;  // what isn't used any more
  Result<std::shared_ptr<Watch>> Start(const Context& ctx, const Key& key, const std::string& user,
                                       std::function<void(kube::Object&)> transform);
  // The one that there is, else a new one.
  Result<std::shared_ptr<Watch>> Find(const Context& ctx, const Key& key, std::function<void(kube::Object&)> transform)
      CAPI_REQUIRES(mu_);
  Status Run(const Context& ctx, const kube::Resource& resource, kube::InformerOptions options,
             kube::Informer::Handler handler, Feed& feed);
  Status RunOwn(const Context& ctx, Watch& watch, std::function<void(kube::Object&)> transform);
  void Use(const std::string& name, Watch& watch, const std::string& user) CAPI_REQUIRES(mu_);
  Ended TakeUnused(const std::string& user) CAPI_EXCLUDES(mu_);
  void NoteEnd(const Key& key) CAPI_EXCLUDES(mu_);
  static Status AwaitState(const Context& ctx, const Feed& feed, Seconds silent);

  // The same for selections.
  Result<std::shared_ptr<Watch>> StartSelection(const Context& ctx, const Key& key, const std::string& user)
      CAPI_EXCLUDES(mu_);
  Result<std::shared_ptr<Watch>> NewSelection(const Context& ctx, const Key& key, Kind& kind) CAPI_REQUIRES(mu_);
  // Null: it gets a watch of its own.
  Result<std::shared_ptr<Shared>> SharedFor(const Context& ctx, const Key& key, Kind& kind) CAPI_REQUIRES(mu_);
  Result<std::shared_ptr<Shared>> Share(const Context& ctx, const kube::Resource& resource, const std::string& ns,
                                        Kind& kind) CAPI_REQUIRES(mu_);
  Kind& KindOf(const kube::Resource& resource) CAPI_REQUIRES(mu_);
  // A shared watch that nobody needs any more ends: EndUse joins its thread.
  void Leave(const Watch& watch) CAPI_REQUIRES(mu_);
  Status AwaitSelection(const Context& ctx, Watch& watch) CAPI_EXCLUDES(mu_);
  void GiveUp(const Context& ctx, Shared& shared, const kube::Resource& resource, const Error& error)
      CAPI_EXCLUDES(mu_);
  void TellLost(const Watch& watch, std::set<std::string> users) CAPI_EXCLUDES(mu_);
  void Tell(Shared& shared, const kube::ObjectPtr& was, const kube::ObjectPtr& is) CAPI_EXCLUDES(mu_);

  kube::Client& client_;
  const Handler handler_;
  const OnEnd on_end_;
  Mutex mu_;
  std::map<std::string, std::shared_ptr<Watch>> watches_ CAPI_GUARDED_BY(mu_);  // by Key::ToString
  std::map<std::string, std::unique_ptr<Kind>> kinds_ CAPI_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Shared>> ending_ CAPI_GUARDED_BY(mu_);  // until their threads are joined
  // By user: the watches that it asked for, and whether since BeginUse.
  std::map<std::string, std::map<std::string, bool>> of_user_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
