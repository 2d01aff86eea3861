// What a provider's Secret has for where its releases come from.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/types.h"
#include "base/context.h"
#include "fetch/credentials.h"
#include "fetch/repository.h"
#include "kube/client/client.h"

namespace capi::cli {

// What a Secret has, decoded. kInvalidArgument, with the place, for what isn't base64.
Result<std::map<std::string, std::string>> SecretValues(const kube::Object& secret);

// A value.
struct SourceSecret {
  fetch::SourceCredentials credentials;
  std::string unread;                           // "Secret a/b", where it mustn't be read
  std::map<std::string, std::string> git = {};  // all of it, for a git repository (T15)
};
// What a provider's Secret has for its source, as the operator takes it: that of spec.fetchConfig.secretRef, else that
// of spec.configSecret; for a git repository that of spec.fetchConfig.git.secretRef alone. Nothing of another
// namespace's (T1): it goes to a host that whoever wrote the object names. Nor where there is none, or it mustn't be
// read: the source may be public.
Result<SourceSecret> ForItsSource(const Context& ctx, kube::Client& client, const api::Provider& provider);

// The error of a source that was asked without what `unread` may have for it: that may be why. "" for no such Secret.
Error WithUnread(Error error, const std::string& unread);
// The same for all that it answers.
std::unique_ptr<fetch::Repository> WithUnread(std::unique_ptr<fetch::Repository> repository, std::string unread);

}  // namespace capi::cli
