// What a provider's Secret has for where its releases come from.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/types.h"
#include "base/context.h"
#include "fetch/oci/oci.h"
#include "fetch/repository.h"
#include "kube/client/client.h"

namespace capi::cli {

// What a Secret has, decoded. kInvalidArgument, with the place, for what isn't base64.
Result<std::map<std::string, std::string>> SecretValues(const kube::Object& secret);

// A value.
struct SourceSecret {
  std::map<std::string, std::string> values;
  std::string unread;  // "Secret a/b", where it mustn't be read
};
// What a Secret has for the source that a provider's object names. Nothing of another namespace's (T1): it goes to a
// host that whoever wrote the object names. Nor where there is none, or it mustn't be read: the source may be public.
Result<SourceSecret> ForItsSource(const Context& ctx, kube::Client& client, const api::Provider& provider,
                                  const std::optional<api::ObjectRef>& secret);

// A value.
struct RegistrySecret {
  fetch::OciCredentials credentials;
  std::string unread;  // as above
};
// For its registry, as the operator takes them.
Result<RegistrySecret> OciCredentialsOf(const Context& ctx, kube::Client& client, const api::Provider& provider);

// The error of a source that was asked without what `unread` may have for it: that may be why. "" for no such Secret.
Error WithUnread(Error error, const std::string& unread);
// The same for all that it answers.
std::unique_ptr<fetch::Repository> WithUnread(std::unique_ptr<fetch::Repository> repository, std::string unread);

}  // namespace capi::cli
