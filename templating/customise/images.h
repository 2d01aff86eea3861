// Third step: image overrides (behaviour.md I9; the "images" key of a clusterctl configuration file).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::templating {

// "images" of a clusterctl configuration file: key ("all", "<component>", "<component>/<image>") to replacement.
struct ImageOverride {
  std::string repository, name, tag;
};
using ImageOverrides = std::map<std::string, ImageOverride>;

// The value of the "images" key, parsed and as text. kInvalidArgument for what is no map of maps.
Result<ImageOverrides> ReadImageOverrides(const Json& images);
Result<ImageOverrides> ParseImageOverrides(std::string_view yaml);

// `image` with the fields that the keys "all", "<component>" and "<component>/<name>" give, the most specific first.
// The image has to be a canonical reference even where nothing overrides it. A digest stays also where the tag changes.
Result<std::string> OverrideImage(std::string_view component, std::string_view image, const ImageOverrides& overrides);

// Rewrites the images of all containers and init containers of Deployments and DaemonSets.
Status FixImages(std::vector<kube::Object>& objects, std::string_view component, const ImageOverrides& overrides);

// Images of those containers in document order; repeated ones are kept.
std::vector<std::string> ListImages(const std::vector<kube::Object>& objects);

}  // namespace capi::templating
