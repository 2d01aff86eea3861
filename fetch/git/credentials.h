// What the Secret of spec.fetchConfig.git.secretRef has for a repository.
#pragma once

#include <map>
#include <string>

#include "api/validate/git_reference.h"
#include "base/result.h"

namespace capi::fetch {

// Never logged. A value.
struct GitCredentials {
  std::string username, password;  // of https
  std::string bearer_token;
  std::string ca;                    // PEM; whom to trust in the place of the system's roots
  std::string identity, passphrase;  // a private key of ssh, and what it is locked with
  std::string known_hosts;           // lines of ssh's file of that name

  // The value of Authorization, "" for none.
  std::string Authorization() const;
};

// kUnauthenticated names the key that isn't known, doesn't fit the URL, or is missing. Over ssh a Secret is needed.
Result<GitCredentials> ReadGitCredentials(const api::GitReference& reference,
                                          const std::map<std::string, std::string>& secret);

}  // namespace capi::fetch
