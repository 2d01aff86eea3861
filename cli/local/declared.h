// What `local up -f` brings into a plane: Provider objects, and the Secrets, ConfigMaps and Namespaces that they need.
#pragma once

#include <istream>
#include <set>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/context.h"
#include "cli/frame/config.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::cli {

// A value.
struct Declared {
  std::vector<kube::Object> namespaces, parts, providers;
  std::vector<api::ProviderId> ids;  // of `providers`
  bool Has(api::ProviderType type) const;
};

// kInvalidArgument, with file, line and column, for what is none of these, what the API server or the operator's
// webhook would refuse of a Provider object, data of a Secret or a ConfigMap that is no text, and an object that is
// there twice.
Result<Declared> ReadDeclared(const std::vector<std::string>& files, const Config& config, std::istream& in);

// Applies all, what others need first; namespaces that none of the files has are made. A Provider object is tried again
// while the operator's webhooks don't answer.
Status CarryDeclared(const Context& ctx, kube::Client& client, const Declared& declared);

// Of an object that couldn't be applied. Of a Secret without the server's words, which repeat values that it refuses.
Error ApplyError(const kube::Object& object, const Error& error);

}  // namespace capi::cli
