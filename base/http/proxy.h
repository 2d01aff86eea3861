// Which requests go through a proxy.
#pragma once

#include <optional>
#include <string>

#include "base/http/client.h"
#include "base/http/url.h"
#include "base/result.h"

namespace capi::http {

// A proxy's URL; its scheme may be missing. kInvalidArgument for what is none, kUnsupported for a proxy that speaks
// anything but plain HTTP. Neither message shows more of it than its scheme.
Result<Url> ParseProxyUrl(std::string_view text);

// The proxy for requests to `url`, or none. Loopback addresses and "localhost" go through one only if it was named for
// this server (Proxy.always), as in Go. Errors as ParseProxyUrl.
Result<std::optional<Url>> ProxyFor(const Url& url, const Proxy& proxy);

// An address of the machine itself (127.0.0.0/8, ::1), or "localhost"; without brackets and port. A name that begins
// like an address is none.
bool IsLoopbackHost(std::string_view host);

// An address that means something else on every network: loopback, link-local, private, or none at all (0.0.0.0, ::);
// "localhost", too. However a URL's host may spell it: "127.1", "2130706433", a dot at its end.
bool IsInwardAddress(std::string_view address);

}  // namespace capi::http
