// Credentials that need no program: fixed ones and token files.
#pragma once

#include <memory>
#include <string>

#include "kube/client/config/config.h"

namespace capi::kube {

std::shared_ptr<CredentialSource> BearerToken(const std::string& token);
std::shared_ptr<CredentialSource> BasicAuth(const std::string& username, const std::string& password);

// The token in a file, read for each request (it is small, and rotates). While the file can't be read the last token
// serves on, `first` before there was one; kUnauthenticated where there is neither.
std::shared_ptr<CredentialSource> TokenFile(std::string path, std::string first = "");

}  // namespace capi::kube
