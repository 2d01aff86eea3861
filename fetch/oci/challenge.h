// How a registry asks for authentication: the WWW-Authenticate headers of a 401.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capi::fetch {

// A value.
struct Challenge {
  bool bearer = false;  // else basic
  std::string realm, service, scope;
};

// The one to answer: Bearer before Basic; nullopt where neither is among them.
std::optional<Challenge> ReadChallenge(const std::vector<std::string_view>& headers);

}  // namespace capi::fetch
