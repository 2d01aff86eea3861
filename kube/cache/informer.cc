#include "kube/cache/informer.h"

#include <algorithm>
#include <condition_variable>
#include <map>

#include "base/caught.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

// A watch that ends sooner, with nothing said, is no ordinary end.
constexpr Seconds kShortWatch(1);
// Failures in a row after which it isn't the time of the server but our version that is at fault (a restored etcd).
constexpr int kFailuresToListAgain = 5;
// A right may be made anew, which takes a moment. Nobody waits then: there is a state.
constexpr Seconds kRefusedLaterFor(30);
// How long a listing is waited for by who wants more of the collection.
constexpr Seconds kListingAwaited(20);

Error EndedEarly(std::string_view what) { return {Code::kUnavailable, std::string(what), {}}; }

// Whether an answer is about the kind, and not about the server, the way to it, or who asks. A 500 is: an object that
// is stored can't be read. So is that the conversion webhook of the kind is away: it may be the one of this very
// process, which is there once it goes on.
bool IsOfKind(const Error& error) {
  if (ConversionIsAway(error)) return true;
  switch (error.code) {
    case Code::kConflict:
    case Code::kGone:
    case Code::kRateLimited:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kCancelled:
    case Code::kUnauthenticated: return false;
    default: return true;
  }
}

// What `step` throws is logged, and its error: in a thread of its own nobody else would catch it (behaviour.md F7).
template <typename Step>
Status Guarded(const Context& ctx, Step step) {
  Status ended = Ok();
  auto thrown = Caught([&] { ended = step(); });
  if (!thrown) return ended;
  ctx.log.Error("a watch met an exception", {{"error", *thrown}});
  return Error{Code::kInternal, *std::move(thrown), {}};
}

// Resource versions are decimal numbers that grow (Kubernetes promises so since 1.35; etcd always did).
bool IsOlder(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

// Object by object, as there may be any number that nobody wants. The version is from before: what changes while the
// pages are read may be in them or not, and the watch tells it.
Result<ObjectList> ListWanted(Client& client, const Context& ctx, const Resource& resource, std::string_view ns,
                              ListOptions options, const std::function<bool(const Object&)>& keep) {
  ListOptions first = options;
  first.limit = 1;
  first.first_page = true;
  ObjectList out = TRY(client.List(ctx, resource, ns, first));
  out.items.clear();
  options.may_change = true;
  TRY(client.ForEach(ctx, resource, ns, options, [&](Object object) -> Result<bool> {
    if (keep(object)) out.items.push_back(std::move(object));
    return true;
  }));
  return out;
}

CollectionSource SourceOf(Client& client, const Resource& resource, const InformerOptions& options) {
  ListOptions list{.label_selector = options.label_selector,
                   .field_selector = options.field_selector,
                   .metadata_only = options.metadata_only};
  WatchOptions watch{.label_selector = options.label_selector,
                     .field_selector = options.field_selector,
                     .metadata_only = options.metadata_only};
  return {
      .list =
          [&client, resource, ns = options.ns, list, keep = options.keep](const Context& ctx) {
            return keep ? ListWanted(client, ctx, resource, ns, list, keep) : client.List(ctx, resource, ns, list);
          },
      .watch =
          [&client, resource, ns = options.ns, watch](const Context& ctx, const std::string& version, bool initial,
                                                      const CollectionSource::OnEvent& on_event) {
            WatchOptions request = watch;
            request.resource_version = version;
            request.send_initial_events = initial;
            return client.Watch(ctx, resource, ns, request, on_event);
          },
  };
}

}  // namespace

class Informer::Impl {
 public:
  Impl(CollectionSource source, std::shared_ptr<ServerState> server, Resource watched, InformerOptions options,
       Handler handler)
      : resource(std::move(watched)),
        source_(std::move(source)),
        server_(std::move(server)),
        options_(std::move(options)),
        handler_(std::move(handler)) {}

