#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "kube/client/client.h"
#include "kube/client/client_impl.h"
#include "kube/client/query.h"
#include "kube/client/watch_decoder.h"

namespace capi::kube {
namespace {

// Five to ten minutes, so that watches opened together don't end together.
Seconds RandomWatchTime() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return Seconds(std::uniform_int_distribution<int>(300, 600)(random));
}

// No collection that this program reads comes near: a server that goes on and on is broken, or not an API server.
constexpr size_t kMaxPageBytes = 64u << 20, kMaxListBytes = 256u << 20;
constexpr int kMaxPages = 2'000;

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

// Moves the items of one page into `out`; returns the token of the next page, "" for none.
Result<std::string> TakePage(Json page, const Resource& resource, ObjectList& out) {
  Json* items = Find(page, {"items"});
  if (items != nullptr && items->is_array()) {
    out.items.reserve(items->size());
    for (Json& item : *items) {
      if (!item.is_object()) return Error{Code::kInternal, "a list holds what is no object", {}};
      item["apiVersion"] = resource.api_version();  // lists leave them out, or say PartialObjectMetadata
      item["kind"] = resource.kind;
      out.items.emplace_back(std::move(item));
    }
  } else if (items == nullptr || !items->is_null()) {
    return Error{Code::kInternal, "a list without items", {}};
  }
  out.resource_version = GetString(page, {"metadata", "resourceVersion"});
  return GetString(page, {"metadata", "continue"});
}

using OnPage = std::function<Status(ObjectList page, size_t bytes)>;

// All pages of one listing, one after the other (F8).
Status EachPage(Transport& transport, const Context& ctx, const Resource& resource, std::string_view ns,
                const ListOptions& options, const OnPage& on_page) {
  std::string token;
  for (int pages = 1;; ++pages) {
    Call call{.target = ListTarget(resource, ns, options, token),
              .accept = std::string(options.metadata_only ? kAcceptMetadataList : kAcceptJson),
              .repeatable = true,
              .max_body = kMaxPageBytes};
    http::Response response = TRY(transport.Do(ctx, call));
    const size_t bytes = response.body.size();
    Json json = TRY_WITH(ParseJson(response.body), "answer to " + call.target);
    response.body = {};
    ObjectList page;
    std::string next = TRY_WITH(TakePage(std::move(json), resource, page), call.target);
    TRY(on_page(std::move(page), bytes));
    if (next.empty() || options.first_page) return Ok();
    const std::string path = resource.Path(ns, "");
    if (next == token) {
      return Error{Code::kInternal, path + ": the server names the same page as the next one again", {}};
    }
    if (pages == kMaxPages) return Error{Code::kInternal, fmt::format("{}: more than {} pages", path, pages), {}};
    token = std::move(next);
  }
}

}  // namespace

Status Client::ListPages(const Context& ctx, const Resource& resource, std::string_view ns, const ListOptions& options,
                         const std::function<Status(std::vector<Object>)>& on_page) {
  return EachPage(*impl_->transport, ctx, resource, ns, options,
                  [&](ObjectList page, size_t) { return on_page(std::move(page.items)); });
}

Result<ObjectList> Client::List(const Context& ctx, const Resource& resource, std::string_view ns,
                                const ListOptions& options) {
  for (bool again = false;; again = true) {
    ObjectList out;
    size_t bytes = 0;
    Status listed =
        EachPage(*impl_->transport, ctx, resource, ns, options, [&](ObjectList page, size_t size) -> Status {
          bytes += size;
          if (bytes > kMaxListBytes) {
            return Error{
                Code::kInternal, fmt::format("{}: a list of more than {} bytes", resource.Path(ns, ""), bytes), {}};
          }
          out.resource_version = std::move(page.resource_version);
          std::move(page.items.begin(), page.items.end(), std::back_inserter(out.items));
          return Ok();
        });
    if (listed.ok()) return out;
    bool expired = listed.code() == Code::kGone && bytes > 0;
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
