// From kinds to resources, by discovery; never by guessing a plural.
#pragma once

#include <condition_variable>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "kube/client/discovery.h"
#include "kube/meta/resource.h"

namespace capi::kube {

// Answers for built-in kinds (resource.h) without asking. For others asks once (aggregated discovery, two requests,
// where the server offers it) and keeps the answer. It asks at most once a second (behaviour.md F8), for an unknown
// kind and after Invalidate, also where the last time failed. One asks for all; the others wait for its answer, each
// until its own context ends: for the one that is on its way, and for one that was asked for after they came, no
// longer. Thread-safe.
class RestMapper {
 public:
  // `get` performs a GET: path and Accept header to body.
  using Getter = DiscoveryGetter;
  RestMapper(Getter get, Clock& clock) : get_(std::move(get)), clock_(clock) {}

  // kNotFound when the server has no such kind (at that version, when one is named). Without a version: the
  // server's preferred one. kUnavailable for an unknown kind of a group whose server doesn't answer now.
  Result<Resource> For(const Context& ctx, const GroupKind& kind, std::string_view version = "");
  // The same as asked from now on, whatever is known: the server doesn't serve it as For says.
  Result<Resource> ForAnew(const Context& ctx, const GroupKind& kind);
  // What discovery says of a kind. What is known stays where discovery fails; an error where it isn't known.
  struct Finding {
    std::optional<Resource> resource;
    bool group_is_stale = false;  // of a kind without `resource`: the server of its group doesn't answer now
  };
  Result<Finding> Look(const Context& ctx, const GroupKind& kind, std::string_view version = "");
  // The same from what is known already, be it old; null without a request where it isn't known.
  std::optional<Resource> Known(const GroupKind& kind, std::string_view version = "");
  // What a CRD that was just applied serves: all of its versions, and none that it served before. It counts as long as
  // discovery may lag behind: until the next answer that is asked for half a minute later.
  void Learn(const GroupKind& kind, std::vector<Resource> versions);
  // The kind may have gone: what was learned counts no more, and the rest as after Invalidate.
  void Forget(const GroupKind& kind);
  // Kinds may have come or gone. An answer from before doesn't count any more for a kind that it lacks; whoever asks
  // for one waits for the rest of the second. Kinds that it has are known for as long, and until there is a newer one.
  void Invalidate();
  // Every resource the server lists, as asked after the last Invalidate, or within the last second.
  // `away` gets the groups whose server doesn't answer now: what they have may be more than what is known of them.
  Result<std::vector<Resource>> All(const Context& ctx, std::set<std::string>* away = nullptr);

 private:
  using Table = std::map<GroupKind, std::vector<Resource>>;  // versions of a kind, the preferred one first
  struct Learned {
    std::vector<Resource> versions;
    MonoTime at;
  };
  std::optional<Resource> Lookup(const GroupKind& kind, std::string_view version) const CAPI_REQUIRES(mu_);
  // Without a question: built in, learned, or discovered and not in doubt.
  bool IsSettled(const GroupKind& kind, std::string_view version, long need) const CAPI_REQUIRES(mu_);
  bool AskedJustNow() const CAPI_REQUIRES(mu_);
  // Asks, or waits for who asks already, or until it may. Ok as soon as `kind` is settled; else the outcome of a
  // question from after the last invalidation, no older than a second or of while it waited. Null: of no kind.
  Status Ask(const Context& ctx, const GroupKind* kind, std::string_view version) CAPI_EXCLUDES(mu_);
  Status AskNow(const Context& ctx) CAPI_EXCLUDES(mu_);
  void Keep(Discovery discovery, MonoTime asked) CAPI_REQUIRES(mu_);

  Getter get_;
  Clock& clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  bool asking_ CAPI_GUARDED_BY(mu_) = false;
  long invalidations_ CAPI_GUARDED_BY(mu_) = 0;
  long tried_ CAPI_GUARDED_BY(mu_) = 0;                        // invalidations before discovery was last asked
  long covered_ CAPI_GUARDED_BY(mu_) = 0;                      // the same of the last time that it answered
  std::optional<MonoTime> last_refresh_ CAPI_GUARDED_BY(mu_);  // its end, of the last try
  Status last_outcome_ CAPI_GUARDED_BY(mu_);                   // of that
  Table discovered_ CAPI_GUARDED_BY(mu_);
  std::map<GroupKind, Learned> learned_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> stale_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
