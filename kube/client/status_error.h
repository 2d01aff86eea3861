// From an API server's metav1.Status, or a bare HTTP answer, to an Error.
#pragma once

#include <string_view>

#include "base/http/client.h"
#include "base/json.h"
#include "base/result.h"

namespace capi::kube {

// The error that a metav1.Status tells of: its code by reason, then by HTTP code; its message, with causes that the
// message doesn't hold yet; details.retryAfterSeconds. Beyond the table in client.h: a TooManyRequests that only says
// that storage is (re)initializing is kUnavailable (nobody was too fast), so is an InternalError that tells of a
// webhook that couldn't be called; what a webhook or a policy denies is kPermissionDenied, whatever reason it gives
// (but not with a 429 or 5xx: that passes); a Forbidden because the namespace is going is kFailedPrecondition, and so
// is an apply of what the schema of its kind doesn't allow (a 500 without a reason): no replacement would help
// (behaviour.md U9), but the schema may change. Any other 500 without a reason is kInternal, and so is a
// StorageReadError; what tells of etcd's own trouble is kUnavailable.
Error ErrorFromStatus(const Json& status);

// The same for an answer that isn't 2xx. The Retry-After header, in seconds, wins.
Error ErrorFromResponse(const http::Response& response);

// The server has no such path: it doesn't serve that version of a kind, which says nothing of the object.
bool IsNoSuchPath(const Error& error);

// There is no such object. A 404 of its path isn't that: whoever stands before the API server may have said it. Both
// are asked of an error as the client returned it: after Error::With nothing tells the two apart.
bool IsGone(const Error& error);

// Storage of a kind is (re)initializing: over in a tenth of a second after a CRD is Established, and lasting while a
// conversion webhook is down (docs/behaviour.md P3). Its Retry-After of a second fits neither, so the error has none.
bool StorageInitializing(const Error& error);

// Whether the API server itself was away: no connection to it could be made, or it was lost, or the server says that it
// can't serve now (429, 502 to 504, etcd is away). Everything else is an answer, so that no change waits for its end
// for good (docs/behaviour.md F5, U5): a refusal, somebody else's write, a webhook or an aggregated API that is away, a
// 500 of its own, an old object that doesn't go. So is a request that it took, and had no answer to in the time that
// the request had: that is how a webhook looks which hangs for as long. An API server that hangs as a whole looks the
// same, but it stores no status either from which a change could be given up.
bool IsOutage(const Error& error);

// kUnavailable: the API server knows of the group of `what`, but doesn't reach the server of that (an aggregated API).
Error GroupIsAway(std::string_view what);

// A conversion webhook couldn't be called, for an object that is stored at another version than it was asked for; or
// the storage of a kind can't begin, which lasts as long.
bool ConversionIsAway(const Error& error);

}  // namespace capi::kube
