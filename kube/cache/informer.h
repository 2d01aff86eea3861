// A watched collection: a store kept current, and a callback for each change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "kube/cache/server_state.h"
#include "kube/cache/store.h"
#include "kube/client/client.h"

namespace capi::kube {

struct InformerOptions {
  std::string ns;  // "" for all
  std::string label_selector, field_selector;
  bool metadata_only = false;
  // Changes an object before it is stored: drop what nobody reads (managedFields, schemas), to keep memory small. It
  // leaves namespace, name, uid and resourceVersion alone. Where it throws, the object is asked for again.
  std::function<void(Object&)> transform;
  // Keeps texts instead of trees: for many small objects of which each is read seldom. What Get and List give is made
  // anew each time.
  bool packed = false;
  // Of a collection of which only some is wanted: the rest is dropped as it comes, neither stored nor told. An object
  // that isn't wanted any more is told as deleted. Asked in several threads, and under a lock: it must not call the
  // informer; and of what `transform` leaves as it was. What it takes may grow (Include) and shrink (Prune). Null: all
  // is wanted.
  std::function<bool(const Object&)> keep;
  // Of a collection that one can do without: where the server has refused it for `refused_for`, or, with a state, for
  // half a minute, this is called with its last answer, in the thread of Run, which then returns. No outage is a
  // refusal. Whoever waits for the first state isn't told of a refusal before. Null: it is asked for without an end.
  std::function<void(const Context&, const Error&)> give_up;
  Seconds refused_for{2};  // an API server that starts may refuse what it will allow
};

// The requests of an informer: as Client::List and Client::Watch of one collection.
struct CollectionSource {
  using OnEvent = std::function<Status(WatchEvent)>;
  std::function<Result<ObjectList>(const Context&)> list;
  std::function<Status(const Context&, const std::string& resource_version, bool send_initial_events, const OnEvent&)>
      watch;
};

// Lists and watches: one streaming request where the server can (WatchList), else list (paged) and watch. Resumes from
// bookmarks, lists again on 410, reconnects with jittered exponential back-off (at most two requests a second while the
// server is away, behaviour.md F3). Thread-safe.
class Informer {
 public:
  // `was` is null for an added object, `is` for a deleted one: then `was` has the version of its end where the watch
  // told of that, and the last one that was seen where a new list lacks it. Called from the informer's thread (and that
  // of Include), outside of its lock, after the store has changed. What it throws is logged, and costs it that change.
  using Handler = std::function<void(const ObjectPtr& was, const ObjectPtr& is)>;

  Informer(Client& client, Resource resource, InformerOptions options, Handler handler);
  // Of another source than a client.
  Informer(CollectionSource source, std::shared_ptr<ServerState> server, Resource resource, InformerOptions options,
           Handler handler);
  ~Informer();

  // Blocks until the context stops. Run it once, in a thread of its own.
  void Run(const Context& ctx);

  // True once the first full state is in the store and the handler has seen it. WaitForSync returns kCancelled or
  // kDeadlineExceeded otherwise.
  bool Synced() const;
  Status WaitForSync(const Context& ctx) const;
  // The same, but ends when a try to get that state has failed, with its error: as long as the last one did.
  Status AwaitState(const Context& ctx) const;

  // Why the server gives no first state, as it answered last: the kind isn't there, or may not be read. Nothing once
  // there is a state, and where the answer says nothing of the kind: an outage, a token that has run out.
  std::optional<Error> refusal() const;

  // `keep` takes more from now on: `widen` makes it so, while no listing is under way, and `list` asks the server for
  // what is there of that. When this returns, it is in the store, and the watch tells each later change: no event is
  // lost between the two, and no state of an object comes back that is older than the listed one. The handler is told,
  // in this thread, of what the store didn't have, or had at an older version. Where a listing of all began or ended
  // meanwhile, both are called again. An error: what is there of it may be missing; kUnavailable where a listing lasts:
  // it is waited for no longer than the context, and all who come wait 20 seconds together.
  Status Include(const Context& ctx, const std::function<void()>& widen,
                 const std::function<Result<ObjectList>()>& list);
  // `keep` takes less in that namespace: what it doesn't is dropped, which nobody is told.
  void Prune(std::string_view ns);

  ObjectPtr Get(std::string_view ns, std::string_view name) const;  // null where there is none
  std::vector<ObjectPtr> List() const;                              // sorted by namespace and name
  std::vector<ObjectPtr> List(std::string_view ns) const;           // of one namespace
  const Resource& resource() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
