// Releases in ConfigMaps (docs/formats.md, "Release ConfigMap"), in files or in a cluster.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/release.h"
#include "kube/meta/object.h"

namespace capi::cli {

// A further ConfigMap of the same namespace, by its name. kNotFound.
using FindConfigMap = std::function<Result<kube::Object>(const std::string& name)>;

// The version of a release, by its label or else its name; nullopt where that is none.
std::optional<api::Version> VersionOfMap(const kube::Object& map);

// The ConfigMap among `maps` that `selector` selects and that has `version` ("": the newest stable one, else the
// newest). kNotFound names the versions that there are; kInvalidArgument for a selector that is none.
Result<const kube::Object*> SelectRelease(const std::vector<const kube::Object*>& maps, const Json& selector,
                                          const std::string& version);

// kInvalidArgument, with the ConfigMap's name, for a missing key or a bad gzip.
Result<api::Release> ReadReleaseMap(const kube::Object& map, const FindConfigMap& find);

}  // namespace capi::cli
