// What a provider's Secret has for where its releases come from, and a source that is its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/types.h"
#include "base/context.h"
#include "cli/frame/config.h"
#include "fetch/credentials.h"
#include "fetch/git/git.h"
#include "fetch/repository.h"
#include "kube/client/client.h"

namespace capi::cli {

// What a Secret has, decoded; of one in a file its stringData, too, which counts before data. kInvalidArgument, with
// the place, for what isn't base64.
Result<std::map<std::string, std::string>> SecretValues(const kube::Object& secret);

// A value.
struct SourceSecret {
  fetch::SourceCredentials credentials;
  std::string unread;                           // "you may not read Secret a/b": why it has nothing
  std::map<std::string, std::string> git = {};  // all of it, for a git repository (T15)
};
// What a provider's Secret has for its source, as the operator takes it: that of spec.fetchConfig.secretRef, else that
// of spec.configSecret; for a git repository that of spec.fetchConfig.git.secretRef alone. Nothing of another
// namespace's (T1): it goes to a host that whoever wrote the object names. Nor where there is none, or it mustn't be
// read: the source may be public. `unread` says so of one that is named for the source.
Result<SourceSecret> ForItsSource(const Context& ctx, kube::Client& client, const api::Provider& provider);

// A Secret of files. A value.
struct FileSecret {
  const kube::Object* object = nullptr;  // null for none
  std::string unclear;                   // "is there twice": why none of several is taken
};

// The same of Secrets in files: `find` says which there is. No cluster is asked. One that can't be read as it stands
// there, since it is encrypted or a template, has nothing.
SourceSecret ForItsSource(const api::Provider& provider, const std::function<FileSecret(const api::ObjectRef&)>& find);

// The error of a source that was asked without what a Secret may have for it: that may be why. `unread`:
// SourceSecret's.
Error WithUnread(Error error, const std::string& unread);
// The same for all that it answers.
std::unique_ptr<fetch::Repository> WithUnread(std::unique_ptr<fetch::Repository> repository, std::string unread);

// The field of spec.fetchConfig that names a registry or a git repository, beside which nothing that this machine has
// counts (T12): "git", "oci", or "" for neither.
std::string_view FieldOfOwnSource(const api::Provider& provider);
// That one, for an object that has it, asked with `secret`. `files`: of git. kInvalidArgument, with the field's path.
Result<std::unique_ptr<fetch::Repository>> OpenOwnSource(const Config& config, const api::Provider& provider,
                                                         const SourceSecret& secret,
                                                         fetch::GitFiles files = fetch::GitFiles::kAll);

}  // namespace capi::cli
