// Brings a prepared provider into the cluster for the operator: namespace, Secret, release, and at last its object.
// Each step can be repeated.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<kube::Object> maps;  // its release, for a source in the cluster
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

// What of a release's ConfigMaps isn't there yet; the first one of them is the last of `maps`. The same release counts,
// however it is packed. One that has another release lacks where a run left it that was broken off: it has the labels,
// clusterctl alone has written it, and nothing owns it. Else another release, or other labels, are kFailedPrecondition:
// it is somebody's, and stays what it is. With kIsAnother, one with the same files and no signatures (T14) lacks these
// alone.
enum class LeftOver { kIsReplaced, kIsAnother };  // kIsAnother: it is another release like any
Result<std::vector<kube::Object>> LackingMaps(const Context& ctx, kube::Client& client,
                                              const std::vector<kube::Object>& maps,
                                              LeftOver left_over = LeftOver::kIsReplaced);

// Makes those that aren't there yet, in the place of what such a run left. Errors as those of LackingMaps.
Status MakeMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
                const kube::WriteOptions& options, LeftOver left_over = LeftOver::kIsReplaced);

// kFailedPrecondition where a first ConfigMap under another name has another release than `maps`.
Status CheckOther(const Context& ctx, kube::Client& client, const kube::Object& there,
                  const std::vector<kube::Object>& maps);

// A ConfigMap that clusterctl made belongs to `owner` from then on, and goes with it; another one, and other owners,
// stay as they are. `seen`: as it was read.
Status OwnMap(const Context& ctx, kube::Client& client, const kube::Object& seen, const kube::Object& owner);
// The same for a release that is there: by its first ConfigMap, with the further parts that there are, however it is
// packed.
Status OwnRelease(const Context& ctx, kube::Client& client, const kube::Object& first, const kube::Object& owner);
// The same for that one of these which is there. One that was removed is made again.
Status OwnMaps(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& maps,
               const kube::Object& owner);

// What of the cluster keeps a provider from being brought into it. Errors as those of LackingMaps. It writes nothing.
Status CheckCargo(const Context& ctx, kube::Client& client, const ProviderCargo& cargo);

// What the object needs, but its Secret: the operator finds everything once the object is there.
Status CarryParts(const Context& ctx, kube::Client& client, const ProviderCargo& cargo);

// The object, and before it its Secret: nobody's credentials are left in a cluster whose operator hasn't come up. The
// object is tried again for a minute while the operator's webhooks don't answer yet. What they refuse is the error.
// ConfigMaps with its release belong to it from then on, and go with it.
Status CarryObject(const Context& ctx, kube::Client& client, const ProviderCargo& cargo);

}  // namespace capi::cli
