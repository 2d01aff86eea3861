// URLs, as far as a client of http needs them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::http {

// A value.
struct Url {
  std::string scheme;     // "http" or "https"
  std::string user_info;  // "user:password", escaped as in the text
  std::string host;       // lower case, without brackets
  int port = 0;           // the scheme's when the text has none
  std::string path;       // path and query, "" when the text has none

  // kInvalidArgument for other schemes, a missing host, a port that is none, and control characters or spaces.
  static Result<Url> Parse(std::string_view text);

  bool tls() const { return scheme == "https"; }
  std::string HostPort() const;    // "[::1]:443", for connecting and for CONNECT
  std::string HostHeader() const;  // without the scheme's own port
  std::string Origin() const;      // "https://host:8443"
};

// Where a Location header, seen in the answer to `from`, points to. The fragment is dropped.
Result<Url> ResolveReference(const Url& from, std::string_view location);

// "Basic ..." of a URL's user and password, "" for none.
std::string BasicAuthorization(const Url& url);

// A URL as messages may show it: its origin and path. User, password and query may hold secrets; what is no URL and may
// have a password in it isn't shown at all.
std::string PrintableUrl(std::string_view text);

bool IsIpAddress(std::string_view host);

}  // namespace capi::http