  void Run(const Context& parent) {
    Context ctx = parent.WithLog(parent.log.With({{"resource", resource.plural}, {"group", resource.group}}));
    for (int failures = 0; ctx.Check().ok();) {
      advanced_ = false;
      Status end = Guarded(ctx, [&] { return Session(ctx); });
      NoteSessionEnd();
      if (end.ok() || advanced_) {
        failures = 0;
        refused_since_.reset();
      }
      if (end.ok() || !ctx.Check().ok()) continue;
      ++failures;
      if (GivesUp(ctx, end.error())) return;
      if (end.code() == Code::kGone || failures >= kFailuresToListAgain) version_.clear();
      NoteRefusal(end.error());
      Report(ctx, failures, end.error());
      server_->Wait(ctx, failures, end.error());
    }
  }

  bool Synced() const {
    MutexLock lock(mu_);
    return synced_;
  }

  std::optional<Error> refusal() const {
    MutexLock lock(mu_);
    return refusal_;
  }

  Status Include(const Context& ctx, const std::function<void()>& widen,
                 const std::function<Result<ObjectList>()>& list) {
    for (;;) {
      auto changes = TRY(IncludeOnce(ctx, widen, list));
      if (changes) {
        for (const Store::Change& change : *changes) Tell(ctx, change);
        return Ok();
      }
      TRY_WITH(ctx.Check(), "waiting for " + resource.plural);
    }
  }

  void Prune(std::string_view ns) {
    MutexLock lock(mu_);
    if (options_.keep) store.Prune(ns, options_.keep);
  }

  Status WaitForSync(const Context& ctx) const {
    MutexLock lock(mu_);
    MonoTime deadline = ctx.deadline.value_or(MonoTime::max());
    if (ctx.clock->WaitUntil(sync_changed_, mu_, ctx.stop, deadline, [this] {
          mu_.AssertHeld();
          return synced_;
        }))
      return Ok();
    TRY_WITH(ctx.Check(), "waiting for " + resource.plural);
    return Error{Code::kDeadlineExceeded, "waiting for " + resource.plural, {}};
  }

  Status AwaitState(const Context& ctx) const {
    MutexLock lock(mu_);
    MonoTime deadline = ctx.deadline.value_or(MonoTime::max());
    ctx.clock->WaitUntil(sync_changed_, mu_, ctx.stop, deadline, [this] {
      mu_.AssertHeld();
      return synced_ || trouble_;
    });
    if (synced_) return Ok();
    if (trouble_) return trouble_->With("watching " + resource.plural);
    TRY_WITH(ctx.Check(), "waiting for " + resource.plural);
    return Error{Code::kUnavailable, "waiting for " + resource.plural, {}};
  }

  const Resource resource;
  Store store;

 private:
  // Something that is being included: what the watch tells meanwhile may be newer than what is listed.
  struct Part {
    explicit Part(Impl& its) : of(its) {}
    ~Part() {
      MutexLock lock(of.mu_);
      std::erase(of.parts_, this);
    }
    Impl& of;
    int replaced = 0;                        // listings before
    std::map<Store::Key, std::string> told;  // the last versions
  };

  void Note(std::optional<Error> trouble) {
    MutexLock lock(mu_);
    trouble_ = std::move(trouble);
    sync_changed_.notify_all();
  }

  // Who waits for the first state learns of an error, but for a refusal that may pass.
  bool GivesUp(const Context& ctx, const Error& error) {
    bool given_up = false;
    if (!IsOfKind(error) || error.code == Code::kUnavailable) {
      refused_since_.reset();
    } else if (options_.give_up) {
      const MonoTime now = ctx.clock->Monotonic();
      if (!refused_since_) refused_since_ = now;
      if (now - *refused_since_ < (Synced() ? kRefusedLaterFor : options_.refused_for)) return false;
      given_up = Guarded(ctx, [&] { return options_.give_up(ctx, error), Ok(); }).ok();
    }
    Note(error);
    return given_up;
  }

