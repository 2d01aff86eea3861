// The values of a provider's variables, as they are live; what can't be read there is asked of the configuration.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/release.h"
#include "api/types.h"
#include "cli/declare/fleet.h"
#include "cli/frame/config.h"
#include "templating/customise/images.h"
#include "templating/recover.h"

namespace capi::cli {

// A value. Holds secrets.
struct RecoveredValues {
  std::map<std::string, std::string> values;  // for a Secret, those that were asked for among them
  std::vector<std::string> asked;             // names that the configuration or the environment gave
  std::vector<std::string> missing;           // names that nobody gave
};

// A value. Holds secrets.
struct LiveVariables {
  templating::RecoveredVariables found;
  std::map<std::string, std::optional<std::string>> defaults;  // of the release
};

// What the release's variables are in the cluster (behaviour.md A2). `images`: what replaced its images. `additional`:
// manifests that were installed with it.
Result<LiveVariables> RecoverLive(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                  const api::Release& release, const templating::ImageOverrides& images,
                                  const std::string& additional = "");

// A release of which objects may be live. A value.
struct LiveRelease {
  std::string version;
  std::string digest;  // of its components; "" where nobody has noted it
  auto operator<=>(const LiveRelease&) const = default;
};

// The installed one, what came up last, and all that was tried since: until one has come up nothing of the others is
// pruned (U4). A version may have had another text.
std::set<LiveRelease> LiveReleases(const api::ProviderStatus& status);

// Keys and decoded values. Holds secrets.
using SecretValuesByKey = std::map<std::string, std::string>;

// Where a variable can't be told from what is live, the provider's Secret says it where it is `there` already, then the
// environment, then the configuration.
Result<RecoveredValues> AskForRest(const Config& config, const LiveVariables& live,
                                   const std::optional<SecretValuesByKey>& there);

}  // namespace capi::cli
