// Where fields of a YAML document stand, to the byte: to tell what of a text made them what they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capi {

// text[begin, end). A value.
struct YamlExtent {
  size_t begin = 0, end = 0;
};

// A value.
struct YamlField {
  // What makes its value a text, a number, a map ...: all of a scalar (nothing, behind its key, for an empty one), the
  // bracket of a flow map or list, the first dash of a block list, what follows the first key of a block map.
  YamlExtent type_from;
  std::vector<YamlExtent> keys;  // of each step to it; only that of an item of a list is empty
};

using YamlPath = std::vector<std::string>;  // keys of maps, and decimal indices of lists

// The fields at `paths` of the first document of `text`; nullopt for one that isn't there, or is below an alias or a
// merge key ("<<"). What an alias stands for is where its anchor is. Of equal keys the last counts. Reads the text
// once, however many paths there are, and keeps nothing of it. Text that isn't YAML is read up to the error.
std::vector<std::optional<YamlField>> FindYamlFields(std::string_view text, std::span<const YamlPath> paths);

}  // namespace capi
