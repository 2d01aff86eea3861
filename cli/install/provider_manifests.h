// What a provider is to the operator: its object, the Secret with its variables, and its release where the operator
// can't fetch it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types.h"
#include "cli/frame/config.h"
#include "cli/install/candidate.h"
#include "kube/meta/object.h"

namespace capi::cli {

// Whoever applies them: another command changes them in the same name.
inline constexpr std::string_view kProviderFieldManager = "clusterctl";

// Where the operator takes a release from. A value.
struct ReleaseSource {
  enum class Kind {
    kBuiltIn,  // the operator knows the URL
    kUrl,      // it can fetch it from another one
    // It can't, or may not: a folder or an override of this machine, a mirror that this machine is told of, a GitLab
    // that it has a token for, or another one than gitlab.com (T2).
    kInCluster,
  };
  Kind kind = Kind::kBuiltIn;
  std::string url;
};

// Of a provider at a version.
Result<ReleaseSource> SourceOf(const Config& config, const ProviderSource& source, const std::string& version,
                               const std::string& file);

// Those that concern the provider with that label; whether there are any.
templating::ImageOverrides ImagesOf(const templating::ImageOverrides& images, const std::string& label);
bool HasImageOverrides(const templating::ImageOverrides& images, const std::string& label);
// As the key `images` of a provider's Secret has them; "" for none.
std::string ImagesText(const templating::ImageOverrides& images);

// The Secret's values: variables, and under key `images` the image overrides that concern the provider.
std::map<std::string, std::string> SecretValues(const Candidate& candidate, const templating::ImageOverrides& images);

kube::Object ProviderObjectOf(const api::ProviderId& id, const std::string& version,
                              const std::optional<api::ObjectRef>& secret, const ReleaseSource& source);

// The ConfigMaps of a release for kInCluster, the first one last, as they are to be written.
std::vector<kube::Object> ReleaseMapsOf(const api::ProviderId& id, const api::Release& release);

}  // namespace capi::cli
