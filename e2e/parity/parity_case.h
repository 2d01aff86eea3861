// One cell of the parity matrix: a components file of a release of the set, and how it is rendered.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "api/testing/release_folder.h"
#include "api/testing/variables.h"
#include "base/json.h"

namespace capi::e2e {

enum class Mode { kDefault, kNamespace, kImages, kAll, kNone };

struct ModeInfo {
  Mode mode;
  std::string_view name;  // in ids and in the page's columns
  std::string_view what;
};
inline constexpr std::array<ModeInfo, 5> kModes = {{
    {Mode::kDefault, "default", "the variables that have no default are set, in the configuration file"},
    {Mode::kNamespace, "namespace", "the same, with `--target-namespace`"},
    {Mode::kImages, "images",
     "the same, with `images` in the configuration file: all, the provider's, and one image's"},
    {Mode::kAll, "all set", "every variable is set, in the environment, to another value than its default"},
    {Mode::kNone, "none set", "no variable is set"},
}};

// A value.
struct ParityCase {
  api::ReleaseFolder release;
  std::string file;  // "infrastructure-components.yaml"
  Mode mode = Mode::kDefault;

  std::string Row() const;  // "infrastructure-aws/v2.0.2/infrastructure-components.yaml"
  std::string Id() const;   // the row and the mode's name
  std::vector<std::string> Arguments() const;
  api::VariableValues Environment() const;
  // Text of the configuration file, for a release that lies in `folder`.
  std::string Configuration(std::string_view folder) const;
};

// Components files of all releases of the set, each in all modes, in order.
std::vector<ParityCase> AllParityCases();

}  // namespace capi::e2e
