// What is installed in a management cluster, by clusterctl's inventory and by the operator's provider objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_objects.h"
#include "cli/frame/world.h"

namespace capi::cli {

// A provider that is there, or is on its way. A value.
struct PresentProvider {
  InstalledProvider provider;  // of an object: the version that is to run, where one is known
  bool has_object = false;     // the operator looks after it
  bool held = false;           // IsHeld: nobody waits for it
  bool deleting = false;       // its object is
  std::string recorded;        // its version in the inventory, in this namespace; "" where it isn't there
  std::string contract;        // by the operator; "" where it doesn't say
  std::string led_from = {};   // spec.version, where a policy has led beyond that (behaviour.md U13); "" elsewhere
  std::optional<api::ObjectRef> secret = {};  // that its object names
  bool installed() const;                     // it is recorded at the version that it asks for
  bool operator==(const PresentProvider&) const = default;
};

// Of both lists. Pure.
std::vector<PresentProvider> MergePresent(const std::vector<InstalledProvider>& inventory,
                                          const std::vector<ProviderObject>& objects);

// Who, other than clusterctl and the operator, has written the spec of a provider's object; "" for nobody.
std::string OtherManagerOf(const kube::Object& object);

// Takes out of `ids` what a person has paused: the operator doesn't bring it up, so nobody waits for it. Says so.
void PassOverPaused(const std::vector<PresentProvider>& present, std::vector<api::ProviderId>& ids, Notes& notes);

Result<std::vector<PresentProvider>> ReadPresent(const Context& ctx, ManagementCluster& cluster);

}  // namespace capi::cli
