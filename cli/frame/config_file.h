// Where clusterctl's configuration file lies, and its text.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// A value. `source` is the path or URL for messages, "" where there is no file.
struct ConfigText {
  std::string source, text;
};

// The folder of clusterctl's own files: $XDG_CONFIG_HOME/cluster-api, ~/.config/cluster-api without that variable; ""
// without a home.
std::string ConfigFolder(const Getenv& getenv);
// ~/.cluster-api, where older releases kept them; "" without a home.
std::string OldConfigFolder(const Getenv& getenv);

// What `flag` (--config: a path, or a URL of http or https) names; with "" the first clusterctl.{yaml,yml,json} in the
// two folders above. No file there is fine; a file that was asked for has to be there.
Result<ConfigText> ReadConfigText(const Context& ctx, const Getenv& getenv, const std::string& flag);

}  // namespace capi::cli
