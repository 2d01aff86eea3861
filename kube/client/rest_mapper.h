// From kinds to resources, by discovery; never by guessing a plural.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "kube/meta/resource.h"

namespace capi::kube {

// Asks once (aggregated discovery, two requests, where the server offers it) and keeps the answer. An unknown kind asks
// again at most once a second. Thread-safe.
class RestMapper {
 public:
  // `get` performs a GET: path and Accept header to body.
  using Getter = std::function<Result<std::string>(const Context&, std::string_view path, std::string_view accept)>;
  RestMapper(Getter get, Clock& clock);

  // kNotFound when the server has no such kind (at that version, when one is named). Without a version: the
  // server's preferred one.
  Result<Resource> For(const Context& ctx, const GroupKind& kind, std::string_view version = "");
  // The same from what is known already; null without a request where it isn't known.
  std::optional<Resource> Known(const GroupKind& kind, std::string_view version = "");
  // Adds what is known from elsewhere: a CRD just applied.
  void Learn(const Resource& resource);
  void Invalidate();
  // Every resource the server lists.
  Result<std::vector<Resource>> All(const Context& ctx);

 private:
  Status Refresh(const Context& ctx) CAPI_EXCLUDES(mu_);
  Getter get_;
  Clock& clock_;
  Mutex refreshing_;
  Mutex mu_;
  bool loaded_ CAPI_GUARDED_BY(mu_) = false;
  MonoTime last_refresh_ CAPI_GUARDED_BY(mu_){};
  std::vector<Resource> resources_ CAPI_GUARDED_BY(mu_);  // preferred version of a group first
};

}  // namespace capi::kube
