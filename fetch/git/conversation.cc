#include "fetch/git/conversation.h"

namespace capi::fetch {

Result<std::unique_ptr<GitConversation>> Talk(const api::GitReference& reference, const GitCredentials& credentials,
                                              const HttpOptions& options) {
  if (reference.scheme == api::GitReference::Scheme::kSsh) {
    return Error{Code::kUnsupported, "repositories over ssh aren't supported: name it by https://", {}};
  }
  return TalkOverHttp(reference, credentials, options);
}

}  // namespace capi::fetch
