// The text of a template, from where people say that it is.
#pragma once

#include <string>

#include "cli/frame/config.h"
#include "cli/frame/world.h"

namespace capi::cli {

// A value.
struct TemplateText {
  std::string source, text;  // `source` is for messages
};

// `from`: "-" for standard input; a URL of http or https, of which those of a file on GitHub, as a browser shows them
// (https://github.com/{owner}/{repository}/blob/{ref}/{path}), are read through its API with the token; or a path.
// kInvalidArgument for more than api::kMaxReleaseBytes.
Result<TemplateText> ReadTemplateText(const Context& ctx, const Config& config, const std::string& from, World& world);

}  // namespace capi::cli
