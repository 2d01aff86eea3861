// docs/parity.md: the exceptions, and a table of all releases in all modes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/parity/parity_case.h"

namespace capi::e2e {

// Row ("infrastructure-aws/v2.0.2/infrastructure-components.yaml") and mode to "equal", "fails", or names of
// exceptions.
using ParityMatrix = std::map<std::string, std::map<Mode, std::string>>;

// The table of a page; empty where it has none.
ParityMatrix ReadParityPage(std::string_view page);
std::string ParityPage(const ParityMatrix& matrix, const std::string& version);

}  // namespace capi::e2e