  void NoteSessionEnd() {
    MutexLock lock(mu_);
    listing_ = false;
    sync_changed_.notify_all();
  }

  void BeginListing(const Context& ctx) {
    MutexLock lock(mu_);
    listing_ = true;
    if (!listing_since_) listing_since_ = ctx.clock->Monotonic();
  }

  // What a listing that is under way has passed by already would be missing.
  Status BeginPart(const Context& ctx, const std::function<void()>& widen, Part& part) {
    MutexLock lock(mu_);
    MonoTime deadline = ctx.deadline.value_or(MonoTime::max());
    if (listing_since_) deadline = std::min(deadline, *listing_since_ + kListingAwaited);
    if (!ctx.clock->WaitUntil(sync_changed_, mu_, ctx.stop, deadline, [this] {
          mu_.AssertHeld();
          return !listing_;
        })) {
      return Error{Code::kUnavailable, "waiting for " + resource.plural, {}};
    }
    part.replaced = replaced_;
    parts_.push_back(&part);
    widen();
    return Ok();
  }

  Result<std::optional<std::vector<Store::Change>>> IncludeOnce(const Context& ctx, const std::function<void()>& widen,
                                                                const std::function<Result<ObjectList>()>& list) {
    Part part(*this);
    TRY(BeginPart(ctx, widen, part));
    std::optional<std::vector<Store::Change>> changes;
    TRY(Guarded(ctx, [&]() -> Status {
      auto listed = list();
      if (!listed.ok()) return listed.error();
      Store::Objects objects;
      for (Object& object : listed->items) {
        Store::Key key{object.ns(), object.name()};
        objects[std::move(key)] = Kept(Trimmed(std::move(object)));
      }
      changes = Add(part, std::move(objects));
      return Ok();
    }));
    return changes;
  }

  // What is new in the store. Nullopt where a whole listing lay beside this one: nobody can tell which is newer then.
  // (Not by versions: after a restored etcd, all that is stored has a larger one than the listing.)
  std::optional<std::vector<Store::Change>> Add(const Part& part, Store::Objects objects) {
    std::vector<Store::Change> changes;
    MutexLock lock(mu_);
    if (listing_ || part.replaced != replaced_) return std::nullopt;
    for (auto& [key, listed] : objects) {
      const ObjectPtr object = listed.Get();
      const ObjectPtr known = store.Get(key.first, key.second);
      if (known && !IsOlder(known->resource_version(), object->resource_version())) continue;
      auto told = part.told.find(key);
      if (told != part.told.end() && !IsOlder(told->second, object->resource_version())) continue;
      if (options_.keep && !options_.keep(*object)) continue;
      if (auto change = store.Put(object, options_.packed)) changes.push_back(*std::move(change));
    }
    return changes;
  }

  // One request after which the next step is clear, or a list and a watch.
  Status Session(const Context& ctx) {
    if (version_.empty() && !list_next_ && server_->streams_lists()) return Watch(ctx, true);
    if (version_.empty()) TRY(List(ctx));
    return Watch(ctx, false);
  }

  Status List(const Context& ctx) {
    BeginListing(ctx);
    ObjectList list = TRY(source_.list(ctx));
    // Only now it is certain that the streaming list was refused for what it is, not for a bad selector.
    if (list_next_) server_->NoStreamedLists();
    Store::Objects objects;
    for (Object& object : list.items) Arrive(objects, std::move(object));
    version_ = std::move(list.resource_version);
    Replace(ctx, std::move(objects));
    return Ok();
  }

  Status Watch(const Context& ctx, bool initial) {
    Store::Objects arrivals;
    if (initial) BeginListing(ctx);
    bool loading = initial, heard = false;
    MonoTime start = ctx.clock->Monotonic();
    Status end = source_.watch(ctx, version_, initial, [&](WatchEvent event) -> Status {
      heard = true;
      return Guarded(ctx, [&] {
        return loading ? TakeInitial(ctx, std::move(event), arrivals, loading) : TakeEvent(ctx, std::move(event));
      });
    });
    if (loading && !end.ok() &&
        (end.code() == Code::kUnsupported || (end.code() == Code::kInvalidArgument && !heard))) {
      list_next_ = true;
      return Ok();
    }
    if (end.ok() && loading) return EndedEarly("the watch ended before the initial state was complete");
    if (end.ok() && !heard && ctx.clock->Monotonic() - start < kShortWatch)
      return EndedEarly("the watch ended at once");
    return end;
  }

