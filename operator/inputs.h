// What the process was given - flags, files, environment - as the controller takes it.
#pragma once

#include <functional>

#include "operator/act/install/sources.h"
#include "operator/observe/settings.h"
#include "operator/options.h"

namespace capi::ops {

// `environment` is a list of "NAME=value" that ends with null. A configuration file that isn't there is an empty one;
// kInvalidArgument, with its name, for one that can't be read.
Result<Settings> LoadSettings(const Options& options, const char* const* environment);

// GITHUB_TOKEN, GITLAB_ACCESS_TOKEN, HTTPS_PROXY, HTTP_PROXY and NO_PROXY are of the environment.
SourceOptions SourcesFrom(const Options& options, const std::function<const char*(const char*)>& getenv);

}  // namespace capi::ops
