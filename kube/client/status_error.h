// From an API server's metav1.Status, or a bare HTTP answer, to an Error.
#pragma once

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
// (behaviour.md U9), but the schema may change.
Error ErrorFromStatus(const Json& status);

// The same for an answer that isn't 2xx. The Retry-After header, in seconds, wins.
Error ErrorFromResponse(const http::Response& response);

// The server has no such path: it doesn't serve that version of a kind, which says nothing of the object.
bool IsNoSuchPath(const Error& error);

// Storage of a kind is (re)initializing: over in a tenth of a second after a CRD is Established, and lasting while a
// conversion webhook is down (docs/behaviour.md P3). Its Retry-After of a second fits neither, so the error has none.
bool StorageInitializing(const Error& error);

// Whether the API server itself was away, too busy or too slow. Not where it refused something, told of somebody else's
// write, or asked a webhook, which denied that or couldn't be called: then it is there (docs/behaviour.md F5, U5).
bool IsOutage(const Error& error);

// A conversion webhook couldn't be called, for an object that is stored at another version than it was asked for; or
// the storage of a kind can't begin, which lasts as long.
bool ConversionIsAway(const Error& error);

}  // namespace capi::kube
