// An answer as the bytes that go to the client.
#pragma once

#include <string>

#include "base/http/server/server.h"

namespace capi::http {

// `keep_alive` false: the client is told that the connection ends here. Text is packed for clients that unpack. A
// header that would break out of its line makes it a 500.
std::string FormatAnswer(const ServerRequest& request, Response response, bool keep_alive);
// The same for one whose body goes on until the connection ends.
std::string FormatStreamHead(Response response);

}  // namespace capi::http
