// Brings a prepared provider into the cluster for the operator: namespace, Secret, release, and at last its object.
// Each step can be repeated.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/context.h"
#include "cli/install/candidate.h"
#include "cli/install/provider_manifests.h"
#include "kube/client/client.h"

namespace capi::cli {

// What one provider brings. A value.
struct ProviderCargo {
  api::ProviderId id;
  std::string version;
  std::map<std::string, std::string> namespace_labels;
  std::optional<api::ObjectRef> secret;
  std::map<std::string, std::string> values;  // for that Secret, merged into what it has
  ReleaseSource source;
  std::optional<api::Release> release;  // for a source in the cluster
};

// Makes the namespace where it is missing, and adds the labels that it lacks; none is changed.
Status EnsureNamespace(const Context& ctx, kube::Client& client, const std::string& ns,
                       const std::map<std::string, std::string>& labels);

// What a Secret has; nullopt where there is none.
Result<std::optional<std::map<std::string, std::string>>> ReadSecret(const Context& ctx, kube::Client& client,
                                                                     const std::string& ns, const std::string& name);

// Writes the values that it doesn't have yet, or has others of. All else of it stays.
Status MergeSecret(const Context& ctx, kube::Client& client, const std::string& ns, const std::string& name,
                   const std::map<std::string, std::string>& values);

// All but the object, so that the operator finds everything once that is there.
Status CarryParts(const Context& ctx, kube::Client& client, const ProviderCargo& cargo);

// The object. Tried again for a minute while the operator's webhooks don't answer yet. What they refuse is the error.
// ConfigMaps with its release belong to it from then on, and go with it.
Status CarryObject(const Context& ctx, kube::Client& client, const ProviderCargo& cargo);

}  // namespace capi::cli
