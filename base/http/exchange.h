// One HTTP/1.1 request and its answer on a connection.
#pragma once

#include "base/http/client.h"
#include "base/http/connection.h"
#include "base/result.h"

namespace capi::http {

// What one exchange did.
struct Exchange {
  Result<Response> response;
  bool written = false;   // at least one byte of the request went out
  bool answered = false;  // at least one byte of an answer came
  bool refused = false;   // the error is the caller's own, of on_data
  bool reusable = false;  // the connection can carry another request
};

// Sends `request` and reads the answer. `target` is the request line's; `headers` go out as they are, with
// Content-Length and, where the caller doesn't ask for an encoding itself, "Accept-Encoding: gzip".
Exchange DoExchange(Waiter& waiter, Connection& connection, const Request& request, std::string_view target,
                    const Headers& headers);

// Whether a request that broke a kept-alive connection may be sent again, on a new one: nothing was answered, and it
// does no harm twice, or nobody can have seen any of it.
bool MaySendAgain(const Request& request, const Exchange& exchange);

// CONNECT through a proxy; afterwards the connection is a tunnel to `host_port`.
Status OpenTunnel(Waiter& waiter, Connection& connection, std::string_view host_port,
                  const std::string& proxy_authorization, MonoTime limit);

}  // namespace capi::http
