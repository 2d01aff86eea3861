// What a Secret has for a source of releases: which of its keys count, for the operator and clusterctl alike.
#pragma once

#include <map>
#include <string>

namespace capi::fetch {

// As the peer names them: OCI_USERNAME, OCI_PASSWORD, OCI_ACCESS_TOKEN, OCI_REFRESH_TOKEN. Never logged. A value.
struct OciCredentials {
  std::string username, password;
  std::string access_token;   // a registry's own, sent as it is
  std::string refresh_token;  // for which the token server gives an access token

  bool empty() const { return username.empty() && password.empty() && access_token.empty() && refresh_token.empty(); }
};

// Those in a Secret, under these names.
OciCredentials OciCredentialsIn(const std::map<std::string, std::string>& secret);

// What a provider's Secret has for its source; "" where nothing, for the asking program's own. Never logged. A value.
struct SourceCredentials {
  std::string github_token;
  std::string gitlab_token;  // it goes to the host of fetchConfig.url alone (T10)
  OciCredentials oci;
};
SourceCredentials CredentialsIn(const std::map<std::string, std::string>& secret);

}  // namespace capi::fetch
