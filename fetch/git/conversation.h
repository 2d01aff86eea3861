// One talk with git-upload-pack, wherever it runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/validate/git_reference.h"
#include "base/context.h"
#include "fetch/git/credentials.h"
#include "fetch/repository.h"

namespace capi::fetch {

// Thread-compatible. Errors are those of Repository.
class GitConversation {
 public:
  virtual ~GitConversation() = default;
  virtual bool over_http() const = 0;
  // How it begins; once, and before anything else.
  virtual Result<std::string> Begin(const Context& ctx) = 0;
  // The answer, which has so many sections (each ends with "0000") where the connection stays open behind it.
  // `too_much`: whether it has more than `most` bytes, which is why there is none.
  virtual Result<std::string> Ask(const Context& ctx, std::string_view request, int sections, size_t most,
                                  bool* too_much = nullptr) = 0;
};

Result<std::unique_ptr<GitConversation>> TalkOverHttp(const api::GitReference& reference,
                                                      const GitCredentials& credentials, const HttpOptions& options);

// Connects when it begins.
Result<std::unique_ptr<GitConversation>> TalkOverSsh(const api::GitReference& reference,
                                                     const GitCredentials& credentials, const HttpOptions& options);

Result<std::unique_ptr<GitConversation>> Talk(const api::GitReference& reference, const GitCredentials& credentials,
                                              const HttpOptions& options);

}  // namespace capi::fetch
