// What one provider is to become: its release, the variables that this needs, and what changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/config.h"
#include "cli/frame/provider_objects.h"
#include "cli/upgrade/difference.h"
#include "templating/render.h"

namespace capi::cli {

// A value.
struct UpgradeTarget {
  ProviderObject object;
  std::string from;    // the installed version, as the status has it
  std::string leaves;  // the version whose objects are there: another one where an upgrade to it didn't end
  api::Version to;
  std::string from_contract, to_contract;
  api::Release release;                          // of `to`
  bool store = false;                            // the operator can't get it by itself
  std::map<std::string, std::string> variables;  // that its Secret lacks; their values are secret
  std::vector<std::string> missing;              // names of those that nobody gives
  bool names_secret = false;                     // its spec is to name the Secret, which has something for it
  std::vector<ObjectChange> changes;
  bool compared = false;           // the release that is installed could be read, so that `changes` are known
  std::vector<kube::Object> crds;  // that the release brings
};

// Variables of two releases, and who gives them. Pure. A value.
struct NeededVariables {
  std::map<std::string, std::string> found;  // to be put into the Secret
  std::vector<std::string> missing;          // sorted
};

// behaviour.md L13: of what `release` needs and `secret` lacks, what `configured` gives. A variable that `former` asked
// for as well comes from elsewhere: from the operator's environment, or the release's own default. `former` may be
// null.
NeededVariables FindVariables(const api::Release& release, const api::Release* former,
                              const std::map<std::string, std::string>& secret,
                              const templating::Variables& configured);

// Fetches the release and looks at all of that. It writes nothing. kFailedPrecondition or kInvalidArgument for a
// release that the operator would refuse by its text alone, and for files in the folder of overrides that don't count
// (`fetchConfig.oci`); missing variables are told in the result.
Result<UpgradeTarget> PrepareTarget(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                    const api::ProviderId& id, const api::Version& to, Notes& notes);

// behaviour.md L13: none that is needed is missing, no CRD loses the version at which its objects are stored now, and
// the operator finds the release where it is put, in nobody's place. kFailedPrecondition.
Status CheckTarget(const Context& ctx, ManagementCluster& cluster, const UpgradeTarget& target, bool back = false);

// "capa-system/aws-variables": where a provider's variables are, or will be.
api::ObjectRef SecretOf(const api::Provider& provider);

}  // namespace capi::cli