  // Collects the initial state aside, so that readers never see half of it.
  Status TakeInitial(const Context& ctx, WatchEvent event, Store::Objects& arrivals, bool& loading) {
    switch (event.type) {
      case WatchEvent::Type::kAdded:
      case WatchEvent::Type::kModified: Arrive(arrivals, std::move(event.object)); return Ok();
      case WatchEvent::Type::kDeleted: arrivals.erase({event.object.ns(), event.object.name()}); return Ok();
      case WatchEvent::Type::kBookmark: break;
    }
    // A server that doesn't know the question ignores it, and sends ordinary bookmarks.
    if (!event.initial_events_end) return Error{Code::kUnsupported, "the server doesn't stream lists", {}};
    loading = false;
    advanced_ = true;
    version_ = event.object.resource_version();
    Replace(ctx, std::move(arrivals));
    return Ok();
  }

  // An event counts once it is stored: one that a transform can't take comes again.
  Status TakeEvent(const Context& ctx, WatchEvent event) {
    std::string version = event.object.resource_version();
    std::optional<Store::Change> change = Take(std::move(event));
    advanced_ = true;
    version_ = std::move(version);
    if (change) Tell(ctx, *change);
    return Ok();
  }

  std::optional<Store::Change> Take(WatchEvent event) {
    MutexLock lock(mu_);
    if (event.type == WatchEvent::Type::kBookmark) return std::nullopt;
    const bool gone = event.type == WatchEvent::Type::kDeleted;
    if (options_.keep) {
      const bool kept = options_.keep(event.object);
      Store::Key key{event.object.ns(), event.object.name()};
      const ObjectPtr known = store.Get(key.first, key.second);
      for (Part* part : parts_) part->told[key] = event.object.resource_version();
      if (!kept && !known) return std::nullopt;
      // Include has brought what the watch has yet to tell.
      if (known && IsOlder(event.object.resource_version(), known->resource_version())) return std::nullopt;
      if (!kept && !gone) return store.Remove(event.object.ns(), event.object.name());
    }
    return gone ? Removed(std::move(event.object)) : store.Put(Trimmed(std::move(event.object)), options_.packed);
  }

  // As the server tells of its end: with the version of that.
  std::optional<Store::Change> Removed(Object object) {
    ObjectPtr was = Trimmed(std::move(object));
    auto change = store.Remove(was->ns(), was->name());
    if (change) change->was = Kept(std::move(was));
    return change;
  }

  // A listed version that the store has already is kept, not doubled.
  void Arrive(Store::Objects& objects, Object object) {
    Store::Key key{object.ns(), object.name()};
    if (!Wanted(object)) {
      objects.erase(key);  // it may have been before it changed
      return;
    }
    StoredObject known = store.Stored(key.first, key.second), arrived = Kept(Trimmed(std::move(object)));
    objects[std::move(key)] = known && known.IsSameVersion(arrived) ? known : arrived;
  }

  bool Wanted(const Object& object) const {
    MutexLock lock(mu_);
    return !options_.keep || options_.keep(object);
  }

  ObjectPtr Trimmed(Object object) const {
    if (options_.transform) options_.transform(object);
    return std::make_shared<const Object>(std::move(object));
  }

  StoredObject Kept(ObjectPtr object) const { return StoredObject(std::move(object), options_.packed); }

  // A handler that throws misses that one change. It is in the store: to end the watch would bring nothing back.
  void Tell(const Context& ctx, const Store::Change& change) const {
    if (handler_) (void)Guarded(ctx, [&] { return handler_(change.was.Get(), change.is.Get()), Ok(); });
  }

