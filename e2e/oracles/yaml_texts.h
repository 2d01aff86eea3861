// YAML texts for the comparison with the Go tools: hand-made ones, and any number of random ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace capi::e2e {

// A text for each trap of the language.
std::vector<std::string> HandMadeYaml();

// The part of them that is about more than one scalar.
void AddYamlStructures(std::vector<std::string>& out);

// The `index`-th random text: the same for the same index, everywhere. A third are documents built of valid parts, a
// third are hand-made ones with a few bytes changed, and a third are pieces of syntax in any order.
std::string RandomYaml(std::uint64_t index);

}  // namespace capi::e2e
