#include "fetch/credentials.h"

namespace capi::fetch {
namespace {

std::string ValueOf(const std::map<std::string, std::string>& secret, const char* key) {
  auto found = secret.find(key);
  return found == secret.end() ? std::string() : found->second;
}

}  // namespace

OciCredentials OciCredentialsIn(const std::map<std::string, std::string>& secret) {
  return {.username = ValueOf(secret, "OCI_USERNAME"),
          .password = ValueOf(secret, "OCI_PASSWORD"),
          .access_token = ValueOf(secret, "OCI_ACCESS_TOKEN"),
          .refresh_token = ValueOf(secret, "OCI_REFRESH_TOKEN")};
}

SourceCredentials CredentialsIn(const std::map<std::string, std::string>& secret) {
  return {.github_token = ValueOf(secret, "github-token"),
          .gitlab_token = ValueOf(secret, "gitlab-access-token"),
          .oci = OciCredentialsIn(secret)};
}

}  // namespace capi::fetch
