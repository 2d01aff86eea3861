// A client of the Kubernetes API: typed by Resource, objects as JSON, errors by status reason. A request in a context's
// name (Context::in_name_of) is made as that user, by impersonation; discovery never is.
//
// Error codes by status reason: NotFound -> kNotFound, AlreadyExists -> kAlreadyExists, Conflict -> kConflict,
// Invalid/BadRequest -> kInvalidArgument, Unauthorized -> kUnauthenticated, Forbidden -> kPermissionDenied,
// Expired/Gone -> kGone, TooManyRequests -> kRateLimited (retry_after set), Timeout/ServerTimeout/
// ServiceUnavailable/5xx and transport errors -> kUnavailable, UnsupportedMediaType/MethodNotAllowed -> kUnsupported,
// InternalError -> kInternal. Finer than the reason (status_error.h): a webhook that can't be called and storage that
// is (re)initializing are kUnavailable, a write into a Namespace that is going and an apply of what the schema doesn't
// allow are kFailedPrecondition. The server's message is kept, causes that it doesn't hold are appended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "kube/client/config/config.h"
#include "kube/client/rest_mapper.h"
#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::kube {

struct GetOptions {
  bool metadata_only = false;  // as in ListOptions
};

struct ListOptions {
  std::string label_selector, field_selector;
  int limit = 500;             // page size; 0 for all in one answer
  bool first_page = false;     // and no other: the first `limit` objects
  bool metadata_only = false;  // PartialObjectMetadata: apiVersion and kind of the items are those of the resource
  bool managed_fields = true;  // the items have theirs, which are often most of an object's metadata
  // Of a token that has expired (410): goes on by the one that the server offers instead. What was there all the time
  // is seen once; what comes, changes or goes meanwhile may be seen or not.
  bool may_change = false;
};

struct ObjectList {
  std::vector<Object> items;
  std::string resource_version;
};

struct WatchOptions {
  std::string label_selector, field_selector;
  std::string resource_version;
  bool metadata_only = false;
  // Asks for the initial objects as ADDED events, ended by a bookmark (WatchList). Where the server refuses, Watch
  // fails with kUnsupported or kInvalidArgument before any event: list and watch instead.
  bool send_initial_events = false;
  Seconds timeout{0};  // asks the server to end the watch; 0: the client picks 5 to 10 minutes at random
  // A watch on which nothing comes for so long has ended: a proxy may keep it open though the server is gone. (A server
  // sends a bookmark each minute.)
  Millis max_silence = Seconds(100);
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type;
  Object object;
  bool initial_events_end = false;  // on the bookmark that ends the initial events
};

struct WriteOptions {
  std::string field_manager;
  bool dry_run = false;
  bool strict = false;         // a field that the server doesn't know is kInvalidArgument, where else it is a warning
  std::string subresource;     // "status"
  bool metadata_only = false;  // the answer is apiVersion, kind and metadata alone: cheaper where that is all one needs
  bool repeatable = false;     // an update or patch may be sent again: a second one changes nothing, or is refused
  bool unguarded = false;      // GuardWrites' question isn't asked: what any replica may write (F4)
  // What the server warns of in its answer is appended, in its words: fields that it doesn't know and drops, above all
  // (IsFieldWarning in warnings.h).
  std::vector<std::string>* warnings = nullptr;
};

enum class PatchType { kMerge, kJson };

struct DeleteOptions {
  std::string propagation = "Background";  // "Foreground", "Orphan"
  std::string uid, resource_version;       // preconditions when set; kConflict where they don't hold
};

struct ClientOptions {
  std::string user_agent;
  // Of a call whose context has no deadline, once there are credentials for it; not for watches.
  Millis timeout = Seconds(30);
  // Of any call on 429 and 503 with Retry-After, and of calls that may be repeated (reads, applies, deletions, merge
  // patches, others that say so) on lost connections, and on 429, 500, 502, 503 and 504 that don't say when.
  int max_retries = 3;
  // Of each request, a repeated one too, when the head of its answer is there: its status and how long it took; 0 where
  // none came, also where nobody listens. Not of what GuardWrites keeps back, or a stop ends. In any thread; it must
  // not call the client.
  std::function<void(const std::string& method, int status, MonoTime::duration took)> on_answer;
};

// Thread-safe.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Connect(const Config& config, const ClientOptions& options);
  ~Client();

  Result<Object> Get(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                     const GetOptions& options = {});
  // All pages. A page token that expires (410) starts the listing again, once. kInternal for a list without an end: the
  // same token again, more than 2,000 pages or 256 MiB.
  Result<ObjectList> List(const Context& ctx, const Resource& resource, std::string_view ns,
                          const ListOptions& options = {});
  // The same for more than is to be held at once: `on_object` is told each object as it is read, one page being in
  // memory as text. It may take its time; false ends the listing, as its error does. kGone: the token of a page has
  // expired; begin anew. kInternal for a list without an end, here of 20,000 pages.
  Status ForEach(const Context& ctx, const Resource& resource, std::string_view ns, const ListOptions& options,
                 const std::function<Result<bool>(Object)>& on_object);
  // Bookmarks are asked for. Blocks; calls `on_event` for each event until the server ends the watch or falls silent
  // (Ok), an error, or the context ends. An error from `on_event` ends the watch with it. kGone: list again.
  Status Watch(const Context& ctx, const Resource& resource, std::string_view ns, const WatchOptions& options,
               const std::function<Status(WatchEvent)>& on_event);

  // Forced server-side apply. With `subresource` = "status" only status.
  Result<Object> Apply(const Context& ctx, const Resource& resource, const Object& object, const WriteOptions& options);
  // The same with the object's JSON text, so that a large tree need not live while it is sent.
  Result<Object> ApplyText(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                           std::string text, const WriteOptions& options);
  Result<Object> Create(const Context& ctx, const Resource& resource, const Object& object,
                        const WriteOptions& options = {});
  Result<Object> Update(const Context& ctx, const Resource& resource, const Object& object,
                        const WriteOptions& options = {});
  Result<Object> Patch(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                       PatchType type, const Json& patch, const WriteOptions& options = {});
  // Ok also when the object is gone already? No: kNotFound, so that the caller decides.
  Status Delete(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                const DeleteOptions& options = {});

  // Any path; the body is returned as text. For discovery, /version, and probes.
  Result<std::string> Raw(const Context& ctx, std::string_view method, std::string_view target, std::string body = "",
                          std::string_view content_type = "", std::string_view accept = "application/json");

  // From now on `may_write` is asked just before each request but GET and HEAD is sent, also when it is sent again; its
  // error ends the call. To be called before the client is shared between threads.
  void GuardWrites(std::function<Status(const Context&)> may_write);
  // Ok once the server answers at all, whatever it says of itself.
  Status Ping(const Context& ctx);

  RestMapper& mapper();
  const Config& config() const;

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
