// How people name a git repository and a folder in it (spec.fetchConfig.git).
#pragma once

#include <string>
#include <string_view>

#include "api/types.h"
#include "base/result.h"

namespace capi::api {

// "https://host[:port]/path", "http://...", "ssh://[user@]host[:port]/path", or "[user@]host:path" over ssh. A value.
struct GitReference {
  enum class Scheme { kHttps, kHttp, kSsh };
  Scheme scheme = Scheme::kHttps;
  std::string user;    // of ssh; "git" where none is named
  std::string host;    // lower case, without brackets
  int port = 0;        // the scheme's own where none is named
  std::string path;    // as the server gets it: "/org/r.git", or "org/r.git" of the last form, or over ssh "~me/r.git"
  std::string folder;  // with releases' files, "" for the top, without slashes at its ends

  // As it can be written again, and "//" with the folder behind it.
  std::string ToString() const;
  std::string HostPort() const;  // "[::1]:2222"; without the scheme's own port
};
// kInvalidArgument with what is wrong; `field`, where it is given, is the one of both that it is.
Result<GitReference> ParseGitReference(const GitSource& source, std::string* field = nullptr);

}  // namespace capi::api