  void Replace(const Context& ctx, Store::Objects objects) {
    std::vector<Store::Change> changes;
    {
      MutexLock lock(mu_);
      changes = store.Replace(std::move(objects));
      ++replaced_;
      listing_ = false;
      listing_since_.reset();
      sync_changed_.notify_all();
    }
    for (const Store::Change& change : changes) Tell(ctx, change);
    MutexLock lock(mu_);
    synced_ = true;
    trouble_.reset();
    refusal_.reset();
    sync_changed_.notify_all();
  }

  void NoteRefusal(const Error& error) {
    MutexLock lock(mu_);
    refusal_ = IsOfKind(error) && !synced_ ? std::optional(error) : std::nullopt;
  }

  // A lost connection is an everyday thing; what comes again isn't.
  void Report(const Context& ctx, int failures, const Error& error) const {
    std::initializer_list<LogField> fields = {
        {"code", CodeName(error.code)}, {"error", error.message}, {"failures", failures}};
    failures == 1 ? ctx.log.Debug("watch broken", fields) : ctx.log.Warn("watch keeps failing", fields);
  }

  const CollectionSource source_;
  const std::shared_ptr<ServerState> server_;
  const InformerOptions options_;
  const Handler handler_;
  // Of the informer's thread alone.
  std::string version_;     // to resume from; "" to list
  bool list_next_ = false;  // the streaming list was refused
  bool advanced_ = false;   // the last session brought something
  std::optional<MonoTime> refused_since_;
  mutable Mutex mu_;
  mutable std::condition_variable_any sync_changed_;
  bool synced_ CAPI_GUARDED_BY(mu_) = false;
  std::optional<Error> trouble_ CAPI_GUARDED_BY(mu_);  // of the last try, while there is no state
  std::optional<Error> refusal_ CAPI_GUARDED_BY(mu_);
  bool listing_ CAPI_GUARDED_BY(mu_) = false;                   // what is there is under way
  std::optional<MonoTime> listing_since_ CAPI_GUARDED_BY(mu_);  // with what failed between
  int replaced_ CAPI_GUARDED_BY(mu_) = 0;                       // listings so far
  std::vector<Part*> parts_ CAPI_GUARDED_BY(mu_);               // that are being included
};

Informer::Informer(Client& client, Resource resource, InformerOptions options, Handler handler) {
  CollectionSource source = SourceOf(client, resource, options);
  impl_ = std::make_unique<Impl>(std::move(source), ServerState::Of(client), std::move(resource), std::move(options),
                                 std::move(handler));
}

Informer::Informer(CollectionSource source, std::shared_ptr<ServerState> server, Resource resource,
                   InformerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(server), std::move(resource), std::move(options),
                                   std::move(handler))) {}

Informer::~Informer() = default;

void Informer::Run(const Context& ctx) { impl_->Run(ctx); }
bool Informer::Synced() const { return impl_->Synced(); }
Status Informer::WaitForSync(const Context& ctx) const { return impl_->WaitForSync(ctx); }
Status Informer::AwaitState(const Context& ctx) const { return impl_->AwaitState(ctx); }
std::optional<Error> Informer::refusal() const { return impl_->refusal(); }
Status Informer::Include(const Context& ctx, const std::function<void()>& widen,
                         const std::function<Result<ObjectList>()>& list) {
  return impl_->Include(ctx, widen, list);
}
void Informer::Prune(std::string_view ns) { impl_->Prune(ns); }
ObjectPtr Informer::Get(std::string_view ns, std::string_view name) const { return impl_->store.Get(ns, name); }
std::vector<ObjectPtr> Informer::List() const { return impl_->store.List(); }
std::vector<ObjectPtr> Informer::List(std::string_view ns) const { return impl_->store.List(ns); }
const Resource& Informer::resource() const { return impl_->resource; }

}  // namespace capi::kube
