#include "fetch/git/conversation.h"

namespace capi::fetch {

Result<std::unique_ptr<GitConversation>> Talk(const api::GitReference& reference, const GitCredentials& credentials,
                                              const HttpOptions& options) {
  const bool ssh = reference.scheme == api::GitReference::Scheme::kSsh;
  return ssh ? TalkOverSsh(reference, credentials, options) : TalkOverHttp(reference, credentials, options);
}

}  // namespace capi::fetch
