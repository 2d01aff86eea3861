#include <fmt/core.h>

#include <limits>
#include <random>

#include "kube/client/client.h"
#include "kube/client/client_impl.h"
#include "kube/client/list_page.h"
#include "kube/client/query.h"
#include "kube/client/watch_decoder.h"

namespace capi::kube {
namespace {

// Five to ten minutes, so that watches opened together don't end together.
Seconds RandomWatchTime() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return Seconds(std::uniform_int_distribution<int>(300, 600)(random));
}

// No collection that is held at once comes near: a server that goes on and on is broken, or not an API server.
constexpr size_t kMaxPageBytes = 64u << 20, kMaxListBytes = 256u << 20;
constexpr int kMaxListPages = 2'000;
// Of one that is seen object by object: five million objects, more than etcd holds.
constexpr int kMaxPages = 20'000;

// The server ends a watch in time; one that it didn't end is a dead connection.
constexpr Seconds kWatchGrace(30);

std::string ListTarget(const Resource& resource, std::string_view ns, const ListOptions& options,
                       const std::string& next_page) {
  Query query;
  query.Add("labelSelector", options.label_selector);
  query.Add("fieldSelector", options.field_selector);
  if (options.limit > 0) query.Add("limit", std::to_string(options.limit));
  query.Add("continue", next_page);
  return query.AppendTo(resource.Path(ns, ""));
}

// Where an answer says that a token has expired: the one by which the listing goes on, at a later version.
std::string TokenInstead(const http::Response& answer) {
  if (answer.status != 410) return "";
  auto status = ParseJson(answer.body);
  return status.ok() ? GetString(*status, {"metadata", "continue"}) : "";
}

// A listing, page by page (F8). Thread-compatible.
class Listing {
 public:
  using OnObject = std::function<Result<bool>(Object)>;
  Listing(Transport& transport, const Context& ctx, const Resource& resource, std::string_view ns,
          const ListOptions& options)
      : transport_(transport), ctx_(ctx), resource_(resource), ns_(ns), options_(options) {}

  // All of it; no more than `max_pages` and `max_bytes`.
  Status Read(int max_pages, size_t max_bytes, const OnObject& on_object) {
    for (int pages = 1;; ++pages) {
      PageEnd end = TRY(ReadOne(on_object));
      const std::string path = resource_.Path(ns_, "");
      if (bytes_ > max_bytes) {
        return Error{Code::kInternal, fmt::format("{}: a list of more than {} bytes", path, bytes_), {}};
      }
      if (end.stopped || end.next.empty() || options_.first_page) return Ok();
      if (end.next == token_) {
        return Error{Code::kInternal, path + ": the server names the same page as the next one again", {}};
      }
      if (pages == max_pages) return Error{Code::kInternal, fmt::format("{}: more than {} pages", path, pages), {}};
      token_ = std::move(end.next);
    }
  }

  size_t bytes() const { return bytes_; }  // of all pages so far
  const std::string& resource_version() const { return resource_version_; }

 private:
  // A page, or the token of one in the place of one that has expired.
  Result<PageEnd> ReadOne(const OnObject& on_object) {
    std::string instead;
    Call call{.target = ListTarget(resource_, ns_, options_, token_),
              .accept = std::string(options_.metadata_only ? kAcceptMetadataList : kAcceptJson),
              .repeatable = true,
              .on_refusal = [&](const http::Response& answer) { instead = TokenInstead(answer); },
              .max_body = kMaxPageBytes};
    auto response = transport_.Do(ctx_, call);
    if (!response.ok() && response.code() == Code::kGone && options_.may_change && !instead.empty()) {
      return PageEnd{.resource_version = {}, .next = std::move(instead)};
    }
    if (!response.ok()) return response.error();
    bytes_ += response->body.size();
    bool told = false;  // the error is that of who was told
    auto end = ReadPage(response->body, options_.managed_fields, [&](Json item) -> Result<bool> {
      item["apiVersion"] = resource_.api_version();  // lists leave them out, or say PartialObjectMetadata
      item["kind"] = resource_.kind;
      auto more = on_object(Object(std::move(item)));
      told = !more.ok();
      return more;
    });
    if (!end.ok()) return told ? end.error() : end.error().With("answer to " + call.target);
    resource_version_ = end->resource_version;
    return end;
  }

  Transport& transport_;
  const Context& ctx_;
  const Resource& resource_;
  const std::string_view ns_;
  const ListOptions& options_;
  std::string token_, resource_version_;
  size_t bytes_ = 0;
};

}  // namespace

Status Client::ForEach(const Context& ctx, const Resource& resource, std::string_view ns, const ListOptions& options,
                       const std::function<Result<bool>(Object)>& on_object) {
  Listing listing(*impl_->transport, ctx, resource, ns, options);
  return listing.Read(kMaxPages, std::numeric_limits<size_t>::max(), on_object);
}

Result<ObjectList> Client::List(const Context& ctx, const Resource& resource, std::string_view ns,
                                const ListOptions& options) {
  for (bool again = false;; again = true) {
    ObjectList out;
    Listing listing(*impl_->transport, ctx, resource, ns, options);
    Status listed = listing.Read(kMaxListPages, kMaxListBytes, [&](Object object) -> Result<bool> {
      out.items.push_back(std::move(object));
      return true;
    });
    out.resource_version = listing.resource_version();
    if (listed.ok()) return out;
    bool expired = listed.code() == Code::kGone && listing.bytes() > 0;
    if (!expired || again) return listed.error();
  }
}

Status Client::Watch(const Context& ctx, const Resource& resource, std::string_view ns, const WatchOptions& options,
                     const std::function<Status(WatchEvent)>& on_event) {
  Seconds timeout = options.timeout.count() > 0 ? options.timeout : RandomWatchTime();
  Query query;
  query.Add("watch", "true");
  query.Add("allowWatchBookmarks", "true");
  query.Add("labelSelector", options.label_selector);
  query.Add("fieldSelector", options.field_selector);
  query.Add("resourceVersion", options.resource_version);
  query.Add("timeoutSeconds", std::to_string(timeout.count()));
  if (options.send_initial_events) {
    query.Add("sendInitialEvents", "true");
    query.Add("resourceVersionMatch", "NotOlderThan");
  }
  WatchDecoder decoder(options.metadata_only ? &resource : nullptr, on_event);
  Call call{.target = query.AppendTo(resource.Path(ns, "")),
            .accept = std::string(options.metadata_only ? kAcceptMetadata : kAcceptJson),
            .on_data = [&](std::string_view piece) { return decoder.Feed(piece); },
            .max_silence = options.max_silence,
            .timeout = timeout + kWatchGrace};
  Result<http::Response> response = impl_->transport->Do(ctx, call);
  if (!response.ok()) {
    // Our own deadline, not the caller's: the connection died without a word.
    bool ours = response.code() == Code::kDeadlineExceeded && ctx.Check().ok();
    return ours ? Error{Code::kUnavailable, "the watch went silent", {}} : response.error();
  }
  return decoder.End();
}

}  // namespace capi::kube
