// The file in which ssh keeps the keys of servers, read from a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::fetch {

// A value.
struct KnownKey {
  std::string type;  // "ssh-ed25519"
  std::string key;   // base64
  bool revoked = false;
  int line = 0;
};

// The keys of a server, of lines with its name (`host`, or `[host]:port` where that isn't 22), in the clear, with "*"
// and "?", or hashed. Lines of certificate authorities are passed over. kInvalidArgument names a line that is none.
Result<std::vector<KnownKey>> KeysOfHost(std::string_view known_hosts, std::string_view host, int port);

}  // namespace capi::fetch
