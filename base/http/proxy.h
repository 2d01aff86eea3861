// Which requests go through a proxy.
#pragma once

#include <optional>
#include <string>

#include "base/http/client.h"
#include "base/http/url.h"
#include "base/result.h"

namespace capi::http {

// The proxy for requests to `url`, or none. Loopback addresses and "localhost" never go through one, as in Go.
// kInvalidArgument for a proxy URL that is none, kUnsupported for one that isn't "http://".
Result<std::optional<Url>> ProxyFor(const Url& url, const Proxy& proxy);

// "Basic ..." of a proxy URL's user and password, "" for none.
std::string ProxyAuthorization(const Url& proxy);

}  // namespace capi::http
